"""What a program asks: each question takes a file, `library:NAME`, or what was read or came of one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from simulator.scenario import check
from simulator.scenario import explain as explaining
from simulator.scenario.diff import Difference, difference
from simulator.scenario.diff_sides import Side, read_side, result_file, side_of
from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.library import resolve
from simulator.scenario.models import Scenario
from simulator.scenario.plan_answer import PlanAnswer, answer_plan
from simulator.scenario.plan_load import load_any
from simulator.scenario.plan_models import PlanScenario
from simulator.scenario.run import Report, Result
from simulator.scenario.run_any import load_scenario, run_any
from simulator.scenario.together_models import TogetherScenario
from simulator.scenario.together_result import TogetherResult

if TYPE_CHECKING:
    from simulator.scenario.check import Outcome
    from simulator.scenario.explain import Explanation

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
    asked: Scenario | TogetherScenario | PlanScenario | File,
    *,
    verify: bool | None = None,
    report: Report | None = None,
    allow_code: bool = False,
    memory_limit: int | None = None,
) -> Result | TogetherResult | PlanAnswer:
    """Build, prove, simulate and judge what a file asks for.

    A scenario of one collective gives a `Result`, one of several a `TogetherResult`. A parallel plan gives
    what it says enough for: a `ServeResult` where it has a block `serve`, a `StepResult` where it has
    hardware and a topology, else a `PlanResult` of its memory.

    Parameters
    ----------
    asked : Scenario, TogetherScenario or PlanScenario, or str or pathlib.Path
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

    def one(scenario: Scenario | TogetherScenario) -> Run:
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
    return run_any(load_scenario(asked) if isinstance(asked, str | Path) else asked, **how)


def _side(asked: Run | File, **how: Any) -> Side:
    if isinstance(asked, Result | TogetherResult):
        return side_of(asked.scenario.name, asked)
    file = result_file(Path(asked))
    return side_of(str(asked), _ran(asked, **how)) if file is None else read_side(file)
