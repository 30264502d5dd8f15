"""Orders of pipeline passes: published makespans, orders written out, and that no stage waits for ever."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import pytest

from simulator.llm.errors import ModelError
from simulator.llm.fit import check_fit
from simulator.llm.placement import chunk_count, chunks_held
from simulator.llm.plan import Batch, Parallel, Schedule
from simulator.llm.step.orders import Orders, orders
from simulator.llm.step.slots import Slot
from tests.llm.published import gpt
from tests.llm.step.walk import Time, Walk, walk

TIMES: dict[str, Time] = {"F": 1, "B": 2, "I": 1, "W": 1, "F&B": 3}


def times(forward: int, inputs: int, weights: int) -> dict[str, Time]:
    backward = inputs + weights
    return {"F": forward, "B": backward, "I": inputs, "W": weights, "F&B": forward + backward}


def run(schedule: Schedule, stages: int, microbatches: int, durations: dict[str, Time] = TIMES) -> Walk:
    return walk(orders(Parallel(pp=stages, schedule=schedule), microbatches), durations)


def written(found: Orders, stage: int) -> str:
    return " ".join(f"{slot.kind}{slot.microbatch}.{slot.chunk}" for slot in found.stages[stage])


def admitted() -> Iterator[tuple[Parallel, int]]:
    """Plans of up to 12 stages and 24 micro-batches that a model can be cut by."""
    model = gpt(12 * 24, 64, 4)
    for stages in (1, 2, 3, 4, 6, 12):
        plans = [(schedule, 1) for schedule in ("gpipe", "1f1b", "zb-h1", "zb-h2", "zbv", "dualpipe")]
        for schedule, interleave in [*plans, ("1f1b", 2), ("1f1b", 3)]:
            for microbatches in sorted({1, 2, 3, stages, stages + 1, 2 * stages - 1, 2 * stages, 24}):
                try:
                    parallel = Parallel(pp=stages, schedule=schedule, interleave=interleave)
                    check_fit(model, parallel, Batch(total=microbatches))
                except ModelError:
                    continue
                yield parallel, microbatches


def test_every_pass_happens_once_and_nothing_waits_for_ever() -> None:
    plans = list(admitted())
    for parallel, microbatches in plans:
        found = orders(parallel, microbatches)
        passes = Counter[tuple[str, int, int]]()
        for stage, slots in enumerate(found.stages):
            assert {slot.chunk for slot in slots} == set(chunks_held(parallel, stage))
            for slot in slots:
                passes.update((kind, slot.microbatch, slot.chunk) for kind in slot.kind.replace("B", "IW"))
        whole = microbatches * chunk_count(parallel)
        assert set(passes.values()) == {1}
        assert Counter(kind for kind, *_ in passes) == {"F": whole, "I": whole, "W": whole}
        walk(found, TIMES)
    assert {parallel.schedule for parallel, _ in plans} == {
        "gpipe", "1f1b", "zb-h1", "zb-h2", "zbv", "dualpipe",
    }  # fmt: skip


def test_a_pass_alone_is_in_the_same_order() -> None:
    """Inference: forward passes only, each after that of the chunk before."""
    for parallel, microbatches in admitted():
        found = orders(parallel, microbatches, training=False)
        assert {slot.kind for slots in found.stages for slot in slots} == {"F"}
        assert not any(slot.with_next for slots in found.stages for slot in slots)
        walk(found, TIMES)


# published makespans, where what goes from stage to stage costs nothing


@pytest.mark.parametrize(("stages", "microbatches", "time"), [(4, 8, 33), (8, 64, 213), (64, 512, 1725)])
def test_gpipe_and_1f1b(stages: int, microbatches: int, time: int) -> None:
    """(m + p - 1)(F + B), Narayanan et al. 2021, for F = 1 and B = 2."""
    schedules: tuple[Schedule, ...] = ("1f1b", "gpipe") if stages < 64 else ("1f1b",)
    assert {run(schedule, stages, microbatches).makespan for schedule in schedules} == {time}


def test_interleaved_1f1b() -> None:
    """(p - 1)(F + B)/v more than the work, Narayanan et al. 2021."""
    for stages, chunks, microbatches in ((2, 2, 2), (4, 2, 8), (3, 4, 9), (8, 3, 24)):
        part = {"F": Fraction(1, chunks), "B": Fraction(2, chunks)}
        found = walk(orders(Parallel(pp=stages, interleave=chunks), microbatches), part)
        assert found.makespan - 3 * microbatches == Fraction(3 * (stages - 1), chunks)


def test_zero_bubble_h1_and_h2() -> None:
    """(p - 1)(F + I - W) and (p - 1)(F + I - 2W), Qi et al. 2023, table 2.

    ZB-H2's is between the first pass and the last of each stage: the paper has no barrier there.
    """
    for stages, microbatches in ((1, 3), (2, 6), (3, 9), (4, 8), (8, 20), (12, 24)):
        for forward, inputs, weights in ((1, 1, 1), (2, 2, 1), (1, 2, 1), (3, 4, 2)):
            work = microbatches * (forward + inputs + weights)
            durations = times(forward, inputs, weights)
            one = run("zb-h1", stages, microbatches, durations)
            assert one.makespan - work == (stages - 1) * (forward + inputs - weights)
            two = run("zb-h2", stages, microbatches, durations)
            assert two.longest - work == (stages - 1) * (forward + inputs - 2 * weights)


def test_nobody_waits_in_zbv() -> None:
    """Where F, I and W take equally long, Qi et al. 2023, section 6; stage s begins after s passes."""
    for stages, microbatches in ((1, 1), (2, 3), (3, 6), (4, 8), (8, 16), (12, 24)):
        found = run("zbv", stages, microbatches)
        assert found.begin == tuple(range(stages))
        assert found.longest == 2 * 3 * microbatches


def test_dualpipe() -> None:
    """(p/2 - 1)(F&B + B - 3W), deepseek-ai/DualPipe, beside 1F1B and ZB1P: 21, 7 and 6 on 8 stages."""
    for microbatches in (16, 20, 64):
        found = [run(name, 8, microbatches).makespan for name in ("1f1b", "zb-h1", "dualpipe")]
        assert [time - 3 * microbatches for time in found] == [21, 7, 6]
    for stages, microbatches in ((2, 4), (4, 8), (6, 14), (12, 24)):
        for forward, inputs, weights in ((1, 1, 1), (2, 2, 1)):
            durations = times(forward, inputs, weights)
            both, backward = durations["F&B"], durations["B"]
            bubble = run("dualpipe", stages, microbatches, durations).makespan - microbatches * both
            assert bubble == (stages // 2 - 1) * (both + backward - 3 * weights)


def test_what_goes_from_stage_to_stage_takes_time() -> None:
    """p = 4, m = 8, F = 1, B = 2, 0.1 from stage to stage: 34.6, or 34.9 where the sender waits, too.

    By hand: 16 ways are on the longest path of the first, as 33 + 16/10."""
    found, tenth = orders(Parallel(pp=4), 8), Fraction(1, 10)
    assert walk(found, TIMES, send=tenth).makespan == Fraction("34.6")
    assert walk(found, TIMES, send=tenth, sender_waits=True).makespan == Fraction("34.9")


# orders written out


def test_interleaved_by_hand() -> None:
    """Megatron-LM's two stages of two chunks: 2(p - s - 1) + (v - 1)p forward passes ahead, s = 1."""
    found = orders(Parallel(pp=2, interleave=2), 4)
    assert written(found, 1) == (
        "F0.1 F1.1 F0.3 B0.3 F1.3 B1.3 F2.1 B0.1 F3.1 B1.1 F2.3 B2.3 F3.3 B3.3 B2.1 B3.1"
    )


