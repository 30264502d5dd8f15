"""Collectives along a tree of ranks: broadcast and reduce, scatter and gather, barrier."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from algorithms.assembly import assemble
from algorithms.catalogue.tree_shapes import Tree
from algorithms.collective import make_collective
from algorithms.compose import on, then
from algorithms.duality import dual
from algorithms.errors import ScheduleError
from algorithms.rounds import Round, Totals, least
from algorithms.schedule import COPY, REDUCE, Lists, Ranges, Schedule, Step, check_moves
from algorithms.variation import MOST_CHANNELS, segmented

if TYPE_CHECKING:
    from numpy.typing import NDArray


WHOLE: Final = ("broadcast", "reduce")
"""Collectives of which every message is the whole vector."""

OPEN_MPI: Final = "Pjesivac-Grbovic et al. 2007 (Open MPI)"


def broadcast_steps(tree: Tree, segments: int = 1) -> Iterator[Step]:
    """Every rank sends its children one after the other what it was sent, segment by segment."""
    for parent, child, segment in tree.served(segments):
        yield (parent, child, segment, COPY)


def reduce_steps(tree: Tree, segments: int = 1) -> Iterator[Step]:
    """A broadcast backwards: every rank hears its children in reverse, and then sends their sum."""
    for parent, child, segment in reversed(list(tree.served(segments))):
        yield (child, parent, segments - 1 - segment, REDUCE)


def scatter_steps(tree: Tree, below: NDArray[np.int64]) -> Iterator[Step]:
    """Every child is sent the blocks of its subtree: those of ranks child ... child + below - 1."""
    for parent, child, _ in tree.served():
        yield (parent, child, Ranges(child, below[child]), COPY)


def barrier_steps(tree: Tree, below: NDArray[np.int64]) -> Iterator[Step]:
    """Tokens go up the tree, those of a subtree together; then all of them come down."""
    for parent, child, _ in reversed(list(tree.served())):
        yield (child, parent, Ranges(child, below[child]), COPY)
    for parent, child, _ in tree.served():
        yield (parent, child, Ranges(np.zeros_like(child), np.full_like(child, tree.ranks)), COPY)


def check_segments(segments: int, option: str = "segments") -> None:
    """Refuse less than one segment, or more than a schedule may have elsewhere.

    Raises
    ------
    ScheduleError
    """
    if segments < 1:
        raise ScheduleError(f"there is at least 1 segment, found {segments}", (option,))
    if segments > MOST_CHANNELS:
        raise ScheduleError(f"at most {MOST_CHANNELS} segments fit, found {segments}", (option,))


def whole_on(name: str, kind: str, size: int, tree: Tree, segments: int = 1) -> Schedule:
    """Broadcast or Reduce of the whole vector along a tree, in a pipeline of segments."""
    check_segments(segments)
    check_moves(tree.ranks * segments)
    collective = make_collective(kind, tree.ranks, size, blocks=1, segments=segments, root=tree.root)
    steps = broadcast_steps if kind == "broadcast" else reduce_steps
    return assemble(collective, steps(tree, segments), algorithm=name)


def blocks_on(
    name: str, kind: str, size: int, tree: Tree, below: NDArray[np.int64], segments: int = 1
) -> Schedule:
    """Scatter, Gather or Barrier along a tree whose subtrees are `below` ranks in a row."""
    check_segments(segments)
    if kind == "barrier":
        return _barriers(name, tree, below, segments)
    scatter = make_collective("scatter", tree.ranks, size, root=tree.root)
    schedule = assemble(scatter, scatter_steps(tree, below), algorithm=name)
    if kind == "gather":
        gather = make_collective(kind, tree.ranks, size, root=tree.root)
        schedule = dual(schedule, gather)
    return segmented(schedule, segments)


def _barriers(name: str, tree: Tree, below: NDArray[np.int64], segments: int) -> Schedule:
    """A Barrier for each segment of the tokens, one after the other."""
    check_moves(tree.ranks**2 * segments)
    block = np.arange(tree.ranks)
    once = assemble(make_collective("barrier", tree.ranks, 0), barrier_steps(tree, below))
    every = make_collective("barrier", tree.ranks, 0, segments=segments)
    chunks = [Lists(np.arange(tree.ranks + 1), block * segments + s) for s in range(segments)]
    return then([on(once, every, block, part) for part in chunks], every, algorithm=name)


def whole_rounds(kind: str, steps: int, fan_out: int, size: int, segments: int = 1) -> tuple[Round, ...]:
    """T + (S - 1) c rounds of M/S, where a rank has up to c children."""
    check_segments(segments)
    turns = steps + (segments - 1) * fan_out
    return (Round(turns, Fraction(size, segments), fan_in=int(kind == "reduce")),)


def blocks_rounds(
    kind: str, ranks: int, size: int, blocks: Sequence[int], segments: int = 1
) -> tuple[Round, ...]:
    """What the root sends its children: so many blocks each, every block in segments.

    A Barrier is that twice over, of no bytes, for each segment.
    """
    check_segments(segments)
    if kind == "barrier":
        return (Round(2 * len(blocks) * segments, Fraction(0)),)
    turns = []
    for held in blocks:
        first = Round(1, Fraction(held * size, ranks * segments))
        turns += [first, replace(first, times=segments - 1, pipelined=True)][: 1 + (segments > 1)]
    return tuple(turns)


def tree_totals(kind: str, ranks: int, hops: int, segments: int = 1) -> Totals:
    """A message for every rank but the root, twice for a Barrier.

    Parameters
    ----------
    kind, ranks
        As `make_collective`.
    hops : int
        Edges between the root and every rank, added up: how often a block is sent.
    segments : int
        Parts of each message.
    """
    messages = (ranks - 1) * segments
    if kind in ("scatter", "gather"):
        return Totals(messages, Fraction(hops, ranks))
    return least(kind, ranks, 2 * messages if kind == "barrier" else messages)
