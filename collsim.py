"""collsim's Python API in one place.

>>> import collsim
>>> eight = collsim.ring(8, bandwidth=64e9, latency=1e-6)
>>> schedule = collsim.build("ring", "reduce_scatter", 8, 2**30)
>>> collsim.prove(schedule)
>>> collsim.simulate(schedule, eight).seconds
0.014687064
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from algorithms import (
    ALGORITHMS,
    COLLECTIVES,
    COPY,
    REDUCE,
    Algorithm,
    Bounds,
    Collective,
    Counts,
    Cut,
    Lists,
    Platform,
    ProofError,
    Ranges,
    Round,
    Schedule,
    ScheduleError,
    assemble,
    beside,
    build,
    closed_form,
    congestion_factor,
    count,
    dual,
    fold,
    level_flow,
    lower_bounds,
    make_collective,
    on,
    platforms,
    prove,
    rounds,
    textbook_bounds,
    then,
    together,
    trace,
)
from algorithms.formats.chakra_schedule import to_chakra
from simulator.engine.critical_path import CriticalPath, critical_path
from simulator.engine.engines import run_plan, simulate
from simulator.engine.errors import PlanError
from simulator.engine.jobs import Job
from simulator.engine.lower import lower, lower_together
from simulator.engine.network import Network, Reduction
from simulator.engine.plan import Plan
from simulator.engine.timeline import Timeline
from simulator.engine.together import Together
from simulator.llm.errors import ModelError
from simulator.llm.hardware import Hardware
from simulator.llm.memory import Memory, memory
from simulator.llm.model import Experts, LatentAttention, Model, transformer
from simulator.llm.plan import CONVENTIONS, Batch, Convention, MemoryPlan, Parallel
from simulator.llm.traffic import Traffic, traffic
from simulator.llm.traffic_plan import TrafficPlan
from simulator.scenario.check import check
from simulator.scenario.compare import Comparison, compare
from simulator.scenario.errors import ScenarioError, ScenarioErrors
from simulator.scenario.explain import Explanation, explain
from simulator.scenario.load import load, loads
from simulator.scenario.models import Scenario
from simulator.scenario.output import OutputError
from simulator.scenario.plan_load import load_plan, loads_plan
from simulator.scenario.plan_models import PlanScenario
from simulator.scenario.plan_run import PlanResult, work_out
from simulator.scenario.report import report
from simulator.scenario.result import as_json
from simulator.scenario.run import Result, build_topology, run
from simulator.scenario.search_run import SearchResult, work_out_search
from simulator.scenario.serve_run import ServeResult, work_out_serve
from simulator.scenario.step_run import StepResult, work_out_step
from simulator.scenario.sweep.result import Sweep
from simulator.scenario.sweep.run import sweep
from simulator.scenario.together_load import load_together, loads_together
from simulator.scenario.together_models import TogetherScenario
from simulator.scenario.together_result import TogetherResult
from simulator.scenario.together_run import run_together
from simulator.scenario.workload_load import loads_workload
from simulator.scenario.workload_models import WorkloadScenario
from simulator.scenario.workload_run import WorkloadResult, run_workload
from topologies import (
    TOPOLOGIES,
    CollsimError,
    CustomLink,
    CustomNodes,
    Level,
    Routing,
    Shared,
    StaticRoute,
    Tier,
    Topology,
    TopologyError,
    crossbar,
    custom,
    dragonfly,
    fat_tree,
    full_mesh,
    hypercube,
    leaf_spine,
    line,
    mesh,
    multilevel,
    rails,
    ring,
    route,
    routes,
    star,
    torus,
)
from topologies.measures import Measures, measure

if TYPE_CHECKING:
    from plots import Marker, save, save_animation, timeline_figure, together_figure, topology_figure
    from simulator.scenario.pictures import PictureError, picture

__all__ = [
    "ALGORITHMS",
    "COLLECTIVES",
    "CONVENTIONS",
    "COPY",
    "REDUCE",
    "TOPOLOGIES",
    "Algorithm",
    "Batch",
    "Bounds",
    "Collective",
    "CollsimError",
    "Comparison",
    "Convention",
    "Counts",
    "CriticalPath",
    "CustomLink",
    "CustomNodes",
    "Cut",
    "Experts",
    "Explanation",
    "Hardware",
    "Job",
    "LatentAttention",
    "Level",
    "Lists",
    "Marker",
    "Measures",
    "Memory",
    "MemoryPlan",
    "Model",
    "ModelError",
    "Network",
    "OutputError",
    "Parallel",
    "PictureError",
    "Plan",
    "PlanError",
    "PlanResult",
    "PlanScenario",
    "Platform",
    "ProofError",
    "Ranges",
    "Reduction",
    "Result",
    "Round",
    "Routing",
    "Scenario",
    "ScenarioError",
    "ScenarioErrors",
    "Schedule",
    "ScheduleError",
    "SearchResult",
    "ServeResult",
    "Shared",
    "StaticRoute",
    "StepResult",
    "Sweep",
    "Tier",
    "Timeline",
    "Together",
    "TogetherResult",
    "TogetherScenario",
    "Topology",
    "TopologyError",
    "Traffic",
    "TrafficPlan",
    "WorkloadResult",
    "WorkloadScenario",
    "as_json",
    "assemble",
    "beside",
    "build",
    "build_topology",
    "check",
    "closed_form",
    "compare",
    "congestion_factor",
    "count",
    "critical_path",
    "crossbar",
    "custom",
    "dragonfly",
    "dual",
    "explain",
    "fat_tree",
    "fold",
    "full_mesh",
    "hypercube",
    "leaf_spine",
    "level_flow",
    "line",
    "load",
    "load_plan",
    "load_together",
    "loads",
    "loads_plan",
    "loads_together",
    "loads_workload",
    "lower",
    "lower_bounds",
    "lower_together",
    "make_collective",
    "measure",
    "memory",
    "mesh",
    "multilevel",
    "on",
    "picture",
    "platforms",
    "prove",
    "rails",
    "report",
    "ring",
    "rounds",
    "route",
    "routes",
    "run",
    "run_plan",
    "run_together",
    "run_workload",
    "save",
    "save_animation",
    "simulate",
    "star",
    "sweep",
    "textbook_bounds",
    "then",
    "timeline_figure",
    "to_chakra",
    "together",
    "together_figure",
    "topology_figure",
    "torus",
    "trace",
    "traffic",
    "transformer",
    "work_out",
    "work_out_search",
    "work_out_serve",
    "work_out_step",
]

_FIGURES = dict.fromkeys(
    ("Marker", "save", "save_animation", "timeline_figure", "together_figure", "topology_figure"), "plots"
) | dict.fromkeys(("picture", "PictureError"), "simulator.scenario.pictures")


def __getattr__(name: str) -> Any:
    """Load matplotlib only for whoever draws."""
    if name in _FIGURES:
        from importlib import import_module

        return getattr(import_module(_FIGURES[name]), name)
    raise AttributeError(f"module 'collsim' has no attribute {name!r}")
