"""How much a run takes, and that it is refused before it takes too much."""

from __future__ import annotations

import pytest

from algorithms.registry import build
from simulator.engine import memory
from simulator.engine.errors import PlanError
from simulator.engine.lower import lower
from simulator.engine.memory import PER_HOP, PER_PART, PER_ROOM, PER_TRANSFER, SHARE, Memory
from simulator.engine.network import Endpoint, Network
from topologies import ring


def test_the_numbers_are_in_the_message() -> None:
    with pytest.raises(PlanError, match="1,000 transfers over 3,000 hops take about 260 kB of memory; the"):
        Memory(1000).check(1000, 3000)
    Memory(260_000).check(1000, 3000)


def test_without_a_limit_most_of_what_is_free_may_be_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    each = PER_TRANSFER + PER_HOP
    monkeypatch.setattr(memory, "free_memory", lambda: int(10**7 * each / SHARE) + 1)
    Memory().check(10**7, 10**7)
    with pytest.raises(PlanError, match="the limit is"):
        Memory().check(10**7 + 1, 10**7)


def test_what_every_machine_has_is_not_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda: 0)
    Memory().check(1000, 1000)


def test_hops_are_counted_before_they_are_written_down() -> None:
    # 56 pairs of 8 ranks: 8 (1 + 2 + 3 + 4 + 3 + 2 + 1) = 128 hops both ways round
    schedule = build("direct", "all_to_all", 8, 8000)
    with pytest.raises(PlanError, match="56 transfers over 128 hops"):
        lower(schedule, ring(8, 1e9), memory=Memory(10_000))


def test_packets_are_counted_before_there_are_any() -> None:
    # 7 steps of 8 blocks of a million bytes each
    schedule = build("ring", "reduce_scatter", 8, 8_000_000)
    packets = Network(model="packet", mtu=1000)
    with pytest.raises(PlanError, match="56 transfers of 56,112 operations over 56,000 hops"):
        lower(schedule, ring(8, 1e9), packets, memory=Memory(10_000))


def test_what_ends_and_buffers_take_is_counted() -> None:
    # a request, its answer, an opening, the message and a closing; each of 56 transfers over one link
    schedule = build("ring", "reduce_scatter", 8, 8_000_000)
    asking = Network(model="cut_through", buffers=1000, endpoint=Endpoint(protocol="rendezvous"))
    # 3 messages over a link and two ports each, and 5 operations with a processor
    hops, parts = 56 * (3 * 3 + 5), 56 * 5
    needed = 56 * PER_TRANSFER + hops * (PER_HOP + PER_ROOM) + parts * PER_PART
    with pytest.raises(PlanError, match=f"56 transfers of {parts} operations over {hops} hops"):
        lower(schedule, ring(8, 1e9), asking, memory=Memory(needed - 1))
    lower(schedule, ring(8, 1e9), asking, memory=Memory(needed))
