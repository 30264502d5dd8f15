"""Execution traces as graphs: hand-counted times, what does not match, and schedules that come back."""

from __future__ import annotations

from contextlib import suppress

import pytest

from algorithms.errors import ScheduleError
from algorithms.formats.chakra import COMM_COLL, COMP, MEM_LOAD, METADATA, Node, read_chakra
from algorithms.formats.chakra_schedule import to_chakra
from algorithms.registry import ALGORITHMS, build
from algorithms.schedule import Schedule
from simulator.engine.engines import simulate
from simulator.engine.network import Network, Reduction
from simulator.llm.errors import ModelError
from simulator.llm.workload.groups import Groups, groups_in, read_groups
from simulator.llm.workload.plan import WorkloadPlan
from simulator.llm.workload.trace_graph import trace_graph
from tests.damage import damaged
from tests.llm.workload.trace_examples import (
    US,
    collective,
    compute,
    ends,
    receive,
    run_traces,
    send,
    traces_of,
)
from topologies import crossbar, mesh, ring
from topologies.errors import FormatError

ALL_REDUCE, ALL_GATHER, BROADCAST, REDUCE_SCATTER, BARRIER = 0, 2, 5, 7, 9
# 1 GB/s and no latency: a byte takes a nanosecond
TWO = ring(2, bandwidth=1e9, latency=0.0)
FOUR = crossbar(4, bandwidth=1e9, latency=0.0)


def test_a_collective_begins_when_all_of_its_ranks_are_there() -> None:
    # 1 and 3 us of compute; a ring AllReduce of 8000 B on two ranks: 2 steps of 4000 B, 8 us; then 2 us
    ranks = [[compute(0, rank), collective(1, ALL_REDUCE, 8000, 0), compute(2, 2, 1)] for rank in (1, 3)]
    assert ends(run_traces(traces_of(*ranks), TWO)) == {
        "compute 0": 1,
        "call 1": 11,
        "compute 2": 13,
    }


@pytest.mark.parametrize(
    ("kind", "size", "gathered", "micros"),
    [
        # of two ranks, each message goes over a link of its own
        (ALL_REDUCE, 8000, None, 8),
        (REDUCE_SCATTER, 8000, None, 4),
        # a rank gives 8000 B, or 8000 B come of it
        (ALL_GATHER, 8000, None, 8),
        (ALL_GATHER, 8000, "whole", 4),
        (BROADCAST, 8000, None, 8),
        (BARRIER, 0, None, 0),
        # what a barrier is done with is not moved
        (BARRIER, 8, None, 0),
    ],
)
def test_sizes_of_collectives(kind: int, size: int, gathered: str | None, micros: float) -> None:
    plan = WorkloadPlan(gathered=gathered)  # type: ignore[arg-type]
    step = run_traces(traces_of(*[[collective(0, kind, size)]] * 2), TWO, plan)
    assert step.time == micros * US


def test_a_message_leaves_when_its_sender_is_ready() -> None:
    # rank 0 sends 4000 B after 1 us; rank 1 computes for 10 us before it receives
    traces = traces_of(
        [compute(0, 1), send(1, 1, 4000, 0), compute(2, 1, 1)],
        [compute(10, 10), receive(11, 0, 4000, 10), compute(12, 1, 11)],
    )
    assert ends(run_traces(traces, TWO)) == {
        **{"compute 0": 1, "send 1": 5, "compute 2": 6},
        **{"compute 10": 10, "compute 12": 11},
    }


def test_a_rendezvous_waits_for_its_receiver() -> None:
    traces = traces_of(
        [compute(0, 1), send(1, 1, 4000, 0), compute(2, 1, 1)],
        [compute(10, 10), receive(11, 0, 4000, 10), compute(12, 1, 11)],
    )
    found = ends(run_traces(traces, TWO, WorkloadPlan(messages="rendezvous")))
    assert (found["send 1"], found["compute 2"], found["compute 12"]) == (14, 15, 15)


def test_messages_are_matched_by_tag_and_order() -> None:
    # two of tag 0 and one of tag 7, that is received first
    traces = traces_of(
        [send(0, 1, 1000), send(1, 1, 2000, 0), send(2, 1, 3000, 1, comm_tag=7)],
        [receive(0, 0, 3000, comm_tag=7), compute(1, 1, 0), receive(2, 0, 1000), receive(3, 0, 2000, 2)],
    )
    assert ends(run_traces(traces, TWO)) == {"send 0": 1, "send 1": 3, "send 2": 6, "compute 1": 7}


