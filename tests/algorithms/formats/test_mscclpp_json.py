"""MSCCL++ plans: what is read, proven and timed, and how wrong files are refused."""

from __future__ import annotations

import pytest

from algorithms.formats.mscclpp_json import read_mscclpp
from algorithms.formats.mscclpp_writer import write_mscclpp
from algorithms.programs.errors import ProgramError
from algorithms.programs.from_schedule import program_of
from algorithms.programs.proof import prove_program
from algorithms.programs.summary import Totals, totals_of
from algorithms.programs.timing import schedule_of
from algorithms.registry import build
from simulator.engine.engines import run_plan
from simulator.engine.lower import lower
from simulator.engine.network import Reduction
from tests.algorithms.formats.format_files import text
from topologies import full_mesh
from topologies.errors import FormatError

READ_REDUCE, PACKETS, SWITCH = "pair-read-reduce.json", "pair-packets.json", "switch-barrier.json"

# messages, chunks sent by all and by the busiest, chunks reduced, chain: counted by hand
SMALL = {
    READ_REDUCE: Totals(4, 4, 2, 2, 2),
    PACKETS: Totals(4, 4, 2, 4, 1),
    SWITCH: Totals(12, 12, 4, 6, 2),
}


def seconds(name: str, size: int) -> float:
    schedule = schedule_of(read_mscclpp(text(name).encode(), name), size)
    topology = full_mesh(schedule.ranks, bandwidth=1e9, latency=1e-6)
    plan = lower(schedule, topology, None, Reduction(10e9))
    return run_plan(plan).seconds


@pytest.mark.parametrize("name", SMALL)
def test_small_files_are_right(name: str) -> None:
    program = read_mscclpp(text(name).encode(), name)
    prove_program(program)
    assert totals_of(program) == SMALL[name]


def test_who_reads_adds_and_writes_takes_the_time_of_it() -> None:
    # a chunk is 10 000 bytes: 10 us + 1 us to fetch it, 1 us to add, 11 us to write it
    assert seconds(READ_REDUCE, 20_000) == pytest.approx(23e-6, rel=1e-12)
    # two packets, one after the other on the link, are added as they come
    assert seconds(PACKETS, 20_000) == pytest.approx((10 + 10 + 1 + 1) * 1e-6, rel=1e-12)


def test_what_a_program_does_not_say() -> None:
    assert read_mscclpp(text(PACKETS).encode(), PACKETS).unsaid == (
        'protocol "LL"',
        "max_message_size 1048576",
    )
    assert read_mscclpp(text(SWITCH).encode(), SWITCH).unsaid == (
        "switch channels: ranks do what the switch would",
        "a pipeline's parts go as one",
    )


def test_a_plan_takes_as_long_as_its_algorithm() -> None:
    schedule = build("ring", "allreduce", 4, 40_000)
    again = schedule_of(read_mscclpp(write_mscclpp(program_of(schedule)).data, "a.json"), 40_000)
    topology = full_mesh(4, bandwidth=1e9, latency=1e-6)
    first, second = (
        run_plan(lower(one, topology, None, Reduction(1e9))).seconds for one in (schedule, again)
    )
    assert second == pytest.approx(first, rel=1e-12)


def test_what_the_executor_would_refuse_is_said() -> None:
    lost = write_mscclpp(program_of(build("chain", "broadcast", 2, 0, segments=40))).lost
    # who receives waits and copies, with a nop before, between and after
    assert lost == ("200 operations in a thread block: the executor of microsoft/mscclpp takes 64",)


# (file, what is replaced, by what, the line, what is said)
WRONG = [
    (READ_REDUCE, '"wait"', '"wiat"', 9, 'found "wiat", expected copy, put, '),
    (READ_REDUCE, '"buffer_id": 0', '"buffer_id": 3', 10, "buffer_id is 3; the thread block has 1"),
    (
        READ_REDUCE,
        '"index": 0',
        '"index": 2',
        10,
        "index is 2 and size is 1; buffer i of rank 0 has 2 chunks",
    ),
    (READ_REDUCE, '"channel_ids": [0]', '"channel_ids": [5]', 8, "there is no channel 5; there are 1"),
    (READ_REDUCE, '"connected_to": [1]', '"connected_to": [2]', 13, "there is no rank 2; there are 2"),
    (READ_REDUCE, '"id": 1,', '"id": 2,', 18, "found GPU 2, expected 1"),
    (
        READ_REDUCE,
        '"allreduce"',
        '"allredcue"',
        2,
        'collective is "allredcue"; expected allreduce, allgather',
    ),
    (READ_REDUCE, '"output_chunks": 2', '"output_chunks": 3', 5, "output_chunks is 3; expected 2, or 0"),
    (READ_REDUCE, '"input_chunks": 2', '"input_chunks": "2"', 5, 'found "2", expected a number of chunks'),
    (
        READ_REDUCE,
        '{"name": "signal", ',
        '{"name": "nop", ',
        22,
        "rank 0 signals rank 1 0 times by a channel on",
    ),
    (SWITCH, '"size": 3', '"size": 2', 22, "copy reads 2 and writes 3 chunks"),
    (SWITCH, '"num_threadblocks": 2', '"num_threadblocks": 3', 9, "barrier 0 of rank 0 waits for 3 thread"),
    (SWITCH, '"init_value": 0', '"init_value": -1', 27, "semaphore 0 of rank 0 is acquired 1 times and"),
]


@pytest.mark.parametrize(("name", "old", "new", "line", "said"), WRONG, ids=range(len(WRONG)))
def test_a_wrong_file_is_refused_with_its_line(name: str, old: str, new: str, line: int, said: str) -> None:
    assert old in text(name)
    with pytest.raises(FormatError) as caught:
        read_mscclpp(text(name).replace(old, new, 1).encode(), name)
    assert caught.value.message[: len(said)] == said
    assert caught.value.line == line


def test_a_race_is_named() -> None:
    # without the barrier nobody waits for the copy of the other thread block
    wrong = text(SWITCH).replace('"barrier"', '"nop"')
    with pytest.raises(ProgramError, match="data race on s"):
        prove_program(read_mscclpp(wrong.encode(), SWITCH))
