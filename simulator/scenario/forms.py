"""The forms of every kind of answer: its JSON, its tables, what is printed of it, its picture, its files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from simulator.scenario.answer import Answer
from simulator.scenario.calibration.output import (
    calibration_figure,
    calibration_json,
    calibration_rows,
    write_calibration,
)
from simulator.scenario.calibration.result import CalibrationResult
from simulator.scenario.calibration.tables import calibration_lines, calibration_tables
from simulator.scenario.compare import Comparison
from simulator.scenario.compare_output import (
    comparison_figure,
    comparison_json,
    comparison_rows,
    write_comparison,
)
from simulator.scenario.compare_tables import contenders_tables, crossover_lines, winners_table
from simulator.scenario.diff import Difference
from simulator.scenario.diff_output import difference_json, difference_tables
from simulator.scenario.diff_sentence import sentence
from simulator.scenario.experts_run import ExpertsResult
from simulator.scenario.experts_tables import experts_json, experts_lines, experts_sheet
from simulator.scenario.explain import Explanation
from simulator.scenario.explain_json import explanation_json
from simulator.scenario.explain_output import write_explanation
from simulator.scenario.explain_tables import explanation_tables
from simulator.scenario.folder import keep
from simulator.scenario.memory_tables import memory_json, memory_sheet, plan_lines
from simulator.scenario.notebook import WIDE
from simulator.scenario.output import hop_table, write_folder, write_results
from simulator.scenario.plan_pictures import step_picture
from simulator.scenario.plan_run import PlanResult
from simulator.scenario.result import as_json as results_json
from simulator.scenario.rows import Rows
from simulator.scenario.run import Result
from simulator.scenario.run_pictures import timeline_picture
from simulator.scenario.run_rows import link_rows, path_rows
from simulator.scenario.search_run import SearchResult
from simulator.scenario.search_tables import search_json, search_lines, search_sheets
from simulator.scenario.serve_output import write_serve
from simulator.scenario.serve_run import ServeResult
from simulator.scenario.serve_tables import serve_json, serve_lines, serve_sheet
from simulator.scenario.sheets import Sheet, sheet_rows, sheet_table
from simulator.scenario.state_tables import sheets_json
from simulator.scenario.states import States
from simulator.scenario.step_json import step_json
from simulator.scenario.step_output import step_rows, write_step
from simulator.scenario.step_run import StepResult
from simulator.scenario.step_tables import step_lines, step_sheets
from simulator.scenario.sweep.figure import sweep_figure
from simulator.scenario.sweep.output import check_sweep_folder, sweep_json, write_sweep
from simulator.scenario.sweep.result import Sweep
from simulator.scenario.sweep.tables import sweep_sheet
from simulator.scenario.tables import result_table
from simulator.scenario.together_json import together_object
from simulator.scenario.together_result import TogetherResult
from simulator.scenario.together_tables import together_tables
from simulator.scenario.traffic_run import TrafficResult
from simulator.scenario.traffic_tables import traffic_json, traffic_lines, traffic_sheets
from simulator.scenario.vendor_tables import VendorTimes, vendor_json, vendor_sheets
from simulator.scenario.workload_output import workload_rows
from simulator.scenario.workload_result import WorkloadResult
from simulator.scenario.workload_tables import workload_lines, workload_sheets
from topologies.clock import to_seconds

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure
    from rich.table import Table

    from simulator.scenario.result import AnyResult

Files: TypeAlias = Callable[..., list[Path]]
"""Called with an answer, a folder, and `force`."""


def _no_figure(_answer: Any) -> Figure | None:
    return None


@dataclass(frozen=True, slots=True)
class Forms:
    """What a kind of answer can be turned into.

    Attributes
    ----------
    name : str
        Of its file of JSON.
    json : callable
        Its text.
    tables : callable
        By name.
    printed : callable
        Lines and tables.
    figure : callable
        None where it has none.
    files : callable, optional
        Writes it into a folder; by default JSON, and CSV a table.
    """

    name: str
    json: Callable[[Any], str]
    tables: Callable[[Any], Mapping[str, Rows]]
    printed: Callable[[Any], Iterable[Table | str]]
    figure: Callable[[Any], Figure | None] = _no_figure
    files: Files | None = None

    def write(self, answer: Answer, folder: Path, *, force: bool) -> list[Path]:
        """Write an answer into a folder."""
        if self.files is not None:
            return self.files(answer, folder, force=force)

        def fill(home: Path) -> None:
            (home / f"{self.name}.json").write_text(self.json(answer), encoding="utf-8")
            for name, rows in self.tables(answer).items():
                rows.save(home / f"{re.sub(r'[^a-z0-9.]+', '-', name.lower())}.csv")
            if isinstance(answer, PlanResult | TrafficResult | SearchResult | ExpertsResult):
                keep(answer.scenario, home, folder)

        return write_folder(folder, fill, force=force)


def forms_of(answer: Answer) -> Forms:
    """The forms of an answer."""
    return _FORMS[type(answer)]


def as_json(answers: Answer | Sequence[Result | TogetherResult]) -> str:
    """An answer as JSON, or a list of several results; with a line's end, and the same bytes on every run."""
    return answers.json() if isinstance(answers, Answer) else results_json(answers)


