"""LOOK: figures of a topology and of a timeline.

What is named here is loaded when it is first used, as matplotlib takes its time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plots.markers import Marker
    from plots.style import save
    from plots.timeline import timeline_figure, together_figure
    from plots.topology import topology_figure

__all__ = ["Marker", "save", "timeline_figure", "together_figure", "topology_figure"]

_HOMES = {
    "Marker": "plots.markers",
    "save": "plots.style",
    "timeline_figure": "plots.timeline",
    "together_figure": "plots.timeline",
    "topology_figure": "plots.topology",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
