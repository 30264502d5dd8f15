"""Vertical lines in a timeline's figure, with labels that keep out of each other's way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

from plots.style import CHARACTER, DIGITS, FAINT, INK, label
from topologies.text import format_time

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NEAR = 0.01
_BEYOND = 1.25
_ROW = 0.17


@dataclass(frozen=True, slots=True)
class Marker:
    """A time worth a line: what an analytic formula or a bound says.

    Attributes
    ----------
    label : str
        Its name.
    time_seconds : float
        Not drawn if it is not finite.
    """

    label: str
    time_seconds: float


@dataclass(frozen=True, slots=True)
class Line:
    """A labelled line, ready to be drawn.

    Attributes
    ----------
    text : str
    place : float
        Seconds.
    row : int
        Of its label, 0 is the lowest.
    leftwards : bool
        The label ends at the line; it begins there otherwise.
    measured : bool
        It tells the time that the simulation took.
    """

    text: str
    place: float
    row: int
    leftwards: bool
    measured: bool


def layout(markers: Sequence[Marker], time: float, inches: float) -> tuple[tuple[Line, ...], float]:
    """Lines of a figure, that of the simulated time among them, and the last second shown.

    Markers closer than 1 % of the width become one. One far past the simulated time stands at
    the right edge, with an arrow.

    Parameters
    ----------
    markers : sequence of Marker
    time : float
        Simulated, s.
    inches : float
        Width of the axes.

    Examples
    --------
    >>> lines, end = layout([Marker("analytic", 2e-6), Marker("bound", 1e-6)], 2e-6, 8.0)
    >>> [line.text for line in lines], end
    (['bound 1 us', 'time = analytic 2 us'], 2e-06)
    """
    finite = [marker for marker in markers if isfinite(marker.time_seconds)]
    last = max([time, *(marker.time_seconds for marker in finite)])
    end = min(last, _BEYOND * time) if time else last
    simulated = Marker("time", time)
    # a cluster stands where its first does, and that is the simulated time if it is there
    clusters = [
        sorted(c, key=lambda marker: marker is not simulated) for c in _merge([simulated, *finite], end)
    ]
    drawn = [
        (_text(cluster, end), min(cluster[0].time_seconds, end), simulated in cluster) for cluster in clusters
    ]
    return _stagger(drawn, end or 1.0, inches), end


def _merge(markers: Iterable[Marker], end: float) -> list[list[Marker]]:
    """Markers by time, those that nearly coincide on the page together."""
    clusters: list[list[Marker]] = []
    for marker in sorted(markers, key=lambda marker: marker.time_seconds):
        place = min(marker.time_seconds, end)
        if clusters and place - min(clusters[-1][0].time_seconds, end) <= _NEAR * end:
            clusters[-1].append(marker)
        else:
            clusters.append([marker])
    return clusters


def _text(cluster: Sequence[Marker], end: float) -> str:
    """Names with their times, those that read the same only once: `time = analytic 2 us`."""
    names: dict[str, list[str]] = {}
    for marker in cluster:
        arrow = " \u2192" if marker.time_seconds > end else ""
        time = format_time(marker.time_seconds, digits=DIGITS)
        names.setdefault(time + arrow, []).append(label(marker.label))
    return ", ".join(f"{' = '.join(labels)} {time}" for time, labels in names.items())


def _stagger(drawn: Sequence[tuple[str, float, bool]], end: float, inches: float) -> tuple[Line, ...]:
    """Give every label the lowest row in which it crosses no other label, nor a line that goes higher."""
    # from the middle outwards: what stands further out goes higher, and its line is clear of those below
    order = sorted(range(len(drawn)), key=lambda i: abs(drawn[i][1] / end - 0.5))
    labels: dict[int, _Label] = {}
    for i in order:
        text, place, _ = drawn[i]
        others = tuple(labels.values())
        rooms = _rooms(place / end * inches, CHARACTER * (len(text) + 2), inches, len(others) + 1)
        # the topmost row is always clear of others, though its line may have to cross them
        clear = [room for room in rooms if not any(room.clashes(other) for other in others)]
        uncrossed = (room for room in clear if not any(other.clashes(room) for other in others))
        labels[i] = next(uncrossed, clear[0])
    return tuple(
        Line(text, place, labels[i].row, labels[i].left < labels[i].line, measured)
        for i, (text, place, measured) in enumerate(drawn)
    )


def _rooms(x: float, wide: float, inches: float, rows: int) -> list[_Label]:
    """Where a label may stand, best first: low rather than high, on the side that has more room."""
    sides = [(x - wide, x), (x, x + wide)]
    sides.sort(key=lambda side: abs(sum(side) - inches))
    fitting = [side for side in sides if side[0] >= 0 and side[1] <= inches] or sides[:1]
    return [_Label(row, x, *side) for row in range(rows) for side in fitting]


@dataclass(frozen=True, slots=True)
class _Label:
    """Room of a label, in inches, and the place of its line."""

    row: int
    line: float
    left: float
    right: float

    def clashes(self, other: _Label) -> bool:
        """Whether one stands on the other, or the other's line would cross this label on its way up."""
        if self.row == other.row:
            return self.left < other.right and other.left < self.right
        return self.row < other.row and self.left < other.line < self.right


def rows(lines: Sequence[Line]) -> int:
    """Rows that the labels take.

    >>> rows(())
    0
    """
    return max((line.row + 1 for line in lines), default=0)


def label_height(lines: Sequence[Line]) -> float:
    """Inches that the labels take above the axes.

    >>> label_height(())
    0.0
    """
    return _ROW * rows(lines)


def draw_labels(axes: Axes, lines: Sequence[Line], scale: float, inches: float) -> None:
    """Write the labels above axes that are so many inches high; the x axis counts `scale` seconds."""
    for line in lines:
        low, high = (_ROW * (line.row + part) / inches for part in (0.0, 1.0))
        tint, x = INK if line.measured else FAINT, line.place / scale
        axes.plot(
            [x, x],
            [1, 1 + high],
            transform=axes.get_xaxis_transform(),
            clip_on=False,
            color=tint,
            lw=0.9,
            label="_leader",
        )
        axes.annotate(
            line.text,
            (x, 1 + low),
            (-3 if line.leftwards else 3, 3),
            xycoords=axes.get_xaxis_transform(),
            textcoords="offset points",
            ha="right" if line.leftwards else "left",
            va="bottom",
            fontsize=8,
            color=tint,
            annotation_clip=False,
        )


def draw_lines(axes: Axes, lines: Sequence[Line], scale: float) -> None:
    """Draw the lines themselves through axes."""
    for line in lines:
        tint, dash = (INK, "-") if line.measured else (FAINT, (0, (4, 2)))
        axes.axvline(line.place / scale, color=tint, ls=dash, lw=0.9, zorder=4, label=f"_{line.text}")
