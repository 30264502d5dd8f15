"""The kinds of files: of one collective, several at once, a workload of files, a model laid over ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal

from simulator.scenario.errors import ScenarioError, ScenarioErrors
from simulator.scenario.source import Block, Source

FileKind = Literal["collective", "together", "workload", "plan"]

PLAN_KEYS: Final = (
    *("model", "parallel", "batch", "memory", "traffic", "hardware"),
    *("efficiency", "work", "overlap", "serve", "search"),
)
"""Keys that only a plan has; a collective's file has a `collective`."""

TOGETHER_KEYS: Final = ("collectives", "background")
"""Keys that only a file of several collectives has."""

WORKLOAD: Final = "workload"
"""The key of a file that runs what other tools have written down."""

SWEEP: Final = "sweep"
"""The key of a file of any kind that varies something."""

LACKING: Final[Mapping[FileKind, str]] = MappingProxyType(
    {"collective": "collective", "together": "collectives", "workload": WORKLOAD, "plan": "model"}
)
"""The key without which a file is not of that kind."""

KINDS: Final[Mapping[FileKind, str]] = MappingProxyType(
    {
        "collective": "a file of a collective",
        "together": "a file of several collectives",
        "workload": "a file of a workload",
        "plan": "a parallel plan",
    }
)
"""What a file of each kind is."""


class OtherKindError(ScenarioErrors):
    """A file that is right, but for another command.

    Parameters
    ----------
    error : ScenarioError
    reader : str
        The command that reads it.
    kind : str
        What it is, in two words at most.
    """

    def __init__(self, error: ScenarioError, reader: str, kind: str = "parallel plan") -> None:
        super().__init__([error])
        self.reader = reader
        self.kind = kind

    def __reduce__(self) -> tuple[type[OtherKindError], tuple[object, ...]]:
        return type(self), (self.errors[0], self.reader, self.kind)


def kind_of(source: Source) -> FileKind:
    """Say what a file is, by its keys.

    Raises
    ------
    ScenarioErrors
        If it has keys of both.
    """
    plan, together = _keys(source, PLAN_KEYS), _keys(source, TOGETHER_KEYS)
    alone, workload = _keys(source, ("collective",)), _keys(source, (WORKLOAD,))
    if plan and (together or alone or workload):
        message = (
            f'found both "{[*alone, *together, *workload][0]}" and "{plan[0]}"; a file is of a collective, '
            f'which "collsim run" reads, or of a parallel plan, which "{_plan_reader(source)}" reads'
        )
        raise ScenarioErrors([source.error(message, (plan[0],), key=True)])
    if workload and (together or alone):
        message = f'found both "{[*alone, *together][0]}" and "{WORKLOAD}", whose files say what is done'
        raise ScenarioErrors([source.error(message, (WORKLOAD,), key=True)])
    if together and alone:
        message = f'found both "collective" and "{together[0]}", which goes with "collectives"'
        if together[0] == "collectives":
            message = 'found both "collective" and "collectives"; one is for one, the other for several'
        raise ScenarioErrors([source.error(message, (together[0],), key=True)])
    return "plan" if plan else "workload" if workload else "together" if together else "collective"


def refuse_other(source: Source, wanted: FileKind) -> None:
    """Refuse a file of another kind, and say which command reads it.

    Raises
    ------
    OtherKindError
    """
    if _keys(source, (SWEEP,)):
        said = 'has a "sweep", which "collsim sweep" runs'
        raise OtherKindError(source.error(said, (SWEEP,), key=True), "collsim sweep", SWEEP)
    kind = kind_of(source)
    if kind == wanted:
        return
    reader = _plan_reader(source) if kind == "plan" else "collsim run"
    said = f'{KINDS[kind]}, which "{reader}" reads'
    if kind == "collective":
        what = f'has no "{LACKING[wanted]}": {said}; expected {KINDS[wanted]}'
        raise OtherKindError(source.error(what), reader)
    keys = {"together": TOGETHER_KEYS, "workload": (WORKLOAD,), "plan": PLAN_KEYS}[kind]
    key = _keys(source, keys)[0]
    what = f'has a "{key}" and no "{LACKING[wanted]}": {said}'
    raise OtherKindError(source.error(what, (key,), key=True), reader)


def _plan_reader(source: Source) -> str:
    """The command that makes most of a plan's blocks."""
    for command, keys in (("serve", ("serve",)), ("search", ("search",)), ("step", ("topology", "hardware"))):
        if len(_keys(source, keys)) == len(keys):
            return f"collsim llm {command}"
    return "collsim llm memory"


def _keys(source: Source, keys: Sequence[str]) -> list[str]:
    entries = source.root.entries if isinstance(source.root, Block) else {}
    return [key for key in keys if key in entries]
