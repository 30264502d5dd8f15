"""Options for every algorithm of the registry, so that the check suites cover each of its ways."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from algorithms import ALGORITHMS, collective

KINDS = [(name, kind) for name, algorithm in ALGORITHMS.items() for kind in algorithm.collectives]
ROOTED = [(name, kind) for name, kind in KINDS if collective.KINDS[kind].rooted]
HALVING = ("recursive_halving", "recursive_doubling", "rabenseifner")

PAIRS = (
    ("ring", "ring"),
    ("direct", "recursive_halving"),
    ("bidirectional_ring", "direct"),
    ("recursive_doubling", "bidirectional_ring"),
)

Variants: TypeAlias = Callable[[str, int], Iterable[dict[str, Any]]]
"""(kind, ranks) -> options."""


def is_power_of_two(number: int) -> bool:
    return number in {1 << k for k in range(number.bit_length())}


def variants(name: str, kind: str, ranks: int) -> list[dict[str, Any]]:
    """Every way in which an algorithm is asked to do a collective."""
    return list(VARIANTS[name](kind, ranks)) if name in VARIANTS else [{}]


def _fixed(*options: dict[str, Any]) -> Variants:
    """The same for every collective and number of ranks."""
    return lambda _kind, _ranks: [{}, *options]


def _ring(kind: str, _ranks: int) -> Iterator[dict[str, Any]]:
    yield {}
    if kind in ("reduce_scatter", "allreduce"):
        yield from ({"first_chunk": a} for a in (-1, 0, 1, 2))


def _radix(kind: str, _ranks: int) -> Iterator[dict[str, Any]]:
    yield {}
    yield from ({"radix": k} for k in (2, 3, 5) if kind != "reduce_scatter" or k == 2)


def _halving(kind: str, ranks: int, *others: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Both orders, and others; each with every way elsewhere than at 2^k."""
    orders = ({"order": "far"}, {"order": "near"}, *others)
    yield {}
    if is_power_of_two(ranks):
        yield from (*orders, {"non_power_of_two": "error"})
        return
    ways = [{"non_power_of_two": "fold"}]
    if kind != "barrier":
        ways.append({"non_power_of_two": "hybrid"})
    yield from (order | way for order in orders for way in ways)


def _rabenseifner(kind: str, ranks: int) -> Iterator[dict[str, Any]]:
    return _halving(kind, ranks, {"fold": "openmpi"})


def _reduce_scatter_gather(_kind: str, ranks: int) -> Iterator[dict[str, Any]]:
    elsewhere = {"non_power_of_two": "error" if is_power_of_two(ranks) else "fold"}
    yield from ({}, {"fold": "openmpi"}, {"fold": "mpich"} | elsewhere)


def _allgather(ranks: int) -> dict[str, Any]:
    """Recursive doubling only among 2^k ranks: elsewhere it has no closed form."""
    return {"allgather": "recursive_doubling" if is_power_of_two(ranks) else "bruck"}


def _scatter_allgather(_kind: str, ranks: int) -> Iterator[dict[str, Any]]:
    yield from ({}, _allgather(ranks), {"allgather": "bidirectional_ring"})


def _reduce_broadcast(_kind: str, ranks: int) -> Iterator[dict[str, Any]]:
    yield from ({}, {"algorithms": ["linear", "chain"]})
    yield {"algorithms": ["in_order_binary_tree", "scatter_allgather"]} | _allgather(ranks)


def _gather_broadcast(_kind: str, ranks: int) -> Iterator[dict[str, Any]]:
    yield from ({}, {"algorithms": ["linear_sync", "binary_tree"]})
    yield {"algorithms": ["linear", "scatter_allgather"]} | _allgather(ranks)


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


def _hamiltonian_rings(_kind: str, ranks: int) -> Iterator[dict[str, Any]]:
    """One dimension; two that have cycles."""
    yield from ({}, {"dims": [1, ranks]})
    grids = {9: [3, 3], 16: [4, 4], 27: [9, 3], 32: [4, 8], 64: [16, 4]}
    yield from ({"dims": grids[ranks]} for _ in range(ranks in grids))


