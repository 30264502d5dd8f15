"""Schedules in the files of other tools: read, proven, and taken into a scenario."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from algorithms.formats.registry import read_schedule
from algorithms.programs.from_schedule import program_of
from algorithms.programs.proof import prove_program
from algorithms.programs.purpose import MESSAGES, Messages, Purpose
from algorithms.programs.timing import schedule_of
from simulator.scenario.blame import proving_file, schedule_path
from simulator.scenario.errors import ScenarioErrors, reading
from simulator.scenario.load import read_bytes
from simulator.scenario.models import Scenario, ScheduleFile
from topologies.formats.reading import MOST_BYTES
from topologies.text import printable

if TYPE_CHECKING:
    from algorithms.programs.program import Program
    from algorithms.schedule import Schedule
    from simulator.scenario.source import At
    from simulator.scenario.together_models import TogetherScenario

_SCHEDULE: At = ("collective", "algorithm", "schedule")


def read_program(path: Path, form: str | None = None) -> Program:
    """Program of a file.

    Parameters
    ----------
    path : pathlib.Path
    form : str, optional
        Name of its format; by default the one that it looks like.

    Raises
    ------
    ScenarioErrors
        If it cannot be read; names the file and the place.
    """
    name = str(path)
    with reading():
        return read_schedule(read_bytes(name, MOST_BYTES + 1, "a schedule"), name, form)


def proven_program(path: Path, form: str | None = None) -> Program:
    """Program of a file, proven.

    Raises
    ------
    ScenarioErrors
        As `read_program`.
    ProgramError
        If it is wrong; names the file and the line.
    """
    program = read_program(path, form)
    with proving_file(path):
        prove_program(program)
    return program


def proven_schedule(scenario: Scenario | TogetherScenario, allow_code: bool) -> Schedule:
    """Schedule of a scenario of one collective, proven.

    Raises
    ------
    ScenarioErrors
        If it has several, or the schedule cannot be built.
    ProofError
        If it does not compute its collective.
    """
    from simulator.engine.memory import Memory
    from simulator.scenario.run import build_topology, prove_of, schedule_of

    if not isinstance(scenario, Scenario):
        raise ScenarioErrors(
            [scenario.source.error("has several collectives; expected one, with its schedule")]
        )
    topology = build_topology(scenario)
    schedule = schedule_of(scenario, topology, topology.ranks, Memory(), allow_code=allow_code)
    prove_of(scenario, schedule, None)
    return schedule


def program_of_scenario(scenario: Scenario | TogetherScenario, allow_code: bool) -> tuple[Program, int]:
    """Program of a scenario's schedule, proven, and the bytes of its full vector.

    Raises
    ------
    ScenarioErrors
        If the schedule cannot be built.
    ScheduleError
        If thread blocks cannot do it; says why.
    ProofError
        If it does not compute its collective.
    """
    schedule = proven_schedule(scenario, allow_code)
    program, size = program_of(schedule), schedule.collective.size
    unsaid = unsaid_of(scenario)
    if schedule.precedence is not None:
        return replace(program, unsaid=(*program.unsaid, *unsaid)), size
    unsaid.append("steps: a rank goes on when it has what it sends")
    equal, own = (np.sort(one.sizes) for one in (program.purpose.collective(size), schedule.collective))
    if not np.array_equal(equal, own):
        unsaid.append("the sizes of its chunks: they are equal parts")
    return replace(program, unsaid=(*program.unsaid, *unsaid)), size


def unsaid_of(scenario: Scenario | TogetherScenario) -> list[str]:
    """What of a scenario no schedule says."""
    unsaid = ["the topology, and what it takes to send and to reduce"]
    return [*unsaid, "who begins late"] if scenario.delay else unsaid


def file_schedule(scenario: Scenario, own: ScheduleFile, ranks: int) -> Schedule:
    """Schedule of the file that a scenario names.

    Raises
    ------
    ScenarioErrors
        If it cannot be read, or does another collective, or for other ranks.
    ProgramError
        If it comes to a stop, or sends what holds nothing; names the file and the line.
    """
    choice = scenario.collective
    path = schedule_path(scenario, own)
    if not path.is_file():
        raise _refused(scenario, f'there is no file "{printable(own.schedule)}" beside the scenario')
    program = read_program(path, own.format)
    purpose = program.purpose
    kind = MESSAGES if isinstance(purpose, Messages) else purpose.kind
    if kind != choice.kind:
        raise _refused(scenario, f"the file does {kind}, not {choice.kind}")
    _check_size(scenario, purpose)
    if program.ranks != ranks:
        raise _refused(scenario, f"the file is for {program.ranks} ranks, the topology has {ranks}")
    if isinstance(purpose, Purpose) and choice.options.get("root", purpose.root) != purpose.root:
        message = f"collective.root: the root of the file is {purpose.root}"
        raise ScenarioErrors([scenario.source.error(message, ("collective", "root"))])
    with proving_file(path):
        return replace(schedule_of(program, choice.size), algorithm=choice.algorithm)


def _check_size(scenario: Scenario, purpose: Purpose | Messages) -> None:
    """Refuse a size where the file says how many bytes it moves, and none where it does not."""
    given = scenario.source.find(("collective", "size")) is not None
    if given and isinstance(purpose, Messages):
        message = "collective.size: the file says how many bytes it moves"
        raise ScenarioErrors([scenario.source.error(message, ("collective", "size"), key=True)])
    if not given and isinstance(purpose, Purpose):
        message = 'missing key "size" in collective'
        raise ScenarioErrors([scenario.source.error(message, ("collective",), key=True)])


def _refused(scenario: Scenario, message: str) -> ScenarioErrors:
    return ScenarioErrors([scenario.source.error(f"collective.algorithm.schedule: {message}", _SCHEDULE)])
