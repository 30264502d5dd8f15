"""`collsim explain`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from simulator.commands.complete import ScenarioPath
from simulator.commands.shared import (
    allow_code,
    console,
    load_one,
    memory_limit,
    progress,
    run_one,
    say_written,
    warn,
)

if TYPE_CHECKING:
    from simulator.scenario.explain import Explanation


@click.command()
@click.argument("file", type=ScenarioPath(path_type=Path))
@click.option("--json", "as_json_text", is_flag=True, help="Print the explanation as JSON.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder for explain.json, and pictures of time and place."
)
@click.option("--force", is_flag=True, help="Overwrite what is in --out.")
@memory_limit
@allow_code
def explain(
    file: Path,
    as_json_text: bool,
    out: Path | None,
    force: bool,
    memory_limit: int | None,
    allow_code: bool,
) -> None:
    """Say why a scenario takes so long, and what would help.

    Prints what made the time, how far it is from the best possible, and what each parameter would gain.

    FILE is a scenario, or library:NAME for one that comes with collsim.
    """
    from simulator.scenario.explain import explain as explained
    from simulator.scenario.explain_json import explanation_json
    from simulator.scenario.explain_output import write_explanation
    from simulator.scenario.output import check_folder

    if out is not None:
        check_folder(out.resolve(), force=force)
    scenario = load_one(file)
    result = run_one(scenario, allow_code=allow_code, memory_limit=memory_limit)
    warn(scenario.source.file, result.warnings)
    with progress(scenario.name) as report:
        found = explained(result, report and (lambda done, total: report("run again", done, total)))
    if out is not None:
        write_explanation(found, out, force=force)
    if as_json_text:
        click.echo(explanation_json(found), nl=False)
    else:
        _print(found)
    if out is not None:
        say_written(out, aside=as_json_text)


def _print(explanation: Explanation) -> None:
    from simulator.scenario.explain_tables import explanation_notes, explanation_tables

    click.echo(explanation.result.scenario.name)
    click.echo(explanation.sentence)
    for table in explanation_tables(explanation):
        console().print(table)
    for note in explanation_notes(explanation):
        click.echo(note)
