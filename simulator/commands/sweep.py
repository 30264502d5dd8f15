"""`collsim sweep`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from simulator.commands.complete import ScenarioPath
from simulator.commands.shared import (
    FAILED,
    allow_code,
    console,
    memory_limit,
    one_file,
    progress,
    say_written,
    warn,
)

if TYPE_CHECKING:
    from simulator.scenario.source import Node
    from simulator.scenario.sweep.result import Sweep
    from simulator.scenario.sweep.run import Crew

VARY = "--vary"


def _vary(_context: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> dict[str, Node]:
    """Read collective.size=1KiB..1GiB."""
    from simulator.scenario.sweep.points import TYPED
    from simulator.scenario.sweep.values import typed_values
    from topologies.errors import CollsimError
    from topologies.text import printable

    fields: dict[str, Node] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        name = name.strip()
        if not equals:
            found = f'found "{printable(text)}", expected FIELD=VALUES, as topology.ranks=8,16'
            raise click.BadParameter(found)
        if name in fields:
            raise click.BadParameter(f'found "{printable(name)}" twice')
        try:
            fields[name] = typed_values(values, TYPED)
        except CollsimError as error:
            raise click.BadParameter(f"{printable(name)}: {error.message}") from None
    return fields


def _seeds(_context: click.Context, _option: click.Parameter, text: str | None) -> int | list[int] | None:
    """Read 5, or 1,7,9."""
    if text is None:
        return None
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() and len(word) < 19 for word in words) or (len(words) == 1 and not int(text)):
        raise click.BadParameter(f'found "{text}", expected how many, as 5, or which, as 1,7,9')
    return int(words[0]) if len(words) == 1 else [int(word) for word in words]


@click.command()
@click.argument("file", type=ScenarioPath(path_type=Path))
@click.option(
    VARY,
    "vary",
    multiple=True,
    metavar="FIELD=VALUES",
    callback=_vary,
    help="What to vary, as collective.size=1KiB..1GiB or topology.ranks=8,16; may be repeated.",
)
@click.option("--zip", "zipped", is_flag=True, help="Take the first values together, then the second, ...")
@click.option("--points", type=click.IntRange(min=2), metavar="N", help="How many values a range holds.")
@click.option("--seeds", metavar="N", callback=_seeds, help="How many seeds of what is random, or which.")
@click.option("--workers", type=click.IntRange(1, 1024), help="Processes; as many as there are processors.")
@click.option("--dask", metavar="ADDRESS", help="Run points on the Dask cluster of this scheduler.")
@click.option("--scheduler-file", type=click.Path(path_type=Path), help="The file of a Dask scheduler.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder that keeps what is found, for sweep.csv, .json, .parquet, .png and .svg; begun again, "
    "a sweep goes on from there.",
)
@click.option("--force", is_flag=True, help="Write into --out though it holds something else.")
@click.option("--json", "as_json", is_flag=True, help="Print the rows as JSON.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the rows as CSV.")
@click.option("--no-verify", is_flag=True, help="Do not prove the schedules on data.")
@memory_limit
@allow_code
def sweep(
    file: Path,
    vary: dict[str, Node],
    zipped: bool,
    points: int | None,
    seeds: int | list[int] | None,
    workers: int | None,
    dask: str | None,
    scheduler_file: Path | None,
    out: Path | None,
    force: bool,
    as_json: bool,
    as_csv: bool,
    no_verify: bool,
    memory_limit: int | None,
    allow_code: bool,
) -> None:
    """Run a scenario many times, with something varied.

    FILE is a scenario of any kind. Its block `sweep`, and --vary, say what is varied: every value goes with
    every other. A point that fails is a row with its error; the exit code is 1 then.
    """
    from simulator.scenario.sweep.output import check_sweep_folder, has_parquet
    from simulator.scenario.sweep.read import read_sweep
    from simulator.scenario.sweep.run import sweep as run_all

    if as_json and as_csv:
        raise click.UsageError("--json and --csv are two forms; name one")
    if out is not None:
        check_sweep_folder(out.resolve(), force=force)
    asked = read_sweep(
        one_file(file), vary, how="zip" if zipped else None, seeds=seeds, points=points, origin=VARY
    )
    with _interrupted(out), progress(asked.name) as report:
        found = run_all(
            asked,
            crew=_crew(workers, dask, scheduler_file),
            out=out,
            verify=False if no_verify else None,
            report=report,
            allow_code=allow_code,
            memory_limit=memory_limit,
        )
    warn(asked.source.file, found.warnings)
    _print(found, as_json=as_json, as_csv=as_csv)
    if out is not None:
        say_written(out, aside=as_json or as_csv)
        if not has_parquet():
            click.echo('no sweep.parquet: pyarrow is not installed: pip install "collsim[parquet]"', err=True)
    if found.failed:
        sys.exit(FAILED)


def _crew(workers: int | None, dask: str | None, scheduler_file: Path | None) -> Crew:
    """Where points are run: on a cluster, or in processes of this machine."""
    from simulator.pool import processors
    from simulator.scenario.sweep.cluster import cluster
    from simulator.scenario.sweep.run import local

    if dask is None and scheduler_file is None:
        return local(workers or processors())
    if dask is not None and scheduler_file is not None:
        raise click.UsageError("--dask and --scheduler-file are two names of a scheduler; give one")
    if workers is not None:
        raise click.UsageError("--workers are of this machine; a Dask cluster has its own")
    return cluster(dask, scheduler_file)


@contextmanager
def _interrupted(out: Path | None) -> Iterator[None]:
    """Say what is kept of a sweep that is interrupted."""
    try:
        yield
    except KeyboardInterrupt:
        if out is not None:
            click.echo(f"what was found is kept in {out}; the same command goes on from there", err=True)
        raise


def _print(found: Sweep, *, as_json: bool, as_csv: bool) -> None:
    from simulator.scenario.sheets import sheet_table
    from simulator.scenario.sweep.output import sweep_csv, sweep_json
    from simulator.scenario.sweep.tables import failed_lines, sweep_lines, sweep_sheet

    if as_json or as_csv:
        click.echo(sweep_json(found) if as_json else sweep_csv(found), nl=False)
    else:
        console().print(sheet_table(sweep_sheet(found)))
        for line in sweep_lines(found):
            click.echo(line)
    for line in failed_lines(found):
        click.echo(line, err=True)
