"""collsim's Python API in one place.

>>> import collsim
>>> eight = collsim.ring(8, bandwidth=64e9, latency=1e-6)
>>> schedule = collsim.build("ring", "reduce_scatter", 8, 2**30)
>>> collsim.prove(schedule)
>>> collsim.simulate(schedule, eight).seconds
0.014687064
>>> collsim.run("library:first-walk/ring-reduce-scatter-8").columns["release"].max().item()
0.016522072

What is named here is loaded when it is first used, from where the imports below say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from algorithms.formats.chakra_schedule import ChakraFiles, to_chakra
    from algorithms.formats.registry import write_schedule
    from algorithms.formats.written import Written
    from algorithms.order import associations, keeps_order
    from algorithms.programs.errors import ProgramError
    from algorithms.programs.from_schedule import program_of
    from algorithms.programs.program import Program
    from algorithms.programs.proof import prove_program
    from algorithms.programs.timing import schedule_of
    from algorithms.steps import step_table
    from plots import Marker, save, save_animation, timeline_figure, together_figure, topology_figure
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
    from simulator.llm.step.report_ladder import ladder
    from simulator.llm.step.report_what_if import what_if
    from simulator.llm.traffic import Traffic, traffic
    from simulator.llm.traffic_plan import TrafficPlan
    from simulator.scenario.answer import Answer
    from simulator.scenario.ask import compare, diff, explain, hold, run
    from simulator.scenario.calibration.fitted import Calibration
    from simulator.scenario.calibration.held import Held
    from simulator.scenario.calibration.result import CalibrationResult, calibrate
    from simulator.scenario.calibration.target import Target
    from simulator.scenario.catalogue import steps_rows
    from simulator.scenario.check import Mismatch, Outcome, check
    from simulator.scenario.compare import Comparison, unexpected
    from simulator.scenario.contents import contents
    from simulator.scenario.convert import convert
    from simulator.scenario.diff import Difference
    from simulator.scenario.diff_sentence import sentence
    from simulator.scenario.doctor import examine
    from simulator.scenario.errors import ScenarioError, ScenarioErrors, UnitError
    from simulator.scenario.experts_run import ExpertsResult, work_out_experts
    from simulator.scenario.explain import Explanation
    from simulator.scenario.forms import as_json, write
    from simulator.scenario.junit import junit_xml
    from simulator.scenario.library import library_names
    from simulator.scenario.load import load, loads
    from simulator.scenario.models import Scenario
    from simulator.scenario.new import Wish, new_scenario
    from simulator.scenario.output import OutputError, write_topology
    from simulator.scenario.pictures import PictureError, picture
    from simulator.scenario.plan_load import load_any, load_plan, loads_any, loads_plan
    from simulator.scenario.plan_models import PlanScenario
    from simulator.scenario.plan_run import PlanResult, work_out
    from simulator.scenario.ranges import parse_sizes
    from simulator.scenario.report import report
    from simulator.scenario.rows import Rows
    from simulator.scenario.run import Result, build_topology
    from simulator.scenario.schedule_file import proven_program, read_program
    from simulator.scenario.schema import schema_text
    from simulator.scenario.search_run import SearchResult, work_out_search
    from simulator.scenario.serve_run import ServeResult, work_out_serve
    from simulator.scenario.states import States, states
    from simulator.scenario.step_json import step_json
    from simulator.scenario.step_run import StepResult, work_out_step
    from simulator.scenario.sweep.cluster import cluster
    from simulator.scenario.sweep.result import Sweep
    from simulator.scenario.sweep.run import sweep
    from simulator.scenario.together_load import load_together, loads_together
    from simulator.scenario.together_models import TogetherScenario
    from simulator.scenario.together_result import TogetherResult
    from simulator.scenario.together_run import run_together
    from simulator.scenario.topology_file import read_topology
    from simulator.scenario.traffic_run import TrafficResult, work_out_traffic
    from simulator.scenario.tuning.table import TuningTable, tuning_table
    from simulator.scenario.update import update
    from simulator.scenario.vendor_tables import VendorTimes, vendor_times
    from simulator.scenario.workload_load import loads_workload
    from simulator.scenario.workload_models import WorkloadScenario
    from simulator.scenario.workload_result import WorkloadResult
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

__all__ = [
    "ALGORITHMS",
    "COLLECTIVES",
    "CONVENTIONS",
    "COPY",
    "REDUCE",
    "TOPOLOGIES",
    "Algorithm",
    "Answer",
    "Batch",
    "Bounds",
    "Calibration",
    "CalibrationResult",
    "ChakraFiles",
    "Collective",
    "CollsimError",
    "Comparison",
    "Convention",
    "Counts",
    "CriticalPath",
    "CustomLink",
    "CustomNodes",
    "Cut",
    "Difference",
    "Experts",
    "ExpertsResult",
    "Explanation",
    "Hardware",
    "Held",
    "Job",
    "LatentAttention",
    "Level",
    "Lists",
    "Marker",
    "Measures",
    "Memory",
    "MemoryPlan",
    "Mismatch",
    "Model",
    "ModelError",
    "Network",
    "Outcome",
    "OutputError",
    "Parallel",
    "PictureError",
    "Plan",
    "PlanError",
    "PlanResult",
    "PlanScenario",
    "Platform",
    "Program",
    "ProgramError",
    "ProofError",
    "Ranges",
    "Reduction",
    "Result",
    "Round",
    "Routing",
    "Rows",
    "Scenario",
    "ScenarioError",
    "ScenarioErrors",
    "Schedule",
    "ScheduleError",
    "SearchResult",
    "ServeResult",
    "Shared",
    "States",
    "StaticRoute",
    "StepResult",
    "Sweep",
    "Target",
    "Tier",
    "Timeline",
    "Together",
    "TogetherResult",
    "TogetherScenario",
    "Topology",
    "TopologyError",
    "Traffic",
    "TrafficPlan",
    "TrafficResult",
    "TuningTable",
    "UnitError",
    "VendorTimes",
    "Wish",
    "WorkloadResult",
    "WorkloadScenario",
    "Written",
    "as_json",
    "assemble",
    "associations",
    "beside",
    "build",
    "build_topology",
    "calibrate",
    "check",
    "closed_form",
    "cluster",
    "compare",
    "congestion_factor",
    "contents",
    "convert",
    "count",
    "critical_path",
    "crossbar",
    "custom",
    "diff",
    "dragonfly",
    "dual",
    "examine",
    "explain",
    "fat_tree",
    "fold",
    "full_mesh",
    "hold",
    "hypercube",
    "junit_xml",
    "keeps_order",
    "ladder",
    "leaf_spine",
    "level_flow",
    "library_names",
    "line",
    "load",
    "load_any",
    "load_plan",
    "load_together",
    "loads",
    "loads_any",
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
    "new_scenario",
    "on",
    "parse_sizes",
    "picture",
    "platforms",
    "program_of",
    "prove",
    "prove_program",
    "proven_program",
    "rails",
    "read_program",
    "read_topology",
    "report",
    "ring",
    "rounds",
    "route",
    "routes",
    "run",
    "run_plan",
    "run_together",
    "save",
    "save_animation",
    "schedule_of",
    "schema_text",
    "sentence",
    "simulate",
    "star",
    "states",
    "step_json",
    "step_table",
    "steps_rows",
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
    "tuning_table",
    "unexpected",
    "update",
    "vendor_times",
    "what_if",
    "work_out",
    "work_out_experts",
    "work_out_search",
    "work_out_serve",
    "work_out_step",
    "work_out_traffic",
    "write",
    "write_schedule",
    "write_topology",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'collsim' has no attribute {name!r}")
    from importlib import import_module

    # refuses rooms of the same names that are not collsim's
    import_module("simulator")
    from topologies.homes import homes

    globals()[name] = found = getattr(import_module(homes(__file__)[name]), name)
    return found


def __dir__() -> list[str]:
    return __all__
