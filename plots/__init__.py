"""LOOK: figures of topologies, timelines, schedules, plans, and of one run beside another.

What is named here is loaded when it is first used, as matplotlib takes its time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plots.animation import save_animation
    from plots.attribution import attribution_figure
    from plots.counts import counts_figure
    from plots.heat import Heat
    from plots.heatmap import heatmap_figure
    from plots.levels import levels_figure
    from plots.markers import Marker
    from plots.memory import memory_figure
    from plots.sizes import sizes_figure
    from plots.steps import step_figure
    from plots.storyboard import story_of, storyboard_figure, storyboard_frames
    from plots.style import save
    from plots.timeline import timeline_figure, together_figure
    from plots.topology import topology_figure

__all__ = [
    "Heat",
    "Marker",
    "attribution_figure",
    "counts_figure",
    "heatmap_figure",
    "levels_figure",
    "memory_figure",
    "save",
    "save_animation",
    "sizes_figure",
    "step_figure",
    "story_of",
    "storyboard_figure",
    "storyboard_frames",
    "timeline_figure",
    "together_figure",
    "topology_figure",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from topologies.homes import homes

    return getattr(import_module(homes(__file__)[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
