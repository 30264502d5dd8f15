"""GOAL: what is read, how wrong files are refused, and how long it takes under LogGP."""

from __future__ import annotations

import pytest

from algorithms.formats.goal import read_goal
from algorithms.formats.goal_writer import write_goal
from algorithms.programs.errors import ProgramError
from algorithms.programs.proof import prove_program
from algorithms.programs.summary import totals_of
from algorithms.programs.timing import schedule_of
from simulator.engine.engines import run_plan
from simulator.engine.lower import lower
from simulator.engine.network import Endpoint, Network
from tests.algorithms.formats.format_files import SHARED, text
from topologies import full_mesh
from topologies.errors import FormatError

RELAY = text("relay.goal")

LOGGP = Network(endpoint=Endpoint(overhead=1.5e-6, gap=1e-6))
"""o and g that LogGOPSim has by default."""


def seconds(data: str, network: Network | None) -> float:
    program = read_goal(data.encode(), "a.goal")
    topology = full_mesh(program.ranks, bandwidth=1e9, latency=2.5e-6)
    plan = lower(schedule_of(program, 0), topology, network)
    times = {run_plan(plan, engine).time for engine in ("simpy", "compiled")}
    assert len(times) == 1
    return times.pop() / 1e15


def test_a_file_is_read() -> None:
    program = read_goal(RELAY.encode(), "a.goal")
    prove_program(program)
    assert totals_of(program).messages == 3
    assert program.purpose.collective().sizes.tolist() == [1000, 2000, 1000]


def test_it_takes_the_time_of_its_links() -> None:
    # 4 us of work, 1 + 2.5 us to rank 1, 1 + 2.5 us to rank 2, 0.1 us of work
    assert seconds(RELAY, None) == pytest.approx(11.1e-6, rel=1e-12)


def test_it_takes_the_time_of_loggp() -> None:
    # rank 1 computes 0.5 us first; the work of rank 0 ends at 4 us, its first message is at rank 1
    # o + 1 us + L + o later, and from there at rank 2 in as long
    assert seconds(RELAY, LOGGP) == pytest.approx((4 + 2 * (1.5 + 1 + 2.5 + 1.5) + 0.1) * 1e-6, rel=1e-12)


def test_cpus_compute_side_by_side() -> None:
    one = "num_ranks 1 rank 0 { calc 3000 calc 1000 cpu 0 calc 2000 }"
    for cpu, alone in (("", 6e-6), ("cpu 7", 4e-6), ("cpu 99999", 4e-6)):
        data = one.replace("calc 2000", f"calc 2000 {cpu}")
        # the processor of messages is the first of them
        assert seconds(data, None) == seconds(data, LOGGP) == pytest.approx(alone, rel=1e-12)
        assert seconds(write_goal(read_goal(data.encode(), "a.goal")).data.decode(), None) == alone


def test_tags_keep_apart_what_is_received_in_another_order() -> None:
    data = """num_ranks 2
rank 0 { send 1b to 1 tag 5 send 2b to 1 tag 70000 }
rank 1 { recv 2b from 0 tag 70000 recv 1b from 0 tag 5 }"""
    program = read_goal(data.encode(), "a.goal")
    again = read_goal(write_goal(program).data, "a.goal")
    assert again.purpose.collective().sizes.tolist() == [2, 1]


def test_a_published_tree_takes_its_depth() -> None:
    file = SHARED / "goal" / "binary_tree_32.goal"
    if not file.is_file():
        pytest.skip("the published files are not here")
    # the last is reached over five ranks: L + 2 o and a byte each
    assert seconds(file.read_text(), LOGGP) == pytest.approx(5 * (2.5 + 2 * 1.5 + 1e-3) * 1e-6, rel=1e-9)


def test_what_is_read_is_written_again() -> None:
    program = read_goal(RELAY.encode(), "a.goal")
    again = read_goal(write_goal(program).data, "a.goal")
    assert write_goal(again).data == write_goal(program).data
    assert seconds(write_goal(program).data.decode(), None) == seconds(RELAY, None)


