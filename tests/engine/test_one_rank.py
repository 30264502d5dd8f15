"""The timeline of one rank is that of every rank: held against full runs, hop by hop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any

import numpy as np
import pytest

from algorithms import ALGORITHMS, REDUCE, Schedule, ScheduleError, assemble, build, make_collective
from algorithms.registry import representative
from algorithms.representative import Representative
from algorithms.schedule import Step, expand
from simulator.engine.engines import run_plan
from simulator.engine.errors import PlanError
from simulator.engine.lower import lower
from simulator.engine.memory import Memory
from simulator.engine.network import Network, Reduction
from simulator.engine.one_rank import lower_one
from simulator.engine.timeline import Timeline
from topologies import TOPOLOGIES, Topology
from topologies.orbits import SymmetricTopology, symmetric_topology
from topologies.translations import Translations, translations

OFFERED = [
    (name, kind)
    for name, algorithm in ALGORITHMS.items()
    if algorithm.representative
    for kind in algorithm.collectives
]
WAYS = [
    (model, reduction, sync)
    for model in ("store_and_forward", "cut_through")
    for reduction in (None, Reduction(20e9), Reduction(20e9, "streamed"))
    for sync in ("step", "dataflow", "barrier")
]
WIRES = ({"latency": 1e-6, "overhead": 2e-7}, {"latency": 0.0}, {"latency": 3e-7})
GRIDS = {4: [2, 2], 6: [3, 2], 8: [4, 2], 12: [3, 4], 16: [4, 4], 32: [2, 4, 4], 64: [4, 4, 4]}


def shapes(ranks: int) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Topologies of N ranks that are the same from each."""
    yield "ring", {"ranks": ranks}
    yield "ring", {"ranks": ranks, "direction": "one"}
    yield "full_mesh", {"ranks": ranks}
    yield "crossbar", {"ranks": ranks}
    if ranks.bit_count() == 1:
        yield "hypercube", {"dimension": ranks.bit_length() - 1}
    if ranks in GRIDS:
        yield "torus", {"dims": GRIDS[ranks]}


