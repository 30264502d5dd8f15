"""Trees in which a rank with one port serves its children one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

import numpy as np

from algorithms.algorithm import Algorithm
from algorithms.assembly import assemble
from algorithms.catalogue.radix import strides
from algorithms.catalogue.tree_schedules import (
    OPEN_MPI,
    WHOLE,
    blocks_on,
    blocks_rounds,
    tree_totals,
    whole_on,
    whole_rounds,
)
from algorithms.catalogue.tree_shapes import (
    chain_lengths,
    chain_tree,
    knomial_tree,
    linear_tree,
    subtree_sizes,
)
from algorithms.collective import make_collective
from algorithms.rounds import Round, Totals, least
from algorithms.schedule import COPY, Ranges, Schedule, Step
from topologies.quantities import Count


def linear(kind: str, ranks: int, size: int, root: int = 0, segments: int = 1) -> Schedule:
    """The root serves, or hears, all others itself, one after the other: N - 1 steps.

    Parameters
    ----------
    kind, ranks, size
        As `make_collective`. In a Barrier rank 0 hears all, then answers all: 2 (N - 1) steps.
    root : int
        It hears r-1, r-2, ..., 0, then r+1, ..., N-1, so that every sum is one of neighbours.
    segments : int
        Parts of the vector: all ranks are sent one before any is sent the next.
    """
    tree = linear_tree(ranks, root, upwards=kind in ("reduce", "gather"))
    if kind in WHOLE:
        return whole_on("linear", kind, size, tree, segments)
    return blocks_on("linear", kind, size, tree, np.ones(ranks, dtype=np.int64), segments)


def linear_rounds(kind: str, ranks: int, size: int, segments: int = 1) -> tuple[Round, ...]:
    """N - 1 messages from or to the root, of the whole vector or a block."""
    if kind in WHOLE:
        return whole_rounds(kind, ranks - 1, ranks - 1, size, segments)
    return blocks_rounds(kind, ranks, size, [1] * (ranks - 1), segments)


def linear_totals(kind: str, ranks: int, segments: int = 1) -> Totals:
    """A message for every rank but the root."""
    return tree_totals(kind, ranks, ranks - 1, segments)


def linear_sync_steps(ranks: int) -> Iterator[Step]:
    """The root calls a rank by a message of no bytes; it sends half its block, then the other half.

    With the second half of one rank goes the call of the next.
    """
    root = np.zeros(1, dtype=np.int64)
    nothing = Ranges(root, root)
    if ranks > 1:
        yield (root, root + 1, nothing, COPY)
    for caller in range(1, ranks):
        rank = root + caller
        yield (rank, root, 2 * rank, COPY)
        second = (rank, root, 2 * rank + 1, COPY)
        yield [second, (root, rank + 1, nothing, COPY)] if caller + 1 < ranks else second


def linear_sync(kind: str, ranks: int, size: int) -> Schedule:
    """Linear Gather in which ranks wait for the root's call, so that it is never sent two blocks at once.

    Parameters
    ----------
    kind, ranks, size
        As `make_collective`.
    """
    collective = make_collective(kind, ranks, size, segments=2)
    return assemble(collective, linear_sync_steps(ranks), algorithm="linear_sync")


def linear_sync_rounds(_kind: str, ranks: int, size: int) -> tuple[Round, ...]:
    """A call, and two half blocks of every rank but the root."""
    return (Round(min(1, ranks - 1), Fraction(0)), Round(2 * (ranks - 1), Fraction(size, 2 * ranks)))


def linear_sync_totals(kind: str, ranks: int) -> Totals:
    """Three messages for every rank but the root."""
    return least(kind, ranks, 3 * (ranks - 1))


def knomial(kind: str, ranks: int, size: int, radix: Count = 4, segments: int = 1) -> Schedule:
    """K-nomial tree: the root serves the ranks j k^i with j = 1, ..., k - 1, for every k^i below N.

    Parameters
    ----------
    kind, ranks, size
        As `make_collective`. A Scatter sends every child the blocks of its subtree.
    radix : int
        k.
    segments : int
        Parts of the vector: a rank sends its children one before any the next.
    """
    tree = knomial_tree(ranks, radix)
    if kind in WHOLE:
        return whole_on("knomial", kind, size, tree, segments)
    return blocks_on("knomial", kind, size, tree, subtree_sizes(ranks, radix), segments)


def knomial_rounds(kind: str, ranks: int, size: int, radix: int = 4, segments: int = 1) -> tuple[Round, ...]:
    """What the root sends: it is served first and has the most children."""
    blocks = [
        min(stride, ranks - child)
        for stride in reversed(strides(ranks, radix))
        for child in reversed(range(stride, min(ranks, radix * stride), stride))
    ]
    if kind in WHOLE:
        return whole_rounds(kind, len(blocks), len(blocks), size, segments)
    return blocks_rounds(kind, ranks, size, blocks, segments)


def knomial_totals(kind: str, ranks: int, radix: int = 4, segments: int = 1) -> Totals:
    """A block travels as many hops as its rank has digits that are not 0."""
    rank = np.arange(ranks)
    digits = sum(int((rank // stride % radix > 0).sum()) for stride in strides(ranks, radix))
    return tree_totals(kind, ranks, digits, segments)


def binomial(kind: str, ranks: int, size: int, segments: int = 1) -> Schedule:
    """Binomial tree: every rank that has the data sends it half as far as in the step before.

    Parameters
    ----------
    kind, ranks, size
        As `make_collective`. ceil(log2 N) steps for any N; twice that for a Barrier.
    segments : int
        Parts of the vector: a rank sends its children one before any the next.
    """
    tree = knomial_tree(ranks, 2)
    if kind in WHOLE:
        return whole_on("binomial", kind, size, tree, segments)
    return blocks_on("binomial", kind, size, tree, subtree_sizes(ranks), segments)


def binomial_rounds(kind: str, ranks: int, size: int, segments: int = 1) -> tuple[Round, ...]:
    """ceil(log2 N) messages of the root: of M, or of N/2, N/4, ... blocks."""
    return knomial_rounds(kind, ranks, size, 2, segments)


def binomial_totals(kind: str, ranks: int, segments: int = 1) -> Totals:
    """A block travels as many hops as its rank has bits."""
    return knomial_totals(kind, ranks, 2, segments)


def chain(kind: str, ranks: int, size: int, fanout: Count = 1, segments: int = 1) -> Schedule:
    """Chains of ranks below the root; one chain with segments is the pipeline.

    Parameters
    ----------
    kind, ranks, size
        As `make_collective`.
    fanout : int
        Number of chains, as long as each other or one rank shorter.
    segments : int
        Parts of the vector: N - 2 + S steps of M/S along one chain.
    """
    return whole_on("chain", kind, size, chain_tree(ranks, fanout, upwards=kind == "reduce"), segments)


def chain_rounds(kind: str, ranks: int, size: int, fanout: int = 1, segments: int = 1) -> tuple[Round, ...]:
    """The root's turn for a chain, then its length: the longest; and F (S - 1) rounds more.

    A Reduce hears the long chains first, the first of them when it is complete.
    """
    lengths = chain_lengths(ranks, fanout)
    steps = max((i + length for i, length in enumerate(lengths)), default=0)
    if kind == "reduce" and lengths:
        steps = lengths[0] + len(lengths) - 1
    return whole_rounds(kind, steps, len(lengths), size, segments)


ROOTED: Final = ("broadcast", "reduce", "scatter", "gather")

TREES: Final = (
    Algorithm(
        "linear",
        (*ROOTED, "barrier"),
        linear,
        linear_rounds,
        linear_totals,
        "(N-1)(alpha + M/beta + M/gamma); scatter, gather (N-1)(alpha + M/N/beta); barrier 2(N-1) alpha",
        "crossbar",
        OPEN_MPI,
        keeps_order="any root",
    ),
    Algorithm(
        "linear_sync",
        ("gather",),
        linear_sync,
        linear_sync_rounds,
        linear_sync_totals,
        "(2N-1) alpha + (N-1)/N M/beta",
        "crossbar",
        OPEN_MPI,
    ),
    Algorithm(
        "binomial",
        (*ROOTED, "barrier"),
        binomial,
        binomial_rounds,
        binomial_totals,
        "L = ceil(log2 N): L (alpha + M/beta + M/gamma); scatter, gather L alpha + (N-1)/N M/beta; "
        "barrier 2 L alpha",
        "crossbar",
        "Thakur, Rabenseifner and Gropp 2005",
        keeps_order="root 0",
    ),
    Algorithm(
        "knomial",
        ROOTED,
        knomial,
        knomial_rounds,
        knomial_totals,
        "C children of the root, at most (k-1) ceil(log_k N): C (alpha + M/beta + M/gamma); "
        "scatter, gather C alpha + (N-1)/N M/beta",
        "crossbar",
        "Open MPI 5.0.11",
        keeps_order="root 0",
    ),
    Algorithm(
        "chain",
        WHOLE,
        chain,
        chain_rounds,
        linear_totals,
        "(N - 2 + S)(alpha + M/S/beta + M/S/gamma) for one chain",
        "crossbar",
        OPEN_MPI,
        keeps_order="root 0",
    ),
)
