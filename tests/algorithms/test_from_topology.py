"""What algorithms take from a topology, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from algorithms import ALGORITHMS, ScheduleError, build
from topologies import Level, Topology, crossbar, full_mesh, leaf_spine, multilevel, torus

PLANE = torus([4, 6], 1e9)
NODES = multilevel([Level("node", 4, "ring", 8e9), Level("net", 2, "ring", 1e9)])


@pytest.mark.parametrize(
    ("name", "topology", "options", "expected"),
    [
        ("hierarchical", NODES, {}, {"dims": (4, 2)}),
        # a ring of four has two links a rank, one of two ranks one
        ("themis", NODES, {}, {"dims": (4, 2), "weights": (16e9, 1e9)}),
        ("themis", NODES, {"dims": (8,)}, {"dims": (8,)}),
        ("bucket", PLANE, {}, {"dims": (4, 6)}),
        ("bucket", NODES, {}, {}),
        ("hamiltonian_rings", PLANE, {}, {"dims": (4, 6)}),
        ("swing", PLANE, {}, {"dims": (4, 6)}),
        ("swing", PLANE, {"variant": "latency"}, {}),
        ("swing", torus([3, 4], 1e9), {}, {}),
        ("swing", full_mesh(8, 1e9), {}, {}),
        ("in_network", crossbar(3, 1e9, switch="reduces"), {}, {"tree": (3, 3, 3, -1)}),
        ("in_network", crossbar(3, 1e9), {"tree": (3, 3, 3, -1)}, {}),
    ],
)
def test_takes_from_the_topology(
    name: str, topology: Topology, options: dict[str, Any], expected: dict[str, Any]
) -> None:
    from_topology = ALGORITHMS[name].from_topology
    assert from_topology is not None
    assert from_topology(topology, options, None) == expected


def test_leaves_of_a_tree_go_by_the_ranks_that_are_placed_there() -> None:
    from_topology = ALGORITHMS["in_network"].from_topology
    assert from_topology is not None
    switches = leaf_spine(2, 2, 1, 1e9, switch="reduces")
    tree = from_topology(switches, {}, None)["tree"]
    placed = from_topology(switches, {}, [0, 2, 1, 3])["tree"]
    assert placed == (tree[0], tree[2], tree[1], tree[3], *tree[4:])


def test_no_tree_without_switches_that_reduce() -> None:
    from_topology = ALGORITHMS["in_network"].from_topology
    assert from_topology is not None
    with pytest.raises(ScheduleError, match="needs switches that reduce above all ranks") as caught:
        from_topology(crossbar(3, 1e9), {}, None)
    assert caught.value.at == ("algorithm",)


def test_a_dimension_of_one_rank_has_a_weight_like_any() -> None:
    options = ALGORITHMS["themis"].from_topology
    assert options is not None
    place = torus([4, 1], bandwidth=1e9)
    build("themis", "allreduce", 4, 64, **options(place, {}, None))


def test_a_first_chunk_counts_round_the_ring() -> None:
    one, other = (build("ring", "allreduce", 7, 70, first_chunk=first) for first in (10**20, 10**20 % 7))
    assert (one.first == other.first).all()
