"""`collsim llm search`: which parallel plan is fastest."""

from __future__ import annotations

from pathlib import Path

import click

from simulator.commands.llm import chosen, in_forms, print_sheets
from simulator.commands.shared import one_file, progress


@click.command()
@in_forms
@click.option("--top", type=click.IntRange(min=1), default=10, show_default=True, help="Plans to print.")
@click.option("--workers", type=click.IntRange(1, 1024), help="Processes; as many as there are processors.")
@click.option(
    "--state",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A file that keeps what was simulated: begun again, a search goes on from there.",
)
@click.option("--no-prune", is_flag=True, help="Simulate also what can be neither among the best nor Pareto.")
def search(
    file: Path,
    form: str | None,
    as_json: bool,
    top: int,
    workers: int | None,
    state: Path | None,
    no_prune: bool,
) -> None:
    """Rank parallel plans by their simulated steps.

    FILE needs `hardware` and a `topology`; its block `search` says which plans are tried. What cannot be
    laid out or does not fit memory is counted by reason.
    """
    from simulator.pool import processors
    from simulator.scenario.search_run import work_out_search
    from simulator.scenario.search_tables import search_json, search_lines, search_sheets

    form, path = chosen(form, as_json), one_file(file)
    with progress(path.stem) as report:
        result = work_out_search(
            path,
            top=top,
            prune=not no_prune,
            workers=workers or processors(),
            state=state,
            report=report,
        )
    if form == "json":
        click.echo(search_json(result), nl=False)
        return
    lines = list(search_lines(result))
    print_sheets(search_sheets(result, everything=form == "csv"), form, before=lines)
