"""The Pareto front, by brute force."""

from __future__ import annotations

import random

from simulator.llm.search.front import dominates, front


def test_front_by_brute_force() -> None:
    draw = random.Random(1)
    for size in (0, 1, 2, 5, 30, 80):
        costs = [tuple(draw.randrange(6) for _ in range(3)) for _ in range(size)]
        expected = [not any(dominates(other, cost) for other in costs) for cost in costs]
        assert front(costs) == expected
