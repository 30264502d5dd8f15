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
    return [{}]


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
    if name == "neighbor_exchange" and ranks % 2 and ranks > 1:
        return "ring"
    if ALGORITHMS[name].power_of_two and not is_power_of_two(ranks):
        return str(options.get("non_power_of_two", "fold"))
    return None
