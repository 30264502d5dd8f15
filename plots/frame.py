"""Page of a timeline's figure: margins, titles, axis of time, names of lanes, legend and scale."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from plots import markers as lines_of
from plots.style import CHARACTER, FAINT, GRID, INK, RULE, show_spines, titled_figure
from topologies.clock import to_seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from plots.lanes import Lanes
    from plots.markers import Line, Marker
    from simulator.engine.timeline import Timeline

WIDTH: Final = 10.0
GAP: Final = 0.16
_MARGIN = 0.12
_SCALE_LEFT, _SCALE_BOTTOM, _SCALE_TALL = 0.62, 0.25, 0.13
_SAMPLE, _LEGEND_LEFT = 0.42, 3.4


@dataclass(frozen=True, slots=True)
class Frame:
    """Where things stand on the page, in inches, and the axis of time.

    Attributes
    ----------
    left, right, top, bottom : float
        Margins around the axes.
    body, curve : float
        Height of the lanes, and of the curve above them (0: none).
    end : float
        Last second shown.
    lines : tuple of Line
    """

    left: float
    right: float
    top: float
    bottom: float
    body: float
    curve: float
    end: float
    lines: tuple[Line, ...]

    @property
    def height(self) -> float:
        """Of the page."""
        return self.top + self.body + self.bottom + (self.curve + GAP if self.curve else 0)

    @property
    def unit(self) -> tuple[str, float]:
        """Name and seconds of the unit of time."""
        return _unit(self.end)

    @property
    def span(self) -> float:
        """Length of the axis of time in its unit; 1 if nothing takes time."""
        return self.end / self.unit[1] or 1.0

    def figure(self, title: str, subtitle: str) -> Figure:
        """Figure of this size that has nothing but its titles."""
        return titled_figure(WIDTH, self.height, title, subtitle)

    def axes(self, figure: Figure, below: float, tall: float) -> Axes:
        """Add axes that stand so many inches above the foot of the page, and are so high."""
        wide = WIDTH - self.left - self.right
        return figure.add_axes((self.left / WIDTH, below / self.height, wide / WIDTH, tall / self.height))

    def scale(self, figure: Figure, name: str, wide: float) -> Axes:
        """Add axes at the foot for a scale of colours, so many inches wide, and name it."""
        middle = (_SCALE_BOTTOM + _SCALE_TALL / 2) / self.height
        figure.text(_MARGIN / WIDTH, middle, name, va="center", fontsize=8.5, color=INK)
        left = max(_SCALE_LEFT, _MARGIN + text_width([name], 8.5) + 0.1) / WIDTH
        bottom = _SCALE_BOTTOM / self.height
        return figure.add_axes((left, bottom, wide / WIDTH, _SCALE_TALL / self.height))

    def legend(self, figure: Figure, handles: Sequence[Artist], *, scale: bool = True) -> None:
        """Explain at the foot, on the right, what is drawn; in two rows where one would meet a scale."""
        wide = sum(_SAMPLE + text_width([str(handle.get_label())]) for handle in handles)
        rows = 1 if wide <= WIDTH - self.right - (_LEGEND_LEFT if scale else _MARGIN) else 2
        figure.legend(
            handles=handles,
            loc="lower right",
            bbox_to_anchor=(1 - self.right / WIDTH, (0.1 if rows == 1 else 0.03) / self.height),
            borderaxespad=0,
            ncols=max(1, -(-len(handles) // rows)),
            frameon=False,
            fontsize=8,
            handlelength=1.6,
            columnspacing=1.4,
        )


def frame(
    timeline: Timeline, markers: Sequence[Marker], left: float, body: float, curve: float = 0.0
) -> Frame:
    """Frame with such a margin on the left and such heights, and room for the labels of the markers."""
    return frame_of(timeline.time, markers, left, body, curve)


def frame_of(time: int, markers: Sequence[Marker], left: float, body: float, curve: float = 0.0) -> Frame:
    """Frame of what takes so many fs, else as `frame`."""
    right = 0.25
    lines, end = lines_of.layout(markers, to_seconds(time), WIDTH - left - right)
    return Frame(left, right, 0.62 + lines_of.label_height(lines), 0.92, body, curve, end, lines)


def _unit(seconds: float) -> tuple[str, float]:
    """Unit of time in which a duration is 1 or more, and its seconds.

    >>> _unit(0.0147), _unit(0.0)
    (('ms', 0.001), ('s', 1.0))
    """
    units = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9), ("ps", 1e-12))
    if seconds <= 0:
        return units[0]
    return next((unit for unit in units if seconds >= unit[1]), units[-1])


def time_axis(axes: Axes, page: Frame) -> None:
    """Scale, grid and spines of axes along time."""
    axes.set_xlim(-0.003 * page.span, 1.005 * page.span)
    axes.set_axisbelow(True)
    axes.grid(axis="x", color=GRID, lw=0.6)
    axes.tick_params(axis="x", labelsize=8, color=RULE)
    axes.tick_params(axis="y", length=0)
    show_spines(axes, "bottom")
    if page.end:
        axes.set_xlabel(f"time ({page.unit[0]})", fontsize=8.5)
    else:
        axes.set_xticks([0], ["0"])
        axes.set_xlabel("all of it takes no time", fontsize=8.5)


def text_width(texts: Sequence[str], size: float = 8.0) -> float:
    """Inches that the longest of some texts takes, in letters of so many points.

    >>> round(text_width(["a", "abc"]), 3)
    0.204
    """
    return CHARACTER * size / 8 * max(map(len, texts), default=0)


def name_groups(
    axes: Axes, lanes: Lanes, bounds: Sequence[int], page: Frame, *, upright: bool = False
) -> None:
    """Rule off groups of lanes and name those that have room for it.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    lanes : Lanes
    bounds : sequence of int
        First row of each group, and the number of rows.
    page : Frame
    upright : bool
        Names stand across the page; they run up its side otherwise.
    """
    tall = page.body / bounds[-1]
    for name, (first, stop) in zip(lanes.groups, pairwise(bounds), strict=True):
        if first:
            axes.axhline(first, color=RULE, lw=0.6, zorder=0.5)
        if not upright and text_width([name]) > (stop - first) * tall:
            continue
        axes.annotate(
            name,
            (0, (first + stop) / 2),
            (-72 * (page.left - _MARGIN), 0),
            xycoords=axes.get_yaxis_transform(),
            textcoords="offset points",
            rotation=0 if upright else 90,
            ha="left",
            va="center",
            fontsize=8,
            color=FAINT,
        )
