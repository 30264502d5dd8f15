"""`collsim compare`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from simulator.commands.complete import ScenarioPath
from simulator.commands.shared import (
    FAILED,
    allow_code,
    console,
    known,
    load_one,
    memory_limit,
    progress,
    say_written,
    warn,
)
from simulator.scenario.tuning import TABLES

if TYPE_CHECKING:
    from simulator.scenario.compare import Comparison
    from simulator.scenario.models import Scenario

SIZES: Final = "1KiB..1GiB"


def _sizes(text: str | None, points: int | None, scenario: Scenario) -> tuple[int, ...]:
    """The sizes that were asked for; by default `SIZES` where the collective has a size."""
    from simulator.scenario.errors import UnitError
    from simulator.scenario.ranges import parse_sizes

    if text is None and points is None and not scenario.collective.size:
        return ()
    try:
        return parse_sizes(SIZES if text is None else text, points)
    except UnitError as error:
        raise click.UsageError(f"--sizes: {error}") from None


def _named(text: str, scenario: Scenario) -> list[str] | None:
    """Names of the algorithms, or None for all."""
    from algorithms.registry import ALGORITHMS, able

    if text == "all":
        return None
    kind, names = scenario.collective.kind, _names(scenario)
    doing = {name: name for name in names if name not in ALGORITHMS or name in able(kind)}
    words = (known(word.strip(), names, "algorithm") for word in text.split(","))
    return list(dict.fromkeys(known(name, doing, f"{kind} by the algorithm") for name in words))


def _names(scenario: Scenario) -> dict[str, str]:
    """Every name that an algorithm goes by beside a scenario."""
    from algorithms.registry import ALGORITHMS
    from simulator.scenario.compare_variants import own_name

    own = own_name(scenario)
    return {name: name for name in (*ALGORITHMS, *(() if own is None else (own,)))}


def _expected(texts: Sequence[str], scenario: Scenario) -> dict[int, str]:
    """Names of the fastest by size, from SIZE=NAME words."""
    from simulator.scenario.errors import UnitError
    from simulator.scenario.units import size

    names: dict[int, str] = {}
    for text in texts:
        at, _, name = text.partition("=")
        try:
            names[size(at)] = known(name, _names(scenario), "algorithm")
        except UnitError as error:
            raise click.UsageError(f"--expect: {error}; expected e.g. 1MiB=ring") from None
    return names


@click.command()
@click.argument("file", type=ScenarioPath(path_type=Path))
@click.option("--algorithms", default="all", metavar="NAMES", help="all (default), or some as ring,direct.")
@click.option(
    "--sizes", metavar="SIZES", help=f"A range as {SIZES} (default), by doubling, or a list as 1KiB,1MiB."
)
@click.option(
    "--points", type=int, metavar="N", help="How many sizes the range holds, evenly in its logarithm."
)
@click.option("--json", "as_json_text", is_flag=True, help="Print the comparison as JSON.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the times as CSV.")
@click.option(
    "--format",
    "table",
    type=click.Choice(TABLES),
    help="Print the winners as a library's tuning table.",
)
@click.option("--log", type=click.Path(path_type=Path), help="Measured times to set beside the simulated.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder for compare.json, compare.csv, .png and .svg."
)
@click.option("--force", is_flag=True, help="Overwrite what is in --out.")
@click.option(
    "--expect",
    "expected",
    multiple=True,
    metavar="SIZE=NAME",
    help="Fail unless NAME is the fastest at that size; may be repeated.",
)
@click.option("--no-verify", is_flag=True, help="Do not prove the schedules on data.")
@memory_limit
@allow_code
def compare(
    file: Path,
    algorithms: str,
    sizes: str | None,
    points: int | None,
    as_json_text: bool,
    as_csv: bool,
    table: str | None,
    log: Path | None,
    out: Path | None,
    force: bool,
    expected: tuple[str, ...],
    no_verify: bool,
    memory_limit: int | None,
    allow_code: bool,
) -> None:
    """Compare all algorithms of a collective.

    Runs a scenario's collective by every algorithm that does it, over sizes. Prints them beside each other
    at the scenario's own size, the fastest at every size, and the sizes at which another becomes the
    fastest.
    """
    from simulator.scenario.compare import compare as run_all
    from simulator.scenario.compare import unexpected
    from simulator.scenario.compare_measured import measured_beside
    from simulator.scenario.compare_output import comparison_json, comparison_rows, write_comparison
    from simulator.scenario.models import Scenario
    from simulator.scenario.output import check_folder
    from simulator.scenario.tuning.table import tuning_table

    printed = as_json_text + as_csv + (table is not None)
    if printed > 1:
        raise click.UsageError("--json, --csv and --format are several forms; name one")
    if out is not None:
        check_folder(out.resolve(), force=force)
    scenario = load_one(file)
    if not isinstance(scenario, Scenario):
        raise click.UsageError(f"{file} holds several collectives; one is compared by its algorithms")
    wanted = _expected(expected, scenario)
    measured = None if log is None else measured_beside(log, scenario)
    asked = _sizes(sizes, points, scenario) if measured is None or sizes or points else measured.sizes
    with progress(scenario.name) as report:
        comparison = run_all(
            scenario,
            sorted({*asked, *wanted}),
            algorithms=_named(algorithms, scenario),
            verify=False if no_verify else None,
            report=report,
            allow_code=allow_code,
            memory_limit=memory_limit,
        )
    comparison = replace(comparison, measured=measured)
    warn(scenario.source.file, [*(measured.notes if measured else ()), *comparison.warnings])
    if out is not None:
        write_comparison(comparison, out, force=force)
    if as_json_text or as_csv:
        text = comparison_json(comparison) if as_json_text else comparison_rows(comparison).csv()
        click.echo(text, nl=False)
    elif table is not None:
        tuned = tuning_table(comparison, table)
        warn(scenario.source.file, tuned.notes)
        click.echo(tuned.text, nl=False)
    else:
        _print(comparison)
    if out is not None:
        say_written(out, aside=printed > 0)
    failures = list(unexpected(comparison, wanted))
    if failures:
        click.echo("\n".join(failures), err=True)
        sys.exit(FAILED)


def _print(comparison: Comparison) -> None:
    from simulator.scenario.compare_measured import measured_table
    from simulator.scenario.compare_tables import (
        FEW,
        contenders_tables,
        crossover_lines,
        refused_lines,
        sizes_table,
        winners_table,
    )

    terminal = console()
    for table in contenders_tables(comparison, terminal.width):
        terminal.print(table)
    if 1 < len(comparison.times) <= FEW and comparison.sizes:
        terminal.print(sizes_table(comparison))
    terminal.print(winners_table(comparison))
    if comparison.measured is not None:
        terminal.print(measured_table(comparison, comparison.measured))
    lines: Sequence[str] = [*crossover_lines(comparison), *refused_lines(comparison)]
    for line in lines:
        click.echo(line)
