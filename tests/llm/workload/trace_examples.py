"""Small execution traces, and what they are run on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from algorithms.formats.chakra import (
    COMM_COLL,
    COMM_RECV,
    COMM_SEND,
    COMP,
    Node,
    Trace,
    read_chakra,
    write_chakra,
)
from simulator.engine.network import Network, Reduction
from simulator.llm.plan import Parallel
from simulator.llm.step.fabric import Fabric
from simulator.llm.step.simulate import Step, simulate_step
from simulator.llm.workload.groups import Groups
from simulator.llm.workload.plan import WorkloadPlan
from simulator.llm.workload.trace_graph import trace_graph
from topologies import Topology

US = 10**9
"""fs."""


def compute(number: int, micros: int, *after: int, **said: Any) -> Node:
    return Node(number, f"compute {number}", COMP, after, micros, said)


def collective(number: int, kind: int, size: int, *after: int, **said: Any) -> Node:
    return Node(number, f"call {number}", COMM_COLL, after, 0, {"comm_type": kind, "comm_size": size, **said})


def send(number: int, dst: int, size: int, *after: int, **said: Any) -> Node:
    return Node(number, f"send {number}", COMM_SEND, after, 0, {"comm_dst": dst, "comm_size": size, **said})


def receive(number: int, src: int, size: int, *after: int, **said: Any) -> Node:
    return Node(
        number, f"receive {number}", COMM_RECV, after, 0, {"comm_src": src, "comm_size": size, **said}
    )


def traces_of(*ranks: Sequence[Node]) -> list[Trace]:
    """Traces as they are read from files, so that nodes have places."""
    return [
        read_chakra(write_chakra(Trace(tuple(nodes))), f"step.{rank}.et") for rank, nodes in enumerate(ranks)
    ]


def run_traces(
    traces: Sequence[Trace],
    topology: Topology,
    plan: WorkloadPlan | None = None,
    named: Mapping[str, tuple[int, ...]] | None = None,
    network: Network | None = None,
    reduction: Reduction | None = None,
) -> Step:
    how = plan or WorkloadPlan()
    graph = trace_graph(traces, Groups(topology, named or {}), how)
    fabric = Fabric(Parallel(), how, topology, network or Network("cut_through"), reduction)
    return simulate_step(graph, fabric, memoise=False)


def ends(step: Step) -> dict[str, float]:
    """When tasks have ended, us, by name; of those of several ranks the first."""
    found: dict[str, float] = {}
    for task, end in zip(step.graph.tasks, step.end.tolist(), strict=True):
        found.setdefault(task.name, end / US)
    return found
