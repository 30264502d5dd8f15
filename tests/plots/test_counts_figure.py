"""Steps against ranks: lines that are the same are one, and one's own is marked."""

from __future__ import annotations

import numpy as np

from plots.counts import counts_figure
from tests.plots.figures import texts

RANKS = [2, 4, 8, 16]
STEPS = {"ring": [1, 3, 7, 15], "halving": [1, 2, 3, 4], "chain": [1, 3, 7, 15], "direct": [1, 1, 1, 1]}


def test_the_own_line_is_first_and_its_steps_are_ringed() -> None:
    figure = counts_figure(RANKS, STEPS, ("chain", 8, 7), title="steps", subtitle="mine")
    *lines, mark = figure.axes[0].lines
    assert [line.get_label() for line in lines] == ["chain, ring", "halving", "direct"]
    assert np.asarray(lines[0].get_ydata()).tolist() == [1, 3, 7, 15]
    assert (list(mark.get_xdata()), list(mark.get_ydata())) == ([8], [7])
    assert {"steps", "mine", "chain: 7 steps at 8 ranks", "halving", "direct"} <= set(texts(figure))


def test_code_of_ones_own_has_a_mark_and_no_line() -> None:
    figure = counts_figure(RANKS, STEPS, ("mine", 4, 1))
    assert len(figure.axes[0].lines) == 4
    assert "mine: 1 step at 4 ranks" in texts(figure)


def test_lines_of_one_colour_differ_in_their_dashes() -> None:
    many = {f"algorithm {i}": [1, 2, 3, 4 + i] for i in range(12)}
    lines = counts_figure(RANKS, many).axes[0].lines
    assert len({(line.get_color(), str(line.get_linestyle())) for line in lines}) == 12