def test_weight_gradients_come_later_on_later_stages() -> None:
    """ZB-H1 on two stages, by hand: stage 1 has p - 1 = 1 forward pass less ahead, and owes one W."""
    found = orders(Parallel(pp=2, schedule="zb-h1"), 3)
    assert written(found, 0) == "F0.0 F1.0 I0.0 W0.0 F2.0 I1.0 W1.0 I2.0 W2.0"
    assert written(found, 1) == "F0.1 I0.1 F1.1 I1.1 W0.1 F2.1 I2.1 W1.1 W2.1"


def test_dualpipe_by_hand() -> None:
    """The eight steps of deepseek-ai/DualPipe on two stages, m = 4: only 2, 4, 6 and 8 have passes."""
    found = orders(Parallel(pp=2, schedule="dualpipe"), 4)
    assert written(found, 0) == "F0.0 F2.1 F1.0 B2.1 F3.1 B0.0 B3.1 I1.0 W1.0"
    assert written(found, 1) == "F2.0 F0.1 F3.0 B0.1 F1.1 B2.0 B1.1 I3.0 W3.0"
    assert [slot for slot in found.stages[0] if slot.with_next] == [Slot("F", 3, 1)]


def test_what_passes_wait_for() -> None:
    down_and_up = orders(Parallel(pp=2, schedule="zbv"), 4)
    # the turn of the V is on one stage
    assert down_and_up.needs(Slot("F", 0, 2), 1) == ((1, Slot("F", 0, 1)),)
    assert down_and_up.needs(Slot("F", 0, 3), 0) == ((1, Slot("F", 0, 2)),)
    # the loss
    assert down_and_up.needs(Slot("I", 0, 3), 0) == ((0, Slot("F", 0, 3)),)
    ends = orders(Parallel(pp=2, schedule="dualpipe"), 4)
    # micro-batch 2 came in at stage 1; its way back there is in halves only at the end
    assert ends.needs(Slot("B", 2, 0), 1) == ((1, Slot("F", 2, 0)), (0, Slot("B", 2, 1)))
    assert ends.needs(Slot("I", 1, 0), 0) == ((0, Slot("F", 1, 0)), (1, Slot("B", 1, 1)))
    assert ends.needs(Slot("W", 1, 0), 0) == ((0, Slot("I", 1, 0)),)
