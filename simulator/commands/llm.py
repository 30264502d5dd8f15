"""`collsim llm`: what a model asks of a machine under a parallel plan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from simulator.commands.complete import ScenarioPath
from simulator.commands.loaded import Loaded
from simulator.commands.shared import console, one_file

if TYPE_CHECKING:
    from simulator.scenario.plan_models import PlanScenario
    from simulator.scenario.plan_run import PlanResult
    from simulator.scenario.sheets import Sheet

FORMS: Final = ("text", "json", "csv", "markdown")
SYMBOLS: Final = ("L", "B", "I", "O", "D", "N", "k")

Command = TypeVar("Command", bound=Callable[..., Any])


@click.group(
    commands=Loaded(
        {name: f"simulator.commands.llm_{name}" for name in ("step", "serve", "search", "experts")}
    )
)
def llm() -> None:
    """Plan a language model: memory, traffic, steps, inference.

    Counts what each rank holds and what moves, and simulates steps and inference. FILE is a YAML file
    with `model`, `parallel` and `batch`, or library:llm/NAME.
    """


def in_forms(command: Command) -> Command:
    """Give a subcommand its FILE, --format and --json."""
    return click.argument("file", type=ScenarioPath(path_type=Path))(with_forms(command))


def with_forms(command: Command) -> Command:
    """Give a subcommand its --format and --json."""
    command = click.option("--json", "as_json", is_flag=True, help="Short for --format json.")(command)
    return click.option(
        "--format", "form", type=click.Choice(FORMS), help="What to print; text where it does not say."
    )(command)


def chosen(form: str | None, as_json: bool) -> str:
    """The form that --format and --json ask for, which must not be two."""
    if as_json and form not in (None, "json"):
        raise click.UsageError(f"found both --json and --format {form}")
    return "json" if as_json else form or "text"


def _numbers(_context: click.Context, _option: click.Parameter, text: str | None) -> dict[str, int] | None:
    """Read L=80,B=4096."""
    if text is None:
        return None
    numbers: dict[str, int] = {}
    for word in text.split(","):
        name, _, number = word.partition("=")
        if name.strip() not in SYMBOLS or not number.strip().isdecimal() or not int(number):
            known = ", ".join(SYMBOLS)
            raise click.BadParameter(f'found "{word}", expected e.g. L=80 with one of {known}')
        if name.strip() in numbers:
            raise click.BadParameter(f"found {name.strip()} twice")
        numbers[name.strip()] = int(number)
    return numbers


@llm.command()
@in_forms
def memory(file: Path, form: str | None, as_json: bool) -> None:
    """Count what a rank of each stage holds.

    Says what no longer fits.
    """
    from simulator.scenario.memory_tables import memory_json, memory_sheet, plan_lines, verdict

    form, result = chosen(form, as_json), worked_out(file)
    if form == "json":
        click.echo(memory_json(result), nl=False)
        return
    print_sheets([memory_sheet(result.memory)], form, before=list(plan_lines(result)))
    if form != "csv":
        click.echo(verdict(result.memory))


@llm.command()
@click.argument("file", required=False, type=ScenarioPath(path_type=Path))
@with_forms
@click.option(
    "--at", metavar="L=80,B=4096,...", callback=_numbers, help="Numbers for the symbols; bytes then."
)
@click.option(
    "--element", type=click.IntRange(min=1), default=2, show_default=True, help="Bytes of an element."
)
@click.option(
    "--ranks", type=click.IntRange(2, 64), default=8, show_default=True, help="N to count bytes on."
)
def states(
    file: Path | None, form: str | None, as_json: bool, at: dict[str, int] | None, element: int, ranks: int
) -> None:
    """Print the states of variables.

    Says what turns one into another, and what every strategy does. With a FILE, those of its plan. Without
    one, the tables of the second seed document beside what must be: in L layers, B tokens, I inputs, O
    outputs (or D of both), N ranks, k experts a token, and M bytes of a variable.
    """
    from simulator.llm.errors import ModelError
    from simulator.scenario.plan_state_tables import plan_sheets
    from simulator.scenario.state_tables import seed_sheets, sheets_json

    form = chosen(form, as_json)
    if file is None:
        try:
            sheets = seed_sheets(ranks, at, element)
        except ModelError as error:
            raise click.BadParameter(error.message, param_hint="--at") from None
    elif at is not None:
        raise click.UsageError("--at is for the tables without a FILE; a plan has its own numbers")
    else:
        sheets = plan_sheets(laid_out(file))
    if form == "json":
        click.echo(sheets_json(sheets), nl=False)
    else:
        print_sheets(sheets, form)


@llm.command()
@in_forms
def traffic(file: Path, form: str | None, as_json: bool) -> None:
    """Count what every group of ranks sends in a step.

    Says over which level of the topology it goes.
    """
    from simulator.scenario.traffic_run import work_out_traffic
    from simulator.scenario.traffic_tables import (
        traffic_json,
        traffic_lines,
        traffic_sheets,
        traffic_verdict,
    )

    form, result = chosen(form, as_json), work_out_traffic(one_file(file))
    if form == "json":
        click.echo(traffic_json(result), nl=False)
        return
    print_sheets(traffic_sheets(result), form, before=list(traffic_lines(result)))
    if form != "csv":
        click.echo(traffic_verdict(result))


@llm.command("vendor-allreduce")
@click.option(
    "--ranks", type=click.IntRange(1, 256), default=8, show_default=True, help="Chips, an even number or one."
)
@click.option(
    "--sizes",
    default="64KiB..64MiB",
    show_default=True,
    help="M: a range, by doubling, or a list as 1MiB,16MiB.",
)
@click.option(
    "--element", type=click.IntRange(1, 16), default=2, show_default=True, help="Bytes of an element."
)
@click.option(
    "--variant",
    type=click.Choice(["tpu.json", "newer"]),
    multiple=True,
    help="A version of the planner; both where it does not say.",
)
@with_forms
def vendor_allreduce(
    ranks: int, sizes: str, element: int, variant: tuple[str, ...], form: str | None, as_json: bool
) -> None:
    """Price SG2260's AllReduce as SOPHGO does.

    Beside the formula of its planner stands the same simulated on two rings whose chips are paired: a
    message goes through memory, link and sum one after the other, as the formula adds them up; then all of
    them at once.
    """
    from simulator.llm.errors import ModelError
    from simulator.scenario.errors import UnitError
    from simulator.scenario.ranges import parse_sizes
    from simulator.scenario.vendor_tables import vendor_json, vendor_rows, vendor_sheets

    form = chosen(form, as_json)
    try:
        rows = vendor_rows(tuple(dict.fromkeys(variant)), ranks, parse_sizes(sizes), element)
    except UnitError as error:
        raise click.BadParameter(str(error), param_hint="--sizes") from None
    except ModelError as error:
        raise click.BadParameter(error.message, param_hint="--ranks") from None
    if form == "json":
        click.echo(vendor_json(rows), nl=False)
    else:
        print_sheets(vendor_sheets(rows), form)


def laid_out(file: Path) -> PlanScenario:
    """The plan of a file, held against its topology; nothing of it is counted."""
    from simulator.scenario.plan_load import load_plan
    from simulator.scenario.plan_run import plan_topology

    scenario = load_plan(one_file(file))
    plan_topology(scenario)
    return scenario


def worked_out(file: Path) -> PlanResult:
    """The plan of a file, held against its topology."""
    from simulator.scenario.plan_run import work_out

    return work_out(one_file(file))


def print_sheets(sheets: Sequence[Sheet], form: str, before: Sequence[str] = ()) -> None:
    """Print tables as text, CSV or Markdown, after lines that CSV leaves out."""
    from simulator.scenario.sheets import sheet_csv, sheet_markdown, sheet_table

    if form == "csv":
        click.echo("\n".join(map(sheet_csv, sheets)), nl=False)
        return
    if before:
        click.echo(("\n\n" if form == "markdown" else "\n").join(before))
    for sheet in sheets:
        if form == "markdown":
            click.echo(f"\n{sheet_markdown(sheet)}")
        else:
            console().print(sheet_table(sheet))
