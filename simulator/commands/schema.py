"""`collsim schema`."""

from __future__ import annotations

from pathlib import Path

import click

from simulator.commands.shared import say_written


@click.command()
@click.option(
    "--kind",
    type=click.Choice(["collective", "together", "workload", "plan", "preset"]),
    help="Of one kind of file; by default of every one that a command reads.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Write it into this file.")
@click.option("--force", is_flag=True, help="Overwrite the file of --out.")
def schema(kind: str | None, out: Path | None, force: bool) -> None:
    """Print the JSON Schema of scenarios, for editors.

    By it an editor completes keys and words, explains them, and marks what is wrong while a person writes.
    """
    from simulator.scenario.output import check_new, write_file
    from simulator.scenario.schema import schema_text

    if out is None:
        click.echo(schema_text(kind), nl=False)
        return
    check_new(out, force=force)
    write_file(out, schema_text(kind).encode("utf-8"))
    say_written(out)
