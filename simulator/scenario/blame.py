"""Errors of the rooms below, at their place in a scenario's file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from algorithms.errors import ProofError, ScheduleError
from algorithms.programs.errors import ProgramError
from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.models import Scenario, ScheduleFile
from topologies.errors import CollsimError, TopologyError

if TYPE_CHECKING:
    from simulator.scenario.source import Source


@contextmanager
def placed(source: Source, *block: str | int) -> Iterator[None]:
    """Give an error its place in a scenario's file, but one of a proof, which has its own.

    Parameters
    ----------
    source : Source
    *block : str or int
        Path of the block that its own path is below; by default it says which block by itself.

    Raises
    ------
    ScenarioErrors, ProofError
    """
    try:
        yield
    except CollsimError as error:
        if isinstance(error, (ScenarioErrors, ProofError)):
            raise
        at = (*block, *error.at) if block else _blame(error)
        # a rank that is not there is wrong as a key, not for its delay or its reducer
        as_key = at[:1] == ("delay",) or at[:2] == ("reduction", "ranks")
        raise ScenarioErrors([source.error(error.message, at, key=as_key)]) from None


@contextmanager
def proving(source: Source, what: str = "the proof") -> Iterator[None]:
    """Have a proof that fails name the scenario's file, and one that is too large its place there.

    Raises
    ------
    ProofError, ScenarioErrors
    """
    try:
        yield
    except ProofError as error:
        message = f"{source.file}: {what} failed: {error.message}"
        raise ProofError(message, step=error.step, rank=error.rank, chunk=error.chunk) from None
    except ScheduleError as error:
        raise ScenarioErrors([source.error(error.message, error.at)]) from None


def _blame(error: CollsimError) -> tuple[str | int, ...]:
    """Path in the file of what made the parts not fit each other."""
    if error.at and error.at[0] in ("placement", "direct_links_only", "routes", "buffers"):
        return ("network", *error.at)
    if error.at and error.at[0] == "ranks":
        return ("collective", *error.at)
    return error.at or ("topology" if isinstance(error, TopologyError) else "collective",)


@contextmanager
def proving_file(path: Path) -> Iterator[None]:
    """Have a proof that fails name the file and the line.

    Raises
    ------
    ProgramError
    """
    try:
        yield
    except ProgramError as error:
        place = f"{path}:{error.line}" if error.line else str(path)
        where = {"step": error.step, "rank": error.rank, "chunk": error.chunk}
        raise ProgramError(f"{place}: {error.message}", error.line, **where) from None


def proving_own(scenario: Scenario) -> AbstractContextManager[None]:
    """Have a proof of a scenario's schedule name the file that it is in, where it is in one."""
    own = scenario.collective.own
    return proving_file(schedule_path(scenario, own)) if isinstance(own, ScheduleFile) else nullcontext()


def schedule_path(scenario: Scenario, own: ScheduleFile) -> Path:
    """Where the file of a scenario's schedule is."""
    return Path(scenario.source.file).parent / own.schedule
