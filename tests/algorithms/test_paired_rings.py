"""Two rings whose ranks are paired: who sends what, counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from algorithms import ScheduleError, build, count, prove
from algorithms.schedule import COPY, REDUCE
from simulator.engine.engines import simulate
from simulator.engine.network import Network
from simulator.scenario.load import loads
from simulator.scenario.run import run
from topologies import torus
from topologies.errors import CollsimError

M = 8 * 720_720


def test_every_even_number_of_ranks_is_proven_in_n_steps() -> None:
    for ranks in (2, 4, 6, 10, 16, 24, 50, 98):
        schedule = build("paired_rings", "allreduce", ranks, 1001)
        prove(schedule)
        assert schedule.fallback is None
        # N/2 - 1 round the rings, two across the pair, N/2 - 1 round the rings; two ranks exchange once
        assert schedule.steps == (ranks if ranks > 2 else 1)
        counts = count(build("paired_rings", "allreduce", ranks, M * ranks))
        # as little as an AllReduce can: 2 (N - 1)/N M, half of it summed
        assert counts.bytes_sent_max == 2 * (ranks - 1) * M
        assert counts.bytes_reduced_max == ((ranks - 1) * M if ranks > 2 else 2 * M)


def test_an_odd_number_of_ranks_takes_the_bidirectional_ring() -> None:
    for ranks in (3, 7):
        schedule = build("paired_rings", "allreduce", ranks, 1001)
        prove(schedule)
        assert schedule.fallback == "bidirectional_ring"


def test_it_does_an_allreduce_and_nothing_else() -> None:
    with pytest.raises(ScheduleError, match='"paired_rings" does no allgather'):
        build("paired_rings", "allgather", 8)


def test_eight_ranks_step_by_step() -> None:
    schedule = build("paired_rings", "allreduce", 8, M)
    sizes = schedule.sizes()
    for step in range(8):
        own = (schedule.step == step) & (schedule.src == 1)
        across = step in (3, 4)
        # round: to either neighbour M/8; across: half as much to the pair in each lane
        assert schedule.dst[own].tolist() == ([5, 5] if across else [2, 0])
        assert set(sizes[own].tolist()) == {M // 16 if across else M // 8}
        assert set(schedule.mode[own].tolist()) == {REDUCE if step < 4 else COPY}


def test_two_links_of_a_pair_are_worth_a_block() -> None:
    """(N - 2) M/N round the rings, and M/N across two links or twice as much across one."""
    schedule = build("paired_rings", "allreduce", 8, M)
    block = M // 8 * 1_000_000  # fs at 1 GB/s
    for links, blocks in (("two_links", 7), ("one_link", 8)):
        topology = torus((4, 2), 1e9, size_two=links)  # type: ignore[arg-type]
        network = Network(routing="spray", direct_links_only=True)
        timeline = simulate(schedule, topology, network)
        assert timeline.time == blocks * block
        assert np.unique(timeline.plan.resource).size == len(topology.links)


def test_the_public_box_has_no_links_for_it() -> None:
    """A ladder of ten links, of which two rings of four and four pairs would need twelve."""
    for placement in ("[7, 6, 2, 3, 4, 5, 1, 0]", "[1, 0, 2, 3, 5, 4, 6, 7]", "[0, 2, 6, 7, 1, 3, 4, 5]"):
        text = (
            "topology: {preset: sg2260-8chip}\n"
            "collective: {kind: allreduce, algorithm: paired_rings, size: 1 MiB}\n"
            f"network: {{direct_links_only: true, placement: {placement}}}\n"
        )
        with pytest.raises(CollsimError, match="hops away; direct_links_only forbids it"):
            run(loads(text, "box.yaml"))
