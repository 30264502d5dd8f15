"""Tables of layers: read, refused with line and column, and run, with times counted by hand."""

from __future__ import annotations

import pytest

from simulator.engine.network import Network
from simulator.llm.errors import ModelError
from simulator.llm.plan import Parallel
from simulator.llm.step.fabric import Fabric
from simulator.llm.step.simulate import Step, simulate_step
from simulator.llm.workload.groups import Groups
from simulator.llm.workload.layer_graph import layer_graph
from simulator.llm.workload.layer_groups import LayerGroups
from simulator.llm.workload.layers import Layer, Turn, read_layers
from simulator.llm.workload.plan import WorkloadPlan
from tests.damage import damaged
from topologies import Topology, crossbar, mesh
from topologies.errors import FormatError

US = 10**9
"""fs."""

# two ranks at 1 GB/s without latency: an AllReduce of 8000 B takes 8 us, an All-to-All 4, a ReduceScatter 4
TWO = crossbar(2, bandwidth=1e9, latency=0.0)
FOUR = mesh((2, 2), bandwidth=1e9, latency=0.0)


AGAIN = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2"


def table(head: str, *rows: str) -> str:
    return "\n".join([head, str(len(rows)), *rows]) + "\n"


def run(text: str, topology: Topology = TWO, **plan: object) -> Step:
    how = WorkloadPlan(**plan)  # type: ignore[arg-type]
    graph = layer_graph(read_layers(text, "a.txt"), Groups(topology), how)
    return simulate_step(graph, Fabric(Parallel(), how, topology, Network("cut_through")))


def micros(text: str, topology: Topology = TWO, **plan: object) -> float:
    return run(text, topology, **plan).time / US


def row(*times: int, forward: str = "NONE 0", inputs: str = "NONE 0", weights: str = "NONE 0") -> str:
    """A layer that takes so many us in each of its turns, with so many ns after each collective."""
    one, two, three, *update = times
    turns = f"{one}000 {forward} {two}000 {inputs} {three}000 {weights}"
    return f"layer -1 {turns} {update[0] if update else 0}"


def test_a_table_is_read() -> None:
    text = (
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 8 ga: 3 all_gpus: 8 "
        "checkpoints: 2 0 1 checkpoint_initiates: 1 1\r\n2\r\n"
        "embedding\t-1\t556000 ALLREDUCE 16 1 NONE 0 2 ALLGATHER_DP_EP 8 100\n\n"
        "head 7 1 ALLTOALL 0 1 NONE 0 1 NONE 0 1"
    )
    found = read_layers(text, "a.txt")
    assert (found.policy, found.number("tp"), found.number("all_gpus"), found.number("pp_comm")) == (
        *("HYBRID_TRANSFORMER_FWD_IN_BCKWD", 2, 8),
        1,
    )
    assert (found.checkpoints, found.recomputes) == ((0, 1), (1,))
    # a collective of no bytes is none
    assert found.layers == (
        Layer(
            "embedding",
            Turn(556000, "allreduce", "", 16),
            Turn(1, "", "", 0),
            Turn(2, "allgather", "_DP_EP", 8),
            100,
        ),
        Layer("head", Turn(1, "", "", 0), Turn(1, "", "", 0), Turn(1, "", "", 0), 1),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a.txt: is empty; expected a table of layers"),
        ("PIPELINE\n1\n", 'a.txt:1:1: found "PIPELINE", expected DATA, MODEL, '),
        ("DATA tp: 2\n1\n", 'a.txt:1:6: found "tp:", expected model_parallel_NPU_group, '),
        ("DATA ep:\n1\n", 'a.txt:1:6: expected a number after "ep:"'),
        ("DATA\n", "a.txt:1:1: expected a line with the number of layers after DATA"),
        (
            "DATA\n2\nfc -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n",
            'a.txt:2:1: there are 1 rows, found "2"',
        ),
        ("DATA\n0\n", "a.txt:2:1: there is no layer"),
        ("DATA\n1\nfc -1 1 NONE 0\n", "a.txt:3:1: found a row of 5 words, expected 12"),
        (
            table("DATA", row(1, 1, 1, weights="ALLREDUCED 8")),
            'a.txt:3:39: found "ALLREDUCED", expected NONE, ALLREDUCE, ',
        ),
        (
            table("DATA", row(1, 1, 1, weights="ALLREDUCE -8")),
            'a.txt:3:49: found "-8", expected a number from 0 to 1,125,899,906,842,624',
        ),
        (
            table("HYBRID_CUSTOMIZED", row(1, 1, 1) + " MICRO"),
            'a.txt:3:48: found "MICRO", expected DATA, MODEL, ',
        ),
        (table("HYBRID_DLRM 5", row(1, 1, 1)), "a.txt:1:1: there is no layer 5; layers are 0 to 0"),
        (
            table("HYBRID_TRANSFORMER_FWD_IN_BCKWD checkpoint_initiates: 1 0", row(1, 1, 1)),
            "a.txt:1:1: nothing is kept before layer 0, from which it could be computed again",
        ),
        (table("HYBRID_TRANSFORMER ep: 0", row(1, 1, 1)), "a.txt:1:1: found ep 0, expected 1 or more"),
    ],
)
def test_what_is_no_table(text: str, message: str) -> None:
    with pytest.raises(FormatError) as error:
        read_layers(text, "a.txt")
    assert str(error.value).startswith(message)


