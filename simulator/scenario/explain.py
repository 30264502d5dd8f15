"""Why a run took that long: its critical path, its hottest links, its bounds, and what would help."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from algorithms.bandwidth_bound import EXACT
from algorithms.bounds import Bounds, TextbookBounds, textbook_bounds
from simulator.engine.critical_path import PartsByLevel, parts_by_level
from simulator.engine.path_parts import PARTS
from simulator.engine.plan import LINK
from simulator.engine.waiting import idle_times, link_waits
from simulator.scenario.answer import Answer
from simulator.scenario.gains import Gain, gains
from simulator.scenario.judge import bounds_on
from simulator.scenario.run import Result
from topologies.text import format_time

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.engine.analysis import LinkUse
    from simulator.engine.critical_path import CriticalPath
    from simulator.engine.waiting import LinkWaits
    from simulator.scenario.together_result import TogetherResult

WORTH_NAMING: Final = 1.005
"""Factor from which on a gain, or a gap, is worth a word."""

WORTH_A_WORD: Final = 0.2
"""Share of the time from which on a part is."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Explanation(Answer):
    """What made the time of a result.

    Attributes
    ----------
    result : Result or TogetherResult
    path : CriticalPath
    parts : PartsByLevel
        fs of each part of the path on the links of each level, and at the ranks.
    use : LinkUse
    waits : LinkWaits
    idle : ndarray of int64, shape (ranks,)
        fs for which each rank did nothing.
    bounds : Bounds or None
        Seconds, however long it took to find them; None for several collectives.
    textbook : TextbookBounds or None
        Seconds, at the fastest link's bandwidth and the least alpha; None for several collectives.
    gains : tuple of Gain
        Empty where nothing was run again.
    """

    result: Result | TogetherResult
    path: CriticalPath
    parts: PartsByLevel
    use: LinkUse
    waits: LinkWaits
    idle: NDArray[np.int64]
    bounds: Bounds | None
    textbook: TextbookBounds | None
    gains: tuple[Gain, ...]

    @property
    def headline(self) -> str:
        """What it is of, and what came of it."""
        return self.result.headline

    @property
    def hottest(self) -> NDArray[np.int64]:
        """Links that carried something, the busiest first; of equally busy ones those with more bytes."""
        order = np.lexsort((-self.use.bytes, -self.use.busy))
        return order[self.use.bytes[order] > 0]

    @property
    def gap(self) -> float | None:
        """Simulated time over the best lower bound; None where there is none."""
        return None if self.bounds is None or not self.bounds.best else self.result.time / self.bounds.best

    @property
    def sentence(self) -> str:
        """What holds the time back, and what would help."""
        if not self.path.time:
            return "Nothing takes any time."
        return "; ".join(filter(None, (self._where(), self._what_helps(), self._what_is_left()))) + "."

    def _where(self) -> str:
        totals, time = self.path.totals(), self.path.time
        most = sorted(PARTS, key=lambda part: -totals[part])
        worth = [part for part in most if totals[part] >= WORTH_A_WORD * time] or most[:1]
        spent = ", ".join(f"{totals[part] / time:.0%} {part}{self._on_level(part)}" for part in worth)
        return f"{format_time(self.result.time, 4)} is {spent}"

    def _on_level(self, part: str) -> str:
        """The level on whose links most of a part is, and the link in whose queue the path stands longest."""
        found: list[str] = []
        levels, total = self.parts.levels, self.path.totals()[part]
        if len(levels) > 1 and 2 * self.parts.ranks[part] < total:
            level = max(levels, key=lambda name: levels[name][part])
            found.append(f"{levels[level][part] / total:.0%} of it on {level} links")
        if part == "queueing":
            found += self._longest_queue()
        return f" ({', '.join(found)})" if found else ""

    def _longest_queue(self) -> list[str]:
        resources = self.result.timeline.plan.resources
        some = self.path.part == PARTS.index("queueing")
        wait = np.zeros(len(resources), dtype=np.int64)
        np.add.at(wait, self.path.resource[some], (self.path.end - self.path.begin)[some])
        worst = int(wait.argmax())
        if resources.kind[worst] != LINK or self.result_is_one_rank:
            return []
        link = int(resources.which[worst])
        busy = int(self.use.busy[link]) / self.result.timeline.time
        name, span = self.result.topology.link_name(link), "the time"
        if self.result.timeline.time > self.path.time:
            # of several collectives, background messages may go on
            span = f"the {format_time(self.result.timeline.seconds, 4)} until everything has ended"
        return [f"most of all for {name}, which is in use {busy:.0%} of {span}"]

    @property
    def result_is_one_rank(self) -> bool:
        """Whether rank 0 stands for all, so that links are orbits."""
        return isinstance(self.result, Result) and self.result.symmetry is not None

    def _what_helps(self) -> str:
        if not self.gains:
            return ""
        single = [gain for gain in self.gains if gain.factor >= WORTH_NAMING]
        if not single:
            return "no parameter alone would help by much"
        # of equal ones the last: a level rather than all of them
        best = max(reversed(single), key=lambda gain: gain.factor)
        verb = "halving" if best.halved else "doubling"
        return f"{verb} {best.parameter} would make it {best.factor:.3g} times as fast"

    def _what_is_left(self) -> str:
        bounds, gap = self.bounds, self.gap
        if bounds is None or gap is None:
            return ""
        if gap < WORTH_NAMING:
            return f"no algorithm can do better: it is at the {bounds.binds} bound{self._cut()}"
        least = f"the {bounds.binds} bound is {format_time(bounds.best, 4)}{self._cut()}"
        return f"no algorithm can be more than {gap:.3g} times as fast ({least})"

    def _cut(self) -> str:
        if self.bounds is None or self.bounds.binds != "bandwidth" or self.bounds.cut is None:
            return ""
        return f": {self.bounds.cut.text()}"


