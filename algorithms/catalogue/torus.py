"""What the algorithms of tori share: dimensions, copies, and rounds of several messages.

Rank r of p_0 x p_1 x ... has the coordinates (r mod p_0, r // p_0 mod p_1, ...).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

from algorithms.catalogue.grid import grid_dims
from algorithms.rounds import Round

if TYPE_CHECKING:
    from topologies.topology import Topology

Copies = Literal["one", "all"]


def torus_dims(ranks: int, dims: Sequence[int] | None) -> tuple[int, ...]:
    """As `grid_dims`, without those that are 1.

    Examples
    --------
    >>> torus_dims(8, [4, 1, 2]), torus_dims(8, None), torus_dims(1, None)
    ((4, 2), (8,), ())
    """
    return tuple(size for size in grid_dims(ranks, dims) if size > 1)


def dims_of_torus(
    topology: Topology, _options: Mapping[str, Any], _placement: Sequence[int] | None
) -> dict[str, Any]:
    """The dimensions of a torus; nothing of other topologies."""
    return {"dims": topology.dims} if topology.kind == "torus" else {}


def torus_copies(dims: Sequence[int], copies: Copies) -> list[tuple[int, int]]:
    """(dimension to start with, direction) of the one copy, or of one for every link of a rank.

    >>> torus_copies([4, 4], "all")
    [(0, 1), (1, 1), (0, -1), (1, -1)]
    """
    if copies == "one" or not dims:
        return [(0, 1)]
    return [(start, way) for way in (1, -1) for start in range(len(dims))]


def port_rounds(messages: Iterable[tuple[Hashable, Fraction]], *, reduces: bool) -> list[Round]:
    """A step in which each rank sends several messages, each over some link.

    Those on one link follow each other; the fullest link sets the pace.
    """
    links: dict[Hashable, list[Fraction]] = {}
    for link, sent in messages:
        links.setdefault(link, []).append(sent)
    fullest = max(links.values(), key=sum)
    turns = []
    for turn, sent in enumerate(fullest):
        arrivals = sum(len(queue) > turn for queue in links.values())
        turns.append(Round(1, sent, arrivals * reduces, pipelined=turn + 1 < len(fullest)))
    return turns


def phase_rounds(kind: str, steps: Sequence[Sequence[tuple[Hashable, Fraction]]]) -> tuple[Round, ...]:
    """Closed form of a ReduceScatter of such steps, of its mirror, or of both for an AllReduce."""
    phases = {"reduce_scatter": (True,), "allgather": (False,), "allreduce": (True, False)}[kind]
    return merged(turn for reduces in phases for step in steps for turn in port_rounds(step, reduces=reduces))


def merged(turns: Iterable[Round]) -> tuple[Round, ...]:
    """Equal rounds that follow each other as one entry."""
    groups = groupby(turns, key=lambda turn: replace(turn, times=1))
    return tuple(replace(same, times=sum(turn.times for turn in group)) for same, group in groups)