def test_data_parallel_gradients_are_summed_beside_compute() -> None:
    # forward 1 + 2; backward the second layer 20, its AllReduce beside 30 of inputs; the first 10, then 8
    rows = (
        row(1, 99, 10, weights="ALLREDUCE 8000"),
        row(2, 30, 20, weights="ALLREDUCE 8000"),
    )
    assert micros(table("DATA", *rows)) == 1 + 2 + 20 + 30 + 10 + 8
    # the next pass waits for the first layer's sum
    assert micros(table("DATA", *rows), passes=2) == 2 * (1 + 2 + 20 + 30 + 10 + 8)


def test_model_parallel_activations_are_waited_for() -> None:
    # forward (1 + 8) (2 + 8); backward the second: 3, then 8 beside 4; the first: 5, no collective, 6
    text = table(
        "MODEL",
        row(1, 5, 6, forward="ALLREDUCE 8000", inputs="ALLREDUCE 8000", weights="ALLREDUCE 8000"),
        row(2, 3, 4, forward="ALLREDUCE 8000", inputs="ALLREDUCE 8000"),
    )
    assert micros(text) == 1 + 8 + 2 + 8 + 3 + 8 + 5 + 6


def test_transformers_wait_before_the_gradients_of_weights() -> None:
    # tensor parallel AllReduces are waited for at once, both ways; 500 ns follow each; dp is of one
    text = table(
        "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 all_gpus: 2",
        row(1, 2, 3, 500, forward="ALLREDUCE 8000", inputs="ALLREDUCE 8000", weights="ALLREDUCE 8000"),
    )
    assert micros(text) == 1 + 8.5 + 2 + 8.5 + 3


def test_layers_that_are_computed_again() -> None:
    head = f"{AGAIN} checkpoints: 1 0 checkpoint_initiates: 1 2"
    rows = [row(one, 10, 10, forward="ALLREDUCE 8000") for one in (1, 2, 4)]
    once = 1 + 8 + 2 + 8 + 4 + 8 + 3 * 20
    # before the gradients of layer 2 the layers 0 and 1 go forward again
    assert micros(table(head, *rows)) == once + 1 + 8 + 2 + 8


def test_recommenders_exchange_embeddings_beside_the_bottom_layers() -> None:
    # the All-to-All of 4 us begins after 1 us, beside the bottom layer's 2; layer 2 waits for it
    rows = (
        row(1, 0, 1, forward="ALLTOALL 8000", inputs="ALLTOALL 8000"),
        row(2, 3, 1, weights="ALLREDUCE 8000"),
        row(1, 5, 1),
    )
    # backward: layer 2 takes 1 + 5, after which gradients of embeddings go, 4, and the sum of layer 1, 8
    assert micros(table("HYBRID_DLRM 1", *rows)) == 1 + 4 + 1 + 1 + 5 + 4 + 8
    # of one thing after the other on the stream of all ranks
    step = run(table("HYBRID_DLRM 1", *rows))
    calls = [task for task in step.graph.tasks if task.way is not None]
    assert [task.way.kind for task in calls if task.way] == ["all_to_all", "all_to_all", "allreduce"]


def test_collectives_alone_and_passes_forward_alone() -> None:
    rows = [row(1, 1, 1, forward="ALLREDUCE 8000", weights="REDUCESCATTER 8000")] * 3
    assert micros(table("MICRO", *rows)) == 3 * 4
    assert micros(table("DISTRIBUTED_INFERENCE", *rows)) == 3 * 9