def explain(
    result: Result | TogetherResult,
    report: Callable[[int, int], None] | None = None,
    *,
    brief: bool = False,
) -> Explanation:
    """Find out why a result took that long.

    Parameters
    ----------
    result : Result or TogetherResult
    report : callable, optional
        Told (done, of how many) while the plan is run again.
    brief : bool
        Leave out what takes long: runs with other parameters, and the search for higher bounds.
    """
    timeline, topology = result.timeline, result.topology
    path = result.critical_path
    return Explanation(
        result=result,
        path=path,
        parts=parts_by_level(path, timeline, topology),
        use=result.link_use,
        waits=link_waits(timeline),
        idle=idle_times(timeline, topology),
        bounds=_bounds(result, brief=brief) if isinstance(result, Result) else None,
        textbook=_textbook(result) if isinstance(result, Result) else None,
        gains=() if brief else gains(result, report),
    )


def _bounds(result: Result, *, brief: bool) -> Bounds:
    """The result's bounds, or where these were not looked for to the end, what is found there."""
    if brief or result.symmetry is not None or result.bounds.how == EXACT:
        return result.bounds
    place = np.array(result.placement, dtype=np.int64)
    return bounds_on(result.scenario, result.topology, result.schedule, place, effort="full")


def _textbook(result: Result) -> TextbookBounds:
    """The first seed's bounds at the best that a link and a rank of this topology have."""
    links, ranks = result.topology.links, result.topology.ranks
    collective = result.schedule.collective
    if not len(links):
        return TextbookBounds(0.0, 0.0)
    ports = int(max(np.bincount(links.src)[:ranks].max(), np.bincount(links.dst)[:ranks].max()))
    alpha = float((links.latency + links.overhead).min())
    return textbook_bounds(
        collective.kind, collective.ranks, collective.size, alpha, float(links.bandwidth.max()), ports
    )
