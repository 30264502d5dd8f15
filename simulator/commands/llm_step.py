"""`collsim llm step`: a training step of a parallel plan, simulated on its topology."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from simulator.commands.llm import chosen, in_forms, print_sheets
from simulator.commands.shared import check_report, one_file, progress, say_written, warn

if TYPE_CHECKING:
    from simulator.scenario.step_run import StepResult

SCALES: Final = {"": 1, "k": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}


def _tokens(_context: click.Context, _option: click.Parameter, text: str | None) -> int | None:
    """Read 1.5T."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d{1,18}(?:\.\d{1,18})?) ?([kMBT]?)", text.strip())
    tokens = Decimal(match[1]) * SCALES[match[2]] if match else Decimal(0)
    if not tokens or tokens % 1:
        raise click.BadParameter(f'found "{text}", expected a number of tokens, as 300B or 15T')
    return int(tokens)


@click.command()
@in_forms
@click.option("--tokens", metavar="300B", callback=_tokens, help="Tell the days that so many tokens take.")
@click.option("--ladder", "with_ladder", is_flag=True, help="Turn on one kind of overlap after the other.")
@click.option("--what-if", "with_cases", is_flag=True, help="Change one thing of the machine each time.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="A folder for step.json, step.csv, a trace, pictures."
)
@click.option("--report", "with_report", is_flag=True, help="Write an HTML page of it into --out, too.")
@click.option("--force", is_flag=True, help="Overwrite what is in that folder.")
def step(
    file: Path,
    form: str | None,
    as_json: bool,
    tokens: int | None,
    with_ladder: bool,
    with_cases: bool,
    out: Path | None,
    with_report: bool,
    force: bool,
) -> None:
    """Simulate a training step.

    Says its time, what it is made of, and what communication nothing hides.
    FILE needs `hardware` and a `topology`, whose links the collectives of the step share.
    """
    from simulator.llm.step.report_ladder import ladder
    from simulator.llm.step.report_what_if import what_if
    from simulator.scenario.step_json import step_json
    from simulator.scenario.step_run import simulating
    from simulator.scenario.step_tables import ladder_sheet, step_lines, step_sheets, what_if_sheet

    form = chosen(form, as_json)
    check_report(out, with_report=with_report)
    result = _simulated(file, out, force=force)
    warn(result.scenario.source.file, result.warnings)
    with simulating(result.scenario):
        rungs = ladder(result.report.setting) if with_ladder else ()
        cases = what_if(result.report) if with_cases else ()
    text = step_json(result, rungs, cases, tokens)
    if out is not None:
        from simulator.scenario.step_output import write_step

        write_step(result, text, out, force=force, report=with_report)
    if form == "json":
        click.echo(text, nl=False)
    else:
        sheets = step_sheets(result.report)
        sheets += [ladder_sheet(rungs)] if rungs else []
        sheets += [what_if_sheet(cases)] if cases else []
        print_sheets(sheets, form, before=list(step_lines(result, tokens)))
    if out is not None:
        say_written(out, aside=form != "text")


def _simulated(file: Path, out: Path | None, *, force: bool) -> StepResult:
    """The step of a file, once it is sure that there is a folder to write to."""
    from simulator.scenario.plan_load import load_plan
    from simulator.scenario.step_run import work_out_step

    if out is not None:
        from simulator.scenario.output import check_folder

        check_folder(out.resolve(), force=force)
    scenario = load_plan(one_file(file))
    with progress(scenario.name) as report:
        return work_out_step(scenario, report)
