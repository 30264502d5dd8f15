"""Plans that no other one beats in everything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

Costs: TypeAlias = tuple[int, ...]
"""What is better when it is less."""


def dominates(one: Costs, other: Costs) -> bool:
    """Whether the first is no worse in anything, and better in something.

    >>> dominates((1, 2), (1, 3)), dominates((1, 2), (1, 2)), dominates((1, 3), (2, 2))
    (True, False, False)
    """
    return one != other and all(mine <= yours for mine, yours in zip(one, other, strict=True))


def front(costs: Sequence[Costs]) -> list[bool]:
    """Say of each whether none of the others dominates it.

    >>> front([(1, 5), (2, 4), (2, 5), (3, 1)])
    [True, True, False, True]
    """
    best: list[Costs] = []
    for cost in sorted(set(costs)):
        # only what comes before in that order can dominate
        if not any(dominates(other, cost) for other in best):
            best.append(cost)
    kept = set(best)
    return [cost in kept for cost in costs]
