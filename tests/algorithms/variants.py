"""Options for every algorithm of the registry, so that the check suites cover each of its ways."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from algorithms import ALGORITHMS, collective

KINDS = [(name, kind) for name, algorithm in ALGORITHMS.items() for kind in algorithm.collectives]
ROOTED = [(name, kind) for name, kind in KINDS if collective.KINDS[kind].rooted]
HALVING = ("recursive_halving", "recursive_doubling", "rabenseifner")
RADIX = ("bruck", "dissemination", "recursive_multiplying")

PAIRS = (
    ("ring", "ring"),
    ("direct", "recursive_halving"),
    ("bidirectional_ring", "direct"),
    ("recursive_doubling", "bidirectional_ring"),
)


def is_power_of_two(number: int) -> bool:
    return number in {1 << k for k in range(number.bit_length())}


def variants(name: str, kind: str, ranks: int) -> list[dict[str, Any]]:
    """Every way in which an algorithm is asked to do a collective."""
    if name == "ring" and kind in ("reduce_scatter", "allreduce"):
        return [{}, *({"first_chunk": a} for a in (-1, 0, 1, 2))]
    if name == "pairwise":
        return [{}, {"partner": "xor"}]
    if name == "butterfly":
        return [{}, {"permute": "before"}]
    if name in RADIX:
        return [{}, *({"radix": k} for k in (2, 3, 5) if kind != "reduce_scatter" or k == 2)]
    if name in HALVING:
        orders: list[dict[str, Any]] = [{"order": "far"}, {"order": "near"}]
        if name == "rabenseifner":
            orders.append({"fold": "openmpi"})
        if is_power_of_two(ranks):
            return [{}, *orders, {"non_power_of_two": "error"}]
        ways = [{"non_power_of_two": "fold"}]
        if kind != "barrier":
            ways.append({"non_power_of_two": "hybrid"})
        return [{}, *(order | way for order in orders for way in ways)]
    if name == "hierarchical":
        return list(_hierarchical(kind, ranks))
    if name == "themis":
        return list(_themis(ranks))
    if name == "in_network":
        return list(_switch_trees(ranks))
    if name == "hybrid":
        return [{}, {"order": "far"}, {"order": "near"}]
    if name == "pat":
        return [{}, {"aggregation": 1}, {"aggregation": 2}]
    if name == "bine":
        return list(_bine(kind, ranks))
    if name == "swing":
        return list(_swing(kind, ranks))
    if name in ("bucket", "hamiltonian_rings"):
        return list(_torus_rings(name, ranks))
    if name in TREE_OPTIONS:
        return [{}, *TREE_OPTIONS[name]]
    if name == "reduce_scatter_gather":
        elsewhere = {"non_power_of_two": "error" if is_power_of_two(ranks) else "fold"}
        return [{}, {"fold": "openmpi"}, {"fold": "mpich"} | elsewhere]
    if name in ("scatter_allgather", "reduce_broadcast", "gather_broadcast", "reduce_then_scatter"):
        return list(_composed(name, ranks))
    return [{}]


TREE_OPTIONS: dict[str, list[dict[str, Any]]] = {
    "knomial": [{"radix": 2}, {"radix": 3}],
    "chain": [{"fanout": 2}, {"fanout": 4}],
    "split_binary_tree": [{"tree_segments": 2}],
}


def _composed(name: str, ranks: int) -> Iterator[dict[str, Any]]:
    """Recursive doubling only among 2^k ranks: elsewhere it has no closed form."""
    allgather = {"allgather": "recursive_doubling" if is_power_of_two(ranks) else "bruck"}
    yield {}
    if name == "scatter_allgather":
        yield from (allgather, {"allgather": "bidirectional_ring"})
    elif name == "reduce_broadcast":
        yield {"algorithms": ["linear", "chain"]}
        yield {"algorithms": ["in_order_binary_tree", "scatter_allgather"]} | allgather
    elif name == "gather_broadcast":
        yield {"algorithms": ["linear_sync", "binary_tree"]}
        yield {"algorithms": ["linear", "scatter_allgather"]} | allgather
    else:
        yield from ({"algorithms": ["linear", "linear"]}, {"algorithms": ["chain", "binomial"]})


def _bine(kind: str, ranks: int) -> Iterator[dict[str, Any]]:
    yield {}
    if kind in ("broadcast", "reduce", "allreduce"):
        yield from ({"variant": "latency"}, {"variant": "bandwidth"})
    if not is_power_of_two(ranks):
        yield {"non_power_of_two": "fold"}
    elif kind == "broadcast":
        yield {"non_power_of_two": "error"}


def _swing(kind: str, ranks: int) -> Iterator[dict[str, Any]]:
    """All copies where no two of them are alike; two and three dimensions, equal and not."""
    ways = [{}, {"variant": "latency"}] if kind == "allreduce" else [{}]
    square = {4: [2, 2], 8: [2, 2, 2], 16: [4, 4], 32: [4, 8], 64: [8, 8]}
    grids = [[inner, ranks // inner] for inner in _divisors(ranks)[:1] if ranks % 4 == 0]
    for way in ways:
        yield way
        if is_power_of_two(ranks):
            yield way | {"copies": "all"}
            yield way | {"dims": square.get(ranks, [1, ranks]), "copies": "all"}
    yield from ({"dims": grid} for grid in grids)
    yield {"dims": [1, ranks]}


def _torus_rings(name: str, ranks: int) -> Iterator[dict[str, Any]]:
    """One dimension; two and three; all copies where dimensions are equal."""
    yield {}
    yield {"dims": [1, ranks]}
    if name == "hamiltonian_rings":
        grids = {9: [3, 3], 16: [4, 4], 27: [9, 3], 32: [4, 8], 64: [16, 4]}
        yield from ({"dims": grids[ranks]} for _ in range(ranks in grids))
        return
    yield {"copies": "all"}
    for inner in _divisors(ranks)[:2]:
        outer = ranks // inner
        yield {"dims": [inner, outer]}
        yield from ({"dims": [inner, middle, outer // middle]} for middle in _divisors(outer)[:1])
    equal = {4: [2, 2], 8: [2, 2, 2], 9: [3, 3], 16: [4, 4], 27: [3, 3, 3], 64: [4, 4, 4]}
    yield from ({"dims": equal[ranks], "copies": "all"} for _ in range(ranks in equal))


def _hierarchical(kind: str, ranks: int) -> Iterator[dict[str, Any]]:
    if kind == "all_to_all":
        yield {"dims": [ranks]}
        for inner in _divisors(ranks)[:2]:
            outer = ranks // inner
            yield {"dims": [inner, outer]}
            yield {"dims": [1, inner, outer], "algorithms": ["direct", "bruck", "pairwise"]}
        return
    yield {"dims": [ranks]}
    yield {"dims": [1, ranks, 1], "algorithms": ["ring", "recursive_doubling", "direct"]}
    for inner in _divisors(ranks):
        outer = ranks // inner
        for names in PAIRS:
            yield {"dims": [inner, outer], "algorithms": list(names)}
        if kind == "allreduce":
            yield {"dims": [inner, outer], "algorithms": ["ring", "rabenseifner"]}
        for middle in _divisors(outer)[:1]:
            dims = [inner, middle, outer // middle]
            yield {"dims": dims, "algorithms": ["direct", "bidirectional_ring", "recursive_halving"]}


def _switch_trees(ranks: int) -> Iterator[dict[str, Any]]:
    """One switch; one under another, with some of the ranks; two under a third."""
    yield {}
    low, high = ranks, ranks + 1
    yield {"tree": [low] * (ranks // 2) + [high] * (ranks - ranks // 2) + [high, -1]}
    yield {"tree": [low] * (ranks // 2) + [high] * (ranks - ranks // 2) + [ranks + 2, ranks + 2, -1, -1]}


def _themis(ranks: int) -> Iterator[dict[str, Any]]:
    """One dimension; two, also with one far faster, and both ways of a ring; three."""
    yield {"dims": [ranks]}
    yield {"dims": [1, ranks], "chunks": 2}
    for inner in _divisors(ranks)[:2]:
        outer = ranks // inner
        yield {"dims": [inner, outer], "weights": [4.0, 1.0], "chunks": 3}
        yield {"dims": [inner, outer], "algorithms": ["bidirectional_ring", "recursive_halving"]}
        for middle in _divisors(outer)[:1]:
            yield {"dims": [inner, middle, outer // middle], "chunks": 5}


def _divisors(number: int) -> list[int]:
    """Divisors between 1 and the number itself."""
    return [d for d in range(2, number) if number % d == 0]


def folds(name: str, ranks: int, options: dict[str, Any]) -> str | None:
    """What an algorithm does at a number of ranks that it is not made for."""
    if name in ("hierarchical", "themis"):
        names = options.get("algorithms", ["ring"] * len(options["dims"]))
        inner = [folds(n, p, {}) for n, p in zip(names, options["dims"], strict=True)]
        return next((what for what in inner if what), None)
    if name == "swing" and options.get("variant") == "latency" and not is_power_of_two(ranks):
        return "fold"
    if name == "hamiltonian_rings" and ranks > 1:
        return None if min(options.get("dims", [1])) > 1 else "bidirectional_ring"
    if name == "neighbor_exchange" and ranks % 2 and ranks > 1:
        return "ring"
    if ALGORITHMS[name].power_of_two and not is_power_of_two(ranks):
        return str(options.get("non_power_of_two", "fold"))
    return None
