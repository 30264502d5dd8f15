"""What came of a calibration: the logs read, the fit, and the topology that it is of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from algorithms.collective import COLLECTIVES
from algorithms.registry import ALGORITHMS
from simulator.scenario.answer import Answer
from simulator.scenario.calibration.fitted import MOST_PROTOCOLS, Calibration, fit_series
from simulator.scenario.calibration.held import Held, hold_out
from simulator.scenario.calibration.platform import platform_yaml
from simulator.scenario.calibration.target import Target, target_of
from simulator.scenario.errors import known
from simulator.scenario.measurements.read import read_log
from simulator.scenario.measurements.series import Series, Told
from topologies.errors import CollsimError

if TYPE_CHECKING:
    import os


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CalibrationResult(Answer):
    """What came of a calibration.

    Attributes
    ----------
    fit : Calibration
    target : Target
        The topology that it is of.
    held_out : tuple of Held
        How well a fit to half of the sizes tells the others, where that was asked for.
    notes : tuple of str
        What a person should know of how the logs were read.
    """

    fit: Calibration
    target: Target
    held_out: tuple[Held, ...]
    notes: tuple[str, ...]

    @property
    def headline(self) -> str:
        """What it is of."""
        return ", ".join(dict.fromkeys(f"{one.kind} of {one.ranks} ranks" for one in self.fit.series))

    def platform(self, size: int | None = None) -> str:
        """The fitted machine as a scenario, as `collsim calibrate --out` writes it.

        Parameters
        ----------
        size : int, optional
            M in bytes, which says by which protocol and algorithm; by default the first log's largest.

        Raises
        ------
        CollsimError
            If no log is of as many ranks as the topology.
        """
        return platform_yaml(self.fit, self.target, size)


def calibrate(
    logs: Sequence[str | os.PathLike[str]],
    *,
    algorithms: Sequence[str] | None = None,
    topology: str | None = None,
    ranks: int | None = None,
    collective: str | None = None,
    in_place: bool = False,
    protocols: int = MOST_PROTOCOLS,
    holdout: bool = False,
    beside: str | os.PathLike[str] = ".",
) -> CalibrationResult:
    """Fit alpha, beta, gamma and a start-up cost to logs of one machine.

    Parameters
    ----------
    logs : sequence of path-like
        Logs of nccl-tests, rccl-tests (text, or JSON of ``-J``) and the OSU benchmarks.
    algorithms : sequence of str, optional
        Those that may have been at work; by default all of the catalogue.
    topology : str, optional
        A kind, a preset, a scenario or another program's file; by default a crossbar.
    ranks, collective : int, str, optional
        N and what was timed, where a log does not say it.
    in_place : bool
        Fit the times in place, not those out of place.
    protocols : int
        Most protocols, each with an alpha and beta of its own.
    holdout : bool
        Fit every other size, too, and tell the error at the rest.
    beside : path-like
        The folder in which the fitted scenario will be: names of files in it are relative to it.

    Raises
    ------
    ScenarioErrors
        With the place in a log that is wrong.
    CollsimError
        If a log does not tell what is asked, or the topology or an algorithm does not exist.
    """
    if algorithms is not None:
        algorithms = [known(name, ALGORITHMS, "algorithm") for name in algorithms]
    if collective is not None:
        known(collective, COLLECTIVES, "collective")
    series, notes = _read([Path(path) for path in logs], Told(collective, ranks), in_place)
    target = target_of(topology, max(one.ranks for one in series), Path(beside))
    how: dict[str, Any] = {
        "algorithms": algorithms,
        "dims": target.dims,
        "limits": target.limits,
        "protocols": protocols,
    }
    held = hold_out(series, **how) if holdout else ()
    return CalibrationResult(fit_series(series, **how), target, held, notes)


def _read(logs: Sequence[Path], told: Told, in_place: bool) -> tuple[list[Series], tuple[str, ...]]:
    """What logs tell, in place or out of place; one that has only the other is refused."""
    series: list[Series] = []
    notes: list[str] = []
    for path in logs:
        log = read_log(path, told)
        fitting = [one for one in log.series if one.in_place == in_place]
        if not fitting:
            way = "in place" if in_place else "out of place; see --in-place"
            raise CollsimError(f"{path} has no times {way}")
        series += fitting
        notes += [f"{path}: warning: {note}" for note in log.notes]
    if not series:
        raise CollsimError("there is no log to fit")
    return series, tuple(notes)
