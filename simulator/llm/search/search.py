"""The search: sift all plans, then simulate those that may be among the best."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from simulator.llm.fit import sequence_of
from simulator.llm.plan import Parallel
from simulator.llm.search.front import Costs, dominates, front
from simulator.llm.search.rating import Rating, rate
from simulator.llm.search.sift import Dropped, Kept, sift
from simulator.llm.search.space import Degrees, Space, degrees_of
from simulator.llm.step.flops import StepFlops, step_flops
from simulator.llm.step.kernels import Work
from simulator.llm.step.roofline import duration
from simulator.pool import processes

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

    from simulator.llm.step.report_setting import Setting

Report: TypeAlias = "Callable[[str, int, int], None]"

AHEAD: Final = 32
"""A plan is held against those that stand at least so many before it, whoever has finished first."""

TOGETHER: Final = 8
"""Plans that a process sifts at a time."""


@dataclass(frozen=True, slots=True)
class Row:
    """A plan that was simulated.

    Attributes
    ----------
    kept : Kept
    rating : Rating
    best : bool
        Whether no other has less of time, memory and traffic (the Pareto front).
    """

    kept: Kept
    rating: Rating
    best: bool = False

    @property
    def exposed(self) -> int:
        """Fs that the step would be shorter if no communication took time."""
        return self.rating.time - self.rating.free

    @property
    def costs(self) -> Costs:
        """Time, memory and traffic."""
        return self.rating.time, self.kept.memory, self.kept.traffic


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What came of a search.

    Attributes
    ----------
    tried : int
        Plans in all.
    rows : tuple of Row
        Simulated, the fastest first; ties by memory, then traffic.
    failed : tuple of Row
        Those that could not be simulated, as they were tried.
    dropped : tuple of Dropped
    pruned : int
        Plans that could be neither among the `top` fastest nor on the Pareto front.
    left_out : int
        Plans that were too many for `most`.
    top : int
    flops : StepFlops
        Of any of the plans; the hardware's are those of one rank that does it all.
    """

    tried: int
    rows: tuple[Row, ...]
    failed: tuple[Row, ...]
    dropped: tuple[Dropped, ...]
    pruned: int
    left_out: int
    top: int
    flops: StepFlops


class Memo(Protocol):
    """What is known of plans from before, and what keeps more."""

    def find(self, degrees: Degrees) -> Rating | None:
        """What came of a plan before."""

    def keep(self, degrees: Degrees, rating: Rating) -> None:
        """Be told of a plan as soon as it has been simulated."""


def search(
    base: Setting,
    space: Space,
    *,
    top: int = 10,
    prune: bool = True,
    workers: int = 1,
    memo: Memo | None = None,
    report: Report | None = None,
) -> Found:
    """Rank all plans of a space by the time of their simulated steps.

    What comes of it does not depend on the number of workers.

    Parameters
    ----------
    base : Setting
        Whose parallel plan says what is not varied; on a topology of as many ranks as plans have.
    space : Space
    top : int
        How many of the fastest are asked for.
    prune : bool
        Leave out plans whose least time shows that they are neither among these nor on the Pareto front.
    workers : int
        Processes.
    memo : Memo, optional
        What is known, and who is told of more.
    report : callable, optional
        Called now and then with (what is done, how much of it, of how much).

    Raises
    ------
    ModelError
        If no plan of the space has as many ranks, or the hardware does not say how fast it is.
    CollsimError
        If a process dies.
    """
    asked, topology = base.asked, base.fabric.topology
    duration(Work(), base.machine.hardware, base.machine.efficiency)
    machine = topology.dims[0] if len(topology.dims) > 1 else topology.ranks
    length = sequence_of(asked.model, asked.batch)
    plans = degrees_of(space, topology.ranks, machine, asked.model, length, asked.memory)
    tell = report or _silent
    with processes(workers) as pool:
        sifted = _sifted(base, plans, pool, tell)
        kept = sorted((one for one in sifted if isinstance(one, Kept)), key=_promise)
        chosen = kept[: space.most]
        ratings = _Simulated(base, chosen, pool, memo, tell, top if prune else None).ratings()
    pairs = [(one, rating) for one, rating in zip(chosen, ratings, strict=True) if rating is not None]
    return Found(
        len(plans),
        _ranked([Row(one, rating) for one, rating in pairs if not rating.error]),
        tuple(Row(one, rating) for one, rating in pairs if rating.error),
        tuple(one for one in sifted if isinstance(one, Dropped)),
        len(chosen) - len(pairs),
        len(kept) - len(chosen),
        top,
        _flops(base),
    )


