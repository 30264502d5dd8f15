"""How chunks move: a small picture for each step of a schedule, beside each other or one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import pi
from typing import TYPE_CHECKING, Final

import numpy as np

from plots.layout import layout
from plots.moves import Held, Moves, held, moves_of, some_steps
from plots.panels import draw_graph, draw_matrix, graph_legend, has_cells, matrix_legend
from plots.places import on_circle
from plots.style import FAINT, INK, label, look, new_figure, titled_figure
from topologies.text import format_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from algorithms.schedule import Schedule
    from plots.places import Points
    from topologies.topology import Topology

MOST_DRAWN: Final = 32
"""Ranks up to which steps are graphs; those of more are matrices."""

MOST_FRAMES: Final = 60

_MOST_CHUNKS: Final = 4096
"""Whose places are followed."""

_WIDTH: Final = 10.0
_TOP: Final = 0.62
_FOOT: Final = 0.42
_HEAD: Final = 0.22
_SIDE: Final = 4.2
_FRAME: Final = (5.6, 5.2)
_CLOSE: Final = 16
"""Ranks from which on a graph needs more room."""

_NEAREST: Final = (0.25, 0.14)
"""Part of the whole that few and many ranks are apart at least, where they stand as in the topology."""


@dataclass(frozen=True, slots=True, eq=False)
class Story:
    """What a storyboard tells.

    Attributes
    ----------
    ranks, steps, transfers : int
        Of the schedule.
    moves : sequence of Moves
        Of the steps that are shown.
    states : mapping of int to Held
        After these steps, and at the start as step -1; empty where that is not followed.
    points : ndarray of float64, shape (nodes, 2), or None
        Where ranks and switches stand; None where steps are matrices.
    """

    ranks: int
    steps: int
    transfers: int
    moves: Sequence[Moves]
    states: Mapping[int, Held] = field(default_factory=dict)
    points: Points | None = None


def story_of(
    schedule: Schedule, topology: Topology, placement: Sequence[int], steps: Sequence[int] | None = None
) -> Story:
    """What there is to tell of a schedule.

    Ranks stand as in the topology where it has no switches, or groups, and they are not too close together,
    else on a circle.

    Parameters
    ----------
    schedule : Schedule
    topology : Topology
    placement : sequence of int
        The topology's rank that played each rank.
    steps : sequence of int, optional
        Those that are shown; by default `some_steps`.
    """
    shown = some_steps(schedule.steps) if steps is None else steps
    drawn = schedule.ranks <= MOST_DRAWN
    states = {}
    if drawn and schedule.collective.chunks <= _MOST_CHUNKS:
        kept = {-1, *shown}
        states = {step: state for step, state in held(schedule) if step in kept}
    return Story(
        schedule.ranks,
        schedule.steps,
        len(schedule),
        moves_of(schedule, shown, named=drawn),
        states,
        _points(schedule, topology, placement) if drawn else None,
    )


def _points(schedule: Schedule, topology: Topology, placement: Sequence[int]) -> Points:
    if schedule.switches:
        inner = 0.4 if schedule.switches > 1 else 0.0
        switches = inner * on_circle(schedule.switches, pi / 2)
        return np.concatenate([on_circle(schedule.ranks, pi / 2), switches])
    circle = on_circle(schedule.ranks, pi if schedule.ranks == 2 else pi / 2)
    plain = len(topology.nodes) == topology.ranks or topology.kind == "multilevel"
    if not plain or schedule.ranks < 3:
        return circle
    points = layout(topology).points[list(placement)]
    span = np.ptp(points, axis=0)
    apart = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1)) + 1e9 * np.eye(len(points))
    nearest = _NEAREST[schedule.ranks > _CLOSE] * span.max()
    # all in a row, arrows would lie on each other
    return points if apart.min() >= nearest and span.min() > 0.2 * span.max() else circle


def storyboard_figure(story: Story, *, title: str) -> Figure:
    """Draw steps beside each other.

    Of up to 32 ranks a step is a graph: an arrow a transfer, solid where it is reduced on arrival and dashed
    where it is copied, with the names of its chunks where there is room; below each rank stand the chunks
    that it holds after the step. Of more ranks it is a matrix. Of more than 16 steps some are shown.

    Parameters
    ----------
    story : Story
    title : str
        First line.

    Examples
    --------
    >>> from algorithms.registry import build
    >>> from topologies import ring
    >>> story = story_of(build("ring", "allgather", 4, 64), ring(4, bandwidth=1e9), range(4))
    >>> [axes.get_title() for axes in storyboard_figure(story, title="Ring").axes]
    ['start', 'step 0: 4 x 16 B', 'step 1: 4 x 16 B', 'step 2: 4 x 16 B']
    """
    with look():
        steps: list[Moves | None] = [*([] if story.points is None else [None]), *story.moves]
        columns = _columns(len(steps), wide=story.points is not None and story.ranks > _CLOSE)
        rows = -(-len(steps) // columns)
        side = min((_WIDTH - 0.2) / columns, _SIDE)
        height = _TOP + rows * side + _FOOT
        figure = titled_figure(_WIDTH, height, title, _facts(story))
        for place, moves in enumerate(steps):
            row, column = divmod(place, columns)
            inset = 0.3 if story.points is None else 0.05
            left, below = 0.1 + column * side + inset, _FOOT + (rows - 1 - row) * side
            wide, tall = side - inset - 0.05, side - _HEAD - (0.18 if story.points is None else 0.0)
            rest = side - _HEAD - tall
            axes = figure.add_axes((left / _WIDTH, (below + rest) / height, wide / _WIDTH, tall / height))
            _draw(axes, story, moves)
            before = None if place == 0 else steps[place - 1]
            gap = moves is not None and before is not None and moves.step > before.step + 1
            axes.set_title(("\u2026  " if gap else "") + _step_text(moves), fontsize=8, color=INK, pad=3)
        _legend(figure, story, height)
        return figure


def _columns(steps: int, *, wide: bool) -> int:
    """Pictures beside each other.

    >>> _columns(2, wide=False), _columns(4, wide=False), _columns(9, wide=False), _columns(9, wide=True)
    (2, 4, 4, 3)
    """
    if wide:
        return min(3, max(steps, 1))
    return 4 if steps > 6 or steps == 4 else min(3, max(steps, 1))


def storyboard_frames(story: Story, *, title: str) -> tuple[Figure, ...]:
    """Draw steps one after the other, in figures of the same size; else as `storyboard_figure`."""
    with look():
        steps: list[Moves | None] = [*([] if story.points is None else [None]), *story.moves]
        frames = []
        for moves in steps:
            wide, tall = _FRAME
            figure = new_figure(wide, tall)
            figure.text(0.02, 1 - 0.1 / tall, label(title, 60), va="top", fontsize=11, color=INK)
            what = f"{_step_text(moves)}  ({story.steps:,} steps)"
            figure.text(0.02, 1 - 0.32 / tall, what, va="top", fontsize=9, color=FAINT)
            inset = 0.45 if story.points is None else 0.1
            room = tall - 0.65 - inset - 0.45
            axes = figure.add_axes((inset / wide, (0.45 + inset) / tall, 1 - 2 * inset / wide, room / tall))
            _draw(axes, story, moves)
            _legend(figure, story, tall, columns=2)
            frames.append(figure)
        return tuple(frames)


def frame_steps(steps: int) -> list[int]:
    """Steps that an animation shows: all, or every k-th and the last.

    >>> frame_steps(3), len(frame_steps(1000)), frame_steps(1000)[-1]
    ([0, 1, 2], 60, 999)
    """
    if steps <= MOST_FRAMES:
        return list(range(steps))
    return sorted({round(i * (steps - 1) / (MOST_FRAMES - 1)) for i in range(MOST_FRAMES)})


def _draw(axes: Axes, story: Story, moves: Moves | None) -> None:
    if story.points is not None:
        state = story.states.get(-1 if moves is None else moves.step)
        draw_graph(axes, story.points, story.ranks, moves, state)
    elif moves is not None:
        draw_matrix(axes, story.ranks, moves)


def _step_text(moves: Moves | None) -> str:
    if moves is None:
        return "start"
    if not len(moves):
        return f"step {moves.step}: nothing moves"
    least, most = int(moves.bytes.min()), int(moves.bytes.max())
    size = format_bytes(most, 3)
    size = size if least == most else f"{format_bytes(least, 3)} to {size}"
    return f"step {moves.step}: {len(moves):,} x {size}"


def _facts(story: Story) -> str:
    counts = ((story.ranks, "rank"), (story.steps, "step"), (story.transfers, "transfer"))
    facts = ", ".join(f"{count:,} {what}{'' if count == 1 else 's'}" for count, what in counts)
    left_out = story.steps - len(story.moves)
    return facts + (f"; {left_out:,} of the steps are left out" if left_out else "")


def _legend(figure: Figure, story: Story, height: float, columns: int = 6) -> None:
    state = next(iter(story.states.values()), None)
    cells = state is not None and has_cells(story.ranks, state)
    handles = matrix_legend() if story.points is None else graph_legend(cells=cells)
    figure.legend(
        handles=handles,
        loc="lower center",
        bbox_to_anchor=(0.5, 0.05 / height),
        ncols=columns,
        frameon=False,
        fontsize=7.5,
        handlelength=1.8,
        columnspacing=1.2,
        borderaxespad=0,
    )