def write(
    answers: Answer | Sequence[Result | TogetherResult],
    folder: str | os.PathLike[str],
    *,
    force: bool = False,
) -> list[Path]:
    """Write the files of an answer into a folder, or of several results into a folder each.

    Raises
    ------
    OutputError
        If the folder is in use or cannot be written, or two scenarios have the same name.
    """
    if isinstance(answers, Answer):
        return answers.write(folder, force=force)
    return write_results(answers, Path(folder), force=force)


def _of_run(result: Result | TogetherResult) -> dict[str, Rows]:
    path = result.critical_path
    return {
        "timeline": hop_table(result),
        "links": link_rows(result),
        "critical path": path_rows(path, result.timeline, result.topology),
    }


def _of_several(result: TogetherResult) -> dict[str, Rows]:
    found = together_object(result)
    return _of_run(result) | {
        key: Rows.of({name: [row[name] for row in found[key]] for name in found[key][0]})
        for key in ("collectives", "background")
        if found[key]
    }


def _of_sheets(sheets: Iterable[Sheet]) -> dict[str, Rows]:
    """Tables by the first words of their titles."""
    return {re.split("[,;:]", sheet.title)[0]: sheet_rows(sheet) for sheet in sheets}


def _of_variants(found: VendorTimes) -> dict[str, Rows]:
    names = dict.fromkeys(row.variant for row in found.rows)
    return dict(zip(names, map(sheet_rows, vendor_sheets(found.rows)), strict=True))


def _of_difference(found: Difference) -> dict[str, Rows]:
    pairs = found.parts.values()
    parts: dict[str, list[Any]] = {
        "part": list(found.parts),
        "before": [to_seconds(pair.before or 0) for pair in pairs],
        "after": [to_seconds(pair.after or 0) for pair in pairs],
    }
    return {"critical path": Rows.of(parts)}


def _of_explanation(found: Explanation) -> dict[str, Rows]:
    gains: dict[str, list[Any]] = {
        "parameter": [gain.parameter for gain in found.gains],
        "factor": [gain.factor for gain in found.gains],
    }
    return {"gains": Rows.of(gains), **_of_run(found.result)}


def _printed(lines: Iterable[str], sheets: Iterable[Sheet]) -> Iterator[Table | str]:
    yield from lines
    yield from map(sheet_table, sheets)


def _compared(found: Comparison) -> Iterator[Table | str]:
    yield from contenders_tables(found, WIDE)
    yield winners_table(found)
    yield from crossover_lines(found)


def _write_one(result: AnyResult, folder: Path, *, force: bool) -> list[Path]:
    return write_results([result], folder, force=force)


