"""`collsim llm serve`: how many requests a plan answers at once, and how fast."""

from __future__ import annotations

from pathlib import Path

import click

from simulator.commands.llm import chosen, in_forms, print_sheets
from simulator.commands.shared import one_file, say_written


def _degrees(_context: click.Context, _option: click.Parameter, text: str | None) -> tuple[int, ...]:
    """Read 1,2,4,8."""
    words = [word.strip() for word in text.split(",")] if text is not None else []
    for word in words:
        if not word.isdecimal() or not 0 < int(word) <= 2**20:
            raise click.BadParameter(f'found "{word}", expected numbers of ranks, as 1,2,4,8')
    return tuple(dict.fromkeys(map(int, words)))


@click.command()
@in_forms
@click.option(
    "--tp",
    "tps",
    metavar="1,2,4,8",
    callback=_degrees,
    help="Tensor parallelism to compare, on as many ranks: the rest of them are replicas.",
)
@click.option("--out", type=click.Path(path_type=Path), help="A folder for serve.json and serve.csv.")
@click.option("--force", is_flag=True, help="Overwrite what is in that folder.")
def serve(
    file: Path, form: str | None, as_json: bool, tps: tuple[int, ...], out: Path | None, force: bool
) -> None:
    """Simulate inference: requests at once, and how fast.

    Prompts are read, and tokens made one after the other, for as many requests as memory and targets allow.
    FILE needs `serve`, `hardware` and a `topology`, and `memory: {phase: inference}`.
    """
    from simulator.scenario.serve_run import work_out_serve
    from simulator.scenario.serve_tables import serve_json, serve_lines, serve_sheet, serve_verdict

    form = chosen(form, as_json)
    if out is not None:
        from simulator.scenario.output import check_folder

        check_folder(out, force=force)
    result = work_out_serve(one_file(file), tps)
    if out is not None:
        from simulator.scenario.serve_output import write_serve

        write_serve(result, out, force=force)
    if form == "json":
        click.echo(serve_json(result), nl=False)
    else:
        print_sheets([serve_sheet(result)], form, before=list(serve_lines(result)))
        if form != "csv":
            click.echo("\n".join(serve_verdict(result)))
    if out is not None:
        say_written(out, aside=form != "text")
