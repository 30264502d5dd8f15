"""Small searches."""

from __future__ import annotations

from simulator.engine.network import Network
from simulator.llm.hardware import Hardware
from simulator.llm.layer_calls import Pass
from simulator.llm.model import Model, transformer
from simulator.llm.plan import Batch, MemoryPlan, Parallel
from simulator.llm.step.fabric import Fabric
from simulator.llm.step.overlap import Overlap
from simulator.llm.step.report_setting import Setting
from simulator.llm.step.stage_units import Machine
from simulator.llm.traffic_plan import TrafficPlan
from topologies import crossbar
from topologies.topology import Topology

MODEL = transformer(layers=8, hidden=256, heads=8, vocab=256, sequence=256)


def setting(
    parallel: Parallel,
    *,
    total: int = 8,
    bandwidth: float = 20e9,
    memory: MemoryPlan | None = None,
    overlap: Overlap | None = None,
    model: Model = MODEL,
    topology: Topology | None = None,
    network: Network | None = None,
) -> Setting:
    """What a plan is simulated from, on a crossbar unless it is said."""
    traffic = TrafficPlan()
    where = topology or crossbar(parallel.ranks, bandwidth=bandwidth, overhead=1e-6)
    return Setting(
        Pass(model, parallel, Batch(total=total), memory or MemoryPlan(), traffic),
        Machine(Hardware(capacity=2**36, compute=100e12, memory_bandwidth=1e12)),
        Fabric(parallel, traffic, where, network or Network("cut_through")),
        overlap or Overlap(),
    )
