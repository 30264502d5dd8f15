"""`collsim algorithms`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from simulator.commands.complete import names_of
from simulator.commands.shared import console, known

if TYPE_CHECKING:
    from algorithms.schedule import Schedule

TABLE_RANKS: Final = tuple(range(2, 17))


def _ranks(_context: click.Context, _option: click.Parameter, text: str | None) -> tuple[int, ...] | None:
    """Read N or FIRST..LAST."""
    if text is None:
        return None
    low, dots, high = text.partition("..")
    try:
        ranks = tuple(range(int(low), int(high if dots else low) + 1))
    except ValueError:
        ranks = ()
    if not ranks or ranks[0] < 1:
        raise click.BadParameter(f'found "{text}", expected a number of ranks from 1 on, or several as 2..16')
    return ranks


@click.command()
@click.argument("name", required=False, shell_complete=names_of("algorithm"))
@click.option(
    "--ranks", metavar="N", callback=_ranks, help="N of the trace, 8 by default; of the table, 2..16."
)
@click.option(
    "--collective",
    shell_complete=names_of("collective"),
    help="Which collective to trace; default the first that it does.",
)
@click.option("--root", type=click.IntRange(min=0), help="The root, where the collective has one.")
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help="An option, e.g. order=near or dims=4,2."
)
@click.option("--order", is_flag=True, help="Print who is combined with whom, chunk by chunk.")
@click.option("--table", is_flag=True, help="Print the steps of every algorithm, by number of ranks.")
@click.option(
    "--what",
    type=click.Choice(["steps", "messages", "bytes", "reduced"]),
    default="steps",
    show_default=True,
    help="What --table shows, bytes in units of M; CSV and JSON show all.",
)
@click.option(
    "--format", "form", type=click.Choice(["text", "csv", "json"]), default="text", help="Form of --table."
)
def algorithms(
    name: str | None,
    ranks: tuple[int, ...] | None,
    collective: str | None,
    root: int | None,
    settings: tuple[str, ...],
    order: bool,
    table: bool,
    what: str,
    form: str,
) -> None:
    """List the algorithms, or trace one step by step.

    NAME prints what is known of one, and its steps; --table counts the steps of all.
    """
    from algorithms.sampling import moves_of
    from algorithms.schedule import check_moves
    from simulator.scenario.catalogue import algorithms_table, order_lines

    if table:
        _print_table(name, ranks or TABLE_RANKS, collective, what, form)
        return
    if name is None:
        if order:
            raise click.UsageError("--order needs the name of an algorithm")
        console().print(algorithms_table())
        return
    count, *others = ranks or (8,)
    if others:
        raise click.UsageError("several numbers of ranks are for --table; name one")
    schedule, options = _built(name, collective, count, root, settings)
    check_moves(moves_of(schedule))
    if order:
        for line in order_lines(schedule):
            click.echo(line)
        return
    _print_trace(name, schedule, options)


def _built(
    name: str, collective: str | None, ranks: int, root: int | None, settings: Sequence[str]
) -> tuple[Schedule, dict[str, Any]]:
    """The schedule that was asked for, in as many bytes as chunks, and its options."""
    from algorithms.registry import ALGORITHMS, build
    from simulator.scenario.options import parse_options

    algorithm = known(name, ALGORITHMS, "algorithm")
    kind = collective and known(collective, dict.fromkeys(algorithm.collectives, collective), "collective")
    options = parse_options(name, _settings(settings))
    if root is not None:
        options["root"] = root
    kind = kind or algorithm.collectives[0]
    # as many bytes as chunks, so that every share of M is a whole number
    size = 0 if kind == "barrier" else build(name, kind, ranks, 0, **options).collective.chunks
    return build(name, kind, ranks, size, **options), options


def _print_trace(name: str, schedule: Schedule, options: dict[str, Any]) -> None:
    from algorithms.registry import ALGORITHMS, dimensions
    from simulator.scenario.catalogue import algorithm_lines, trace_table
    from simulator.scenario.tables import flow_table

    for line in algorithm_lines(ALGORITHMS[name]):
        click.echo(line)
    terminal = console()
    terminal.print(trace_table(schedule))
    if name == "hierarchical":
        terminal.print(flow_table(dimensions(name, schedule.ranks, options), schedule.collective.kind))


def _print_table(
    name: str | None, ranks: tuple[int, ...], collective: str | None, what: str, form: str
) -> None:
    from algorithms.collective import KINDS
    from algorithms.registry import ALGORITHMS
    from algorithms.steps import step_table
    from simulator.scenario.catalogue import steps_json, steps_rows, steps_tables

    names = tuple(ALGORITHMS) if name is None else (known(name, {n: n for n in ALGORITHMS}, "algorithm"),)
    kinds = tuple(KINDS) if collective is None else (known(collective, {k: k for k in KINDS}, "collective"),)
    counted = step_table(ranks, kinds, names)
    if form == "text":
        for table in steps_tables(counted, what):
            console().print(table)
    else:
        click.echo(steps_rows(counted).csv() if form == "csv" else steps_json(counted), nl=False)


def _settings(settings: Sequence[str]) -> dict[str, str]:
    """Option texts by name, from KEY=VALUE words."""
    for setting in settings:
        if "=" not in setting[1:]:
            raise click.UsageError(f'found "{setting}", expected KEY=VALUE, e.g. order=near')
    return dict(setting.split("=", 1) for setting in settings)
