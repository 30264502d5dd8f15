"""Pictures of steps: a lane a stream, colours by pass, and an image where bars are too many."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from plots.steps import Bars, step_figure
from plots.style import save

S = 10**15


def bars(stages: int = 2) -> Bars:
    """Of each stage a forward pass of 2 s in two parts, a call of 1 s, and a backward pass of 2 s."""
    return Bars(
        lane=[lane for stage in range(stages) for lane in (2 * stage, 2 * stage, 2 * stage + 1, 2 * stage)],
        begin=np.tile(np.array([0, 1, 2, 3]) * S, stages),
        end=np.tile(np.array([1, 2, 3, 5]) * S, stages),
        what=["F", "F", "tp", "B"] * stages,
        calls=[False, False, True, False] * stages,
        number=[0, 0, 0, 0] * stages,
        names=["compute", "tp"] * stages,
        group=[stage for stage in range(stages) for _ in range(2)],
    )


def texts(figure: Figure) -> list[str]:
    return [text.get_text() for text in (*figure.texts, *figure.axes[0].texts)]


def test_a_lane_a_stream() -> None:
    figure = step_figure(bars(), title="small")
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["compute", "tp"] * 2
    said = texts(figure)
    assert said[:2] == ["small", "2 stages, 8 tasks, 5 s"]
    assert {"stage 0", "stage 1"} <= set(said)
    # parts of a pass that touch are one bar, with the number of its micro-batch
    assert said.count("0") == 4
    boxes = [path for collection in axes.collections[1:] for path in collection.get_paths()]
    assert len(boxes) == 6
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["forward", "backward", "tp"]


def test_many_lanes_are_an_image() -> None:
    figure = step_figure(bars(stages=64), title="large")
    (image,) = figure.axes[0].images
    picture = np.asarray(image.get_array())
    assert picture.shape == (128, 1000, 3)
    # what a lane does not do is white
    assert (picture[1, 0] == 1).all()
    assert (picture[0, 0] < 1).any()
    assert "paler" in texts(figure)[1]
    named = [text for text in texts(figure) if text.startswith("stage ")]
    assert 1 < len(named) <= 64


def test_the_same_bytes_on_every_run(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.svg" for number in range(2)]
    for file in files:
        save(step_figure(bars(), title="again"), file)
    assert files[0].read_bytes() == files[1].read_bytes()