def test_messages_share_links() -> None:
    # two ranks send 4000 B to rank 0: its link takes one after the other
    traces = traces_of(
        [receive(0, 1, 4000), receive(1, 2, 4000)],
        *([send(0, 0, 4000)] for _ in range(2)),
        [compute(0, 1)],
    )
    assert run_traces(traces, FOUR).time == 8 * US


def test_who_has_called_a_node_comes_before_it_if_it_is_there() -> None:
    called = Node(1, "called", COMP, (), 4, {}, (0, 77))
    assert ends(run_traces(traces_of([called, compute(0, 3, is_cpu_op=1)], []), TWO)) == {
        **{"compute 0": 3, "called": 7}
    }


def test_circles_of_callers_can_be_left_out() -> None:
    # as PyTorch's traces have them: a kernel names its caller, which names the kernel
    nodes = [
        Node(0, "call", COMM_COLL, (), 3, {"is_cpu_op": 1}, (1,)),
        Node(1, "kernel", COMP, (0,), 4, {}, (0,)),
    ]
    with pytest.raises(FormatError, match='which waits for node 0 of rank 0; with "control: false"'):
        run_traces(traces_of(nodes, []), TWO)
    found = ends(run_traces(traces_of(nodes, []), TWO, WorkloadPlan(control=False)))
    assert found == {"call": 3, "kernel": 7}


def test_a_rank_computes_one_thing_at_a_time_beside_its_processor() -> None:
    traces = traces_of([compute(0, 3), compute(1, 4), compute(2, 5, is_cpu_op=1)], [])
    step = run_traces(traces, TWO)
    assert ends(step) == {"compute 0": 3, "compute 1": 7, "compute 2": 5}
    assert step.begin.tolist() == [0, 3 * US, 0]


def test_work_without_a_time_takes_that_of_a_roofline() -> None:
    # 3e6 operations at 1e12/s are 3 us, 4e6 bytes at 1e12 B/s 4 us; a load of 2e6 bytes at 1e12 B/s 2 us
    traces = traces_of(
        [
            compute(0, 0, num_ops=3_000_000, tensor_size=4_000_000),
            Node(1, "load", MEM_LOAD, (0,), 0, {"tensor_size": 2_000_000}),
            compute(2, 0, 1, num_ops=5_000_000),
        ],
        [],
    )
    plan = WorkloadPlan(compute=1e12, bandwidth=1e12, remote=1e12)
    assert ends(run_traces(traces, TWO, plan)) == {"compute 0": 4, "load": 6, "compute 2": 11}
    # without rates they take no time, and are no tasks
    assert not len(trace_graph(traces, Groups(TWO), WorkloadPlan()))


@pytest.mark.parametrize(("turns", "micros"), [("group", 12), ("rank", 24), ("none", 12)])
def test_whose_collectives_follow_each_other(turns: str, micros: float) -> None:
    # a mesh of 2 x 2, AllReduces of 8000 B along either dimension over links of their own: 8 us; then 4 us
    topology = mesh((2, 2), bandwidth=1e9, latency=0.0)
    nodes = [
        collective(0, ALL_REDUCE, 8000, involved_dim=(1, 0)),
        collective(1, REDUCE_SCATTER, 8000, involved_dim=(1, 0)),
        collective(2, ALL_REDUCE, 8000, involved_dim=(0, 1)),
        collective(3, REDUCE_SCATTER, 8000, involved_dim=(0, 1)),
    ]
    plan = WorkloadPlan(one_at_a_time=turns)  # type: ignore[arg-type]
    assert run_traces(traces_of(*[nodes] * 4), topology, plan).time == micros * US


def test_communicators_by_name() -> None:
    named = read_groups('{"5": [3, 1], "6": [0, 2]}', "groups.json", 4)
    ranks = [[collective(0, ALL_REDUCE, 8000, pg_name="56"[rank % 2 == 0])] for rank in range(4)]
    step = run_traces(traces_of(*ranks), FOUR, named=named)
    assert [task.way and task.way.group.name for task in step.graph.tasks] == ["group 6", "group 5"]
    assert step.time == 8 * US
    # everybody is group 0 where the file says none, and nobody needs a file for it
    nodes = [collective(0, ALL_REDUCE, 8000, pg_name="0")]
    assert run_traces(traces_of(nodes, nodes), TWO).time == 8 * US


