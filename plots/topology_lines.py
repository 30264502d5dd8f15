"""The lines in the picture of a topology: one for all links of a level between two nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from plots.places import Layout, Points
    from topologies import Topology
    from topologies.topology import Links

_STUB, _STUB_OF_STEP = 0.36, 0.7


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Lines to draw, one for all links of a level between two nodes.

    Parameters
    ----------
    src, dst, level : ndarray of int64, shape (lines,)
        Ends and level.
    forth, back : ndarray of int64
        Links from src to dst, at least one, and from dst to src.
    shift : ndarray of float64
        Place among the lines between the same two nodes; 0 is the middle.
    of_link : ndarray of int64, shape (links,)
        Line of each link.
    onwards : ndarray of bool, shape (links,)
        Whether the link leads from its line's src to its dst.
    """

    src: NDArray[np.int64]
    dst: NDArray[np.int64]
    level: NDArray[np.int64]
    forth: NDArray[np.int64]
    back: NDArray[np.int64]
    shift: NDArray[np.float64]
    of_link: NDArray[np.int64]
    onwards: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.src)


def lines_of(topology: Topology) -> Lines:
    """The lines of a topology, ordered by their ends."""
    links = topology.links
    if not len(links):
        nothing = np.zeros(0, dtype=np.int64)
        return Lines(*(nothing,) * 5, np.zeros(0), nothing, np.zeros(0, dtype=np.bool_))
    low_end, high_end = np.minimum(links.src, links.dst), np.maximum(links.src, links.dst)
    keys, line = np.unique(np.stack([low_end, high_end, links.level], axis=1), axis=0, return_inverse=True)
    line = line.ravel()  # numpy 2.0 gives a column
    up = np.bincount(line, weights=links.src == low_end).astype(np.int64)
    down = np.bincount(line) - up
    _, first, pair, twins = np.unique(
        keys[:, :2], axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    pair = pair.ravel()
    shift = np.arange(len(keys)) - first[pair] - (twins[pair] - 1) / 2
    low, high, level = keys.T.astype(np.int64)
    turned = up == 0
    return Lines(
        src=np.where(turned, high, low),
        dst=np.where(turned, low, high),
        level=level,
        forth=np.where(turned, down, up),
        back=np.where(turned, 0, down),
        shift=np.where(turned, -shift, shift),
        of_link=line,
        onwards=(links.src == low_end) != turned[line],
    )


def ends_of(places: Layout, lines: Lines | Links) -> Points:
    """Both ends of every line; shape (lines, 2, 2)."""
    return np.stack([places.points[lines.src], places.points[lines.dst]], axis=1)


def tips_of(places: Layout, lines: Lines | Links) -> Points:
    """Where the stubs end that stand, at both its ends, for a line that wraps round a grid.

    Returns
    -------
    ndarray of float64, shape (lines, 2, 2)
        The ends themselves for a line that does not.
    """
    ends = ends_of(places, lines)
    if not len(places.steps) or not len(lines):
        return ends
    along = ends[:, 1] - ends[:, 0]
    length, step = np.hypot(*along.T), np.hypot(*places.steps[lines.level].T)
    stub = np.where(length > 1.5 * step, np.minimum(_STUB, _STUB_OF_STEP * step) / length, 0.0)
    onwards = along * stub[:, None]
    return ends + np.stack([-onwards, onwards], axis=1)


def shifted(lines: Lines, places: Layout, scale: float) -> Points:
    """Both ends of every line, beside those between the same two nodes; shape (lines, 2, 2)."""
    straight = ends_of(places, lines)
    along = straight[:, 1] - straight[:, 0]
    across = np.stack([along[:, 1], -along[:, 0]], axis=1) / np.maximum(np.hypot(*along.T), 1e-12)[:, None]
    return np.asarray(straight + (across * lines.shift[:, None] * 5.0 / scale)[:, None])
