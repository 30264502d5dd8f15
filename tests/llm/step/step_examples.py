"""Small plans and machines to run steps on."""

from __future__ import annotations

from typing import Any

from simulator.engine.network import Network, Reduction
from simulator.llm.fit import check_fit
from simulator.llm.hardware import Hardware
from simulator.llm.layer_calls import Pass
from simulator.llm.model import Experts, Model, transformer
from simulator.llm.plan import Batch, MemoryPlan, Parallel
from simulator.llm.step.fabric import Fabric
from simulator.llm.step.graph import Graph
from simulator.llm.step.overlap import Overlap
from simulator.llm.step.program import training_graph
from simulator.llm.step.simulate import Step, simulate_step
from simulator.llm.step.stage_units import Machine
from simulator.llm.traffic_plan import TrafficPlan
from topologies import Level, Topology, crossbar, multilevel

CHIP = Machine(Hardware(capacity=2**36, compute=100e12, memory_bandwidth=1e12))


def model(**more: Any) -> Model:
    """Eight layers of 512."""
    return transformer(**{"layers": 8, "hidden": 512, "heads": 8, "vocab": 1024, "sequence": 256, **more})


def mixture(**more: Any) -> Model:
    """Four layers, three of them with eight experts and a shared one."""
    experts = Experts(count=8, active=2, ffn=256, shared=1, dense_layers=1)
    return model(layers=4, experts=experts, **more)


def asked(
    parallel: Parallel,
    microbatches: int = 8,
    of: Model | None = None,
    memory: MemoryPlan | None = None,
    traffic: TrafficPlan | None = None,
) -> Pass:
    """A step of so many micro-batches a replica."""
    found = Pass(
        of or model(),
        parallel,
        Batch(total=microbatches * parallel.dp),
        memory or MemoryPlan(),
        traffic or TrafficPlan(),
    )
    check_fit(found.model, parallel, found.batch, found.memory, found.plan)
    return found


def graph(parallel: Parallel, overlap: Overlap | None = None, **more: Any) -> Graph:
    """Tasks of a step."""
    return training_graph(asked(parallel, **more), CHIP, overlap)


def fabric(
    parallel: Parallel, topology: Topology | None = None, network: Network | None = None, **more: Any
) -> Fabric:
    """All ranks at one switch, or what is given."""
    where = topology or crossbar(parallel.ranks, bandwidth=100e9, overhead=1e-6)
    reduction = Reduction(400e9) if more.pop("reduces", False) else None
    traffic = more.pop("traffic", None) or TrafficPlan()
    return Fabric(parallel, traffic, where, network or Network("cut_through"), reduction)


def apart(parallel: Parallel, inner: int) -> Topology:
    """Machines of so many ranks, with links of their own for what stays inside."""
    return multilevel(
        [
            Level("machine", inner, "full_mesh", 200e9, 1e-6),
            Level("net", parallel.ranks // inner, "switch", 25e9, 5e-6),
        ]
    )


def step(parallel: Parallel, overlap: Overlap | None = None, **more: Any) -> Step:
    """A step, simulated."""
    places = {name: more.pop(name) for name in ("topology", "network", "reduces") if name in more}
    found = fabric(parallel, traffic=more.get("traffic"), **places)
    return simulate_step(graph(parallel, overlap, **more), found)
