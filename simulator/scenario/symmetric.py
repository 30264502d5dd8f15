"""Scenarios that look the same from every rank: found out, proven and judged by rank 0 alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from algorithms.registry import ALGORITHMS, representative, totals
from algorithms.symmetric_costs import symmetric_bounds, symmetric_platforms
from algorithms.symmetry import prove_by_symmetry
from simulator.engine.analysis import LinkUse
from simulator.engine.network import Network
from simulator.engine.plan import LINK
from simulator.scenario.blame import proving
from simulator.scenario.defaults import options_on
from simulator.scenario.judge import closed_time
from topologies.orbits import symmetric_topology

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from algorithms.bounds import Bounds
    from algorithms.representative import Representative
    from simulator.engine.plan import Plan
    from simulator.scenario.models import Scenario, TopologyChoice
    from topologies.orbits import SymmetricTopology
    from topologies.topology import Topology

WORTH_IT: Final = 1 << 20
"""Transfers of all ranks from which on one stands for all; fewer are soon run as they are."""


@dataclass(frozen=True, slots=True, eq=False)
class Symmetry:
    """Rank 0's part in a scenario, which stands for everybody's.

    Attributes
    ----------
    one : Representative
    seen : SymmetricTopology
    options : mapping
        Of the algorithm, those from the topology among them.
    """

    one: Representative
    seen: SymmetricTopology
    options: Mapping[str, Any]

    def bounds(self, scenario: Scenario) -> Bounds:
        """Lower bounds of the collective."""
        return symmetric_bounds(
            self.one,
            self.seen,
            model=scenario.network.model,
            reduction=None if scenario.reduction is None else scenario.reduction.bandwidth,
            messages=self._on_a_link(),
        )

    def _on_a_link(self) -> dict[int, int]:
        """How many messages of each size hold any one link at most: the images of rank 0's, at every hop."""
        sizes, count = np.unique(self.one.schedule.sizes(), return_counts=True)
        hops = self.seen.shape.farthest
        return {size: hops * times for size, times in zip(sizes.tolist(), count.tolist(), strict=True)}

    def analytic(self, scenario: Scenario) -> float | None:
        """The closed form in s; None where the algorithm has none, or there is no one alpha and beta."""
        choice, reduction = scenario.collective, scenario.reduction
        if not ALGORITHMS[choice.algorithm].ideal:
            return None
        rate, mode = (reduction.bandwidth, reduction.mode) if reduction else (None, None)
        priced = symmetric_platforms(self.seen, scenario.network.model, rate, mode or "after")
        return closed_time(choice, self.one.ranks, self.options, priced)

    def prove(self, scenario: Scenario) -> None:
        """Prove one chunk of each orbit.

        Raises
        ------
        ProofError
            Names the file.
        """
        with proving(scenario.source):
            prove_by_symmetry(self.one)

    def caution(self) -> str:
        """What a person should know of the files of such a result."""
        return (
            f"all {self.one.ranks:,} ranks do the same, so that rank 0 was run for all; timeline.csv has its "
            "transfers and the picture its links (symmetry: none runs every rank)"
        )

    def busiest(self, use: LinkUse, number: int) -> list[tuple[Hashable, Hashable, int]]:
        """Ends and orbits of the links that are busy for longest, and of equally busy ones the first."""
        group, ranks = self.one.group, range(self.one.ranks)

        def links() -> Iterator[tuple[Hashable, Hashable, int]]:
            for busy in np.unique(use.busy)[::-1].tolist():
                alike = np.flatnonzero(use.busy == busy)
                # links stand in the order of their sources, the switch last
                if self.seen.through_switch:
                    places = ((rank, orbit) for orbit in alike.tolist() for rank in ranks)
                else:
                    places = ((rank, orbit) for rank in ranks for orbit in self._preferred(alike, rank))
                yield from ((*self.seen.link_ends(group, orbit, rank), orbit) for rank, orbit in places)

        return list(islice(links(), number))

    def everywhere(self, use: LinkUse, whole: Topology) -> LinkUse:
        """Use of every link of the whole topology: each does what the link of its orbit does.

        Parameters
        ----------
        use : LinkUse
            Of the links around rank 0.
        whole : Topology
            What this stands for.
        """
        src, dst = whole.links.src.astype(np.int64), whole.links.dst.astype(np.int64)
        if self.seen.through_switch:
            orbit = (src >= self.one.ranks).astype(np.int64)
        else:
            of_end = np.zeros(self.one.ranks, dtype=np.int64)
            of_end[self.seen.shape.ends] = np.arange(self.seen.orbits)
            orbit = of_end[self.one.group.subtract(dst, src)]
        return LinkUse(use.bytes[orbit], use.busy[orbit])

    def _preferred(self, orbits: NDArray[np.int64], rank: int) -> list[int]:
        """Orbits in the order in which the links of a rank stand: in a mesh it is that of rotations."""
        if self.seen.group is None:
            there = self.one.group.add(np.full(len(orbits), rank), self.seen.shape.ends[orbits])
            orbits = orbits[np.argsort((there - rank) % self.one.ranks)]
        return list(map(int, orbits))

    def hop_names(self, plan: Plan) -> Iterator[str]:
        """What rank 0's transfers hold, hop by hop: the links on their ways, and the reducers there."""
        walked, offsets = plan.resource.tolist(), plan.hop_offset.tolist()
        for operation, transfer in enumerate(plan.transfer.tolist()):
            here: Any = 0
            for resource in walked[offsets[operation] : offsets[operation + 1]]:
                dst = int(self.one.schedule.dst[transfer])
                if plan.resources.kind[resource] != LINK:
                    yield f"rank {dst} reduces"
                    continue
                ends = self.seen.link_ends(self.one.group, resource, here)
                here = dst if self.seen.through_switch else ends[1]
                yield f"{ends[0]}->{ends[1]}"


def find_symmetry(scenario: Scenario) -> Symmetry | None:
    """Rank 0's part, where a large scenario looks the same from every rank.

    Raises
    ------
    ScheduleError
        If the algorithm does not fit the collective, N or an option.
    """
    choice = scenario.collective
    if not _is_plain(scenario) or choice.own is not None:
        return None
    if ALGORITHMS[choice.algorithm].representative is None:
        return None
    seen = _seen(scenario.topology)
    if seen is None:
        return None
    options = options_on(scenario, seen.around_rank_0())
    whole = totals(choice.algorithm, choice.kind, seen.ranks, **options)
    if whole is None or whole.messages < WORTH_IT:
        return None
    one = representative(choice.algorithm, choice.kind, seen.ranks, choice.size, **options)
    return Symmetry(one, seen, options) if one is not None and seen.moved_by(one.group) else None


def looks_alike(topology: TopologyChoice) -> bool:
    """Whether a topology looks the same from every rank."""
    return _seen(topology) is not None


def _seen(topology: TopologyChoice) -> SymmetricTopology | None:
    """What rank 0 sees of it, where that is the same from everywhere."""
    return None if topology.overrides else symmetric_topology(topology.kind, topology.parameters)


def _is_plain(scenario: Scenario) -> bool:
    """Whether the network treats all ranks alike, message by message, and nobody asks for more of a proof."""
    network, reduction = scenario.network, scenario.reduction
    plain = replace(Network(), sync=network.sync, direct_links_only=network.direct_links_only)
    return (
        scenario.symmetry == "auto"
        and scenario.verify in (None, "no")
        and network in (plain, replace(plain, model="cut_through"))
        and not scenario.delay
        and (reduction is None or not reduction.ranks)
    )
