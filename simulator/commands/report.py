"""`collsim report`: runs as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from simulator.commands.complete import ScenarioPath
from simulator.commands.shared import allow_code, memory_limit, progress, say_written, warn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@click.command()
@click.argument("paths", metavar="DIR...", nargs=-1, required=True, type=ScenarioPath(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The file to write; default report.html, of one folder beside its other files.",
)
@click.option("--force", is_flag=True, help="Overwrite it.")
@memory_limit
@allow_code
def report(
    paths: tuple[Path, ...], out: Path | None, force: bool, memory_limit: int | None, allow_code: bool
) -> None:
    """Show a run, or several, in one HTML file.

    The file needs nothing else, no network either. DIR is a folder that --out has written, a scenario, or
    library:NAME; its scenario is run again.
    """
    from simulator.scenario.folder import reopen
    from simulator.scenario.report import check_page, doubts, run_again, save_report

    opened = [(path, reopen(path)) for path in _opened(paths)]
    target = out or _beside(paths)
    check_page(target, force=force)
    shown = []
    for path, scenario in opened:
        with progress(scenario.name) as told:
            result = run_again(scenario, told, allow_code=allow_code, memory_limit=memory_limit)
        notes = tuple(doubts(path, result))
        warn(str(path), (*notes, *result.warnings))
        shown.append((result, notes))
    save_report(shown, target)
    say_written(target)


def _opened(paths: Sequence[Path]) -> Iterator[Path]:
    """Folders of results as they are, and the files that other names stand for."""
    from simulator.scenario.folder import KEPT
    from simulator.scenario.library import expand

    for path in paths:
        if (path / KEPT).is_file():
            yield path
        else:
            yield from (file.parent if file.name == KEPT else file for file in expand([path]))


def _beside(paths: Sequence[Path]) -> Path:
    """Where a report goes: into the one folder that it is of, or here."""
    from simulator.scenario.folder import KEPT
    from simulator.scenario.output import REPORT

    one = len(paths) == 1 and (paths[0] / KEPT).is_file()
    return (paths[0] if one else Path()) / REPORT
