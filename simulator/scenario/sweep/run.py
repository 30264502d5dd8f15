"""Running a sweep: its points in batches, in as many processes as there may be."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from simulator.pool import processes
from simulator.scenario.digest import version
from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.run import Report, silent
from simulator.scenario.sweep.outcome import Outcome
from simulator.scenario.sweep.points import Point, SweepScenario
from simulator.scenario.sweep.read import fields_of, read_sweep
from simulator.scenario.sweep.result import Row, Sweep
from simulator.scenario.sweep.store import STORE, Store, open_store
from simulator.scenario.sweep.work import Setting, Worked, key_of, one_line, run_batch

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

    from simulator.scenario.plan_load import AnyScenario
    from simulator.scenario.sweep.models import How

    Crew: TypeAlias = AbstractContextManager[tuple[Executor, int]]

BATCH_SECONDS: Final = 1.0
"""What a batch should take: so much is lost at most when a sweep is killed."""

MOST_IN_BATCH: Final = 64

MANY_SECONDS: Final = 5.0
"""Work for each worker that is worth loading numba, which takes half a second or more."""

AHEAD: Final = 2
"""Batches that each worker has or is about to have."""

SIZE: Final = "collective.size"
"""Points that differ in nothing else are alike, so that they run one after the other."""


def sweep(
    scenario: SweepScenario | AnyScenario | str | os.PathLike[str],
    vary: Mapping[str, Any] | None = None,
    *,
    how: How | None = None,
    seeds: int | Sequence[int] | None = None,
    points: int | None = None,
    workers: int = 1,
    out: str | os.PathLike[str] | None = None,
    verify: bool | None = None,
    report: Report | None = None,
    allow_code: bool = False,
    memory_limit: int | None = None,
    crew: Crew | None = None,
) -> Sweep:
    """Run a scenario at every point of a sweep.

    Parameters
    ----------
    scenario : Scenario, TogetherScenario, PlanScenario, or path
        As its file says it, with a block `sweep` or without.
    vary : mapping of str to values, optional
        By path of a field, as in the block: ``{"collective.size": "1KiB..1GiB", "topology.ranks": [8, 16]}``.
        A field of the block is replaced, others come after those of the block.
    how : {'grid', 'zip'}, optional
    seeds : int or sequence of int, optional
    points : int, optional
        Of ranges that do not say how many.
    workers : int
        Processes.
    out : path, optional
        A folder that keeps what is found as soon as it is, and gets sweep.csv, .json, .parquet, .png and
        .svg; begun again, the sweep goes on where it was.
    verify, allow_code, memory_limit
        As of `run`.
    report : callable, optional
        Told (stage, points done, of how many).
    crew : context manager of an executor and how many work in it, optional
        In place of processes of this machine.

    Raises
    ------
    ScenarioErrors
        If the sweep is wrong. A point that is wrong is a row with its error.
    CollsimError
        If what is found cannot be kept, or a process dies.

    Examples
    --------
    >>> from simulator.scenario.load import loads
    >>> scenario = loads('''topology: {kind: ring, ranks: 4, bandwidth: 1 GB/s}
    ... collective: {kind: allgather, algorithm: ring, size: 1 kB}''')
    >>> found = sweep(scenario, {"collective.size": ["1 kB", "2 kB"]})
    >>> found.columns["time"].tolist()
    [7.5e-07, 1.5e-06]
    """
    asked = scenario
    if not isinstance(asked, SweepScenario):
        asked = read_sweep(asked, fields_of(vary or {}), how=how, seeds=seeds, points=points)
    folder = None if out is None else Path(out)
    setting = Setting(verify, allow_code, memory_limit, version(), asked.origin)
    found = _found(asked, setting, folder, crew or local(workers), report)
    if folder is not None:
        from simulator.scenario.sweep.output import write_sweep

        write_sweep(found, folder)
    return found


def sweep_again(
    asked: SweepScenario,
    folder: Path | None,
    *,
    report: Report | None = None,
    allow_code: bool = False,
    memory_limit: int | None = None,
) -> Sweep:
    """What a folder holds of a sweep, whose files are left as they are; points that it lacks are run.

    Parameters
    ----------
    asked : SweepScenario
    folder : Path or None
        As `sweep` has written it; None runs every point.
    report, allow_code, memory_limit
        As of `sweep`.

    Raises
    ------
    CollsimError
        If what the folder holds cannot be read, or what it lacks not be kept.
    """
    setting = Setting(None, allow_code, memory_limit, version(), asked.origin)
    known = None if folder is None or not (folder / STORE).is_file() else folder
    return _found(asked, setting, known, local(1), report)


def _found(
    asked: SweepScenario, setting: Setting, folder: Path | None, crew: Crew, report: Report | None
) -> Sweep:
    """Run what a folder does not hold yet."""
    with crew as (executor, number), open_store(folder) as store:
        return _Run(asked, setting, store, executor, number, report or silent).sweep()


@contextmanager
def local(workers: int) -> Iterator[tuple[Executor, int]]:
    """So many processes of this machine."""
    with processes(workers) as executor:
        yield executor, workers


@dataclass(slots=True, eq=False)
class _Run:
    """A sweep under way.

    Attributes
    ----------
    scenario, setting, store, executor, workers, report
        As of `sweep`.
    keys : dict of int to str
        Of the points that could be read.
    wrong : dict of int to str
        The errors of the others.
    running : dict of Future to list of str
        Keys of the batches that are not there yet.
    handed : dict of str to None
        Keys that were looked at, in their order.
    pace : float or None
        Seconds that a point took last.
    """

    scenario: SweepScenario
    setting: Setting
    store: Store
    executor: Executor
    workers: int
    report: Report
    keys: dict[int, str] = field(default_factory=dict)
    wrong: dict[int, str] = field(default_factory=dict)
    running: dict[Future[Worked], list[str]] = field(default_factory=dict)
    handed: dict[str, None] = field(default_factory=dict)
    pace: float | None = None

    def sweep(self) -> Sweep:
        """Run what is not known yet."""
        points = self.scenario.points()
        try:
            self._run_all(points)
        except BaseException:
            self._save()
            raise
        outcomes = self.store.outcomes(list(self.handed))
        return Sweep(self.scenario, tuple(self._row(point, outcomes) for point in points))

    def _run_all(self, points: Sequence[Point]) -> None:
        batch: list[tuple[str, AnyScenario]] = []
        for number, point in enumerate(alike(self.scenario, points)):
            found = self._read(point)
            if found is not None and found[0] not in self.handed:
                self.handed[found[0]] = None
                batch.append(found)
            left = len(points) - number
            if len(batch) >= self._size(left):
                self._submit(batch, left)
                batch = []
            waiting = len(batch) + sum(map(len, self.running.values()))
            self.report("points", number + 1 - waiting, len(points))
        self._submit(batch, len(batch))
        while self.running:
            self._collect()
            self.report("points", len(points) - sum(map(len, self.running.values())), len(points))

    def _read(self, point: Point) -> tuple[str, AnyScenario] | None:
        """A point's key and scenario; None where it is wrong."""
        try:
            scenario = self.scenario.read(point)
        except ScenarioErrors as error:
            self.wrong[point.number] = one_line(error, self.setting.origin)
            return None
        key = self.keys[point.number] = key_of(scenario, self.setting)
        return key, scenario

    def _size(self, left: int) -> int:
        """How many points make a batch: fewer towards the end, so that all workers end together."""
        if self.pace is None:
            return 1
        return max(1, min(int(BATCH_SECONDS / self.pace), left // (2 * AHEAD * self.workers), MOST_IN_BATCH))

    def _submit(self, batch: Sequence[tuple[str, AnyScenario]], left: int) -> None:
        """Hand out what is not known, by then perhaps from another process that writes to the same file."""
        while len(self.running) >= AHEAD * self.workers:
            self._collect()
        done = self.store.done([key for key, _ in batch])
        asked = [(key, scenario) for key, scenario in batch if key not in done]
        if asked:
            scenarios = [scenario for _, scenario in asked]
            many = (self.pace or 0) * left > MANY_SECONDS * self.workers
            future = self.executor.submit(run_batch, self.setting, scenarios, many)
            self.running[future] = [key for key, _ in asked]

    def _collect(self) -> None:
        """Write down what has come, once something has."""
        done, _ = wait(self.running, return_when=FIRST_COMPLETED)
        for future in done:
            worked, keys = future.result(), self.running[future]
            self.store.keep(zip(keys, worked.outcomes, strict=True))
            self.pace = max(worked.seconds / len(keys), 1e-4)
            del self.running[future]

    def _save(self) -> None:
        """Write down what has come when the sweep ends early."""
        for future, keys in self.running.items():
            if future.done() and not future.cancelled() and future.exception() is None:
                self.store.keep(zip(keys, future.result().outcomes, strict=True))

    def _row(self, point: Point, outcomes: Mapping[str, Outcome]) -> Row:
        if point.number in self.wrong:
            return Row(point, {}, error=self.wrong[point.number])
        outcome = outcomes[self.keys[point.number]]
        return Row(point, outcome.fields, outcome.warnings, outcome.error)


def alike(scenario: SweepScenario, points: Sequence[Point]) -> Iterator[Point]:
    """The points in an order in which those that differ only in their size follow each other."""
    kinds: dict[tuple[str, ...], list[Point]] = {}
    for point in points:
        pairs = zip(scenario.axes, point.chosen, strict=True)
        kinds.setdefault(tuple(one.text for axis, one in pairs if axis.name != SIZE), []).append(point)
    for ones in kinds.values():
        yield from ones
