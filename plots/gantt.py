"""Bars of a timeline, drawn: what held each lane, when, and what waited for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
from matplotlib import colormaps
from matplotlib.collections import PolyCollection
from matplotlib.patches import Patch

from plots.style import INK
from simulator.engine.plan import LINK, PROCESSOR, RECEIVE_PORT, REDUCER, SEND_PORT, STAGE, START

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from plots.bars import Bars

_WAIT, _DELAY, _ZEBRA = "#8a8a8a", "#b8b8b8", "#f6f6f6"
_PALE = {"reduction": 0.35, "processor": 0.35, "port": 0.55, "stage": 0.55}
"""Part of white in the bars of what is not a transfer."""

_INSET = {REDUCER: 1, PROCESSOR: 1, START: 1, SEND_PORT: 2, RECEIVE_PORT: 2, STAGE: 1}
"""How much lower than those of transfers the bars of what is not one are, of `_STEP` each."""

_STEP = 0.14
WAITING: Final = (0.76, 0.94)
"""Part of a lane's height that is for who waits."""

_SEEN = 0.001
WIDE: Final = 0.006
"""Part of the time axis from which on a bar has a frame."""

_MOST_NUMBERS = 400
_DIGIT = 0.011


def step_colours(steps: int) -> NDArray[np.float64]:
    """Colour of each step, in an order that the eye sees, shape (steps, 4).

    >>> step_colours(3).shape
    (3, 4)
    """
    # the pale end of the map would be lost on paper, and in the dark one overheads would be
    places = np.linspace(0.14, 0.93, steps) if steps > 1 else [0.35]
    return np.asarray(colormaps["viridis"](places), dtype=np.float64)


def draw(axes: Axes, chart: Bars, steps: int, span: float, *, numbered: bool = True) -> tuple[Patch, ...]:
    """Draw bars; returns what the legend must explain.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
    chart : Bars
    steps : int
        Steps of the schedule, or whatever bars are told apart by.
    span : float
        Length of the time axis.
    numbered : bool
        Write the step into bars that have room for it.
    """
    palette = np.vstack([step_colours(steps), [0.72, 0.72, 0.72, 1.0]])
    colours = palette[chart.step]
    room = room_of(chart)
    legend = [
        *_draw_latency(axes, chart, colours, room, span),
        *_draw_holds(axes, chart, colours, room, span),
        *_draw_overhead(axes, chart, room),
        *_draw_waits(axes, chart),
    ]
    if numbered and steps > 1:
        _number(axes, chart, colours, room, span)
    known = {str(patch.get_label()): patch for patch in legend}
    order = (
        "transfer",
        "overhead",
        "latency",
        "reduction",
        "processor",
        "port",
        "stage",
        "queueing",
        "delay",
    )
    return tuple(known[name] for name in order if name in known)


def room_of(chart: Bars) -> tuple[float, float]:
    """Part of a lane's height that is for its bars: less of it where some wait below them."""
    return (0.06, 0.72) if bool((chart.grant > chart.arrival).any()) else (0.1, 0.9)


