"""A simulated step as files: its report, a row for each of its tasks, and its picture."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from simulator.engine.formats.trace_events import write_trace
from simulator.scenario.folder import keep
from simulator.scenario.output import TRACE, save_figures, save_reports, write_folder
from simulator.scenario.plan_pictures import step_picture
from simulator.scenario.rows import Kind, Rows
from simulator.scenario.step_trace import step_trace
from simulator.scenario.task_rows import task_rows

if TYPE_CHECKING:
    from simulator.llm.step.graph import Task
    from simulator.scenario.step_run import StepResult

_OWN: Final[Mapping[str, Kind]] = MappingProxyType(
    {"stage": int, "stream": str, "phase": str, "microbatch": int, "name": str}
)


def write_step(
    result: StepResult, text: str, folder: Path, *, force: bool = False, report: bool = False
) -> list[Path]:
    """Write step.json, step.csv, trace.json.gz, step.png and .svg, and the plan.

    Parameters
    ----------
    result : StepResult
    text : str
        Its JSON.
    folder : Path
        New or empty, unless `force`.
    force : bool
        Overwrite what is there.
    report : bool
        Write report.html, too.

    Raises
    ------
    OutputError
        If the folder is in use or cannot be written.
    """

    def fill(home: Path) -> None:
        (home / "step.json").write_text(text, encoding="utf-8")
        write_trace(step_trace(result.report.step), home / TRACE)
        step_rows(result).save(home / "step.csv")
        save_figures({"step": step_picture(result)}, home)
        keep(result.scenario, home, folder)
        if report:
            save_reports([result], home)

    return write_folder(folder, fill, force=force)


def step_rows(result: StepResult) -> Rows:
    """A row a task; times in s, exact to the femtosecond."""
    return task_rows(result.report.step, _OWN, _about)


def _about(task: Task) -> tuple[Any, ...]:
    microbatch = "" if task.microbatch < 0 else task.microbatch
    return (task.stream.stage, task.stream.name, task.phase, microbatch, task.name)
