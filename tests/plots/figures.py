"""Small runs to draw, and what is on a figure."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from numpy.typing import NDArray

from algorithms.registry import build
from algorithms.schedule import Schedule
from simulator.engine.lower import lower
from simulator.engine.network import Network, Reduction
from simulator.engine.simpy_engine import run_simpy
from simulator.engine.timeline import Timeline
from tests.topologies.topology_examples import EXAMPLES
from topologies import TOPOLOGIES, CustomLink, CustomNodes, Topology, custom, ring

every_kind = pytest.mark.parametrize("kind", EXAMPLES)

REDUCTION = Reduction(512e9)
EIGHT = ring(8, bandwidth=64e9, latency=1e-6)


def run(
    schedule: Schedule,
    topology: Topology,
    network: Network | None = None,
    reduction: Reduction | None = REDUCTION,
    delay: dict[int, float] | None = None,
) -> tuple[Timeline, Schedule, Topology]:
    return run_simpy(lower(schedule, topology, network, reduction, delay)), schedule, topology


def ring_eight(size: int = 2**20) -> tuple[Timeline, Schedule, Topology]:
    return run(build("ring", "reduce_scatter", 8, size), EIGHT)


def bars(figure: Figure, kind: str) -> int:
    found = [c for c in figure.axes[0].collections if c.get_label() == kind]
    assert all(isinstance(c, PolyCollection) for c in found)
    return sum(len(c.get_paths()) for c in found)


def names(axes: Axes) -> list[str]:
    return [label.get_text() for label in axes.get_yticklabels()]


def texts(figure: Figure) -> list[str]:
    return [t.get_text() for t in (*figure.texts, *(t for a in figure.axes for t in a.texts))]


def image(figure: Figure) -> NDArray[np.float64]:
    (only,) = figure.axes[0].images
    return np.asarray(only.get_array())


def kinds(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def hub(name: str) -> Topology:
    return custom(CustomNodes(3, [name]), [CustomLink(i, name, 1e9) for i in range(3)])


def examples(kind: str) -> list[Topology]:
    return [TOPOLOGIES[kind](**arguments) for arguments in EXAMPLES[kind]]
