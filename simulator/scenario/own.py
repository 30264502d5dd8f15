"""Schedules that the catalogue does not have: a person's own function, a file, or steps written out."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from algorithms.assembly import assemble
from algorithms.collective import Collective, make_collective
from algorithms.errors import ScheduleError
from algorithms.registry import check_common, with_common
from algorithms.schedule import Lists, Step, Transfers
from simulator.scenario.code import Function, Place, blame_step, read_function, steps_of
from simulator.scenario.errors import ScenarioErrors, did_you_mean, one_of
from simulator.scenario.inline import STEPS, Transfer
from simulator.scenario.models import Code, ScheduleFile
from topologies.text import printable

if TYPE_CHECKING:
    from algorithms.schedule import Schedule
    from simulator.scenario.models import Scenario
    from simulator.scenario.source import At

ALGORITHM: At = ("collective", "algorithm")


def own_schedule(scenario: Scenario, ranks: int, *, allow_code: bool) -> Schedule:
    """Schedule of a scenario's own algorithm, file or steps.

    Parameters
    ----------
    scenario : Scenario
        One whose collective says how by itself.
    ranks : int
        N.
    allow_code : bool
        Whether the code of a Python file may be run.

    Raises
    ------
    ScenarioErrors
        With the place in the scenario or in the person's file.
    ScheduleError
        If an option of every algorithm does not fit the collective.
    """
    choice = scenario.collective
    if isinstance(choice.own, ScheduleFile):
        from simulator.scenario.schedule_file import file_schedule

        return file_schedule(scenario, choice.own, ranks)
    for option, value in choice.options.items():
        check_common(choice.kind, ranks, option, value)
    if isinstance(choice.own, Code):
        if not allow_code:
            message = f'the code of "{printable(choice.own.file)}" is run only with --allow-code'
            raise _refused(scenario, f"collective.algorithm: {message}", ALGORITHM)
        return _of_code(scenario, choice.own, ranks)
    return _of_steps(scenario, choice.own or (), ranks)


def _of_code(scenario: Scenario, code: Code, ranks: int) -> Schedule:
    """As the catalogue's builders: made for root 0 and without segments, unless the function takes them."""
    choice, given = scenario.collective, dict(scenario.collective.options)
    path = Path(scenario.source.file).parent / code.file
    if not path.is_file():
        message = f'there is no file "{printable(code.file)}" beside the scenario'
        raise _refused(scenario, f"collective.algorithm.file: {message}", (*ALGORITHM, "file"))
    function = read_function(path, code.function)
    takes = function.options
    root = given.pop("root", 0) if "root" in takes else 0
    peer = given.pop("peer", None)
    if peer is not None and "root" in given:
        peer = (peer - given["root"]) % ranks
    segments = given.pop("segments", 1) if "segments" in takes else 1
    collective = make_collective(
        choice.kind, ranks, choice.size, blocks=choice.blocks, segments=segments, root=root, peer=peer
    )
    blocks = collective.chunks // segments
    about = {"kind": choice.kind, "root": root, "peer": peer, "segments": segments, "blocks": blocks}
    options = {name: value for name, value in about.items() if name in takes}
    _check_options(scenario, code, function, options)
    places: list[Place] = []
    try:
        steps = steps_of(function, ranks, {**options, **code.options}, places)
        schedule = assemble(collective, steps, algorithm=code.function)
    except ScheduleError as error:
        raise blame_step(function, error, places) from None
    return with_common(schedule, given)


def _check_options(scenario: Scenario, code: Code, function: Function, ours: dict[str, Any]) -> None:
    """Refuse options that the function does not take, and a function that needs others."""
    kinds = {parameter.kind for parameter in function.options.values()}
    named = {
        name: parameter
        for name, parameter in function.options.items()
        if parameter.kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    }
    for name in code.options:
        at = (*ALGORITHM, "options", name)
        if name in ("kind", "root", "peer", "segments", "blocks"):
            message = f'"{name}" is the collective\'s; write it in collective'
            raise _refused(scenario, f"collective.algorithm.options: {message}", at, key=True)
        if name not in named and inspect.Parameter.VAR_KEYWORD not in kinds:
            own = [other for other in named if other not in ours]
            hint = did_you_mean(name, own) or f"; it takes {one_of(own) if own else 'none'}"
            message = f'{code.function} takes no option "{printable(name)}"{hint}'
            raise _refused(scenario, f"collective.algorithm.options: {message}", at, key=True)
    for name, parameter in named.items():
        if parameter.default is inspect.Parameter.empty and name not in (*ours, *code.options):
            message = f'{code.function} needs the option "{name}"'
            raise _refused(scenario, f"collective.algorithm: {message}", (*ALGORITHM, "options"))


def _of_steps(scenario: Scenario, steps: tuple[tuple[Transfer, ...], ...], ranks: int) -> Schedule:
    """The steps as they are written: ranks are the ranks that they name."""
    choice, given = scenario.collective, dict(scenario.collective.options)
    collective = make_collective(
        choice.kind,
        ranks,
        choice.size,
        blocks=choice.blocks,
        root=given.pop("root", 0),
        peer=given.pop("peer", None),
    )
    errors = [
        scenario.source.error(f"collective.steps: {wrong}", transfer.at, key=True)
        for step in steps
        for transfer in step
        if (wrong := _wrong(transfer, collective))
    ]
    if errors:
        raise ScenarioErrors(errors)
    try:
        schedule = assemble(collective, _groups(steps, collective.chunks), algorithm=choice.algorithm)
    except ScheduleError as error:
        place = STEPS if error.step is None else (*STEPS, error.step)
        raise _refused(scenario, f"collective.steps: {error.message}", place) from None
    return with_common(schedule, given)


def _wrong(transfer: Transfer, collective: Collective) -> str:
    """What does not fit the collective, or nothing."""
    ranks, chunks = collective.ranks, collective.chunks
    for rank in (transfer.src, transfer.dst):
        if rank >= ranks:
            return f"there is no rank {rank} among {ranks}"
    if transfer.src == transfer.dst:
        return f"rank {transfer.src} sends to itself"
    highest = max(transfer.chunks or (0,))
    return f"there is no chunk {highest} among {chunks}" if highest >= chunks else ""


def _groups(steps: tuple[tuple[Transfer, ...], ...], chunks: int) -> Iterator[Step]:
    """Steps as a generator of an algorithm yields them."""
    for step in steps:
        groups: list[Transfers] = []
        for transfer in step:
            moved = range(chunks) if transfer.chunks is None else transfer.chunks
            index = np.array(moved, dtype=np.int64)
            lists = Lists(np.array([0, len(index)]), index)
            groups.append((np.array([transfer.src]), np.array([transfer.dst]), lists, transfer.mode))
        yield groups


def _refused(scenario: Scenario, message: str, at: At, *, key: bool = False) -> ScenarioErrors:
    return ScenarioErrors([scenario.source.error(message, at, key=key)])
