"""LOOK: figures of a topology, a timeline, a sweep."""

from plots.style import save
from plots.topology import topology_figure

__all__ = ["save", "topology_figure"]
