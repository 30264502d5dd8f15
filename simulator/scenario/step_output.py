"""A simulated step as files: its report, a row for each of its tasks, and its picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from simulator.engine.formats.trace_events import write_trace
from simulator.scenario.folder import keep
from simulator.scenario.output import TRACE, save_figures, save_reports, write_folder
from simulator.scenario.plan_pictures import step_picture
from simulator.scenario.rows import Kind, Rows
from simulator.scenario.step_trace import step_trace
from topologies.clock import exact_seconds

if TYPE_CHECKING:
    from simulator.scenario.step_run import StepResult

TASK: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        "task": int,
        "stage": int,
        "stream": str,
        "phase": str,
        "microbatch": int,
        "name": str,
        "collective": str,
        "group": str,
        "peer": int,
        "size": int,
        "memoised": int,
        "begin": float,
        "end": float,
    }
)
"""What is said of a task."""


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
    return Rows(TASK, partial(_tasks, result))


def _tasks(result: StepResult) -> Iterator[tuple[Any, ...]]:
    step = result.report.step
    times = zip(step.begin.tolist(), step.end.tolist(), strict=True)
    for number, (task, (begin, end)) in enumerate(zip(step.graph.tasks, times, strict=True)):
        way = task.way
        of_call: tuple[Any, ...] = ("",) * 5
        if way is not None:
            peer = "" if way.peer is None else way.peer
            of_call = (way.kind, way.group.name, peer, task.size, int(way in step.memoised))
        microbatch = "" if task.microbatch < 0 else task.microbatch
        about = (task.stream.stage, task.stream.name, task.phase, microbatch, task.name)
        yield (number, *about, *of_call, exact_seconds(begin), exact_seconds(end))