def height_of(
    kind: NDArray[np.uint8], room: tuple[float, float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Part of a lane's height that bars of each kind take, from the top: transfers all of the room.

    >>> [edge.tolist() for edge in height_of(np.array([LINK]), (0.1, 0.9))]
    [[0.1], [0.9]]
    """
    low, high = room
    inset = np.array([_INSET.get(own, 0) for own in kind.tolist()]) * (_STEP * (high - low))
    return low + inset, high - inset


def zebra(axes: Axes, lanes: int, span: float) -> None:
    """Tint every other lane, to lead the eye from its name to its bars."""
    top = np.arange(1, lanes, 2, dtype=np.float64)
    left, right = np.full(len(top), -span), np.full(len(top), 2 * span)
    axes.add_collection(
        PolyCollection(corners(left, right, top, top + 1), facecolors=_ZEBRA, zorder=0), autolim=False
    )


def corners(
    left: NDArray[np.float64],
    right: NDArray[np.float64],
    top: NDArray[np.float64],
    bottom: NDArray[np.float64],
) -> Sequence[Any]:
    """Corners of rectangles, shape (rectangles, 4, 2), from their edges."""
    x = np.stack([left, right, right, left], axis=1)
    y = np.stack([top, top, bottom, bottom], axis=1)
    # matplotlib takes one array at once, though its types ask for a list
    return cast("Sequence[Any]", np.stack([x, y], axis=2))


def _draw_holds(
    axes: Axes, chart: Bars, colours: NDArray[np.float64], room: tuple[float, float], span: float
) -> list[Patch]:
    """Draw transfers solid, reductions lower, pale and hatched, delays grey; none thinner than a hairline.

    What processors do is pale, and what ports let through thin and paler still.
    """
    low, high = height_of(chart.kind, room)
    tall = chart.bottom - chart.top
    upper, lower = chart.top + low * tall, chart.top + high * tall
    held = chart.release - chart.grant
    wide, seen = held > WIDE * span, held > _SEEN * span
    # what takes no time is still a line
    line = np.where(wide, 0.5 * tall, np.where(seen, 0.4, 1.0))
    reduction = chart.kind == REDUCER
    legend = []
    for name, own, hatch in (
        ("transfer", chart.kind == LINK, None),
        # a hatch in a narrow bar is a blot
        ("reduction", reduction & wide, "/////"),
        ("reduction", reduction & ~wide, None),
        ("processor", chart.kind == PROCESSOR, None),
        ("port", np.isin(chart.kind, (SEND_PORT, RECEIVE_PORT)), None),
        ("stage", chart.kind == STAGE, None),
        ("delay", chart.kind == START, None),
    ):
        if not own.any():
            continue
        fill = _mixed(colours[own], 1.0, 0.65 if hatch else _PALE.get(name, 0.0))
        # a white frame parts neighbours of one colour, but would swallow what is narrow
        frame = np.where(wide[own, None] & (hatch is None), 1.0, _mixed(colours[own], 0.0, 0.25))
        axes.add_collection(
            PolyCollection(
                corners(chart.grant[own], chart.release[own], upper[own], lower[own]),
                facecolors=fill,
                edgecolors=frame,
                linewidths=line[own],
                hatch=hatch,
                zorder=2,
                label=name,
            ),
            autolim=False,
        )
        legend.append(_key(name))
    return legend


def _mixed(colours: NDArray[np.float64], tone: float, part: float) -> NDArray[np.float64]:
    """Colours with a part of white (tone 1) or black (tone 0)."""
    mixed = colours.copy()
    mixed[:, :3] += part * (tone - mixed[:, :3])
    return mixed


def _draw_latency(
    axes: Axes, chart: Bars, colours: NDArray[np.float64], room: tuple[float, float], span: float
) -> list[Patch]:
    """Draw a pale thread from each release to where the message arrives."""
    own = chart.landing - chart.release > _SEEN * span
    if not own.any():
        return []
    middle = sum(room) / 2
    top, bottom = chart.heights(middle - 0.07, middle + 0.07)
    fill = _mixed(colours[own], 1.0, 0.4)
    boxes = corners(chart.release[own], chart.landing[own], top[own], bottom[own])
    axes.add_collection(PolyCollection(boxes, facecolors=fill, zorder=1, label="latency"), autolim=False)
    return [_key("latency")]


def _draw_overhead(axes: Axes, chart: Bars, room: tuple[float, float]) -> list[Patch]:
    """Darken the part of a hold before the bytes."""
    own = chart.overhead > 0
    if not own.any():
        return []
    low, high = room
    top, bottom = chart.heights(low + 0.03, high - 0.03)
    stop = np.minimum(chart.grant + chart.overhead, chart.release)
    boxes = corners(chart.grant[own], stop[own], top[own], bottom[own])
    axes.add_collection(
        PolyCollection(boxes, facecolors=INK, alpha=0.45, linewidths=0, zorder=2.5, label="overhead"),
        autolim=False,
    )
    return [_key("overhead")]


def _draw_waits(axes: Axes, chart: Bars) -> list[Patch]:
    """Draw who waits at a lane below what holds it; the more wait, the darker."""
    own = chart.grant > chart.arrival
    if not own.any():
        return []
    top, bottom = chart.heights(*WAITING)
    boxes = corners(chart.arrival[own], chart.grant[own], top[own], bottom[own])
    axes.add_collection(
        PolyCollection(
            boxes,
            facecolors=_WAIT,
            edgecolors=INK,
            alpha=0.22,
            hatch="//////",
            linewidths=0.4,
            zorder=2,
            label="queueing",
        ),
        autolim=False,
    )
    return [_key("queueing")]


def _number(
    axes: Axes, chart: Bars, colours: NDArray[np.float64], room: tuple[float, float], span: float
) -> None:
    """Write the step into the bars of transfers that are wide enough, if they are not too many."""
    digits = np.char.str_len(chart.step.astype(str))
    wide = chart.release - chart.grant > _DIGIT * (digits + 1) / 2 * span
    tall = chart.bottom - chart.top > 0.9
    own = np.flatnonzero((chart.kind == LINK) & wide & tall)
    if len(own) > _MOST_NUMBERS:
        return
    light = colours[:, :3] @ np.array([0.299, 0.587, 0.114]) > 0.5
    top, bottom = chart.heights(*room)
    size = axes.get_window_extent().height / axes.figure.dpi * 72 / abs(np.diff(axes.get_ylim())[0])
    for i in own.tolist():
        axes.text(
            (chart.grant[i] + chart.release[i]) / 2,
            (top[i] + bottom[i]) / 2,
            str(chart.step[i]),
            ha="center",
            va="center_baseline",
            fontsize=min(8.0, 0.62 * size),
            color=INK if light[i] else "white",
            zorder=3,
        )


def _key(name: str) -> Patch:
    """Entry of the legend."""
    tone = "#5b7a99"
    looks: dict[str, dict[str, Any]] = {
        "transfer": {"facecolor": tone, "edgecolor": "#37495c"},
        "reduction": {"facecolor": "#d3dde6", "edgecolor": tone, "hatch": "/////"},
        "processor": {"facecolor": "#93a7ba", "edgecolor": "#37495c"},
        "port": {"facecolor": "#b6c4d1", "edgecolor": "#37495c"},
        "stage": {"facecolor": "#b6c4d1", "edgecolor": "#37495c"},
        "delay": {"facecolor": _DELAY, "edgecolor": INK},
        "latency": {"facecolor": "#c3d0dc", "edgecolor": "white", "linewidth": 4},
        "overhead": {"facecolor": "#3f5265", "edgecolor": "#37495c"},
        "queueing": {"facecolor": "#d4d4d4", "edgecolor": "#666666", "hatch": "//////"},
    }
    return Patch(label=name, **{"linewidth": 0.5, **looks[name]})
