"""Vertical lines of timelines, and their labels."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from plots import markers as lines_of
from plots.timeline import Marker, timeline_figure
from tests.plots.figures import ring_eight, texts


def test_markers_are_drawn_and_named() -> None:
    markers = [Marker("analytic", 16.516e-3), Marker("bound", 14.68e-3), Marker("none", float("nan"))]
    figure = timeline_figure(*ring_eight(2**30), title="", markers=markers)
    assert {"bound 14.68 ms", "time = analytic 16.52 ms"} <= set(texts(figure))
    places = [
        np.asarray(line.get_xdata())[0]
        for line in figure.axes[0].lines
        if str(line.get_label()).startswith("_bound")
    ]
    assert places == pytest.approx([14.68])


@pytest.mark.parametrize("gap", [0.11e-3, 0.3e-3, 1e-3])
def test_labels_keep_apart(gap: float) -> None:
    markers = [Marker(f"a bound of length {i}", 5e-3 + gap * (i - 4)) for i in range(9)]
    lines, end = lines_of.layout(markers, 10e-3, 8.0)
    assert len(lines) == 10
    assert end == 10e-3
    rooms = []
    for line in lines:
        x, wide = line.place / end * 8.0, 0.06 * len(line.text)
        rooms.append((line.row, x - wide if line.leftwards else x, x if line.leftwards else x + wide))
    assert min(left for _, left, _ in rooms) >= 0
    assert max(right for *_, right in rooms) <= 8.0
    for one, other in combinations(rooms, 2):
        assert one[0] != other[0] or one[2] <= other[1] or other[2] <= one[1]


def test_a_far_marker_does_not_squash_the_picture() -> None:
    lines, end = lines_of.layout([Marker("analytic", 1.0)], 1e-3, 8.0)
    assert end == pytest.approx(1.25e-3)
    assert (lines[-1].text, lines[-1].place) == ("analytic 1 s \u2192", end)
