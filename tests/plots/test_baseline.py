"""Pictures beside those that were looked at and found right, in tests/plots/baseline.

Images are compared without their words and legends: these are tested elsewhere, and what FreeType makes of
a letter, and of the room that it takes, differs from version to version by more than a missing bar does.
What is left is placed by numbers alone, but for what is an image itself, whose rows a version may round to
other pixels: heatmaps and matrices are held to their numbers alone. So matplotlib 3.9 with FreeType 2.6 gives
what 3.11 with 2.14 does; hashes would hold for one version. `make baseline` writes the images anew.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

from plots.memory import memory_figure
from simulator.scenario.load import loads
from simulator.scenario.pictures import picture
from simulator.scenario.run import Result, run
from tests.plots import test_steps_figure

TOLERANCE = 0.4
"""Root of the mean square of what pixels differ by, of 255: a bar, or an arrow, that is missing is more."""

CLUSTER = """\
name: Two levels, 8 ranks
topology:
  kind: multilevel
  levels:
    - {name: card, size: 4, shape: full_mesh, bandwidth: 64 GB/s, latency: 1 us}
    - {name: machine, size: 2, shape: ring, bandwidth: 16 GB/s, latency: 2 us, uplink: {shared: 1}}
collective: {kind: allreduce, algorithm: hierarchical, size: 16 MiB, dims: [4, 2]}
reduction: {bandwidth: 512 GB/s}
"""
CUBE = """\
name: Halving on a cube
topology: {kind: hypercube, dimension: 3, bandwidth: 64 GB/s, latency: 1 us}
collective: {kind: allreduce, algorithm: rabenseifner, size: 1 MiB}
"""


@cache
def result(text: str) -> Result:
    return run(loads(text))


def stages() -> Figure:
    gib = np.array([4.0, 4.0, 4.0, 5.0]) * 2**30
    held = {
        "weights": gib,
        "gradients": 2 * gib,
        "optimizer": 3 * gib,
        "activations": gib[::-1].cumsum()[::-1],
    }
    return memory_figure(
        [f"stage {i}" for i in range(4)], held, 40.0 * 2**30, title="Plan", subtitle="a model"
    )


PICTURES: dict[str, Callable[[], Figure]] = {
    "timeline": lambda: picture(result(CLUSTER), "timeline"),
    "timeline-levels": lambda: picture(result(CLUSTER), "timeline", lanes="levels"),
    "timeline-ranks": lambda: picture(result(CUBE), "timeline", lanes="ranks"),
    "topology": lambda: picture(result(CLUSTER), "topology", colour="busy"),
    "storyboard": lambda: picture(result(CUBE), "storyboard"),
    "sizes": lambda: picture(result(CUBE), "sizes", sizes="1KiB,32KiB,1MiB,32MiB"),
    "steps": lambda: picture(result(CUBE), "steps"),
    "levels": lambda: picture(result(CLUSTER), "levels"),
    "attribution": lambda: picture(result(CLUSTER), "attribution"),
    "memory": stages,
    "step": lambda: test_steps_figure.step_figure(test_steps_figure.bars(), title="Step"),
}


@pytest.mark.mpl_image_compare(
    baseline_dir="baseline", style="default", tolerance=TOLERANCE, savefig_kwargs={"dpi": 40}
)
@pytest.mark.parametrize("name", PICTURES)
def test_it_looks_as_it_did(name: str) -> Figure:
    return wordless(PICTURES[name]())


def wordless(figure: Figure) -> Figure:
    """The figure without what letters take part in."""
    # which makes the ticks
    figure.draw_without_rendering()
    for thing in (*figure.findobj(Text), *figure.legends):
        thing.set_visible(False)
    return figure
