"""`collsim check`."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from simulator.commands.complete import ScenarioPath
from simulator.commands.shared import FAILED, WRONG, allow_code, memory_limit, run_one, say_left_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simulator.scenario.check import Outcome
    from simulator.scenario.kinds import OtherKindError
    from simulator.scenario.run import Result
    from simulator.scenario.together_result import TogetherResult


@click.command()
@click.argument("paths", nargs=-1, required=True, type=ScenarioPath(path_type=Path))
@click.option("--junit", type=click.Path(path_type=Path), help="Write a report as JUnit XML; overwrites it.")
@click.option("--update", "updates", is_flag=True, help="Write today's values into what the files expect.")
@memory_limit
@allow_code
def check(
    paths: tuple[Path, ...], junit: Path | None, updates: bool, memory_limit: int | None, allow_code: bool
) -> None:
    """Hold scenarios against what they expect; prove schedules in files.

    PATHS are files, folders, or library:NAME and library:THEME for those that come with collsim. Sweeps
    in a folder are left out.
    """
    from simulator.scenario.library import called, expand
    from simulator.scenario.output import check_file, write_file

    found = [(path, expand([path])) for path in paths]
    files = [(file, called(file, path)) for path, inside in found for file in inside]
    # what a person names is meant
    named = {file for _, inside in found if len(inside) == 1 for file in inside}
    if junit is not None:
        check_file(junit)
        _check_report(junit, [file for file, _ in files])
    run = partial(run_one, allow_code=allow_code, memory_limit=memory_limit)
    outcomes: list[Outcome] = []
    others: list[OtherKindError] = []
    for file, name in files:
        outcome = _held(file, name, run, updates=updates)
        if outcome.other is not None and file not in named:
            others.append(outcome.other)
            continue
        outcomes.append(outcome)
        _print(outcome)
    say_left_out(others)
    failed = sum(not outcome.fine for outcome in outcomes)
    click.echo(f"{len(outcomes) - failed} passed, {failed} failed")
    if junit is not None:
        from simulator.scenario.junit import junit_xml

        write_file(junit, junit_xml(outcomes))
    if failed:
        sys.exit(WRONG if any(outcome.wrong for outcome in outcomes) else FAILED)


def _check_report(junit: Path, files: Sequence[Path]) -> None:
    """Refuse to write a report over a scenario, or over anything else that is no XML."""
    if junit.resolve() in {file.resolve() for file in files}:
        raise click.UsageError(f"--junit {junit} is one of the scenarios")
    try:
        with junit.open("rb") as old:
            begins = old.read(5)
    except OSError:
        return
    if begins not in (b"", b"<?xml"):
        raise click.UsageError(f"--junit {junit} exists and is no XML; name another file")


def _held(file: Path, name: str, run: partial[Result | TogetherResult], *, updates: bool) -> Outcome:
    """A file held against what it expects; with `updates`, after today's values are written into it."""
    from simulator.scenario.check import Outcome, hold
    from simulator.scenario.errors import ScenarioErrors
    from simulator.scenario.update import update

    outcome = hold(file, run, name)
    if not updates or outcome.result is None:
        return outcome
    try:
        written = update(outcome.result, outcome.mismatches)
    except ScenarioErrors as error:
        return Outcome(outcome.file, wrong=str(error))
    if not written:
        return outcome
    click.echo(f"updated {name}: {written} value{'s' if written > 1 else ''}")
    return hold(file, run, name)


def _print(outcome: Outcome) -> None:
    for line in outcome.lines:
        click.echo(line, err=bool(outcome.wrong))
    nothing = outcome.result is not None and not outcome.result.scenario.expects_something
    more = "expects nothing" if nothing else outcome.proven
    click.echo(f"{'ok    ' if outcome.fine else 'FAILED'} {outcome.file}{f' ({more})' if more else ''}")
