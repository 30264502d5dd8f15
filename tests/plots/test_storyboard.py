"""How chunks move: what a storyboard tells, and how it is drawn and animated."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex
from matplotlib.patches import FancyArrowPatch
from PIL import Image

from algorithms.registry import build
from plots.animation import save_animation
from plots.moves import held, moves_of, some_steps
from plots.panels import COPIES, REDUCES
from plots.storyboard import MOST_DRAWN, frame_steps, story_of, storyboard_figure, storyboard_frames
from plots.style import new_figure
from tests.plots.figures import texts
from topologies import CollsimError, Level, crossbar, hypercube, multilevel, ring

HALVING = build("recursive_halving", "reduce_scatter", 8, 64)
CUBE = hypercube(3, 64e9)


def test_who_sends_what_to_whom() -> None:
    # the first seed's table of recursive halving: halves, then quarters, then eighths
    first, *_, last = moves_of(HALVING, range(3), named=True)
    assert list(zip(first.src.tolist(), first.dst.tolist(), first.names, strict=True))[:2] == [
        (0, 4, "4-7"),
        (1, 5, "4-7"),
    ]
    assert (last.names[0], last.bytes.tolist()) == ("1", [8] * 8)
    assert first.reduces.all()
    assert moves_of(HALVING, [1], named=False)[0].names == ()


@pytest.mark.parametrize("kind", ["reduce_scatter", "allgather", "allreduce", "all_to_all", "broadcast"])
def test_at_the_end_all_ranks_have_what_they_need(kind: str) -> None:
    name = {"broadcast": "binomial", "all_to_all": "bruck"}.get(kind, "ring")
    states = [state for _, state in held(build(name, kind, 6, 36))]
    assert (states[-1].done == 1).all()
    done = [state.done.mean() for state in states]
    assert done == sorted(done)
    assert done[0] < 1


def test_parts_of_sums_grow_by_what_arrives() -> None:
    states = dict(held(HALVING))
    # a rank holds its own of all, then two of half, then four of a quarter, then eight of its own
    for step, (share, chunks) in enumerate([(1 / 8, 8), (2 / 8, 4), (4 / 8, 2), (1.0, 1)], start=-1):
        assert [(state > 0).sum() for state in states[step].share] == [chunks] * 8
        assert set(states[step].share[states[step].share > 0]) == {share}


def test_all_steps_of_few_and_some_of_many() -> None:
    assert some_steps(16) == list(range(16))
    many = some_steps(1023)
    assert (many[:6], many[-6:], len(many)) == ([0, 1, 2, 3, 4, 5], [*range(1017, 1023)], 16)
    story = story_of(build("ring", "allgather", 20, 20), ring(20, 64e9), range(20), [0, 18])
    figure = storyboard_figure(story, title="")
    assert texts(figure)[1] == "20 ranks, 19 steps, 380 transfers; 17 of the steps are left out"
    assert [axes.get_title()[:10].strip() for axes in figure.axes] == [
        "start",
        "step 0: 20",
        "\u2026  step 18",
    ]


def test_an_arrow_a_transfer_reduced_or_copied() -> None:
    schedule = build("rabenseifner", "allreduce", 8, 64)
    figure = storyboard_figure(story_of(schedule, CUBE, range(8)), title="Cube")
    start, *steps = figure.axes
    arrows = [[p for p in axes.patches if isinstance(p, FancyArrowPatch)] for axes in steps]
    assert [len(own) for own in arrows] == [8] * 6
    tints = [{to_hex(arrow.get_edgecolor()) for arrow in own} for own in arrows]
    assert tints == [{REDUCES.lower()}] * 3 + [{COPIES.lower()}] * 3
    # 8 ranks of 8 chunks each: at the start all are parts of sums, at the end all are complete
    for axes, tint in ((start, None), (steps[-1], COPIES.lower())):
        (cells,) = (c for c in axes.collections if isinstance(c, PolyCollection))
        colours = {to_hex(c) for c in np.asarray(cells.get_facecolor())}
        assert (len(cells.get_paths()), len(colours)) == (64, 1)
        assert tint in (None, *colours)
    assert {"4-7", "0-3"} <= set(texts(figure))
    assert [axes.get_title() for axes in steps][:2] == ["step 0: 8 x 32 B", "step 1: 8 x 16 B"]


def test_ranks_stand_as_in_the_topology_where_that_can_be_read() -> None:
    from plots.layout import layout
    from plots.places import on_circle

    story = story_of(HALVING, CUBE, (1, 0, 2, 3, 4, 5, 6, 7))
    assert story.points is not None
    assert story.points[0].tolist() == layout(CUBE).points[1].tolist()
    close = multilevel([Level("card", 4, "ring", 64e9), Level("machine", 2, "ring", 64e9)])
    for topology in (close, crossbar(8, 64e9)):
        points = story_of(HALVING, topology, range(8)).points
        assert points is not None
        assert points.tolist() == on_circle(8, np.pi / 2).tolist()


def test_many_ranks_are_a_matrix() -> None:
    ranks = MOST_DRAWN + 8
    story = story_of(build("ring", "allgather", ranks, ranks), ring(ranks, 64e9), range(ranks))
    assert (story.points, dict(story.states)) == (None, {})
    figure = storyboard_figure(story, title="")
    (image,) = figure.axes[0].images
    marked = np.argwhere((np.asarray(image.get_array()) < 1).any(axis=2))
    # who sends is a row, who receives a column
    assert marked.tolist() == [[i, (i + 1) % ranks] for i in range(ranks)]
    assert {to_hex(c) for c in np.asarray(image.get_array())[tuple(marked.T)]} == {COPIES.lower()}


def test_an_animation_is_the_same_bytes_and_ends_with_a_rest(tmp_path: Path) -> None:
    story = story_of(HALVING, CUBE, range(8), frame_steps(HALVING.steps))
    for name in ("a.gif", "b.gif"):
        save_animation(storyboard_frames(story, title="Cube"), tmp_path / name)
    assert (tmp_path / "a.gif").read_bytes() == (tmp_path / "b.gif").read_bytes()
    with Image.open(tmp_path / "a.gif") as film:
        # the start, and three steps
        assert (film.n_frames, film.info["loop"]) == (4, 0)
        durations = []
        for frame in range(film.n_frames):
            film.seek(frame)
            durations.append(film.info["duration"])
    assert durations == [900, 900, 900, 2500]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.gif", "b.gif"]


def test_an_animation_is_a_gif(tmp_path: Path) -> None:
    with pytest.raises(CollsimError, match=r"\.gif"):
        save_animation([new_figure(1, 1)], tmp_path / "film.png")
    assert list(tmp_path.iterdir()) == []
