"""Orders of pipelines in which micro-batches go both ways: down a V and up, or in from either end."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import count

from simulator.llm.plan import Parallel
from simulator.llm.step.slots import PassKind, Slot


class _Lane:
    """Passes through one chunk, each kind in the order of its micro-batches."""

    def __init__(self, chunk: int, first: int = 0) -> None:
        self._chunk = chunk
        self._forward, self._backward = count(first), count(first)
        self._owed = deque[int]()

    def next(self, kind: PassKind, *, with_next: bool = False) -> Slot:
        match kind:
            case "F":
                return Slot("F", next(self._forward), self._chunk, with_next)
            case "W":
                return Slot("W", self._owed.popleft(), self._chunk)
        slot = Slot(kind, next(self._backward), self._chunk)
        if kind == "I":
            self._owed.append(slot.microbatch)
        return slot


def zbv(parallel: Parallel, microbatches: int, stage: int) -> Iterator[Slot]:
    """ZB-V (Qi et al. 2023, section 6), in the order of PyTorch's ScheduleZBVZeroBubble.

    Stage s has chunks s and 2p - 1 - s; nobody waits where F, I and W take equally long, with the
    memory of 1F1B's first stage.
    """
    # an order for 2p - 1 micro-batches, without those that there are not, is one for fewer
    for slot in _zbv(parallel.pp, max(microbatches, 2 * parallel.pp - 1), stage):
        if slot.microbatch < microbatches:
            yield slot


def _zbv(stages: int, microbatches: int, stage: int) -> Iterator[Slot]:
    down, up = _Lane(stage), _Lane(2 * stages - 1 - stage)
    for _ in range(2 * (stages - stage) - 1):
        yield down.next("F")
    for _ in range(stage):
        yield from (up.next("F"), down.next("F"))
    for _ in range(stages - stage):
        yield from (up.next("F"), up.next("I"), up.next("W"))
    for turn in range(microbatches - stages):
        if turn <= microbatches - 2 * stages + stage:
            yield down.next("F")
        yield from (down.next("I"), down.next("W"), up.next("F"), up.next("I"), up.next("W"))
    for _ in range(stage):
        yield from (down.next("I"), up.next("I"))
    for _ in range(stages - stage):
        yield from (down.next("I"), down.next("W"))
    for lane in (up, down):
        for _ in range(stage):
            yield lane.next("W")


def dualpipe(parallel: Parallel, microbatches: int, stage: int) -> Iterator[Slot]:
    """DualPipe (DeepSeek-V3 report, 2024): the eight steps of deepseek-ai/DualPipe's dualpipe.py.

    The first half of the micro-batches enters at stage 0, the other at stage p - 1; stage s has
    chunks s and p - 1 - s. Forward passes run together with backward passes of the other half.
    """
    half, end = parallel.pp // 2, parallel.pp - 1
    place = min(stage, end - stage)
    mine = 0 if stage < half else microbatches // 2
    near, far = _Lane(place, mine), _Lane(end - place, microbatches // 2 - mine)
    inner = half - place - 1
    for _ in range(2 * inner):
        yield near.next("F")
    for _ in range(place + 1):
        yield from (near.next("F"), far.next("F"))
    for _ in range(inner):
        yield from (far.next("I"), far.next("W"), far.next("F"))
    for turn in range(microbatches // 2 - end + place):
        # the two stages in the middle begin one after the other, as their first backward pass must wait
        yield from (near.next("F", with_next=turn > 0 or inner > 0), far.next("B"))
        yield from (far.next("F", with_next=True), near.next("B"))
    for _ in range(inner):
        yield from (far.next("B"), far.next("F", with_next=True), near.next("B"))
    yield from _drain(near, far, place + 1, inner)


def _drain(near: _Lane, far: _Lane, turns: int, inner: int) -> Iterator[Slot]:
    """The last backward passes: whole, then halves whose weight gradients fill the wait for more."""
    owed = deque[_Lane]()
    for turn, lane in enumerate([far, near] * turns):
        if turn < turns:
            yield lane.next("B")
        else:
            yield lane.next("I")
            owed.append(lane)
    for _ in range(inner):
        yield owed.popleft().next("W")
        yield near.next("I")
        owed.append(near)
    for lane in owed:
        yield lane.next("W")
