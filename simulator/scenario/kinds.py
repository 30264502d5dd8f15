"""The two kinds of files: one runs a collective, the other lays a model over ranks."""

from __future__ import annotations

from typing import Final, Literal

from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.source import Block, Source

FileKind = Literal["collective", "plan"]

PLAN_KEYS: Final = ("model", "parallel", "batch", "memory", "traffic", "hardware")
"""Keys that only a plan has; a collective's file has a `collective`."""


class OtherKindError(ScenarioErrors):
    """A file that is right, but for another command."""


def kind_of(source: Source) -> FileKind:
    """Say what a file is, by its keys.

    Raises
    ------
    ScenarioErrors
        If it has keys of both.
    """
    plan = _plan_keys(source)
    if not plan:
        return "collective"
    if source.find(("collective",)) is not None:
        message = (
            f'found both "collective" and "{plan[0]}"; a file is of a collective, which "collsim run" reads, '
            'or of a parallel plan, which "collsim llm memory" reads'
        )
        raise ScenarioErrors([source.error(message, (plan[0],), key=True)])
    return "plan"


def refuse_other(source: Source, wanted: FileKind) -> None:
    """Refuse a file of the other kind, and say which command reads it.

    Raises
    ------
    OtherKindError
    """
    kind = kind_of(source)
    if kind == wanted:
        return
    if kind == "collective":
        what = 'has no "model": a file of a collective, which "collsim run" reads'
        raise OtherKindError([source.error(f"{what}; expected a parallel plan")])
    key = _plan_keys(source)[0]
    what = f'has a "{key}" and no "collective": a parallel plan, which "collsim llm memory" reads'
    raise OtherKindError([source.error(what, (key,), key=True)])


def _plan_keys(source: Source) -> list[str]:
    keys = source.root.entries if isinstance(source.root, Block) else {}
    return [key for key in PLAN_KEYS if key in keys]
