"""What several commands do: load, run, say what is wrong."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

import click

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from simulator.scenario.models import Scenario
    from simulator.scenario.run import Report, Result
    from simulator.scenario.together_models import TogetherScenario
    from simulator.scenario.together_result import TogetherResult

FAILED: Final = 1
WRONG: Final = 2
INTERRUPTED: Final = 130
"""Exit codes: an expectation or a proof failed, the input is wrong, the run was interrupted."""

WIDE: Final = 140
"""Columns of a table that is not printed on a terminal."""

Known = TypeVar("Known")


def known(word: str, words: Mapping[str, Known], what: str) -> Known:
    """What a word stands for, or a usage error that names the nearest."""
    from simulator.scenario.errors import did_you_mean, one_of, printable

    if word not in words:
        hint = did_you_mean(word, words) or f"; expected {one_of(words)}"
        raise click.UsageError(f'there is no {what} "{printable(word)}"{hint}')
    return words[word]


def load_all(paths: Sequence[Path]) -> list[Scenario | TogetherScenario]:
    """Every scenario of collectives, or everything that is wrong in any of the files.

    A folder's parallel plans are left out, which is said; one that is named itself is refused.
    """
    from simulator.scenario.errors import ScenarioErrors
    from simulator.scenario.kinds import OtherKindError
    from simulator.scenario.library import expand
    from simulator.scenario.run_any import load_scenario

    scenarios: list[Scenario | TogetherScenario] = []
    wrong: list[str] = []
    others: list[str] = []
    for path in paths:
        files = expand([path])
        for file in files:
            try:
                scenarios.append(load_scenario(file))
            except OtherKindError as error:
                (others if len(files) > 1 else wrong).append(str(error))
            except ScenarioErrors as error:
                wrong.append(str(error))
    if wrong or not scenarios:
        click.echo("\n".join([*wrong, *others]), err=True)
        sys.exit(WRONG)
    if others:
        what = "1 parallel plan" if len(others) == 1 else f"{len(others)} parallel plans"
        click.echo(f'left out {what}, which "collsim llm memory" reads', err=True)
    return scenarios


allow_code = click.option(
    "--allow-code", is_flag=True, help="Run the Python code of algorithms that scenarios bring with them."
)


def run_one(
    scenario: Scenario | TogetherScenario, *, verify: bool | None = None, allow_code: bool = False
) -> Result | TogetherResult:
    """Run a scenario, with a bar where it takes long."""
    from simulator.scenario.run_any import run_any

    with _progress(scenario.name) as report:
        return run_any(scenario, verify=verify, report=report, allow_code=allow_code)


def console() -> Console:
    """Where tables go: as wide as the terminal, or as `WIDE`."""
    from rich.console import Console

    return Console(markup=False) if sys.stdout.isatty() else Console(width=WIDE, markup=False)


@contextmanager
def _progress(name: str) -> Iterator[Report | None]:
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
            bar.update(task, description=f"{name}: {stage}", completed=done, total=total)

        yield report


def _start_bar(stack: ExitStack) -> tuple[Progress, TaskID]:
    from rich.console import Console
    from rich.progress import Progress

    bar = stack.enter_context(Progress(console=Console(stderr=True), transient=True))
    return bar, bar.add_task("")
