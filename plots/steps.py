"""Picture of a step: what every stage computes and sends, one lane a stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgba
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke

from plots import markers as lines_of
from plots.density import coverage
from plots.frame import frame_of, text_width, time_axis
from plots.gantt import corners, zebra
from plots.style import DIGITS, FAINT, INK, RULE, look
from topologies.clock import FEMTOSECONDS, to_seconds
from topologies.text import format_time

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from plots.frame import Frame

_COLOURS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "F": "#56B4E9",
        "B": "#0072B2",
        "I": "#0072B2",
        "W": "#7fb8a4",
        "update": "#444444",
        "tp": "#E69F00",
        "cp": "#b8860b",
        "ep": "#CC79A7",
        "send forward": "#f0b49a",
        "send backward": "#D55E00",
        "gather": "#a65fa0",
        "reduce": "#7a3b2e",
        "compute": "#0072B2",
        "cpu": "#8a8a8a",
        "memory": "#444444",
        "allreduce": "#E69F00",
        "reduce_scatter": "#D55E00",
        "allgather": "#CC79A7",
        "all_to_all": "#b8860b",
        "send_recv": "#7a3b2e",
        "broadcast": "#f0b49a",
        "scatter": "#c99bd0",
        "barrier": "#c9b458",
    }
)
"""Passes in cold colours, calls in warm ones."""

_OTHER: Final = "#bbbbbb"
"""Colour of what has none."""

_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "F": "forward",
        "B": "backward",
        "I": "of inputs",
        "W": "of weights",
    }
)
_MOST_BARS: Final = 20_000
_MOST_LANES: Final = 96
_MOST_NUMBERS: Final = 400
_BINS: Final = 1000
_SEEN: Final = 0.001
_NAME: Final = 0.1
"""Inches of a line of words."""

_STAGE: Final = 0.62
"""Inches for the names of stages."""

_DIGIT: Final = 0.009
"""Part of the axis of time that a digit takes."""


@dataclass(frozen=True, slots=True, eq=False)
class Bars:
    """Tasks in lanes; the lanes of a stage are neighbours.

    Attributes
    ----------
    lane : sequence of int
        Of each task, from the top.
    begin, end : ndarray of int64, shape (tasks,)
        fs.
    what : sequence of str
        F, B, I, W or update of a task that computes; of a call its stream.
    calls : sequence of bool
        Whether it is a call.
    number : sequence of int
        Micro-batch, less than 0 where there is none.
    names : sequence of str
        Of each lane.
    group : sequence of int
        Stage of each lane; rises.
    whose : str
        What the groups of lanes are; `all ranks` where there is one for all.
    """

    lane: Sequence[int]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    what: Sequence[str]
    calls: Sequence[bool]
    number: Sequence[int]
    names: Sequence[str]
    group: Sequence[int]
    whose: str = "stage"

    def group_name(self, number: int) -> str:
        """What a group of lanes is called."""
        return self.whose if " " in self.whose else f"{self.whose} {number}"

    @property
    def time(self) -> int:
        """Fs until the last has ended."""
        return int(self.end.max(initial=0))

    @property
    def kinds(self) -> list[str]:
        """What there is, in the order of the legend."""
        there = set(self.what)
        return [*(kind for kind in _COLOURS if kind in there), *sorted(there - _COLOURS.keys())]

    @property
    def tints(self) -> list[tuple[str, str]]:
        """What each of these is called, and its colour."""
        return [(_WORDS.get(kind, kind), tint_of(kind)) for kind in self.kinds]


def tint_of(kind: str) -> str:
    """Colour of what a task does."""
    return _COLOURS.get(kind, _OTHER)


def step_figure(bars: Bars, *, title: str) -> Figure:
    """Draw a step: a bar a task, or where they are too many how busy each lane is with what.

    Past 20,000 tasks or 96 lanes a lane is a row of an image: for each moment the mix of the colours of
    what it does, paler the longer it does nothing.

    Parameters
    ----------
    bars : Bars
        At least one task.
    title : str
        First line.
    """
    with look():
        lanes = len(bars.names)
        few = len(bars.lane) <= _MOST_BARS and lanes <= _MOST_LANES
        tall = _tall(lanes)
        shown = range(lanes if tall > _NAME else 0)
        words = max((text_width([bars.names[lane]], 7.5) for lane in shown), default=0.0)
        page = frame_of(bars.time, (), 0.3 + _STAGE + words, tall * lanes)
        figure = page.figure(title, _facts(bars, few=few))
        axes = page.axes(figure, page.bottom, page.body)
        axes.set_ylim(lanes, 0)
        axes.set_yticks([lane + 0.5 for lane in shown], [bars.names[lane] for lane in shown], fontsize=7.5)
        time_axis(axes, page)
        (_draw_bars if few else _draw_image)(axes, bars, page)
        lines_of.draw_lines(axes, page.lines, page.unit[1])
        lines_of.draw_labels(axes, page.lines, page.unit[1], page.body)
        _name_stages(axes, bars, page)
        page.legend(figure, [Patch(color=tint, label=word) for word, tint in bars.tints], scale=False)
        return figure


def _tall(lanes: int) -> float:
    """Height of a lane, inches."""
    if lanes <= _MOST_LANES:
        return float(np.clip(5.6 / lanes, 0.11, 0.26))
    return max(_MOST_LANES * 0.11 / lanes, 1 / 72)


def _facts(bars: Bars, *, few: bool) -> str:
    stages = len(set(bars.group))
    groups = bars.whose if " " in bars.whose else f"{stages} {bars.whose}{'' if stages == 1 else 's'}"
    facts = f"{groups}, {len(bars.lane):,} tasks"
    paler = "" if few else "; the paler, the longer a lane is idle"
    return f"{facts}, {format_time(to_seconds(bars.time), digits=DIGITS)}{paler}"


def _draw_bars(axes: Axes, bars: Bars, page: Frame) -> None:
    """Draw a bar for each task, or for several of a pass that touch; name the micro-batches."""
    zebra(axes, len(bars.names), page.span)
    scale = page.unit[1] * FEMTOSECONDS
    lane = np.array(bars.lane)
    what = np.array([bars.kinds.index(kind) for kind in bars.what])
    order = np.lexsort((bars.end, bars.begin, lane))
    key = np.stack([lane, what, np.array(bars.number)])[:, order]
    begin, end = bars.begin[order], bars.end[order]
    other = np.append(True, (key[:, 1:] != key[:, :-1]).any(axis=0))
    first = np.flatnonzero(other | np.append(True, begin[1:] != end[:-1]))
    last = np.append(first[1:], len(begin)) - 1
    inset = np.where(np.array(bars.calls)[order][first], 0.22, 0.08)
    left, right, top = begin[first] / scale, end[last] / scale, key[0, first].astype(np.float64)
    for kind, name in enumerate(bars.kinds):
        own = key[1, first] == kind
        boxes = corners(left[own], right[own], top[own] + inset[own], top[own] + 1 - inset[own])
        # what takes no time is still a line, and a frame would swallow what is narrow
        wide = np.where(right[own] - left[own] > _SEEN * page.span, 0.0, 0.4)
        axes.add_collection(
            PolyCollection(
                boxes, facecolors=tint_of(name), edgecolors=tint_of(name), linewidths=wide, zorder=2
            ),
            autolim=False,
        )
    runs = np.flatnonzero(other)
    stops = np.append(runs[1:], len(begin)) - 1
    _number(axes, key[:, runs], begin[runs] / scale, end[stops] / scale, bars, page)


def _number(
    axes: Axes,
    key: NDArray[np.int64],
    begin: NDArray[np.float64],
    end: NDArray[np.float64],
    bars: Bars,
    page: Frame,
) -> None:
    """Write the micro-batch into each pass that is wide enough, if they are not too many."""
    passes = [bars.kinds.index(kind) for kind in ("F", "B", "I", "W") if kind in bars.kinds]
    digits = np.char.str_len(key[2].astype(str))
    wide = np.isin(key[1], passes) & (key[2] >= 0) & (end - begin > _DIGIT * (digits + 0.5) * page.span)
    chosen = np.flatnonzero(wide)
    if len(chosen) > _MOST_NUMBERS:
        return
    size = min(8.0, 0.6 * 72 * page.body / len(bars.names))
    for one in chosen.tolist():
        tint = tint_of(bars.kinds[key[1, one]])
        light = float(np.dot(to_rgba(tint)[:3], (0.299, 0.587, 0.114))) > 0.5
        axes.text(
            (begin[one] + end[one]) / 2,
            key[0, one] + 0.5,
            str(key[2, one]),
            ha="center",
            va="center_baseline",
            fontsize=size,
            color=INK if light else "white",
            # a pass has gaps, in which white would be lost
            path_effects=[withStroke(linewidth=1.5, foreground=tint)],
            zorder=3,
        )


def _draw_image(axes: Axes, bars: Bars, page: Frame) -> None:
    """Mix the colours of what each lane does in each of equal parts of the time."""
    axes.grid(visible=False)
    shape = len(bars.names), _BINS
    lane, what = np.array(bars.lane), np.array(bars.what)
    picture, busy = np.zeros((*shape, 3)), np.zeros(shape)
    start, stop = (moment * (_BINS / (page.end * FEMTOSECONDS or 1)) for moment in (bars.begin, bars.end))
    for kind in bars.kinds:
        own = what == kind
        part = coverage(lane[own], start[own], stop[own], shape, np.ones(int(own.sum())))
        picture += part[:, :, None] * np.array(to_rgba(tint_of(kind))[:3])
        busy += part
    # by the root: what is short would be lost
    strong = np.sqrt(np.clip(busy, 0.0, 1.0))[:, :, None]
    image = np.clip(1 - strong + strong * picture / np.maximum(busy, 1e-12)[:, :, None], 0.0, 1.0)
    extent = (0, page.span, shape[0], 0)
    axes.imshow(image, extent=extent, aspect="auto", interpolation="nearest")


def _name_stages(axes: Axes, bars: Bars, page: Frame) -> None:
    """Rule off the lanes of each stage, and name those that there is room for."""
    group = np.array(bars.group)
    first = np.flatnonzero(np.diff(group, prepend=-1))
    bounds = [*first.tolist(), len(group)]
    tall = page.body / len(group)
    skip = int(np.ceil(_NAME / (tall * len(group) / len(first))))
    for place, (top, bottom) in enumerate(pairwise(bounds)):
        if top:
            axes.axhline(top, color=RULE, lw=0.6, zorder=0.5)
        if place % skip:
            continue
        axes.annotate(
            bars.group_name(int(group[top])),
            (0, (top + bottom) / 2),
            (-72 * (page.left - 0.12), 0),
            xycoords=axes.get_yaxis_transform(),
            textcoords="offset points",
            ha="left",
            va="center",
            fontsize=8,
            color=FAINT,
        )
