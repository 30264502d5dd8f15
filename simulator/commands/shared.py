"""What several commands do: load, run, say what is wrong."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar, overload

import click

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from simulator.scenario.kinds import OtherKindError
    from simulator.scenario.models import Scenario
    from simulator.scenario.run import Report, Result
    from simulator.scenario.together_models import TogetherScenario
    from simulator.scenario.together_result import TogetherResult
    from simulator.scenario.workload_models import WorkloadScenario
    from simulator.scenario.workload_result import WorkloadResult

FAILED: Final = 1
WRONG: Final = 2
INTERRUPTED: Final = 130
"""Exit codes: an expectation or a proof failed, the input is wrong, the run was interrupted."""

Known = TypeVar("Known")
Loaded = TypeVar("Loaded")


def known(word: str, words: Mapping[str, Known], what: str) -> Known:
    """What a word stands for, or a usage error that names the nearest."""
    from simulator.scenario import errors
    from topologies.errors import CollsimError

    try:
        return words[errors.known(word, words, what)]
    except CollsimError as error:
        raise click.UsageError(error.message) from None


def load_all(paths: Sequence[Path], load: Callable[[Path], Loaded]) -> list[Loaded]:
    """Every scenario that can be loaded, or everything that is wrong in any of the files.

    A folder's scenarios of other kinds are left out, which is said; one that is named itself is refused.
    """
    from simulator.scenario.errors import ScenarioErrors
    from simulator.scenario.kinds import OtherKindError
    from simulator.scenario.library import expand

    scenarios: list[Loaded] = []
    wrong: list[str] = []
    others: list[OtherKindError] = []
    for path in paths:
        files = expand([path])
        for file in files:
            try:
                scenarios.append(load(file))
            except OtherKindError as error:
                if len(files) > 1:
                    others.append(error)
                else:
                    wrong.append(str(error))
            except ScenarioErrors as error:
                wrong.append(str(error))
    if wrong or not scenarios:
        click.echo("\n".join([*wrong, *map(str, others)]), err=True)
        sys.exit(WRONG)
    say_left_out(others)
    return scenarios


def say_left_out(others: Sequence[OtherKindError]) -> None:
    """Say what of a folder is for other commands, if anything is."""
    if not others:
        return
    kinds = [error.kind for error in others]
    counts = {kind: kinds.count(kind) for kind in dict.fromkeys(kinds)}
    what = " and ".join(f"{count} {kind}{'' if count == 1 else 's'}" for kind, count in counts.items())
    readers = sorted({f'"{error.reader}"' for error in others})
    click.echo(
        f"left out {what}, which {' and '.join(readers)} {'reads' if len(readers) == 1 else 'read'}", err=True
    )


def load_one(path: Path) -> Scenario | TogetherScenario:
    """The one scenario of a file, or what is wrong in it."""
    from simulator.scenario.run_any import load_scenario

    return _only(load_all([path], load_scenario), path)


def one_file(file: Path) -> Path:
    """The one file that a name stands for."""
    from simulator.scenario.library import expand

    return _only(expand([file]), file)


def _only(found: Sequence[Known], path: Path) -> Known:
    """What a path stands for, where that is one thing."""
    if len(found) > 1:
        raise click.UsageError(f"{path} holds several scenarios; name one")
    return found[0]


allow_code = click.option(
    "--allow-code", is_flag=True, help="Run the Python code of algorithms that scenarios bring with them."
)


def size_option(_context: click.Context, _option: click.Parameter, text: str | None) -> int | None:
    """Read 8 GiB."""
    if text is None:
        # of every command, and of every word that a shell completes: nothing is loaded for it
        return None
    from simulator.scenario.errors import UnitError
    from simulator.scenario.units import size

    try:
        return size(text)
    except UnitError as error:
        raise click.BadParameter(str(error)) from None


memory_limit = click.option(
    "--memory-limit",
    metavar="SIZE",
    callback=size_option,
    help='Refuse what would take more memory, as "8 GiB"; default 80 % of what is free.',
)


@overload
def run_one(
    scenario: Scenario | TogetherScenario,
    *,
    verify: bool | None = None,
    allow_code: bool = False,
    memory_limit: int | None = None,
) -> Result | TogetherResult: ...


@overload
def run_one(
    scenario: Scenario | TogetherScenario | WorkloadScenario,
    *,
    verify: bool | None = None,
    allow_code: bool = False,
    memory_limit: int | None = None,
) -> Result | TogetherResult | WorkloadResult: ...


def run_one(
    scenario: Scenario | TogetherScenario | WorkloadScenario,
    *,
    verify: bool | None = None,
    allow_code: bool = False,
    memory_limit: int | None = None,
) -> Result | TogetherResult | WorkloadResult:
    """Run a scenario, with a bar where it takes long."""
    from simulator.scenario.run_any import run_any

    with progress(scenario.name) as report:
        return run_any(
            scenario, verify=verify, report=report, allow_code=allow_code, memory_limit=memory_limit
        )


def check_report(out: Path | None, *, with_report: bool) -> None:
    """Refuse --report without --out."""
    if with_report and out is None:
        raise click.UsageError("--report goes with --out, the folder into which it is written")


def warn(file: str, warnings: Iterable[str]) -> None:
    """Print on standard error what a person should know about a file's scenario."""
    for warning in warnings:
        click.echo(f"{file}: warning: {warning}", err=True)


def say_written(out: Path, *, aside: bool = False) -> None:
    """Say where the files are; on standard error where the output is for a program."""
    click.echo(f"written to {out}", err=aside)


def console() -> Console:
    """Where tables go: as wide as the terminal, or as wide as where there is none."""
    from rich.console import Console

    from simulator.scenario.notebook import WIDE

    return Console(markup=False) if sys.stdout.isatty() else Console(width=WIDE, markup=False)


@contextmanager
def progress(name: str) -> Iterator[Report | None]:
    """A bar on standard error for what takes over a second, on a terminal only."""
    if not sys.stderr.isatty():
        yield None
        return
    began = time.monotonic()
    with ExitStack() as stack:
        bars: list[tuple[Progress, TaskID]] = []

        def report(stage: str, done: int, total: int) -> None:
            if time.monotonic() - began < 1:
                return
            if not bars:
                bars.append(_start_bar(stack))
            bar, task = bars[0]
            speed = bar.tasks[0].speed
            rate = f"{speed:,.0f} hops/s" if speed and stage == "simulate" else ""
            bar.update(task, description=f"{name}: {stage}", completed=done, total=total, rate=rate)

        yield report


def _start_bar(stack: ExitStack) -> tuple[Progress, TaskID]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    rate = (TextColumn("{task.fields[rate]}"), TimeRemainingColumn())
    bar = stack.enter_context(Progress(*columns, *rate, console=Console(stderr=True), transient=True))
    return bar, bar.add_task("", rate="")
