"""Lines, stars, meshes and tori against their closed forms, and routes found by hand."""

from __future__ import annotations

from itertools import pairwise
from math import prod

import pytest

from tests.topologies.topology_examples import SIZES
from topologies import Topology, hypercube, line, mesh, ring, route, star, torus
from topologies.measures import measure

MESHES = [
    *[(p, q) for p in (1, 2, 3, 4, 5) for q in (1, 2, 3, 4)],
    *[(7,), (1, 1, 1), (2, 2, 2), (3, 1, 2), (2, 3, 2), (3, 3, 2), (3, 2, 1, 2)],
]


def stops(topology: Topology, src: int, dst: int) -> list[int]:
    return [src, *topology.links.dst[list(route(topology, src, dst))].tolist()]


def crossings(dims: tuple[int, ...], between: dict[int, int], default: int) -> int | None:
    """Links cut by a plane across the longest dimension, where its size is even.

    k^(n-1) each way in a mesh of n dimensions of k ranks and twice as many in a torus (Dally and
    Towles, Principles and Practices of Interconnection Networks, 2004).
    """
    size = max(dims)
    if size % 2:
        return None
    return prod(dims) // size * between.get(size, default)


@pytest.mark.parametrize("n", SIZES)
def test_line(n: int) -> None:
    found = measure(line(n, 64e9))
    assert (found.ranks, found.switches, found.links) == (n, 0, 2 * (n - 1))
    assert found.degree == found.in_degree == (min(n - 1, 1), min(n - 1, 2))
    assert (found.diameter, found.bisection_links) == (n - 1, min(n - 1, 1))


