"""What a program asks: each question takes a file, `library:NAME`, or what was read or came of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast, overload

from simulator.scenario import check
from simulator.scenario import compare as comparing
from simulator.scenario import explain as explaining
from simulator.scenario.compare_measured import measured_beside
from simulator.scenario.diff import Difference, difference
from simulator.scenario.diff_sides import Side, read_side, result_file, side_of
from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.library import resolve
from simulator.scenario.load import load
from simulator.scenario.models import Scenario
from simulator.scenario.plan_answer import PlanAnswer, answer_plan
from simulator.scenario.plan_load import load_any
from simulator.scenario.plan_models import PlanScenario
from simulator.scenario.ranges import parse_sizes
from simulator.scenario.run import Report, Result
from simulator.scenario.run_any import load_scenario, run_any
from simulator.scenario.together_models import TogetherScenario
from simulator.scenario.together_result import TogetherResult
from simulator.scenario.workload_models import WorkloadScenario

if TYPE_CHECKING:
    from simulator.scenario.check import Outcome, Runnable
    from simulator.scenario.compare import Comparison
    from simulator.scenario.explain import Explanation
    from simulator.scenario.result import AnyResult
    from simulator.scenario.workload_result import WorkloadResult

File: TypeAlias = "str | Path"
Run: TypeAlias = "Result | TogetherResult"


@overload
def run(
    asked: Scenario,
    *,
    verify: bool | None = None,
    report: Report | None = None,
    allow_code: bool = False,
    memory_limit: int | None = None,
) -> Result: ...
@overload
def run(
    asked: TogetherScenario,
    *,
    verify: bool | None = None,
    report: Report | None = None,
    allow_code: bool = False,
    memory_limit: int | None = None,
) -> TogetherResult: ...
@overload
def run(asked: WorkloadScenario, *, report: Report | None = None) -> WorkloadResult: ...
@overload
def run(asked: PlanScenario, *, report: Report | None = None) -> PlanAnswer: ...
@overload
def run(
    asked: File,
    *,
    verify: bool | None = None,
    report: Report | None = None,
    allow_code: bool = False,
    memory_limit: int | None = None,
) -> Result | Any: ...
def run(
    asked: Scenario | TogetherScenario | WorkloadScenario | PlanScenario | File,
    *,
    verify: bool | None = None,
    report: Report | None = None,
    allow_code: bool = False,
    memory_limit: int | None = None,
) -> Result | TogetherResult | WorkloadResult | PlanAnswer:
    """Build, prove, simulate and judge what a file asks for.

    A scenario of one collective gives a `Result`, one of several a `TogetherResult`, one of a workload a
    `WorkloadResult`. A parallel plan gives what it says enough for: a `ServeResult` where it has a block
    `serve`, a `StepResult` where it has hardware and a topology, else a `PlanResult` of its memory.

    Parameters
    ----------
    asked : Scenario, TogetherScenario, WorkloadScenario or PlanScenario, or str or pathlib.Path
        What a file says, or the file, or ``"library:NAME"`` for one that comes with collsim.
    verify : bool, optional
        Overrules the scenario's own `verify`; of collectives.
    report : callable, optional
        Told of the progress: (stage, done, of how many).
    allow_code : bool
        Whether the code of a Python file that the scenario names may be run.
    memory_limit : int, optional
        Bytes that the run of collectives may take; default 80 % of what is free.

    Raises
    ------
    ScenarioErrors
        If the file is wrong, its parts do not fit each other, or it would take too much memory; names the
        place in the file.
    ProofError
        If a schedule does not compute its collective.

    Examples
    --------
    >>> run("library:first-walk/ring-reduce-scatter-8")
    <Result of Ring ReduceScatter on 8 chips: 16.5221 ms>
    """
    if isinstance(asked, str | Path):
        asked = load_any(asked)
    if isinstance(asked, PlanScenario):
        return answer_plan(asked, report)
    return run_any(asked, verify=verify, report=report, allow_code=allow_code, memory_limit=memory_limit)


def explain(asked: Run | Scenario | TogetherScenario | File, **how: Any) -> Explanation:
    """Find out why a run takes that long.

    Parameters
    ----------
    asked : Result or TogetherResult, or what can be run
    **how
        As of `run`, for what is to be run.

    Raises
    ------
    ScenarioErrors, ProofError
        As `run`.
    """
    return explaining.explain(_ran(asked, **how))


def compare(
    asked: Scenario | File,
    sizes: Sequence[int] | str = (),
    *,
    points: int | None = None,
    algorithms: Sequence[str] | None = None,
    log: File | None = None,
    verify: bool | None = None,
    report: Report | None = None,
    allow_code: bool = False,
    memory_limit: int | None = None,
) -> Comparison:
    """Run a scenario's collective by other algorithms, at its own size and at others.

    Every schedule is proven at the scenario's own size.

    Parameters
    ----------
    asked : Scenario, or str or pathlib.Path
    sizes : sequence of int, or str
        Bytes, rising; or a range as ``"1KiB..1GiB"``, by doubling, or a list; nothing compares at the
        scenario's own size alone.
    points : int, optional
        How many sizes a range holds.
    algorithms : sequence of str, optional
        Names in the catalogue, or that of the scenario's own code; by default all.
    log : str or pathlib.Path, optional
        Measured times to set beside it, at whose sizes it is compared where none are given.
    verify, report, allow_code, memory_limit
        As of `run`.

    Raises
    ------
    ScenarioErrors
        If the topology does not fit, or nothing of what was named, or the scenario's own code is wrong.
    ProofError
        If a schedule does not compute the collective.
    """
    scenario = asked if isinstance(asked, Scenario) else load(asked)
    chosen = parse_sizes(sizes, points) if isinstance(sizes, str) else sizes
    measured = None if log is None else measured_beside(Path(log), scenario)
    found = comparing.compare(
        scenario,
        chosen if chosen or measured is None else measured.sizes,
        algorithms=algorithms,
        verify=verify,
        report=report,
        allow_code=allow_code,
        memory_limit=memory_limit,
    )
    return replace(found, measured=measured)


def diff(a: Run | File, b: Run | File, **how: Any) -> Difference:
    """Find out why one run takes longer than another.

    Parameters
    ----------
    a, b : Result or TogetherResult, or str or pathlib.Path
        Of a file: a scenario, which is run; or what "collsim run --out" wrote, a folder or its result.json.
    **how
        As of `run`, for what is to be run.

    Raises
    ------
    ScenarioErrors, ProofError
        As `run`.
    CollsimError
        If one is of a collective, and the other of several.
    """
    return difference(_side(a, **how), _side(b, **how))


def hold(file: File, *, allow_code: bool = False, memory_limit: int | None = None) -> Outcome:
    """Hold what came of a file against what it expects; what is wrong is in the outcome."""

    def one(scenario: Runnable) -> AnyResult:
        return run_any(scenario, allow_code=allow_code, memory_limit=memory_limit)

    try:
        path = resolve(Path(file))
    except ScenarioErrors as error:
        return check.Outcome(str(file), wrong=str(error))
    return check.hold(path, one, str(file))


def _ran(asked: Run | Scenario | TogetherScenario | File, **how: Any) -> Run:
    """A result, run where it is none yet; a plan is refused with the name of the command that reads it."""
    if isinstance(asked, Result | TogetherResult):
        return asked
    scenario = load_scenario(asked) if isinstance(asked, str | Path) else asked
    return cast("Run", run_any(scenario, **how))


def _side(asked: Run | File, **how: Any) -> Side:
    if isinstance(asked, Result | TogetherResult):
        return side_of(asked.scenario.name, asked)
    file = result_file(Path(asked))
    return side_of(str(asked), _ran(asked, **how)) if file is None else read_side(file)
