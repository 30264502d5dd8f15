"""`collsim diff`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from simulator.commands.complete import ScenarioPath
from simulator.commands.shared import allow_code, console, load_one, memory_limit, run_one, warn

if TYPE_CHECKING:
    from simulator.scenario.diff_sides import Side


@click.command()
@click.argument("a", type=ScenarioPath(path_type=Path))
@click.argument("b", type=ScenarioPath(path_type=Path))
@click.option("--json", "as_json_text", is_flag=True, help="Print the difference as JSON.")
@memory_limit
@allow_code
def diff(a: Path, b: Path, as_json_text: bool, memory_limit: int | None, allow_code: bool) -> None:
    """Say why one run takes longer than another.

    A and B are scenarios, library:NAME for one that comes with collsim, or what "collsim run --out"
    wrote: a folder, or its result.json.
    """
    from simulator.scenario.diff import difference
    from simulator.scenario.diff_output import difference_json, difference_tables
    from simulator.scenario.diff_sentence import sentence

    before, after = (_side(path, memory_limit, allow_code) for path in (a, b))
    found = difference(before, after)
    if as_json_text:
        click.echo(difference_json(found), nl=False)
        return
    for name, side in (("A", before), ("B", after)):
        click.echo(f"{name}: {side.name} ({side.label})")
    click.echo(sentence(found))
    for table in difference_tables(found):
        console().print(table)


def _side(path: Path, memory_limit: int | None, allow_code: bool) -> Side:
    """A result that is read, or a scenario that is run."""
    from simulator.scenario.diff_sides import read_side, result_file, side_of

    file = result_file(path)
    if file is not None:
        return read_side(file)
    result = run_one(load_one(path), allow_code=allow_code, memory_limit=memory_limit)
    warn(result.scenario.source.file, result.warnings)
    return side_of(str(path), result)
