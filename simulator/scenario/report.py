"""The HTML report: of what was run, of folders of results, or of scenarios, one or several."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from simulator.scenario.explain import explain
from simulator.scenario.folder import reopen
from simulator.scenario.output import OutputError, check_file, check_new, write_file
from simulator.scenario.plan_models import PlanScenario
from simulator.scenario.run import Report, Result
from simulator.scenario.run_any import run_any
from simulator.scenario.step_run import StepResult, work_out_step
from simulator.scenario.together_result import TogetherResult
from simulator.scenario.workload_result import WorkloadResult
from topologies.clock import to_seconds

if TYPE_CHECKING:
    from plots.report.values import Run
    from simulator.scenario.plan_load import AnyScenario

Reported: TypeAlias = "Result | TogetherResult | WorkloadResult | StepResult"
"""What a report can show."""

RESULTS: Final = ("result.json", "step.json")
"""Files of a folder that tell the time that was simulated."""


def report(
    what: Reported | str | Path | Sequence[Reported | str | Path],
    path: str | Path,
    *,
    force: bool = False,
    allow_code: bool = False,
) -> Path:
    """Write one HTML file that shows a run, or several beside each other, and needs nothing else.

    Parameters
    ----------
    what : result, or path, or a sequence of them
        What `run`, `run_together`, `run_workload` or `work_out_step` gave; a folder that ``--out`` has
        written, or a scenario's file, which are run again.
    path : path
        The file to write.
    force : bool
        Overwrite what is there.
    allow_code : bool
        Whether the code of a Python file that a scenario names may be run.

    Raises
    ------
    ScenarioErrors
        If a scenario is wrong.
    CollsimError
        If the file exists and `force` is not given, or it cannot be written.
    """
    target = Path(path)
    check_page(target, force=force)
    some = list(what) if isinstance(what, Sequence) and not isinstance(what, str) else [what]
    if not some:
        raise OutputError("there is nothing to report")
    shown: list[tuple[Reported, tuple[str, ...]]] = []
    for one in some:
        if isinstance(one, str | Path):
            result = run_again(reopen(Path(one)), allow_code=allow_code)
            shown.append((result, tuple(doubts(Path(one), result))))
        elif isinstance(one, Result | TogetherResult | StepResult):
            shown.append((one, ()))
        else:
            raise OutputError(f"found {type(one).__name__}; expected what a run or a step gave, or a path")
    save_report(shown, target)
    return target


def check_page(path: Path, *, force: bool) -> None:
    """Refuse a page's path that is no page's, or in use.

    Raises
    ------
    OutputError
    """
    check_file(path)
    if path.suffix.lower() not in (".html", ".htm"):
        raise OutputError(f"{path} must end in .html")
    check_new(path, force=force)


def save_report(shown: Sequence[tuple[Reported, Sequence[str]]], path: Path) -> None:
    """Write the page of some results, each with what there is to say of it beside its own warnings.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    page = report_page(shown).encode("utf-8")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror}") from None
    write_file(path, page)


def run_again(
    scenario: AnyScenario,
    report: Report | None = None,
    *,
    allow_code: bool = False,
    memory_limit: int | None = None,
) -> Reported:
    """Run a scenario of collectives or of a workload, or simulate the step of a plan."""
    if isinstance(scenario, PlanScenario):
        return work_out_step(scenario, report)
    return run_any(scenario, report=report, allow_code=allow_code, memory_limit=memory_limit)


def doubts(folder: Path, result: Reported) -> Iterable[str]:
    """Say where a folder's own files tell another time than the run of its scenario now."""
    time = _time_of(result)
    for name in RESULTS:
        file = folder / name
        told = _told_time(file) if file.is_file() else time
        if told != time:
            was = "no time" if told is None else f"{told} s"
            yield f"{file} tells {was}, but its scenario takes {time} s when it is run now"


def _told_time(file: Path) -> float | None:
    """Seconds that a file of results tells; None where it tells none."""
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, OSError):
        return None
    time = told.get("time") if isinstance(told, dict) else None
    return float(time) if isinstance(time, int | float) else None


def _time_of(result: Reported) -> float:
    """Seconds that were simulated."""
    return to_seconds(result.report.time) if isinstance(result, StepResult) else result.time


def report_page(shown: Sequence[tuple[Reported, Sequence[str]]]) -> str:
    """The page of some results, each with what there is to say of it beside its own warnings."""
    from plots.report.page import page

    return page([_run_of(result, notes) for result, notes in shown])


def _run_of(result: Reported, notes: Sequence[str]) -> Run:
    from simulator.scenario.report_runs import run_of_result, run_of_step, run_of_workload

    if isinstance(result, StepResult):
        return run_of_step(result, notes)
    if isinstance(result, WorkloadResult):
        return run_of_workload(result, notes)
    return run_of_result(result, explain(result, brief=True), notes)
