"""Bine trees (De Sensi et al. 2025): binomial trees and butterflies of shorter distances.

Rank r meets the same partners as in Swing, rho(s) = (1 - (-2)^(s + 1)) / 3 to the one side or to
the other; a tree starts with the farthest. Written for P = 2^f ranks and folded elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from algorithms.algorithm import Algorithm
from algorithms.assembly import assemble
from algorithms.catalogue.halving import (
    Order,
    doubling_rounds,
    doubling_totals,
    halving_rounds,
    halving_totals,
)
from algorithms.catalogue.swing import Variant
from algorithms.catalogue.swing_peers import exchange_steps, swing_allgather, swing_peers
from algorithms.collective import Collective, make_collective
from algorithms.compose import core_ranks, fold, on, then
from algorithms.duality import dual
from algorithms.errors import ScheduleError
from algorithms.rounds import Round, Totals, least
from algorithms.schedule import COPY, REDUCE, Lists, Schedule, Step, check_moves

if TYPE_CHECKING:
    from numpy.typing import NDArray

Generations = Sequence["tuple[NDArray[np.int64], NDArray[np.int64]]"]
"""(parents, children) of every step of a tree that grows from rank 0."""


def bine_tree(p: int, order: Order = "far") -> Generations:
    """Tree of P = 2^f ranks: whoever is reached reaches its partner in every step that follows.

    Examples
    --------
    >>> [[end.tolist() for end in step] for step in bine_tree(8)]
    [[[0], [3]], [[0, 3], [7, 4]], [[0, 3, 7, 4], [1, 2, 6, 5]]]
    """
    peers = swing_peers([p])
    reached = np.zeros(1, dtype=np.int64)
    steps = []
    for partner in peers if order == "near" else reversed(peers):
        steps.append((reached, partner[reached]))
        reached = np.concatenate([reached, partner[reached]])
    return steps


def _reached(tree: Generations) -> NDArray[np.int64]:
    """All ranks, in the order in which they are reached."""
    return np.concatenate([np.zeros(1, dtype=np.int64), *(children for _, children in tree)])


def broadcast_steps(tree: Generations) -> Iterator[Step]:
    """Broadcast of chunk 0 down a tree."""
    for parents, children in tree:
        yield (parents, children, np.zeros_like(parents), COPY)


def gather_steps(tree: Generations) -> Iterator[Step]:
    """Gather up a tree: every child sends what its own children have sent it, and its block."""
    ranks = 1 << len(tree)
    check_moves(ranks * len(tree) // 2)
    held = np.arange(ranks)[:, None]
    for parents, children in reversed(tree):
        yield (children, parents, held[children], COPY)
        blocks = held[children]
        held = np.hstack([held, held])
        held[parents, held.shape[1] // 2 :] = blocks


def lacking_steps(tree: Generations) -> Iterator[Step]:
    """AllGather after a Scatter down a tree, but for the blocks that the Scatter has brought already."""
    ranks = 1 << len(tree)
    check_moves(ranks * (ranks - 1))
    held = np.eye(ranks, dtype=bool)
    scattered = held.copy()
    for parents, children in reversed(tree):
        scattered[parents] |= scattered[children]
    for partner in reversed(swing_peers([ranks])):
        sent = held & ~scattered[partner]
        src = np.flatnonzero(sent.any(axis=1))
        offsets = np.concatenate([[0], np.cumsum(sent[src].sum(axis=1))])
        yield (src, partner[src], Lists(offsets, np.nonzero(sent)[1]), COPY)
        held |= held[partner]


def bine(kind: str, ranks: int, size: int, variant: Variant | None = None) -> Schedule:
    """Bine trees and butterflies: log2 N steps, and as many more for a vector that is taken apart first.

    Parameters
    ----------
    kind, ranks, size
        As `make_collective`.
    variant : {'latency', 'bandwidth'}, optional
        Of Broadcast, Reduce and AllReduce: whole vectors, the default of the first two; or a Scatter and
        AllGather, a ReduceScatter and Gather, a ReduceScatter and AllGather, the default of the last.

    Notes
    -----
    Where N is no power of two, a tree ends (or starts) with a step between the ranks that stand for two
    and those that they stand for; the others fold.

    Raises
    ------
    ScheduleError
        If another collective is asked for a variant.
    """
    way = _variant(kind, variant)
    if kind in ("reduce_scatter", "allgather", "allreduce"):
        return _butterfly(kind, ranks, size, way)
    down = {"reduce": "broadcast", "gather": "scatter"}
    if kind in down and way != "bandwidth":
        mirror = bine(down[kind], ranks, size, variant)
        blocks = mirror.collective.chunks
        return dual(mirror, make_collective(kind, ranks, size, blocks=blocks))
    blocks = {"latency": 1, "bandwidth": core_ranks(ranks), None: ranks}[way]
    collective = make_collective(kind, ranks, size, blocks=blocks)
    # near partners first where the tree goes on as a butterfly, which has the far ones first
    order: Order = "near" if way == "bandwidth" else "far"
    core = _trunk(kind, way, bine_tree(core_ranks(ranks), order))
    return _in_pairs(collective, core, order)


def _variant(kind: str, variant: Variant | None) -> Variant | None:
    if kind in ("broadcast", "reduce", "allreduce"):
        return variant or ("bandwidth" if kind == "allreduce" else "latency")
    if variant is not None:
        raise ScheduleError(f"a {kind} has no variants", ("variant",))
    return None


def _trunk(kind: str, way: Variant | None, tree: Generations) -> Schedule:
    """Broadcast, Scatter, or a Reduce that gathers what a ReduceScatter has left, among 2^f ranks."""
    p = 1 << len(tree)
    if way == "latency":
        return assemble(make_collective(kind, p, 0, blocks=1), broadcast_steps(tree), algorithm="bine")
    gather = assemble(make_collective("gather", p, 0), gather_steps(tree), algorithm="bine")
    if kind == "reduce":
        parts = [_butterfly("reduce_scatter", p, 0, None), gather]
    else:
        parts = [dual(gather, make_collective("scatter", p, 0))]
        if kind == "scatter":
            return parts[0]
        parts.append(assemble(make_collective(kind, p, 0), lacking_steps(tree)))
    return then(parts, make_collective(kind, p, 0), algorithm="bine")


def _butterfly(kind: str, ranks: int, size: int, way: Variant | None) -> Schedule:
    """ReduceScatter of near partners first, AllGather of far ones first, AllReduce of either kind."""

    def core(p: int) -> Schedule:
        peers = swing_peers([p])
        if way == "latency":
            return assemble(make_collective(kind, p, 0, blocks=1), exchange_steps([peers]), algorithm="bine")
        gather = assemble(make_collective("allgather", p, 0), swing_allgather(peers), algorithm="bine")
        if kind == "allgather":
            return gather
        scatter = dual(gather, make_collective("reduce_scatter", p, 0))
        if kind == "reduce_scatter":
            return scatter
        return then([scatter, gather], make_collective(kind, p, 0), algorithm="bine")

    p = core_ranks(ranks)
    blocks = {"latency": 1, "bandwidth": p, None: ranks}[way]
    collective = make_collective(kind, ranks, size, blocks=blocks)
    return fold(collective, core) if kind == "allreduce" else _in_pairs(collective, core(p), "near")


def _in_pairs(collective: Collective, core: Schedule, order: Order) -> Schedule:
    """A schedule of P ranks made to serve any N: the N - P that a tree reaches last stand for two each.

    The second of the two gives what it has to the first in the beginning, or gets its share in the end.
    Every message then holds the blocks of half of the pairs that are left, or one more.
    """
    kind, ranks, p = collective.kind, collective.ranks, core.ranks
    if ranks == p:
        return replace(core, collective=collective)
    stand_in = np.sort(_reached(bine_tree(p, order))[2 * p - ranks :])
    width = np.ones(p, dtype=np.int64)
    width[stand_in] = 2
    first = np.cumsum(width) - width
    partner, idle = first[stand_in], first[stand_in] + 1
    by_block = kind in ("scatter", "reduce_scatter", "allgather")
    ends = np.append(first, ranks) if by_block else np.arange(core.collective.chunks + 1)
    everything = np.tile(np.arange(collective.chunks), (len(idle), 1))
    others = everything[everything != idle[:, None]].reshape(len(idle), -1) if kind == "allgather" else idle
    before = {"allgather": (idle, COPY)}.get(kind, (everything, REDUCE))
    after = {"broadcast": everything, "allgather": others}.get(kind, idle)
    parts = [on(core, collective, first, Lists(ends, np.arange(collective.chunks)))]
    if kind not in ("broadcast", "scatter"):
        parts.insert(0, assemble(collective, [(idle, partner, *before)]))
    if kind != "reduce":
        parts.append(assemble(collective, [(partner, idle, after, COPY)]))
    return replace(then(parts, collective, algorithm="bine"), fallback="fold")


def bine_rounds(kind: str, ranks: int, size: int, variant: Variant | None = None) -> tuple[Round, ...]:
    """Trees of whole vectors: ceil(log2 N)(alpha + M/beta), a Reduce with M/gamma more.

    Scatter, Gather, ReduceScatter, AllGather: the sum over j of alpha + M/2^j/beta, and M/2^j/gamma where it
    reduces. Those that take the vector apart: two such sums. Folded, N = P + rest, a message stands
    for P/2^j + ceil(rest/2^j) blocks; trees take one round more, the others two.
    """
    way = _variant(kind, variant)
    reduces = int(kind in ("reduce", "allreduce"))
    p, whole = core_ranks(ranks), Fraction(size)
    rest, block = ranks - p, Fraction(size, ranks)
    if kind in ("reduce_scatter", "allgather"):
        return halving_rounds(kind, ranks, size, "near" if kind == "reduce_scatter" else "far")
    if kind in ("scatter", "gather"):
        shares = [block * ((p >> j) + -(-rest // (1 << j))) for j in range(1, p.bit_length())]
        return (*(Round(1, share) for share in shares), *([Round(1, block)] if rest else []))
    if way == "latency":
        if kind == "allreduce":
            return doubling_rounds(kind, ranks, size)
        return (Round((ranks - 1).bit_length(), whole, fan_in=reduces),)
    halves = [whole / (1 << j) for j in range(1, p.bit_length())]
    inner = (*(Round(1, half, fan_in=reduces) for half in halves), *(Round(1, half) for half in halves))
    before = (Round(1, whole, fan_in=1),) if rest and reduces else ()
    after = (Round(1, whole),) if rest and kind != "reduce" else ()
    return (*before, *inner, *after)


def bine_totals(kind: str, ranks: int, variant: Variant | None = None) -> Totals:
    """Trees of whole vectors: N - 1 messages; butterflies: P log2 P, and those of the fold."""
    way = _variant(kind, variant)
    p = core_ranks(ranks)
    rest, steps = ranks - p, p.bit_length() - 1
    if kind in ("reduce_scatter", "allgather"):
        return halving_totals(kind, ranks)
    if kind in ("scatter", "gather"):
        # a block is carried down as many times as its rank's place in the order of reaching has bits
        carried = p * steps // 2 + sum(steps - j.bit_count() for j in range(rest)) + rest
        return Totals(ranks - 1, Fraction(carried, ranks))
    if way == "latency":
        return doubling_totals(kind, ranks) if kind == "allreduce" else least(kind, ranks, ranks - 1)
    if kind == "broadcast":
        return least(kind, ranks, p * steps + rest)
    if kind == "reduce":
        gathered = Totals(p - 1, Fraction(steps, 2))
        return gathered + least(kind, ranks, p * steps + rest)
    return least(kind, ranks, 2 * (p * steps + rest))


BINE: Final = (
    Algorithm(
        "bine",
        ("broadcast", "reduce", "scatter", "gather", "reduce_scatter", "allgather", "allreduce"),
        bine,
        bine_rounds,
        bine_totals,
        "log2(N) alpha + (N-1)/N M (1/beta + 1/gamma), allreduce twice, the second time without gamma; whole "
        "vectors log2(N)(alpha + M/beta + M/gamma)",
        "full_mesh",
        "De Sensi et al. 2025",
        power_of_two=True,
        constraint="N = 2^k; folds elsewhere, trees in ceil(log2 N) steps",
    ),
)
