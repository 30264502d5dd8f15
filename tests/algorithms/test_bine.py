"""Bine trees: the library's negabinary rule, distances, block sets, steps and bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from algorithms import Schedule, ScheduleError, build, count, rounds
from algorithms.catalogue.bine import bine_tree

POWERS = (2, 4, 8, 16, 64, 256)


def from_negabinary(digits: int) -> int:
    return sum((-2) ** i for i in range(digits.bit_length()) if digits >> i & 1)


def parents_by_negabinary(ranks: int) -> dict[int, tuple[int, int]]:
    """Parent and step of every rank, as the authors' bine_bcast_small finds them.

    A rank's partner in the step of mask 2^i differs in the i + 1 lowest negabinary digits; it receives from
    it in the first step in which those are all equal.
    """
    bits = ranks.bit_length() - 1
    digits = {from_negabinary(d) % ranks: d for d in range(ranks)}
    found = {}
    for rank in range(1, ranks):
        for step, i in enumerate(reversed(range(bits))):
            mask = (2 << i) - 1
            if digits[rank] & mask in (0, mask):
                found[rank] = (from_negabinary(digits[rank] ^ mask) % ranks, step)
                break
    return found


@pytest.mark.parametrize("ranks", POWERS)
def test_is_the_tree_of_the_library(ranks: int) -> None:
    schedule = build("bine", "broadcast", ranks, 100)
    edges = zip(*(c.tolist() for c in (schedule.dst, schedule.src, schedule.step)), strict=True)
    assert {child: (parent, step) for child, parent, step in edges} == parents_by_negabinary(ranks)


def modulo_distance(schedule: Schedule) -> np.ndarray[Any, np.dtype[np.int64]]:
    far = np.abs(schedule.src.astype(np.int64) - schedule.dst)
    return np.minimum(far, schedule.ranks - far)


@pytest.mark.parametrize("kind", ["broadcast", "reduce", "scatter", "gather", "reduce_scatter", "allgather"])
@pytest.mark.parametrize("ranks", POWERS)
def test_partners_are_at_the_distances_of_negabinary_ones(kind: str, ranks: int) -> None:
    # |1 - (-2)^(i + 1)| / 3: 1, 1, 3, 5, 11, 21, 43, 85; trees and AllGather have the farthest first
    usual = [1, 1, 3, 5, 11, 21, 43, 85][: ranks.bit_length() - 1]
    order = usual if kind in ("reduce", "gather", "reduce_scatter") else usual[::-1]
    schedule = build("bine", kind, ranks, ranks)
    assert (modulo_distance(schedule) == np.array(order)[schedule.step]).all()


def test_a_broadcast_goes_two_thirds_of_the_way() -> None:
    # sums over 8 steps of edges times distance: 1, 2, 4, ... edges of 85, 43, 21, ... against 128, 64, ...
    far = [int(modulo_distance(build(name, "broadcast", 256, 1)).sum()) for name in ("bine", "binomial")]
    assert far[0] == 85 + 2 * 43 + 4 * 21 + 8 * 11 + 16 * 5 + 32 * 3 + 64 + 128
    assert far[1] == 8 * 128
    assert far[0] / far[1] == pytest.approx(2 / 3, abs=0.03)


@pytest.mark.parametrize("ranks", POWERS)
def test_blocks_of_a_subtree_are_neighbours(ranks: int) -> None:
    schedule = build("bine", "scatter", ranks, ranks)
    for row in range(len(schedule)):
        blocks = np.sort(schedule.chunks(row))
        gaps = np.diff(np.append(blocks, blocks[0] + ranks))
        assert (gaps > 1).sum() <= 1


def test_tree_of_eight() -> None:
    # by hand: 0 reaches 3; 0 and 3 reach -1 and 4; these four reach their neighbours
    steps = [dict(zip(p.tolist(), c.tolist(), strict=True)) for p, c in bine_tree(8)]
    assert steps == [{0: 3}, {0: 7, 3: 4}, {0: 1, 3: 2, 7: 6, 4: 5}]


@pytest.mark.parametrize(
    ("kind", "options", "steps"),
    [
        # N = 2, 3, 4, 5, 7, 8, 9, 15, 16
        ("broadcast", {}, [1, 2, 2, 3, 3, 3, 4, 4, 4]),
        ("reduce", {}, [1, 2, 2, 3, 3, 3, 4, 4, 4]),
        ("scatter", {}, [1, 2, 2, 3, 3, 3, 4, 4, 4]),
        ("gather", {}, [1, 2, 2, 3, 3, 3, 4, 4, 4]),
        ("broadcast", {"variant": "bandwidth"}, [2, 3, 4, 5, 5, 6, 7, 7, 8]),
        ("reduce", {"variant": "bandwidth"}, [2, 3, 4, 5, 5, 6, 7, 7, 8]),
        ("reduce_scatter", {}, [1, 3, 2, 4, 4, 3, 5, 5, 4]),
        ("allgather", {}, [1, 3, 2, 4, 4, 3, 5, 5, 4]),
        ("allreduce", {}, [2, 4, 4, 6, 6, 6, 8, 8, 8]),
        ("allreduce", {"variant": "latency"}, [1, 3, 2, 4, 4, 3, 5, 5, 4]),
    ],
)
def test_steps(kind: str, options: dict[str, Any], steps: list[int]) -> None:
    every = [build("bine", kind, ranks, 0, **options).steps for ranks in (2, 3, 4, 5, 7, 8, 9, 15, 16)]
    assert every == steps


@pytest.mark.parametrize("ranks", POWERS)
def test_bytes_of_powers_of_two(ranks: int) -> None:
    steps, size = ranks.bit_length() - 1, 2 * ranks

    def sent(kind: str, **options: Any) -> tuple[int, int]:
        counts = count(build("bine", kind, ranks, size, **options))
        return counts.bytes_sent_max, counts.bytes_sent_total

    share = 2 * (ranks - 1)  # M (N - 1) / N
    assert sent("broadcast") == (steps * size, (ranks - 1) * size)
    assert sent("broadcast", variant="bandwidth") == (2 * share, (ranks - 1) * size)
    assert sent("scatter") == (share, steps * size // 2)
    assert sent("gather")[1] == steps * size // 2
    assert sent("reduce_scatter") == sent("allgather") == (share, (ranks - 1) * size)
    assert sent("allreduce") == (2 * share, 2 * (ranks - 1) * size)
    assert sent("allreduce", variant="latency") == (steps * size, ranks * steps * size)
    assert sent("reduce", variant="bandwidth")[1] == (ranks - 1) * size + steps * size // 2


def test_pairs_are_spread_over_the_messages() -> None:
    # N = 13 = 8 + 5: the root's first message holds 4 of 8 blocks and 3 of the 5 that stand for two, and so
    # on: 7, 4, 2; and last the 5 hand one on
    schedule = build("bine", "scatter", 13, 13)
    assert [int(schedule.count[schedule.step == s].max()) for s in range(4)] == [7, 4, 2, 1]
    assert int((schedule.step == 3).sum()) == 5
    assert schedule.fallback == "fold"


def test_refuses_a_variant_where_there_is_none() -> None:
    for ask in (build, rounds):
        with pytest.raises(ScheduleError, match="a scatter has no variants") as caught:
            ask("bine", "scatter", 8, 64, variant="latency")
        assert caught.value.at == ("variant",)
