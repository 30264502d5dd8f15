"""What a person types: `collsim run`, `check`, `topology`, `algorithms`.

Exit codes: 0 fine, 1 an expectation or a proof failed, 2 the input is wrong, 130 interrupted.
What is slow to import is imported by the command that needs it.
"""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from simulator.scenario.models import Scenario
    from simulator.scenario.run import Report, Result

# collsim does no dense linear algebra: starting BLAS's threads would cost more than a small run
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

FAILED, WRONG, INTERRUPTED = 1, 2, 130
WIDE = 140
"""Columns of a table that is not printed on a terminal."""


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="collsim", prog_name="collsim")
def cli() -> None:
    """Simulate collective communication: exact, proven on data, compared with the bounds."""


@cli.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--json", "as_json_text", is_flag=True, help="Print the result as JSON.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder for result.json, timeline.csv, .png and .svg."
)
@click.option("--force", is_flag=True, help="Overwrite what is in --out.")
@click.option("--no-verify", is_flag=True, help="Do not prove the schedule on data.")
def run(files: tuple[Path, ...], as_json_text: bool, out: Path | None, force: bool, no_verify: bool) -> None:
    """Simulate scenarios and print what came out.

    FILES are files, folders, or library:NAME and library:THEME for those that come with collsim.
    """
    from simulator.scenario.output import check_folder, write_results
    from simulator.scenario.result import as_json

    if out is not None:
        check_folder(out.resolve(), force=force)
    results = _run_all(_load_all(files), verify=False if no_verify else None)
    if out is not None:
        write_results(results, out, force=force)
    if as_json_text:
        click.echo(as_json(results), nl=False)
        return
    _print_results(results)
    if out is not None:
        click.echo(f"written to {out}")


@cli.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
def check(paths: tuple[Path, ...]) -> None:
    """Hold scenarios against what they expect.

    PATHS are files, folders, or library:NAME and library:THEME for those that come with collsim.
    """
    scenarios = _load_all(paths)
    codes = []
    for scenario in scenarios:
        lines, code = _check_one(scenario)
        for line in lines:
            click.echo(line)
        nothing = "" if scenario.expects_something or code else " (expects nothing)"
        click.echo(f"{'FAILED' if code else 'ok    '} {scenario.source.file}{nothing}")
        codes.append(code)
    failed = sum(code != 0 for code in codes)
    click.echo(f"{len(codes) - failed} passed, {failed} failed")
    if failed:
        sys.exit(max(codes))


def _check_one(scenario: Scenario) -> tuple[list[str], int]:
    """What is wrong with a scenario's result, and the exit code for it."""
    from algorithms.errors import ProofError
    from simulator.scenario.check import check as differences
    from simulator.scenario.errors import ScenarioErrors

    file = scenario.source.file
    try:
        result = _run_one(scenario)
    except ScenarioErrors as error:
        return [str(error)], WRONG
    except ProofError as error:
        return [error.message], FAILED
    lines = [
        f"{file}:{wrong.line}:{wrong.column}: {wrong.key}: expected {wrong.expected}, found {wrong.found}"
        for wrong in differences(result)
    ]
    return lines, FAILED if lines else 0


@cli.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json_text", is_flag=True, help="Print the measures as JSON.")
@click.option("--out", type=click.Path(path_type=Path), help="Draw it into this PNG or SVG file.")
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
    scenario, *others = _load_all([file])
    if others:
        raise click.UsageError(f"{file} holds several scenarios; name one")
    built = build_topology(scenario)
    measures = measure(built)
    if out is not None:
        write_topology_picture(built, out, force=force)
    if as_json_text:
        click.echo(json.dumps({"kind": built.kind, "dims": built.dims, **asdict(measures)}, indent=2))
        return
    _console().print(topology_table(built, measures))
    if out is not None:
        click.echo(f"written to {out}")


