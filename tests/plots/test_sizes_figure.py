"""Figures of time against size: what is on them, and that they are the same bytes on every run."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from plots.lines import NAMED, Curve, Floor
from plots.sizes import Leader, sizes_figure
from plots.style import save

SIZES = [2**power for power in range(10, 31, 5)]


def affine(name: str, fixed: float, per_byte: float) -> Curve:
    return Curve(name, [fixed + per_byte * size for size in SIZES])


FEW, SMALL = affine("few steps", 1e-6, 4e-11), affine("few bytes", 9e-6, 1e-11)
FLOOR = [Floor(1e-6, 1e-11 * size) for size in SIZES]
LEADERS = [Leader("few steps", SIZES[0]), Leader("few bytes", 266_667)]


def texts(figure: Figure) -> list[str]:
    return [t.get_text() for t in (*figure.texts, *(t for a in figure.axes for t in a.texts))]


def test_a_line_for_each_over_a_shaded_floor() -> None:
    figure = sizes_figure(SIZES, [FEW, SMALL], FLOOR, LEADERS, title="allreduce", subtitle="a scenario")
    axes = figure.axes[0]
    named = {str(line.get_label()): line for line in axes.lines}
    assert list(named["few steps"].get_xdata()) == SIZES
    assert list(named["few bytes"].get_ydata()) == SMALL.values
    (shaded,) = axes.collections
    top = {x: y for x, y in shaded.get_paths()[0].vertices.tolist() if y > 1e-7}
    assert [top[size] for size in SIZES] == pytest.approx([known.best for known in FLOOR])
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert {"allreduce", "a scenario", "few steps", "few bytes"} <= set(texts(figure))


def test_the_floor_bends_where_the_bounds_meet_and_not_at_the_sizes() -> None:
    # 3 us up to 192 kB, then M / 64 GB/s: a chord from 1 KiB to 1 GiB is at 220 us at 1 MiB
    ends = (2**10, 2**30)
    floor = [Floor(3e-6, size / 64e9) for size in ends]
    figure = sizes_figure(ends, [Curve("ring", [4e-6, 2e-2])], floor, [Leader("ring", ends[0])])
    (shaded,) = figure.axes[0].collections
    top = [(x, y) for x, y in shaded.get_paths()[0].vertices.tolist() if y > 1e-7]
    assert [y for _, y in top] == pytest.approx([max(3e-6, x / 64e9) for x, _ in top], rel=1e-9)
    assert any(x == pytest.approx(192_000) for x, _ in top)
    assert figure.axes[0].lines[0].get_marker() == "."


def test_winners_are_marked_along_the_foot_up_to_the_crossover() -> None:
    figure = sizes_figure(SIZES, [FEW, SMALL], FLOOR, LEADERS)
    foot = figure.axes[1]
    low, high = figure.axes[0].get_xlim()
    spans = [(patch.get_x(), patch.get_x() + patch.get_width()) for patch in foot.patches]
    assert spans == [pytest.approx((low, 266_667)), pytest.approx((266_667, high))]
    lines = {str(line.get_label()): to_rgba(line.get_color()) for line in figure.axes[0].lines}
    assert [patch.get_facecolor() for patch in foot.patches] == [lines["few steps"], lines["few bytes"]]
    assert lines["few steps"] != lines["few bytes"]


def test_of_many_the_winners_and_the_fastest_are_named() -> None:
    many = [affine(f"slow {i}", 1e-5, 1e-10 + i * 1e-11) for i in range(20)]
    figure = sizes_figure(SIZES, [*many, FEW, SMALL], FLOOR, LEADERS)
    shown = [text for text in texts(figure) if text.startswith(("slow", "few"))]
    # both winners are named twice: at their lines and along the foot
    assert len(set(shown)) == NAMED
    assert {"few steps", "few bytes", "slow 0", "slow 7"} <= set(shown)
    assert "grey: 12 more" in texts(figure)
    heights = sorted(text.get_position()[1] for text in figure.texts if text.get_text() in shown)
    assert all(above - below > 0.03 for below, above in pairwise(heights))
    assert heights[-1] < 1


def test_what_takes_no_time_or_has_no_size_is_left_out() -> None:
    nothing = sizes_figure([0, 1024], [Curve("ring", [0.0, 0.0])], [Floor(0, 0)] * 2, [Leader("ring", 0)])
    assert "all of it takes no time, or no size" in texts(nothing)
    some = sizes_figure(
        [0, 1024, 2048],
        [Curve("ring", [1e-6, None, 2e-6])],
        [Floor(0, 0), None, Floor(0, 1e-6)],
        [Leader("ring", 0)],
    )
    (line,) = some.axes[0].lines
    assert list(line.get_xdata()) == [2048]


def test_the_same_bytes_on_every_run(tmp_path: Path) -> None:
    for suffix in ("svg", "png"):
        files = [tmp_path / f"{i}.{suffix}" for i in range(2)]
        for file in files:
            save(sizes_figure(SIZES, [FEW, SMALL], FLOOR, LEADERS, title="$x$"), file)
        assert files[0].read_bytes() == files[1].read_bytes()


def test_what_is_worked_out_has_no_dots_and_does_not_stretch_the_axes() -> None:
    far = Curve("bandwidth bound", [1e-15 * size for size in SIZES], formula=True)
    figure = sizes_figure(SIZES, [FEW, far], FLOOR, ())
    axes = figure.axes[0]
    assert axes.get_ylim() == sizes_figure(SIZES, [FEW], FLOOR, ()).axes[0].get_ylim()
    simulated, bound = axes.lines
    assert (simulated.get_marker(), bound.get_marker()) == (".", "")
    # nobody leads, so that nothing stands along the foot
    assert len(figure.axes) == 1
    assert {"few steps", "bandwidth bound"} <= set(texts(figure))
