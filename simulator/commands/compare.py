"""`collsim compare`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
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
    from algorithms.registry import ALGORITHMS

    if text == "all":
        return None
    kind, names = scenario.collective.kind, _names(scenario)
    able = {name: name for name in names if name not in ALGORITHMS or kind in ALGORITHMS[name].collectives}
    words = (known(word.strip(), names, "algorithm") for word in text.split(","))
    return list(dict.fromkeys(known(name, able, f"{kind} by the algorithm") for name in words))


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
    from simulator.scenario.compare_output import comparison_csv, comparison_json, write_comparison
    from simulator.scenario.models import Scenario
    from simulator.scenario.output import check_folder

    if as_json_text and as_csv:
        raise click.UsageError("--json and --csv are two forms; name one")
    if out is not None:
        check_folder(out.resolve(), force=force)
    scenario = load_one(file)
    if not isinstance(scenario, Scenario):
        raise click.UsageError(f"{file} holds several collectives; one is compared by its algorithms")
    wanted = _expected(expected, scenario)
    with progress(scenario.name) as report:
        comparison = run_all(
            scenario,
            sorted({*_sizes(sizes, points, scenario), *wanted}),
            algorithms=_named(algorithms, scenario),
            verify=False if no_verify else None,
            report=report,
            allow_code=allow_code,
            memory_limit=memory_limit,
        )
    warn(scenario.source.file, comparison.warnings)
    if out is not None:
        write_comparison(comparison, out, force=force)
    if as_json_text or as_csv:
        click.echo(comparison_json(comparison) if as_json_text else comparison_csv(comparison), nl=False)
    else:
        _print(comparison)
    if out is not None:
        say_written(out, aside=as_json_text or as_csv)
    failures = list(unexpected(comparison, wanted))
    if failures:
        click.echo("\n".join(failures), err=True)
        sys.exit(FAILED)


def _print(comparison: Comparison) -> None:
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
    lines: Sequence[str] = [*crossover_lines(comparison), *refused_lines(comparison)]
    for line in lines:
        click.echo(line)
