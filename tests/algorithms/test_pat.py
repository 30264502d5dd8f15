"""PAT: messages and chunks as NCCL 2.30.7 sends them."""

from __future__ import annotations

import numpy as np
import pytest

from algorithms import ScheduleError, build, count, rounds, totals
from algorithms.catalogue.pat import pat_messages

# N = 2 .. 16, counted in NCCL's PatAGAlgorithm and PatRSAlgorithm
AGGREGATED = [1, 2, 2, 4, 3, 3, 3, 5, 4, 4, 4, 4, 4, 4, 4]
BY_DIMENSION = [
    [1],
    [1, 1],
    [2, 1],
    [2, 1, 1],
    [3, 1, 1],
    [3, 2, 1],
    [4, 2, 1],
    [4, 2, 1, 1],
    [5, 2, 1, 1],
    [5, 3, 1, 1],
    [6, 3, 1, 1],
    [6, 3, 2, 1],
    [7, 3, 2, 1],
    [7, 4, 2, 1],
    [8, 4, 2, 1],
]


@pytest.mark.parametrize("kind", ["allgather", "reduce_scatter"])
@pytest.mark.parametrize("ranks", range(2, 17))
def test_messages_of_a_rank(kind: str, ranks: int) -> None:
    for aggregation, messages in ((None, AGGREGATED[ranks - 2]), (1, ranks - 1)):
        schedule = build("pat", kind, ranks, ranks, aggregation=aggregation)
        assert np.bincount(schedule.src).tolist() == [messages] * ranks
        assert schedule.steps == messages
        assert count(schedule).bytes_sent_max == ranks - 1


@pytest.mark.parametrize("aggregation", [None, 1, 2])
@pytest.mark.parametrize("ranks", range(2, 17))
def test_chunks_of_a_rank_by_dimension(ranks: int, aggregation: int | None) -> None:
    # an AllGather sends to r - 2^d, a ReduceScatter to r + 2^d
    for kind, way in (("allgather", -1), ("reduce_scatter", 1)):
        schedule = build("pat", kind, ranks, ranks, aggregation=aggregation)
        hop = way * (schedule.dst.astype(int) - schedule.src) % ranks
        by_dimension = [
            int(schedule.count[(hop == 1 << d) & (schedule.src == 0)].sum())
            for d in range((ranks - 1).bit_length())
        ]
        assert by_dimension == BY_DIMENSION[ranks - 2]


@pytest.mark.parametrize("ranks", [5, 9, 17, 33, 65])
def test_one_message_more_just_past_a_power_of_two(ranks: int) -> None:
    # NCCL doubles the aggregation while it is below N / 2 in whole numbers, and stops early here
    rounded_up = (ranks - 1).bit_length()
    assert len(pat_messages(ranks)) == rounded_up + 1
    assert len(pat_messages(ranks + 1)) == rounded_up
    assert max(map(len, pat_messages(ranks))) == ranks // 4


def test_some_aggregation() -> None:
    # by hand: log2 4 messages spread a block over the 4 parts of 16 ranks, then a tree of 4 in each
    assert pat_messages(16, 4) == [[8], [4, 12], [2, 6, 10, 14], [3, 7, 11, 15], [1, 5, 9, 13]]
    assert pat_messages(16, 1024) == pat_messages(16)


@pytest.mark.parametrize("ranks", [2, 3, 7, 12, 16, 33, 64])
def test_few_blocks_wait_to_be_passed_on(ranks: int) -> None:
    """Unaggregated, a walk in depth keeps no more than one block a dimension for later."""
    uses: dict[int, list[int]] = {}
    order = [offsets[0] for offsets in pat_messages(ranks, 1)]
    for time, offset in enumerate(order):
        uses.setdefault(offset - (offset & -offset), []).append(time)
    for time in range(len(order)):
        waiting = [s for s in order[:time] if max(uses.get(s, [-1])) >= time]
        assert len(waiting) < (ranks - 1).bit_length()


@pytest.mark.parametrize("aggregation", [0, 3, -2])
def test_refuses_what_is_no_power_of_two(aggregation: int) -> None:
    for ask in (build, rounds, totals):
        with pytest.raises(ScheduleError, match=f"must be a power of two, found {aggregation}") as caught:
            ask("pat", "allgather", 8, aggregation=aggregation) if ask is totals else ask(
                "pat", "allgather", 8, 64, aggregation=aggregation
            )
        assert caught.value.at == ("aggregation",)