@pytest.mark.parametrize(
    ("policy", "forward", "weights"),
    [
        ("DATA", None, [[0, 1, 2, 3]]),
        ("MODEL", [[0, 1, 2, 3]], None),
        ("HYBRID_DATA_MODEL", [[0, 1], [2, 3]], [[0, 2], [1, 3]]),
        ("HYBRID_MODEL_DATA", [[0, 2], [1, 3]], [[0, 1], [2, 3]]),
        ("HYBRID_TRANSFORMER model_parallel_NPU_group: 2", [[0, 1], [2, 3]], [[0, 2], [1, 3]]),
        ("HYBRID_DLRM", [[0, 1, 2, 3]], [[0, 1, 2, 3]]),
    ],
)
def test_who_is_in_a_group(
    policy: str, forward: list[list[int]] | None, weights: list[list[int]] | None
) -> None:
    found = read_layers(table(policy, row(1, 1, 1, forward="ALLTOALL 8", weights="ALLREDUCE 8")), "a.txt")
    groups = LayerGroups(found, Groups(FOUR))
    for phase, wanted in (("forward", forward), ("weights", weights)):
        members = groups.of(found.layers[0], phase)  # type: ignore[arg-type]
        assert (members and members.ranks.tolist()) == wanted


def test_groups_of_experts() -> None:
    # tp 2 innermost, then ep 2, then replicas: of 8 ranks
    head = "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 2"
    text = table(
        head, row(1, 1, 1, forward="ALLTOALL_EP 8", inputs="ALLGATHER_DP_EP 8", weights="ALLREDUCE 8")
    )
    found = read_layers(text, "a.txt")
    groups = LayerGroups(found, Groups(crossbar(8, bandwidth=1e9)))
    layer = found.layers[0]
    ranks = [groups.of(layer, phase).ranks.tolist() for phase in ("forward", "inputs", "weights")]  # type: ignore[arg-type, union-attr]
    assert ranks == [
        [[0, 2], [1, 3], [4, 6], [5, 7]],
        [[0, 4], [1, 5], [2, 6], [3, 7]],
        [[0, 2, 4, 6], [1, 3, 5, 7]],
    ]


def test_each_layer_has_its_own_parallelism() -> None:
    text = table(
        "HYBRID_CUSTOMIZED",
        row(1, 1, 1, forward="ALLREDUCE 8000", weights="ALLREDUCE 8000") + " DATA",
        row(1, 1, 1, forward="ALLREDUCE 8000", weights="ALLREDUCE 8000") + " MODEL",
    )
    step = run(text)
    calls = [(task.phase, task.size) for task in step.graph.tasks if task.way is not None]
    assert calls == [("F", 8000), ("W", 8000)]


@pytest.mark.parametrize(
    ("head", "gathered", "size"),
    # in ASTRA-sim the size of an AllGather is what a rank gives, in SimAI what comes of it
    [
        ("DATA", None, 16000),
        ("DATA", "whole", 8000),
        ("HYBRID_TRANSFORMER model_parallel_NPU_group: 1", None, 8000),
        ("HYBRID_TRANSFORMER model_parallel_NPU_group: 1", "part", 16000),
    ],
)
def test_sizes_of_gathers(head: str, gathered: str | None, size: int) -> None:
    step = run(table(head, row(1, 1, 1, weights="ALLGATHER 8000")), gathered=gathered)
    assert [task.size for task in step.graph.tasks if task.way] == [size]


def test_degrees_that_do_not_divide_the_ranks() -> None:
    text = table("HYBRID_TRANSFORMER model_parallel_NPU_group: 3", row(1, 1, 1, forward="ALLREDUCE 8"))
    with pytest.raises(FormatError, match="model_parallel_NPU_group 3 x ep 1 does not divide 2 ranks"):
        run(text)


def test_too_many_passes_are_refused() -> None:
    with pytest.raises(ModelError, match="one by one is too long"):
        run(table("DATA", row(1, 1, 1)), passes=1 << 30)


def test_damaged_tables_are_refused_or_run() -> None:
    head = f"{AGAIN} ep: 1 checkpoints: 1 0 checkpoint_initiates: 1 1"
    rows = [row(1, 2, 3, 5, forward="ALLREDUCE 8000", weights="ALLGATHER_DP_EP 800")] * 2
    refusals = []
    for data in damaged(table(head, *rows).encode()):
        try:
            run(data.decode("utf-8", "replace"))
        except (FormatError, ModelError) as error:
            refusals.append(str(error))
    assert len(refusals) > 100
    assert all("\n" not in refusal for refusal in refusals)