def test_communicators_in_the_traces() -> None:
    # as PyTorch writes them: each rank lists its own groups, all others in group 0
    def ranks(rank: int) -> list[Node]:
        mine = [rank % 2, rank % 2 + 2]
        values = f"""['[{{"pg_name": "0", "ranks": []}}, {{"pg_name": "7", "ranks": {mine}}}]']"""
        init = Node(0, "process_group:init", METADATA, inputs=values)
        return [
            init,
            collective(1, ALL_REDUCE, 8000, 0, pg_name="7"),
            collective(2, BARRIER, 0, 1, pg_name="0"),
        ]

    traces = traces_of(*map(ranks, range(4)))
    own = [groups_in(trace, 4) for trace in traces]
    graph = trace_graph(traces, Groups(FOUR, {}, own), WorkloadPlan())
    called = [task.way.ranks.tolist() for task in graph.tasks if task.way and task.way.ranks is not None]
    assert called == [[[0, 2]], [[1, 3]], [[0, 1, 2, 3]]]
    # of a file they win
    named = Groups(FOUR, {"7": (0, 1, 2, 3)}, own)
    assert len(trace_graph(traces, named, WorkloadPlan())) == 2


def test_a_group_that_differs_between_traces_is_refused() -> None:
    nodes = [collective(0, ALL_REDUCE, 8, pg_name="7")]
    own = [{"7": (0, 1, 2)}, {"7": (0, 1)}, {"7": (0, 1, 2)}, {}]
    with pytest.raises(FormatError, match=r"node 0: group 7 has other ranks than at rank 0 \(node 0\)"):
        trace_graph(traces_of(nodes, nodes, nodes, []), Groups(FOUR, {}, own), WorkloadPlan())


@pytest.mark.parametrize(
    "inputs", ["", "[]", "['{}']", "['[1, {}]']", '[\'[{"pg_name": 3, "ranks": 4}]\']', "[" * 99_999]
)
def test_inputs_that_list_no_groups(inputs: str) -> None:
    assert groups_in(traces_of([Node(0, "", METADATA, inputs=inputs)])[0], 4) == {}


@pytest.mark.parametrize(
    ("ranks", "message"),
    [
        ([[collective(0, 0, 8)], []], "node 0: rank 1 has no collective 0 of all"),
        (
            [[collective(0, 0, 8)], [collective(4, 2, 8)]],
            "node 4: collective 0 of all is allgather of 16 bytes, and allreduce of 8 bytes at rank 0",
        ),
        ([[collective(0, 12, 8)], []], 'node 0: found "comm_type" 12, expected a number from 0 to 9'),
        ([[collective(0, 0, -8)], []], 'node 0: found "comm_size" -8, expected a number from 0 to '),
        ([[collective(0, 2, 1 << 50)], []], "node 0: moves 2,251,799,813,685,248 bytes"),
        ([[collective(0, 0, 8, pg_name="x\ny")], []], 'node 0: there is no group "x\\ny"; groups are none'),
        ([[collective(0, 0, 8, involved_dim=(0,))], []], 'node 0: "involved_dim" names no dimension'),
        ([[send(0, 1, 8)], []], "node 0: rank 1 does not receive it from rank 0 (message 0 with tag 0)"),
        ([[], [receive(3, 0, 8)]], "node 3: rank 0 does not send it to rank 1 (message 0 with tag 0)"),
        ([[send(0, 1, 8)], [receive(0, 0, 9)]], "node 0: receives 9 bytes, of which rank 0 sends 8 (node 0)"),
        ([[send(0, 2, 8)], []], 'node 0: found "comm_dst" 2, expected a number from 0 to 1'),
        ([[send(0, 0, 8)], []], "node 0: a rank sends to itself"),
        ([[send(0, 1, 8, comm_src=1)], []], 'node 0: found "comm_src" 1 in the trace of rank 0'),
        ([[Node(0, "", 5)], []], 'node 0: lacks the attribute "comm_dst"'),
        (
            [[compute(0, 1, 1), compute(1, 1, 0)], []],
            "node 0: waits for itself: node 0 of rank 0, which waits for node 1 of rank 0, "
            "which waits for node 0 of rank 0",
        ),
    ],
)
def test_traces_that_do_not_fit(ranks: list[list[Node]], message: str) -> None:
    with pytest.raises(FormatError) as error:
        trace_graph(traces_of(*ranks), Groups(TWO), WorkloadPlan())
    assert error.value.message.startswith(message)
    assert error.value.file.startswith("step.")
    assert error.value.byte
    assert "\n" not in str(error.value)