def _bucket(_kind: str, ranks: int) -> Iterator[dict[str, Any]]:
    """One dimension; two and three; all copies where dimensions are equal."""
    yield from ({}, {"dims": [1, ranks]}, {"copies": "all"})
    for inner in _divisors(ranks)[:2]:
        outer = ranks // inner
        yield {"dims": [inner, outer]}
        yield from ({"dims": [inner, middle, outer // middle]} for middle in _divisors(outer)[:1])
    equal = {4: [2, 2], 8: [2, 2, 2], 9: [3, 3], 16: [4, 4], 27: [3, 3, 3], 64: [4, 4, 4]}
    yield from ({"dims": equal[ranks], "copies": "all"} for _ in range(ranks in equal))


def _hierarchical(kind: str, ranks: int) -> Iterator[dict[str, Any]]:
    yield {}
    if kind == "all_to_all":
        for inner in _divisors(ranks)[:2]:
            outer = ranks // inner
            yield {"dims": [inner, outer]}
            yield {"dims": [1, inner, outer], "algorithms": ["direct", "bruck", "pairwise"]}
        return
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


def _in_network(_kind: str, ranks: int) -> Iterator[dict[str, Any]]:
    """One switch; one under another, with some of the ranks; two under a third."""
    yield {}
    low, high = ranks, ranks + 1
    yield {"tree": [low] * (ranks // 2) + [high] * (ranks - ranks // 2) + [high, -1]}
    yield {"tree": [low] * (ranks // 2) + [high] * (ranks - ranks // 2) + [ranks + 2, ranks + 2, -1, -1]}


def _themis(_kind: str, ranks: int) -> Iterator[dict[str, Any]]:
    """One dimension; two, also with one far faster, and both ways of a ring; three."""
    yield {}
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


VARIANTS: dict[str, Variants] = {
    "ring": _ring,
    "recursive_halving": _halving,
    "recursive_doubling": _halving,
    "rabenseifner": _rabenseifner,
    "knomial": _fixed({"radix": 2}, {"radix": 3}),
    "chain": _fixed({"fanout": 2}, {"fanout": 4}),
    "split_binary_tree": _fixed({"tree_segments": 2}),
    "bruck": _radix,
    "dissemination": _radix,
    "pairwise": _fixed({"partner": "xor"}),
    "recursive_multiplying": _radix,
    "butterfly": _fixed({"permute": "before"}),
    "swing": _swing,
    "bine": _bine,
    "pat": _fixed({"aggregation": 1}, {"aggregation": 2}),
    "bucket": _bucket,
    "hamiltonian_rings": _hamiltonian_rings,
    "in_network": _in_network,
    "hierarchical": _hierarchical,
    "hybrid": _fixed({"order": "far"}, {"order": "near"}),
    "themis": _themis,
    "scatter_allgather": _scatter_allgather,
    "reduce_scatter_gather": _reduce_scatter_gather,
    "reduce_broadcast": _reduce_broadcast,
    "gather_broadcast": _gather_broadcast,
    "reduce_then_scatter": _fixed(
        {"algorithms": ["linear", "linear"]}, {"algorithms": ["chain", "binomial"]}
    ),
}
"""Of the algorithms that have options."""


def folds(name: str, ranks: int, options: dict[str, Any]) -> str | None:
    """What an algorithm does at a number of ranks that it is not made for."""
    if name in ("hierarchical", "themis"):
        dims = options.get("dims", [ranks])
        names = options.get("algorithms", ["ring"] * len(dims))
        inner = [folds(n, p, {}) for n, p in zip(names, dims, strict=True)]
        return next((what for what in inner if what), None)
    if name == "swing" and options.get("variant") == "latency" and not is_power_of_two(ranks):
        return "fold"
    if name == "hamiltonian_rings" and ranks > 1:
        return None if min(options.get("dims", [1])) > 1 else "bidirectional_ring"
    if name in ("neighbor_exchange", "paired_rings") and ranks % 2 and ranks > 1:
        return "ring" if name == "neighbor_exchange" else "bidirectional_ring"
    if ALGORITHMS[name].power_of_two and not is_power_of_two(ranks):
        return str(options.get("non_power_of_two", "fold"))
    return None
