"""Figures of a sweep: axes of numbers and of words, colours for few, a word where there is nothing."""

from __future__ import annotations

from matplotlib.colors import to_hex

from plots.curves import curves_figure
from plots.lines import NAMED, Curve, Floor


def test_numbers_on_a_logarithmic_axis_and_words_evenly() -> None:
    curves = [Curve("a", [2.0, 1.0]), Curve("b", [None, 3.0])]
    numbers = curves_figure([8.0, 16.0], ["8", "16"], curves, across="topology.ranks", form=str).axes[0]
    words = curves_figure(None, ["ring", "direct"], curves, across="algorithm", form=str).axes[0]
    assert (numbers.get_xscale(), words.get_xscale()) == ("log", "linear")
    assert [text.get_text() for text in numbers.get_xticklabels()] == ["8", "16"]
    assert list(words.lines[1].get_xdata()) == [2]
    assert numbers.get_yscale() == words.get_yscale() == "log"


def test_of_many_the_lowest_have_a_colour() -> None:
    curves = [Curve(f"line {i}", [1.0, 100.0 - i]) for i in range(NAMED + 3)]
    figure = curves_figure([1.0, 2.0], ["1", "2"], curves, across="x", form=str)
    grey = [str(line.get_label()) for line in figure.axes[0].lines if to_hex(line.get_color()) == "#c4c4c4"]
    assert grey == ["line 0", "line 1", "line 2"]
    assert "grey: 3 more" in [text.get_text() for text in figure.texts]


def test_a_floor_is_told_of_where_there_is_one() -> None:
    given = ([1.0, 2.0], ["1", "2"], [Curve("", [1.0, 2.0])])
    bare = curves_figure(*given, across="x", form=str)
    shaded = curves_figure(*given, [Floor(0.0, 0.5), Floor(0.0, 1.0)], across="x", form=str)
    assert not bare.axes[0].collections
    assert len(shaded.axes[0].collections) == 1
    feet = [
        [text.get_text() for text in figure.texts if "dots" in text.get_text()] for figure in (bare, shaded)
    ]
    assert feet == [
        ["dots: points that ran"],
        ["shaded: faster than any algorithm can be; dots: points that ran"],
    ]


def test_nothing_to_draw() -> None:
    figure = curves_figure(None, ["a"], [Curve("", [None])], across="x", form=str)
    assert "nothing came of it that has a place here" in [text.get_text() for text in figure.axes[0].texts]
