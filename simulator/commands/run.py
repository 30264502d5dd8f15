"""`collsim run`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from simulator.commands.complete import ScenarioPath
from simulator.commands.shared import (
    allow_code,
    check_report,
    console,
    load_all,
    memory_limit,
    run_one,
    say_written,
    warn,
)

if TYPE_CHECKING:
    from rich.console import Console

    from simulator.scenario.run import Result
    from simulator.scenario.together_result import TogetherResult
    from simulator.scenario.workload_result import WorkloadResult


@click.command()
@click.argument("files", nargs=-1, required=True, type=ScenarioPath(path_type=Path))
@click.option("--json", "as_json_text", is_flag=True, help="Print the result as JSON.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder for result.json, the timeline as a table, a trace and pictures.",
)
@click.option("--report", "with_report", is_flag=True, help="Write an HTML page of all into --out, too.")
@click.option("--force", is_flag=True, help="Overwrite what is in --out.")
@click.option("--no-verify", is_flag=True, help="Do not prove the schedule on data.")
@memory_limit
@allow_code
def run(
    files: tuple[Path, ...],
    as_json_text: bool,
    out: Path | None,
    with_report: bool,
    force: bool,
    no_verify: bool,
    memory_limit: int | None,
    allow_code: bool,
) -> None:
    """Simulate scenarios, and print what came out.

    FILES are files, folders, or library:NAME and library:THEME for those that come with collsim.
    """
    from simulator.scenario.output import check_folder, left_out, write_results
    from simulator.scenario.result import as_json
    from simulator.scenario.run_any import load_runnable

    check_report(out, with_report=with_report)
    if out is not None:
        check_folder(out.resolve(), force=force)
    run = partial(
        run_one, verify=False if no_verify else None, allow_code=allow_code, memory_limit=memory_limit
    )
    results = [run(scenario) for scenario in load_all(files, load_runnable)]
    for result in results:
        warn(result.scenario.source.file, result.warnings)
    if out is not None:
        write_results(results, out, force=force, report=with_report)
        for result in results:
            warn(result.scenario.source.file, left_out(result))
    if as_json_text:
        click.echo(as_json(results), nl=False)
    else:
        _print_results(results)
    if out is not None:
        say_written(out, aside=as_json_text)


def _print_results(results: Sequence[Result | TogetherResult | WorkloadResult]) -> None:
    from simulator.scenario.run import Result
    from simulator.scenario.tables import flow_table, result_table, results_table

    terminal = console()
    ones = [result for result in results if isinstance(result, Result)]
    if ones:
        one = len(results) == 1
        terminal.print(result_table(ones[0]) if one else results_table(ones, terminal.width))
    for result in results:
        if not isinstance(result, Result):
            _print_several(result, terminal)
            continue
        choice = result.scenario.collective
        if choice.own is None and choice.algorithm == "hierarchical":
            kind = result.schedule.collective.kind
            terminal.print(flow_table(result.dims, kind, result.schedule.collective.size))


def _print_several(result: TogetherResult | WorkloadResult, terminal: Console) -> None:
    """The tables of several collectives, or of a workload."""
    from simulator.scenario.together_result import TogetherResult

    if isinstance(result, TogetherResult):
        from simulator.scenario.together_tables import together_tables

        for table in together_tables(result, terminal.width):
            terminal.print(table)
        return
    from simulator.scenario.sheets import sheet_table
    from simulator.scenario.workload_tables import workload_lines, workload_sheets

    for line in workload_lines(result):
        terminal.print(line)
    for sheet in workload_sheets(result.report):
        terminal.print(sheet_table(sheet))