def test_a_deadlock_of_rendezvous_is_named() -> None:
    # both receive before they send: fine for eager messages, for ever for others
    traces = traces_of(*([receive(0, 1 - rank, 8), send(1, 1 - rank, 8, 0)] for rank in range(2)))
    with pytest.raises(FormatError, match="waits for itself: node 0 of rank 0, which waits for node 1"):
        trace_graph(traces, Groups(TWO), WorkloadPlan())


def test_nodes_without_time_are_waited_for() -> None:
    # 40 receives in a chain, then compute: what they hand on is kept short
    chain = [receive(2 * i, 0, 1000, *([2 * i - 2] if i else [])) for i in range(40)]
    sends = [send(2 * i + 1, 1, 1000) for i in range(40)]
    step = run_traces(traces_of(sends, [*chain, compute(99, 1, 78)]), TWO)
    assert step.time == 41 * US
    assert max(map(len, step.graph.after)) <= 18


def test_damaged_groups_are_refused_or_read() -> None:
    for data in damaged(b'{"1": [0, 1], "2": [2, 3], "all": [3, 2, 1, 0]}'):
        with suppress(FormatError):
            assert isinstance(read_groups(data.decode("utf-8", "replace"), "groups.json", 4), dict)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "groups.json:1:2: not JSON: Expecting property name"),
        ("[]", "groups.json:1:1: expected an object"),
        ('{"a": 3}', 'groups.json:1:7: group "a": expected a list of ranks'),
        ('{"a": [0, 4]}', 'groups.json:1:7: group "a": there is no rank "4"; ranks are 0 to 3'),
        ('{"a": [true]}', 'groups.json:1:7: group "a": there is no rank "True"'),
        ('{"a": [1, 1]}', 'groups.json:1:7: group "a": has a rank twice'),
        ("[" * 100_000, "groups.json:1:1: not JSON that anybody reads"),
        ('{"a": [0, 1], "a": [2, 3]}', 'groups.json:1:2: the key "a" is given twice'),
    ],
)
def test_files_that_list_no_groups(text: str, message: str) -> None:
    with pytest.raises(FormatError) as error:
        read_groups(text, "groups.json", 4)
    assert str(error.value).startswith(message)


def test_a_rank_outside_its_group_is_refused() -> None:
    nodes = [collective(0, ALL_REDUCE, 8, pg_name="7")]
    with pytest.raises(FormatError, match='node 0: rank 0 is not in group "7"'):
        trace_graph(traces_of(nodes, nodes), Groups(TWO, {"7": (1,)}), WorkloadPlan())


def test_an_algorithm_that_does_not_do_it_is_refused() -> None:
    with pytest.raises(ModelError, match="expected allreduce"):
        WorkloadPlan(algorithms={"allreducer": "ring"})
    with pytest.raises(ModelError, match="bruck"):
        WorkloadPlan(algorithms={"broadcast": "bruck"})


def _written() -> list[Schedule]:
    """A schedule of every algorithm, of the last collective that it does."""
    found: dict[str, Schedule] = {}
    for name, algorithm in ALGORITHMS.items():
        for kind in algorithm.collectives:
            try:
                schedule = build(name, kind, 4, 4096)
            except ScheduleError:
                continue
            if not schedule.switches:
                found[name] = schedule
    return list(found.values())


@pytest.mark.parametrize("schedule", _written(), ids=lambda schedule: schedule.algorithm)
def test_a_schedule_comes_back_from_its_traces(schedule: Schedule) -> None:
    topology = ring(4, bandwidth=50e9, latency=1e-6)
    # by dataflow the reducer is the stream that computes; by step both ends of a message must be ready
    for network, reduction, messages in (
        (Network(sync="dataflow"), Reduction(bandwidth=200e9), "eager"),
        (Network(sync="step"), None, "rendezvous"),
    ):
        files = to_chakra(schedule, network.sync).data  # type: ignore[arg-type]
        traces = [read_chakra(data, f"s.{rank}.et") for rank, data in enumerate(files)]
        rate = None if reduction is None else reduction.bandwidth
        plan = WorkloadPlan(messages=messages, bandwidth=rate)  # type: ignore[arg-type]
        step = run_traces(traces, topology, plan, network=network)
        sent = [(task.stream.stage, task.way.peer, task.size) for task in step.graph.tasks if task.way]
        columns = (schedule.src.tolist(), schedule.dst.tolist(), schedule.sizes().tolist())
        assert sorted(sent) == sorted(zip(*columns, strict=True))
        assert step.time == simulate(schedule, topology, network, reduction).time
