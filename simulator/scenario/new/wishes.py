"""What goes with what a person wishes for: algorithms of a collective, the one for a topology."""

from __future__ import annotations

from typing import Final

from algorithms.registry import ALGORITHMS

_PREFERRED: Final = (
    *("hierarchical", "bucket", "rabenseifner", "recursive_halving", "recursive_doubling"),
    *("ring", "binomial", "pairwise", "dissemination", "direct"),
)


def able(kind: str) -> tuple[str, ...]:
    """Algorithms that do a collective.

    Examples
    --------
    >>> able("send_recv")
    ('direct',)
    """
    return tuple(name for name, algorithm in ALGORITHMS.items() if kind in algorithm.collectives)


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