def _silent(_what: str, _done: int, _total: int) -> None:
    """Report to nobody."""


def _promise(kept: Kept) -> tuple[int, int, int]:
    """What promises to be fast comes first."""
    return kept.least.time, kept.memory, kept.traffic


def _sifted(base: Setting, plans: Sequence[Degrees], pool: Executor, report: Report) -> list[Kept | Dropped]:
    parts = [tuple(plans[start : start + TOGETHER]) for start in range(0, len(plans), TOGETHER)]
    found: list[Kept | Dropped] = []
    for future in [pool.submit(sift, base, part) for part in parts]:
        found += future.result()
        report("lay out", len(found), len(plans))
    return found


def _ranked(rows: Sequence[Row]) -> tuple[Row, ...]:
    best = front([row.costs for row in rows])
    flagged = [replace(row, best=flag) for row, flag in zip(rows, best, strict=True)]
    return tuple(sorted(flagged, key=lambda row: row.costs))


def _flops(base: Setting) -> StepFlops:
    alone = replace(base.asked, parallel=Parallel(), batch=replace(base.asked.batch, micro=1))
    return replace(step_flops(alone, base.work), ranks=base.fabric.topology.ranks)


@dataclass(slots=True, eq=False)
class _Simulated:
    """Plans that are simulated in order of their promise, but for those that have lost by then.

    Attributes
    ----------
    base, plans, pool, memo, report
        As of `search`.
    top : int or None
        None simulates all.
    found, running
        Ratings by number of the plan, and the numbers of those that are not there yet.
    times : list of int
        fs, in order, of the plans that others are held against.
    leaders : list of Costs
        The front of these.
    lost : int
        Plans that were not simulated.
    """

    base: Setting
    plans: Sequence[Kept]
    pool: Executor
    memo: Memo | None
    report: Report
    top: int | None
    found: dict[int, Rating] = field(default_factory=dict)
    running: dict[Future[Rating], int] = field(default_factory=dict)
    times: list[int] = field(default_factory=list)
    leaders: list[Costs] = field(default_factory=list)
    lost: int = 0

    def ratings(self) -> list[Rating | None]:
        """Rating of each plan; None where it has lost."""
        for number, plan in enumerate(self.plans):
            self._settle(number - AHEAD)
            if self._has_lost(plan):
                self.lost += 1
                continue
            known = None if self.memo is None else self.memo.find(plan.degrees)
            if known is not None:
                self.found[number] = known
            else:
                self.running[self.pool.submit(rate, self.base, plan)] = number
        self._wait_for(len(self.plans))
        return [self.found.get(number) for number in range(len(self.plans))]

    def _wait_for(self, last: int) -> None:
        """Wait until all plans up to one have been simulated."""
        while any(number <= last for number in self.running.values()):
            done, _ = wait(self.running, return_when=FIRST_COMPLETED)
            for future in done:
                number = self.running.pop(future)
                self.found[number] = future.result()
                if self.memo is not None:
                    self.memo.keep(self.plans[number].degrees, self.found[number])
            self.report("simulate plans", len(self.found) + self.lost, len(self.plans))

    def _settle(self, number: int) -> None:
        """Hold all that follow against a plan, too, once it has been simulated."""
        self._wait_for(number)
        rating = self.found.get(number)
        if rating is None or rating.error:
            return
        insort(self.times, rating.time)
        costs = (rating.time, self.plans[number].memory, self.plans[number].traffic)
        if not any(dominates(leader, costs) for leader in self.leaders):
            self.leaders = [one for one in self.leaders if not dominates(costs, one)] + [costs]

    def _has_lost(self, plan: Kept) -> bool:
        """Whether plans well before one show that it is neither among the fastest nor on the front."""
        if self.top is None:
            return False
        least = (plan.least.time, plan.memory, plan.traffic)
        faster = bisect_left(self.times, least[0])
        return faster >= self.top and any(dominates(leader, least) for leader in self.leaders)
