"""Every algorithm of the registry, in every format: written, read back, proven, and of the same counts."""

from __future__ import annotations

import pytest

from algorithms import REDUCE, ScheduleError, build, count
from algorithms.formats.chakra_schedule import to_chakra
from algorithms.formats.registry import FORMATS, read_schedule, write_schedule
from algorithms.programs.from_schedule import program_of
from algorithms.programs.proof import prove_program
from algorithms.programs.summary import totals_of
from algorithms.programs.timing import schedule_of
from tests.algorithms.formats.format_files import text
from tests.algorithms.variants import KINDS
from topologies.errors import FormatError

RANKS = (3, 4, 6)

MOST_OF_OTHERS = 4
"""Ranks of what is written as MSCCL++ and GOAL, too."""

SIZE = 60 * 60
"""Bytes that so many ranks, and their squares, divide."""

NO_BLOCKS = ("barrier", "send_recv")
"""Collectives that thread blocks do not do."""


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_written_and_read_back(name: str, kind: str) -> None:
    for ranks in RANKS:
        try:
            schedule = build(name, kind, ranks, SIZE if kind != "barrier" else 0)
        except ScheduleError:
            # not made for so many
            continue
        if kind in NO_BLOCKS or schedule.switches:
            with pytest.raises(ScheduleError, match="thread blocks"):
                program_of(schedule)
            continue
        program = program_of(schedule)
        written = FORMATS["msccl"].write(program)
        again = FORMATS["msccl"].read(written.data, "a.xml")
        prove_program(again)
        counted, found = count(schedule), totals_of(again)
        assert found.sent == schedule.count.sum()
        # what is sent in pieces need not wait for all of what it passes on
        assert found.depth <= counted.depth
        assert found.depth == counted.depth or found.messages > counted.transfers
        assert found.reduced == int(schedule.count[schedule.mode == REDUCE].sum())
        timed = count(schedule_of(again, SIZE))
        assert timed.bytes_sent_max == counted.bytes_sent_max
        assert timed.bytes_reduced_total == counted.bytes_reduced_total
        if ranks <= MOST_OF_OTHERS:
            plan = FORMATS["mscclpp"].read(FORMATS["mscclpp"].write(program, None).data, "a.json")
            prove_program(plan)
            assert totals_of(plan) == found
            messages = FORMATS["goal"].read(FORMATS["goal"].write(program, SIZE).data, "a.goal")
            prove_program(messages)
            assert count(schedule_of(messages, 0)).bytes_sent_max == counted.bytes_sent_max


def test_what_is_read_is_written_again() -> None:
    data = FORMATS["msccl"].write(program_of(build("bruck", "all_to_all", 5, 0))).data
    assert FORMATS["msccl"].write(FORMATS["msccl"].read(data, "a.xml")).data == data


def test_a_root_that_the_format_cannot_say_is_lost() -> None:
    schedule = build("scatter_allgather", "broadcast", 4, 0, root=2)
    assert FORMATS["msccl"].write(program_of(schedule)).lost == ("the root, 2: the format does not name it",)


def test_what_the_runtime_would_refuse_is_said() -> None:
    schedule = build("chain", "broadcast", 2, 0, segments=300)
    lost = FORMATS["msccl"].write(program_of(schedule)).lost
    assert lost == ("300 steps in a thread block: the runtime of microsoft/msccl takes 256",)


def test_a_format_that_is_not_known_is_refused() -> None:
    program = program_of(build("ring", "allreduce", 2, 0))
    for form in ("te-ccl", "none"):
        with pytest.raises(
            ScheduleError, match=f'no format "{form}" is written; expected msccl, mscclpp, goal'
        ):
            write_schedule(program, form)
    with pytest.raises(FormatError, match=r'a.xml:1:1: no format "none" is read; expected msccl, mscclpp'):
        read_schedule(b"<algo/>", "a.xml", "none")


def test_traces_wait_in_one_of_two_ways() -> None:
    with pytest.raises(ScheduleError, match='after is "none"; expected step, dataflow'):
        to_chakra(build("ring", "allreduce", 2, 0), after="none")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ("goal", "GOAL cannot say it: its ranks reach into each other's buffers"),
        ("mscclpp", "MSCCL\\+\\+ is not written again: its ranks reach into"),
        ("msccl", "MSCCL XML cannot say it: no step does what"),
        ("sccl", 'no format "sccl" is written'),
    ],
)
def test_what_a_format_cannot_say_is_refused(form: str, said: str) -> None:
    program = read_schedule(text("pair-read-reduce.json").encode(), "a.json")
    with pytest.raises(ScheduleError, match=said):
        write_schedule(program, form, SIZE)