WRONG = [
    ("to 1 tag 7", "to 5 tag 7", 6, "rank 0 sends to rank 5; there are 3 ranks"),
    ("to 1 tag 7", "to 0 tag 7", 6, "rank 0 sends to itself"),
    ("to 1 tag 7", "to 1 tag 8", 6, "rank 0 sends to rank 1 with tag 8, which never receives it"),
    ("recv 2000b", "recv 2001b", 22, "receives 2001 bytes, of which line 7 sends 2000"),
    ("send 1000b", "send 1000", 6, "found 1000, expected a number of bytes, as 8b"),
    ("send 1000b", "put 1000b", 6, "found put, expected send, recv or calc"),
    ("calc 4000", "calc 99999999999999999999", 5, "99999999999999999999 is too large"),
    ("calc 4000", "calc 99999999999999", 5, "99999999999999 ns are too long"),
    ("requires work", "requires wrok", 8, "there is no label wrok at this rank"),
    ("second: send", "first: send", 7, "the label first is there twice"),
    ("num_ranks 3", "num_ranks 4", 2, "rank 3 is missing"),
    ("num_ranks 3", "num_ranks 2", 21, "rank 2 is not among 2"),
    ("rank 1 {", "rank 0 {", 12, "rank 0 is there twice"),
    ("num_ranks 3", "", 4, "found rank, expected num_ranks"),
    ("cpu 1", "cpu 1 cpu 2", 5, "cpu is there twice"),
    ("cpu 1", "cpu $", 5, 'found "$", which no GOAL file has'),
    ("done requires b\n}", "done requires b", 27, "found the end, expected an operation"),
]


@pytest.mark.parametrize(("old", "new", "line", "said"), WRONG, ids=range(len(WRONG)))
def test_a_wrong_file_is_refused_with_its_line(old: str, new: str, line: int, said: str) -> None:
    assert old in RELAY
    with pytest.raises(FormatError) as caught:
        read_goal(RELAY.replace(old, new, 1).encode(), "a.goal")
    assert (caught.value.line, caught.value.message) == (line, said)


def test_a_deadlock_is_named() -> None:
    circle = """num_ranks 2
rank 0 { a: recv 1b from 1
b: send 1b to 1
b requires a }
rank 1 { a: recv 1b from 0
b: send 1b to 0
b requires a }"""
    with pytest.raises(ProgramError, match="deadlock: rank 0, operation 0") as caught:
        prove_program(read_goal(circle.encode(), "a.goal"))
    assert caught.value.line == 2


def test_what_begins_together_may_not_be_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("algorithms.formats.goal._MOST_WAITS", 1000)
    waits = "\n".join(f"l{i + 1} irequires l{i} l{i} requires w{i}" for i in range(100))
    calcs = "\n".join(f"l{i}: calc 1 w{i}: calc 1" for i in range(101))
    with pytest.raises(FormatError, match="waits follow from irequires"):
        read_goal(f"num_ranks 1 rank 0 {{ {calcs}\n{waits} }}".encode(), "a.goal")


def test_a_long_chain_of_what_begins_together_is_no_work() -> None:
    waits = " ".join(f"l{i + 1} irequires l{i}" for i in range(3000))
    calcs = " ".join(f"l{i}: calc 1" for i in range(3001))
    program = read_goal(f"num_ranks 1 rank 0 {{ {calcs} {waits} }}".encode(), "a.goal")
    assert not len(program.after.index)


@pytest.mark.parametrize(
    ("waits", "said"),
    [
        ("a irequires b b irequires a", "rank 0, operation 0 (calc) waits for rank 0, operation 1 (calc)"),
        ("a irequires a", "rank 0, operation 0 (calc) waits for itself"),
        ("a irequires b b requires a", "rank 0, operation 0 (calc) waits for itself"),
    ],
)
def test_what_begins_after_itself_never_does(waits: str, said: str) -> None:
    program = read_goal(f"num_ranks 1 rank 0 {{\na: calc 1\nb: calc 1\n{waits} }}".encode(), "a.goal")
    with pytest.raises(ProgramError) as caught:
        prove_program(program)
    assert caught.value.message.startswith(f"deadlock: {said}")
    assert caught.value.line == 2
