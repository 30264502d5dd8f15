"""Links of a topology's picture coloured by how much they did, each direction by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from matplotlib import colormaps
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import ListedColormap, Normalize, to_hex

from plots.arrows import draw_arrow
from plots.style import INK
from plots.topology_lines import ends_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from plots.canvas import Canvas
    from plots.places import Layout, Points
    from plots.topology_lines import Lines

SCALE_TALL: Final = 0.5
"""Inches that the scale of colours takes below the picture."""

_IDLE: Final = "#c9c9c9"
_ASIDE: Final = 1.7
"""Points by which a direction keeps to its right."""

_MOST_LINES: Final = 20_000
_FEW_LINES: Final = 2_500


@dataclass(frozen=True, slots=True, eq=False)
class Heat:
    """What links are coloured by.

    Attributes
    ----------
    value : ndarray of float64, shape (links,)
        From 0 on; where that is 0 the link did nothing.
    most : float
        What the darkest colour stands for; above 0.
    name : str
        What the values are.
    text : callable
        A value for people.
    """

    value: NDArray[np.float64]
    most: float
    name: str
    text: Callable[[float], str]

    def of_lines(self, lines: Lines) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Value of each line from its src to its dst, and back; of parallel links the largest."""
        both = np.zeros((2, len(lines)))
        np.maximum.at(both, (np.where(lines.onwards, 0, 1), lines.of_link), self.value)
        return both[0], both[1]

    def about(self, own: NDArray[np.bool_]) -> str:
        """The values of some links in words."""
        values = self.value[own]
        if not values.any():
            return "nothing moves"
        least, mean, most = (self.text(float(v)) for v in (values.min(), values.mean(), values.max()))
        return most if least == most else f"{mean} on average, {most} at most"


def heat_map() -> ListedColormap:
    """Colours from pale to dark; what is pale can still be seen on paper."""
    return ListedColormap(colormaps["Blues"](np.linspace(0.3, 1.0, 256)))


def draw_heat(
    paper: Canvas, heat: Heat, lines: Lines, places: Layout, tips: Points, ends: Points, *, small: bool
) -> None:
    """Draw the lines, the busiest above the others; in a small picture both directions side by side.

    Parameters
    ----------
    paper : Canvas
    heat : Heat
    lines : Lines
    places : Layout
    tips, ends : ndarray of float64, shape (lines, 2, 2)
        Where stubs end, and lines begin and end.
    small : bool
        Whether the nodes have names.
    """
    values, straight = heat.of_lines(lines), ends_of(places, lines)
    if not small:
        segments, number = _parts(ends, tips, straight)
        _draw(paper, segments, np.maximum(*values)[number], heat, 1.8 if len(lines) <= _FEW_LINES else 1.1)
        return
    one_way = lines.back == 0
    for i in np.flatnonzero(one_way):
        tint = to_hex(heat_map()(values[0][i] / heat.most)) if values[0][i] else _IDLE
        draw_arrow(paper.axes, ends[i], tint, paper.size, width=2.0)
    along = straight[:, 1] - straight[:, 0]
    right = np.stack([along[:, 1], -along[:, 0]], axis=1) / np.maximum(np.hypot(*along.T), 1e-12)[:, None]
    right = (right * _ASIDE / paper.scale)[:, None]
    lanes = []
    for side, value in zip((1, -1), values, strict=True):
        segments, number = _parts(*((points + side * right)[~one_way] for points in (ends, tips, straight)))
        lanes.append((segments, value[~one_way][number]))
    segments, value = (np.concatenate(columns) for columns in zip(*lanes, strict=True))
    _draw(paper, segments, value, heat, 2.2)


def _parts(ends: Points, tips: Points, straight: Points) -> tuple[Points, NDArray[np.int64]]:
    """Segments to draw and the line of each: one a line, or of one that wraps round both stubs."""
    wraps = (tips != straight).any(axis=(1, 2))
    stubs = np.stack([straight[wraps], tips[wraps]], axis=2).reshape(-1, 2, 2)
    number = np.arange(len(ends))
    return np.concatenate([ends[~wraps], stubs]), np.concatenate(
        [number[~wraps], np.repeat(number[wraps], 2)]
    )


def _draw(paper: Canvas, segments: Points, value: NDArray[np.float64], heat: Heat, width: float) -> None:
    """Draw segments in the order of their values; of very many only every k-th, the busiest among them."""
    order = np.argsort(value, kind="stable")
    looks = (
        ("idle", order[value[order] == 0], 0.4 * width, 1.0),
        (heat.name, order[value[order] > 0], width, 1.1),
    )
    for name, own, wide, layer in looks:
        some = own[:: -(len(own) // _MOST_LINES + 1)][::-1]
        colours = _IDLE if name == "idle" else heat_map()(value[some] / heat.most)
        lines = LineCollection(
            list(segments[some]), colors=colours, linewidths=wide, zorder=layer, label=name
        )
        paper.axes.add_collection(lines, autolim=False)


def draw_scale(figure: Figure, heat: Heat) -> None:
    """Draw the colours at the foot, with what they stand for."""
    wide, tall = figure.get_size_inches()
    axes = figure.add_axes((0.5 - 1.2 / wide, 0.28 / tall, 2.4 / wide, 0.13 / tall))
    bar = figure.colorbar(
        ScalarMappable(Normalize(0, heat.most), heat_map()), cax=axes, orientation="horizontal"
    )
    ticks = [0.0, heat.most / 2, heat.most]
    bar.set_ticks(ticks, labels=[heat.text(tick) for tick in ticks], fontsize=7.5)
    bar.outline.set_linewidth(0.4)
    axes.tick_params(length=2, pad=2)
    figure.text(0.5 - 1.3 / wide, 0.345 / tall, heat.name, ha="right", va="center", fontsize=8.5, color=INK)
