"""The algorithm that goes with what a person wishes for."""

from __future__ import annotations

from typing import Final

from algorithms.registry import ALGORITHMS, able

_PREFERRED: Final = (
    *("hierarchical", "bucket", "rabenseifner", "recursive_halving", "recursive_doubling"),
    *("ring", "binomial", "pairwise", "dissemination", "direct"),
)


def fitting(kind: str, topology: str) -> str:
    """The algorithm to begin with: a common one, which the topology is ideal for if there is one.

    Examples
    --------
    >>> fitting("allreduce", "ring"), fitting("allreduce", "torus"), fitting("broadcast", "ring")
    ('ring', 'bucket', 'binomial')
    """
    names = able(kind)
    common = [name for name in names if name in _PREFERRED] or list(names)
    common.sort(key=lambda name: _PREFERRED.index(name) if name in _PREFERRED else 0)
    at_home = [name for name in common if ALGORITHMS[name].ideal == topology]
    # what was made for a grid or for levels does as well elsewhere only by being a ring there
    flat = [name for name in common if name not in ("hierarchical", "bucket")] or common
    power = [name for name in flat if ALGORITHMS[name].constraint.startswith("any")] or flat
    return (at_home or power)[0]