def _write_sweep(found: Sweep, folder: Path, *, force: bool) -> list[Path]:
    check_sweep_folder(folder, force=force)
    return write_sweep(found, folder)


def _write_step(result: StepResult, folder: Path, *, force: bool) -> list[Path]:
    return write_step(result, step_json(result), folder, force=force)


_FORMS: Final[Mapping[type[Answer], Forms]] = {
    Result: Forms("result", results_json, _of_run, lambda r: [result_table(r)], timeline_picture, _write_one),
    TogetherResult: Forms(
        "result", results_json, _of_several, lambda r: together_tables(r, WIDE), timeline_picture, _write_one
    ),
    Explanation: Forms(
        "explain",
        explanation_json,
        _of_explanation,
        lambda found: [found.sentence, *explanation_tables(found)],
        lambda found: timeline_picture(found.result),
        write_explanation,
    ),
    Comparison: Forms(
        "compare",
        comparison_json,
        lambda found: {"times": comparison_rows(found)},
        _compared,
        comparison_figure,
        write_comparison,
    ),
    Difference: Forms(
        "diff",
        difference_json,
        _of_difference,
        lambda found: [sentence(found), *difference_tables(found)],
    ),
    Sweep: Forms(
        "sweep",
        sweep_json,
        lambda found: {"points": Rows.of(found.values())},
        lambda found: [sheet_table(sweep_sheet(found))],
        sweep_figure,
        _write_sweep,
    ),
    PlanResult: Forms(
        "memory",
        memory_json,
        lambda result: _of_sheets([memory_sheet(result.memory)]),
        lambda result: _printed(plan_lines(result), [memory_sheet(result.memory)]),
    ),
    TrafficResult: Forms(
        "traffic",
        traffic_json,
        lambda result: _of_sheets(traffic_sheets(result)),
        lambda result: _printed(traffic_lines(result), traffic_sheets(result)),
    ),
    StepResult: Forms(
        "step",
        step_json,
        lambda result: {"tasks": step_rows(result), **_of_sheets(step_sheets(result.report))},
        lambda result: _printed(step_lines(result), step_sheets(result.report)),
        step_picture,
        _write_step,
    ),
    WorkloadResult: Forms(
        "result",
        results_json,
        lambda result: {"tasks": workload_rows(result), **_of_sheets(workload_sheets(result.report))},
        lambda result: _printed(workload_lines(result), workload_sheets(result.report)),
        step_picture,
        _write_one,
    ),
    ServeResult: Forms(
        "serve",
        serve_json,
        lambda result: _of_sheets([serve_sheet(result)]),
        lambda result: _printed(serve_lines(result), [serve_sheet(result)]),
        files=write_serve,
    ),
    SearchResult: Forms(
        "search",
        search_json,
        lambda result: _of_sheets(search_sheets(result, everything=True)),
        lambda result: _printed(search_lines(result), search_sheets(result)),
    ),
    ExpertsResult: Forms(
        "experts",
        experts_json,
        lambda result: _of_sheets([experts_sheet(result)]),
        lambda result: _printed(experts_lines(result), [experts_sheet(result)]),
    ),
    VendorTimes: Forms(
        "vendor-allreduce",
        lambda found: vendor_json(found.rows),
        _of_variants,
        lambda found: map(sheet_table, vendor_sheets(found.rows)),
    ),
    CalibrationResult: Forms(
        "calibration",
        calibration_json,
        lambda result: {"points": calibration_rows(result.fit)},
        lambda result: [*calibration_tables(result.fit), *calibration_lines(result.fit, result.held_out)],
        lambda result: calibration_figure(result.fit),
        write_calibration,
    ),
    States: Forms(
        "states",
        lambda found: sheets_json(found.sheets),
        lambda found: _of_sheets(found.sheets),
        lambda found: map(sheet_table, found.sheets),
    ),
}