@pytest.mark.parametrize("n", SIZES)
def test_star(n: int) -> None:
    found = measure(star(n, 64e9))
    assert (found.ranks, found.switches, found.links) == (n, 0, 2 * (n - 1))
    assert found.degree == ((n - 1, n - 1) if n < 3 else (1, n - 1))
    # the half without the middle is cut off rank by rank
    assert (found.diameter, found.bisection_links) == (min(n - 1, 2), n // 2)


@pytest.mark.parametrize("dims", MESHES, ids=str)
def test_mesh(dims: tuple[int, ...]) -> None:
    n = prod(dims)
    found = measure(mesh(dims, 64e9))
    assert (found.ranks, found.switches) == (n, 0)
    assert found.links == sum(2 * (p - 1) * n // p for p in dims)
    corner, middle = (sum(min(p - 1, most) for p in dims) for most in (1, 2))
    assert found.degree == found.in_degree == (corner, middle)
    assert found.diameter == sum(p - 1 for p in dims)
    if (cut := crossings(dims, {}, 1)) is not None and found.bisection_exact:
        assert found.bisection_links == cut


@pytest.mark.parametrize("links_of_two", [1, 2])
@pytest.mark.parametrize("dims", MESHES, ids=str)
def test_torus(dims: tuple[int, ...], links_of_two: int) -> None:
    n = prod(dims)
    found = measure(torus(dims, 64e9, size_two="one_link" if links_of_two == 1 else "two_links"))
    degree = sum({1: 0, 2: links_of_two}.get(p, 2) for p in dims)
    assert (found.ranks, found.switches, found.links) == (n, 0, n * degree)
    assert found.degree == found.in_degree == (degree, degree)
    assert found.diameter == sum(p // 2 for p in dims)
    if (cut := crossings(dims, {2: links_of_two}, 2)) is not None and found.bisection_exact:
        assert found.bisection_links == cut


def test_bisection_of_odd_grids() -> None:
    # 4 ranks against 5: a corner of 2 x 2 is cut in 4 links, a row and one more in 3 + 1
    assert measure(mesh([3, 3], 64e9)).bisection_links == 4
    # a row is cut in 6, and a fourth rank adds 3 links and takes 1 away; in a 2 x 2 each has 2 outside
    assert measure(torus([3, 3], 64e9)).bisection_links == 8
    # two columns of 3 and a rank more
    assert measure(mesh([3, 5], 64e9)).bisection_links == 4


@pytest.mark.parametrize(
    ("topology", "diameter"),
    [
        *[(ring(n, 1.0), d) for n, d in ((3, 1), (4, 2), (5, 2), (6, 3), (8, 4))],
        (ring(8, 1.0, direction="one"), 7),
        (line(4, 1.0), 3),
        (line(8, 1.0), 7),
        (hypercube(3, 1.0), 3),
        (hypercube(4, 1.0), 4),
        *[(mesh([p, p], 1.0), d) for p, d in ((3, 4), (4, 6), (5, 8))],
        *[(torus(dims, 1.0), d) for dims, d in (((3, 3), 2), ((4, 4), 4), ((2, 4), 3), ((3, 4), 3))],
    ],
    ids=str,
)
def test_diameters_that_two_other_programs_found(topology: Topology, diameter: int) -> None:
    """ForestColl's code and a search over all cuts agree on these."""
    assert measure(topology).diameter == diameter


def test_mesh_routes_by_hand() -> None:
    # 0 1 2 / 3 4 5 / 6 7 8: first along the row, then along the column
    three = mesh([3, 3], 64e9)
    assert stops(three, 0, 8) == [0, 1, 2, 5, 8]
    assert stops(three, 8, 0) == [8, 7, 6, 3, 0]
    assert stops(three, 6, 2) == [6, 7, 8, 5, 2]
    assert stops(three, 1, 7) == [1, 4, 7]
    # 0 1 / 2 3 / 4 5, and 6 to 11 behind
    assert stops(mesh([2, 3, 2], 64e9), 0, 11) == [0, 1, 3, 5, 11]


def test_torus_routes_by_hand() -> None:
    # 0 1 2 3 / 4 5 6 7 / ...: of two ways as short the positive one
    four = torus([4, 4], 64e9)
    assert stops(four, 0, 10) == [0, 1, 2, 6, 10]
    assert stops(four, 10, 0) == [10, 11, 8, 12, 0]
    assert stops(four, 0, 15) == [0, 3, 15]
    assert stops(four, 5, 4) == [5, 4]
    assert stops(torus([3, 3, 3], 64e9), 0, 26) == [0, 2, 8, 26]


def test_the_two_links_of_a_pair_are_shared_out_by_rank() -> None:
    pairs = torus([4, 2], 64e9, size_two="two_links")
    names = [pairs.link_name(route(pairs, rank, (rank + 4) % 8)[0]) for rank in range(8)]
    assert names == ["0->4", "1->5#1", "2->6", "3->7#1", "4->0", "5->1#1", "6->2", "7->3#1"]


@pytest.mark.parametrize("dims", [(4, 3), (2, 4), (3, 3, 2), (4, 4), (5,), (2, 2, 2), (1, 4)])
@pytest.mark.parametrize("build", [mesh, torus])
def test_routes_go_in_dimension_order_the_shorter_way(build: type, dims: tuple[int, ...]) -> None:
    topology = build(dims, 64e9)
    for src in range(topology.ranks):
        for dst in range(topology.ranks):
            walk = [topology.coordinates(node) for node in stops(topology, src, dst)]
            moves = [
                next((i, (b[i] - a[i]) % dims[i]) for i in range(len(dims)) if a[i] != b[i])
                for a, b in pairwise(walk)
            ]
            expected = []
            for i, size in enumerate(dims):
                ahead = (walk[-1][i] - walk[0][i]) % size
                up = ahead <= size - ahead if build is torus else walk[-1][i] >= walk[0][i]
                expected += [(i, 1 if up else size - 1)] * (ahead if up else size - ahead)
            assert moves == [move for move in expected if move[1]]


def test_a_hypercube_is_a_mesh_and_a_torus_of_twos() -> None:
    cube = hypercube(4, 64e9)
    for other in (mesh([2] * 4, 64e9), torus([2] * 4, 64e9)):
        assert sorted(zip(other.links.src, other.links.dst, strict=True)) == sorted(
            zip(cube.links.src, cube.links.dst, strict=True)
        )
        assert all(stops(other, s, d) == stops(cube, s, d) for s in range(16) for d in range(16))
