"""The search for a placement."""

from __future__ import annotations

import numpy as np
import pytest

from algorithms import ScheduleError, build, congestion_factor
from algorithms.placement import find_placement
from topologies import CustomLink, CustomNodes, Topology, custom, full_mesh, hypercube, ring

# the eight chips of an SG2260 box (sophgo/torch-tpu, docs/quick_start/assets/3_c2c_topology.png)
LADDER = ((0, 4), (0, 2), (0, 1), (2, 6), (2, 3), (6, 7), (7, 3), (3, 1), (1, 5), (5, 4))


def ladder() -> Topology:
    return custom(CustomNodes(8), [CustomLink(a, b, 32e9) for a, b in LADDER])


def test_halving_on_the_ladder_is_placed_as_well_as_it_can_be() -> None:
    halving = build("recursive_halving", "reduce_scatter", 8, 1 << 20)
    assert congestion_factor(halving, ladder()) == pytest.approx(1.125)
    # the best of all 8! placements, by an exhaustive search of another program
    place = find_placement(halving, ladder())
    assert congestion_factor(halving, ladder(), place) == pytest.approx(0.90625)


def test_a_ring_on_the_ladder_goes_round_it() -> None:
    # the vendor's own ring of eight chips is one of those that need no second hop
    schedule = build("ring", "reduce_scatter", 8, 1 << 20)
    place = find_placement(schedule, ladder())
    steps = list(zip(place.tolist(), [*place[1:].tolist(), int(place[0])], strict=True))
    assert all((a, b) in LADDER or (b, a) in LADDER for a, b in steps)


@pytest.mark.parametrize(
    ("name", "topology"), [("ring", ring(8, 1e9)), ("recursive_halving", hypercube(3, 1e9))]
)
def test_what_cannot_be_better_stays(name: str, topology: Topology) -> None:
    schedule = build(name, "reduce_scatter", 8, 1 << 20)
    assert find_placement(schedule, topology).tolist() == list(range(8))


def test_a_larger_network_is_searched_by_swaps() -> None:
    shuffled = np.array([0, 5, 2, 7, 4, 1, 6, 3, 8, 11, 10, 9])
    links = [CustomLink(int(shuffled[i]), int(shuffled[(i + 1) % 12]), 1e9) for i in range(12)]
    topology = custom(CustomNodes(12), links)
    schedule = build("ring", "allgather", 12, 12)
    natural = congestion_factor(schedule, topology)
    found = find_placement(schedule, topology)
    better = congestion_factor(schedule, topology, found)
    assert sorted(found.tolist()) == list(range(12))
    assert natural is not None
    assert better is not None
    assert better < natural
    assert find_placement(schedule, topology).tolist() == found.tolist()


def test_one_rank_and_no_bytes_are_no_trouble() -> None:
    assert find_placement(build("ring", "allgather", 1, 8), ring(1, 1e9)).tolist() == [0]
    assert find_placement(build("ring", "allgather", 3, 0), ring(3, 1e9)).tolist() == [0, 1, 2]


def test_too_many_ranks_are_refused() -> None:
    with pytest.raises(ScheduleError, match="up to 64 ranks"):
        find_placement(build("ring", "allgather", 65, 65), full_mesh(65, 1e9))
