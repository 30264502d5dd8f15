"""`collsim topology`."""

from __future__ import annotations

from pathlib import Path

import click

from simulator.commands.complete import ScenarioPath
from simulator.commands.shared import console, load_one, say_written


@click.command()
@click.argument("file", type=ScenarioPath(path_type=Path))
@click.option("--json", "as_json_text", is_flag=True, help="Print the measures as JSON.")
@click.option("--out", type=click.Path(path_type=Path), help="Draw it into this PNG, SVG or PDF file.")
@click.option("--force", is_flag=True, help="Overwrite --out.")
def topology(file: Path, as_json_text: bool, out: Path | None, force: bool) -> None:
    """Measure and draw the topology of a scenario."""
    import json
    from dataclasses import asdict

    from simulator.scenario.output import check_picture, write_topology_picture
    from simulator.scenario.run import build_topology
    from simulator.scenario.tables import topology_table
    from topologies.measures import measure

    if out is not None:
        check_picture(out, force=force)
    built = build_topology(load_one(file))
    measures = measure(built)
    if out is not None:
        write_topology_picture(built, out, force=force)
    if as_json_text:
        click.echo(json.dumps({"kind": built.kind, "dims": built.dims, **asdict(measures)}, indent=2))
    else:
        console().print(topology_table(built, measures))
    if out is not None:
        say_written(out, aside=as_json_text)
