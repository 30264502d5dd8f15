"""`collsim convert`."""

from __future__ import annotations

from pathlib import Path

import click

from simulator.commands.complete import ScenarioPath
from simulator.commands.shared import allow_code, say_written, size_option


@click.command()
@click.argument("source", metavar="IN", type=ScenarioPath(path_type=Path))
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--from", "read", metavar="FORMAT", help="The format of IN.")
@click.option("--to", "write", metavar="FORMAT", help="The format of OUT.")
@click.option(
    "--size",
    metavar="SIZE",
    callback=size_option,
    help='The full vector, as "1 MiB", where IN does not say it.',
)
@click.option("--force", is_flag=True, help="Overwrite OUT.")
@allow_code
def convert(
    source: Path,
    out: Path,
    read: str | None,
    write: str | None,
    size: int | None,
    force: bool,
    allow_code: bool,
) -> None:
    """Write a schedule, or a topology, in another tool's format.

    IN is a file of another tool, or a scenario, of which the one or the other is written. Formats are told
    by names and contents: schedules are written as msccl, mscclpp and goal, or of a scenario as chakra, a
    file a rank; topologies as graphml, astra-sim and dot. What OUT cannot say is listed. A schedule that is
    wrong is refused.
    """
    from simulator.scenario import convert as conversion

    lost = conversion.convert(source, out, read, write, size=size, force=force, allow_code=allow_code)
    for line in lost:
        click.echo(f"lost: {line}")
    say_written(out)