def options(name: str, shape: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Options that fit a topology."""
    match name:
        case "bucket":
            return [{"dims": shape["dims"], "copies": copies} for copies in ("one", "all") if "dims" in shape]
        case "pairwise":
            return [{"partner": "shift"}, {"partner": "xor"}]
        case "recursive_halving" | "recursive_doubling" | "rabenseifner":
            return [{"order": "near"}, {"order": "far"}]
    return [{}]


Case = tuple[Representative, Schedule, SymmetricTopology, Topology]


def cases(ranks: int) -> Iterator[Case]:
    """Rank 0's part and the whole of schedules and topologies that fit each other."""
    for i, (name, kind) in enumerate(OFFERED):
        for j, (shape, parameters) in enumerate(shapes(ranks)):
            for given in options(name, parameters):
                size = 0 if kind == "barrier" else 4032 * ranks
                one = representative(name, kind, ranks, size, **given)
                wire = {"bandwidth": 50e9, **WIRES[(i + j) % len(WIRES)]}
                symmetric = symmetric_topology(shape, {**parameters, **wire})
                assert symmetric is not None
                if one is not None and symmetric.moved_by(one.group):
                    whole = build(name, kind, ranks, size, **given)
                    yield one, whole, symmetric, TOPOLOGIES[shape](**parameters, **wire)


def check_same(one: Timeline, whole: Timeline, ranks: int) -> None:
    """Every transfer's hops come, are granted and leave when rank 0's do."""
    moving, own = np.flatnonzero(whole.plan.transfer >= 0), np.flatnonzero(one.plan.transfer >= 0)
    place = np.empty(len(moving), dtype=np.int64)
    place[whole.plan.transfer[moving]] = moving
    walked, walked_by_one = np.diff(whole.plan.hop_offset)[place], np.diff(one.plan.hop_offset)[own]
    assert (walked.reshape(-1, ranks) == walked_by_one[:, None]).all()
    of_one = expand(np.repeat(one.plan.hop_offset[own], ranks), walked)[1]
    of_all = expand(whole.plan.hop_offset[place], walked)[1]
    for name in ("arrival", "grant", "release"):
        assert (getattr(whole, name)[of_all] == getattr(one, name)[of_one]).all(), name


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6, 8, 12, 16, 32, 64])
def test_every_rank_does_what_rank_0_does(ranks: int) -> None:
    """In another way each case; of 3 and 4 ranks in four of them."""
    tried = 0
    for number, (one, whole, symmetric, topology) in enumerate(cases(ranks)):
        if ranks > 16 and (len(whole) > 10_000 or number % 4 != ranks // 64):
            continue
        for turn in range(4 if 2 < ranks < 5 else 1):
            model, reduction, sync = WAYS[(number + 7 * turn) % len(WAYS)]
            network = Network(model=model, sync=sync)
            single = run_plan(lower_one(one, symmetric, network, reduction), "simpy")
            full = run_plan(lower(whole, topology, network, reduction), "compiled")
            assert full.time == single.time
            check_same(single, full, ranks)
            tried += 1
    assert tried > 20


def steps(senders: np.ndarray, group: Translations, distances: list[list[int]]) -> Iterator[Step]:
    """In every step each sender sends the whole vector to those so far away, one after the other."""
    for step in distances:
        there = [group.add(senders, np.full_like(senders, distance)) for distance in step]
        yield [(senders, dst, np.zeros_like(senders), REDUCE) for dst in there]


def test_ties_and_queues_of_random_schedules() -> None:
    """Links that nobody holds for long, and no latencies: many come at one instant."""
    random, met = np.random.default_rng(20090101), 0
    for _ in range(60):
        dims = ((6,), (8,), (2, 2, 2), (3, 2), (4, 2))[random.integers(5)]
        group, ranks = translations(dims), prod(dims)
        lengths = random.integers(1, 4, size=random.integers(1, 4))
        distances = [random.integers(1, ranks, size=length).tolist() for length in lengths]
        whole = make_collective("allreduce", ranks, int(random.choice([0, 1000])), blocks=1)
        one = Representative(assemble(whole, steps(np.zeros(1, np.int64), group, distances)), group)
        every = assemble(whole, steps(np.arange(ranks), group, distances))
        shape = ("torus", {"dims": list(dims)}) if random.random() < 0.7 else ("crossbar", {"ranks": ranks})
        wire = {"bandwidth": 1e9, "latency": float(random.choice([0, 1e-6])), "overhead": 0.0}
        symmetric = symmetric_topology(shape[0], {**shape[1], **wire})
        assert symmetric is not None
        model, reduction, sync = WAYS[random.integers(len(WAYS))]
        network = Network(model=model, sync=sync)
        single = run_plan(lower_one(one, symmetric, network, reduction), "simpy")
        topology = TOPOLOGIES[shape[0]](**shape[1], **wire)
        check_same(single, run_plan(lower(every, topology, network, reduction), "compiled"), ranks)
        met += bool((single.grant > single.arrival).any())
    assert met > 20


def test_a_message_over_several_links_waits_for_images_of_itself_and_of_others() -> None:
    """By hand: a direct All-to-All of 4 ranks on a ring one way round, blocks of 1 us on a link.

    Rank 0 sends over 1, 2 and 3 links, and as many blocks cross each link. At 0, 1 and 2 us it takes
    those of its own rank, which all came at 0; then the one that came at 2 us from the rank before, at
    3 us with a second link behind it, and at 5 us with two.
    """
    one = representative("direct", "all_to_all", 4, 4000)
    ring = symmetric_topology("ring", {"ranks": 4, "bandwidth": 1e9, "direction": "one"})
    assert one is not None
    assert ring is not None
    timeline = run_plan(lower_one(one, ring, Network()), "compiled")
    assert timeline.plan.resource.tolist() == [0] * 6
    assert (timeline.grant // 10**9).tolist() == [0, 1, 3, 2, 4, 5]


def test_refuses_what_does_not_fit() -> None:
    one = representative("direct", "all_to_all", 8, 800)
    ring = symmetric_topology("ring", {"ranks": 8, "bandwidth": 1e9})
    assert one is not None
    assert ring is not None
    with pytest.raises(ScheduleError, match="step 0: rank 0 sends to rank 2, 2 hops away; direct"):
        lower_one(one, ring, Network(direct_links_only=True))
    # 1 + 2 + 3 + 4 + 3 + 2 + 1
    with pytest.raises(PlanError, match="7 transfers over 16 hops take about 1520 B of memory; the limit"):
        lower_one(one, ring, Network(), memory=Memory(1519))
