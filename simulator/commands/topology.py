"""`collsim topology`."""

from __future__ import annotations

from pathlib import Path

import click

from simulator.commands.complete import ScenarioPath
from simulator.commands.shared import console, load_one, say_written, warn


@click.command()
@click.argument("file", type=ScenarioPath(path_type=Path))
@click.option("--json", "as_json_text", is_flag=True, help="Print the measures as JSON.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Draw it (.png, .svg, .pdf), or write it for others (.graphml, .yml of ASTRA-sim, .dot).",
)
@click.option("--force", is_flag=True, help="Overwrite --out.")
def topology(file: Path, as_json_text: bool, out: Path | None, force: bool) -> None:
    """Measure, draw and convert a topology.

    FILE is a scenario, library:NAME, or another program's file.
    """
    import json
    from dataclasses import asdict

    from simulator.scenario.output import check_topology_out, write_topology
    from simulator.scenario.run import build_topology
    from simulator.scenario.symmetric import looks_alike
    from simulator.scenario.tables import topology_table
    from simulator.scenario.topology_file import foreign_topology
    from topologies.errors import TopologyError
    from topologies.measures import measure

    if out is not None:
        check_topology_out(out, force=force)
    built, alike = foreign_topology(file), False
    if built is None:
        scenario = load_one(file)
        built, alike = build_topology(scenario), looks_alike(scenario.topology)
    warn(str(file), built.notes)
    try:
        measures = measure(built, alike=alike)
    except TopologyError as error:
        raise TopologyError(f"{file}: {error.message}") from None
    if out is not None:
        write_topology(built, out, force=force)
    if as_json_text:
        click.echo(json.dumps({"kind": built.kind, "dims": built.dims, **asdict(measures)}, indent=2))
    else:
        console().print(topology_table(built, measures))
    if out is not None:
        say_written(out, aside=as_json_text)