@cli.command()
@click.argument("name", required=False)
@click.option("--ranks", default=8, show_default=True, type=click.IntRange(min=1), help="N of the trace.")
@click.option("--collective", help="Which collective to trace; default the first that it does.")
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help="An option, e.g. order=near or dims=4,2."
)
def algorithms(name: str | None, ranks: int, collective: str | None, settings: tuple[str, ...]) -> None:
    """List the algorithms, or trace one step by step."""
    from algorithms.registry import ALGORITHMS, build
    from simulator.scenario.options import parse_options
    from simulator.scenario.tables import algorithm_lines, algorithms_table, flow_table, trace_table

    console = _console()
    if name is None:
        console.print(algorithms_table())
        return
    algorithm = _known(name, ALGORITHMS, "algorithm")
    kind = collective and _known(collective, dict.fromkeys(algorithm.collectives, collective), "collective")
    for line in algorithm_lines(algorithm):
        click.echo(line)
    options = parse_options(name, _settings(settings))
    if "dims" in algorithm.options:
        options.setdefault("dims", (ranks,))
    kind = kind or algorithm.collectives[0]
    # as many bytes as chunks, so that every share of M is a whole number
    chunks = build(name, kind, ranks, ranks, **options).collective.chunks
    console.print(trace_table(build(name, kind, ranks, chunks, **options)))
    if "dims" in algorithm.options:
        console.print(flow_table(options["dims"], kind))


Known = TypeVar("Known")


def _known(word: str, words: Mapping[str, Known], what: str) -> Known:
    """What a word stands for, or a usage error that names the nearest."""
    from simulator.scenario.errors import did_you_mean, one_of, printable

    if word not in words:
        hint = did_you_mean(word, words) or f"; expected {one_of(words)}"
        raise click.UsageError(f'there is no {what} "{printable(word)}"{hint}')
    return words[word]


def _settings(settings: Sequence[str]) -> dict[str, str]:
    """Option texts by name, from KEY=VALUE words."""
    for setting in settings:
        if "=" not in setting[1:]:
            raise click.UsageError(f'found "{setting}", expected KEY=VALUE, e.g. order=near')
    return dict(setting.split("=", 1) for setting in settings)


def _load_all(paths: Sequence[Path]) -> list[Scenario]:
    """Every scenario, or everything that is wrong in any of the files."""
    from simulator.scenario.errors import ScenarioErrors
    from simulator.scenario.library import expand
    from simulator.scenario.load import load

    scenarios, wrong = [], []
    for file in expand(paths):
        try:
            scenarios.append(load(file))
        except ScenarioErrors as error:
            wrong.append(str(error))
    if wrong:
        click.echo("\n".join(wrong), err=True)
        sys.exit(WRONG)
    return scenarios


def _run_all(scenarios: Sequence[Scenario], verify: bool | None = None) -> list[Result]:
    results = [_run_one(scenario, verify) for scenario in scenarios]
    for result in results:
        for warning in result.warnings:
            click.echo(f"{result.scenario.source.file}: warning: {warning}", err=True)
    return results


def _run_one(scenario: Scenario, verify: bool | None = None) -> Result:
    from simulator.scenario.run import run as run_scenario

    with _progress(scenario.name) as report:
        return run_scenario(scenario, verify=verify, report=report)


def _print_results(results: Sequence[Result]) -> None:
    from simulator.scenario.tables import flow_table, result_table, results_table

    console = _console()
    console.print(result_table(results[0]) if len(results) == 1 else results_table(results, console.width))
    for result in results:
        if result.schedule.algorithm == "hierarchical":
            kind = result.schedule.collective.kind
            console.print(flow_table(result.dims, kind, result.scenario.collective.size))


def _console() -> Console:
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


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # a name that the terminal cannot show is no reason to fail
            stream.reconfigure(errors="replace")
    try:
        cli.main(
            args=None if arguments is None else list(arguments), prog_name="collsim", standalone_mode=False
        )
        sys.stdout.flush()
    except click.ClickException as error:
        _end(f"collsim: {error.format_message()}", error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _end("interrupted", INTERRUPTED)
    except MemoryError:
        _end("collsim: this does not fit memory", WRONG)
    except BrokenPipeError:
        # the reader has gone; keep the interpreter from complaining when it flushes
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(FAILED)
    except OSError as error:
        _end(f"collsim: cannot write: {error.strerror}", WRONG)
    except Exception as error:
        from algorithms.errors import ProofError
        from topologies.errors import CollsimError

        # imported here only: `--help` should not load the whole house
        if not isinstance(error, CollsimError):
            raise
        _end(str(error), FAILED if isinstance(error, ProofError) else WRONG)


def _end(message: str, code: int) -> None:
    click.echo(message, err=True)
    sys.exit(code)


if __name__ == "__main__":
    main()
