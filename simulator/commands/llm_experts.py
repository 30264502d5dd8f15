"""`collsim llm experts`: how many ranks may share the experts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeAlias, TypeVar

import click

from simulator.commands.llm import chosen, in_forms, print_sheets
from simulator.commands.shared import one_file, progress

Number = TypeVar("Number", int, float)
Reader: TypeAlias = Callable[[click.Context, click.Parameter, str | None], tuple[Number, ...]]


def _numbers(kind: type[Number]) -> Reader[Number]:
    """Read numbers of 1 or more between commas."""

    def read(_context: click.Context, _option: click.Parameter, text: str | None) -> tuple[Number, ...]:
        numbers: list[Number] = []
        for word in text.split(",") if text is not None else ():
            try:
                number = kind(word)
            except ValueError:
                number = kind(0)
            if not 1 <= number <= 2**20:
                raise click.BadParameter(f'found "{word.strip()}", expected numbers of 1 or more, as 1,2,4')
            numbers.append(number)
        return tuple(dict.fromkeys(numbers))

    return read


@click.command()
@in_forms
@click.option("--ep", "eps", metavar="8,16,32", callback=_numbers(int), help="Ranks that share the experts.")
@click.option(
    "--machines", "limits", metavar="1,2,4", callback=_numbers(int), help="Machines of a token at most."
)
@click.option(
    "--skew", "skews", metavar="1,1.5,2", callback=_numbers(float), help="Busiest experts over the mean."
)
def experts(
    file: Path,
    form: str | None,
    as_json: bool,
    eps: tuple[int, ...],
    limits: tuple[int, ...],
    skews: tuple[float, ...],
) -> None:
    """Sweep how many ranks share the experts.

    Says what All-to-Alls take beside compute. One layer with experts, forward, of one micro-batch of every
    replica is simulated; the ranks and their tokens stay. FILE needs `hardware` and a `topology`, and
    experts; --machines needs `traffic: {node: ...}`.
    """
    from simulator.scenario.experts_run import work_out_experts
    from simulator.scenario.experts_tables import (
        experts_json,
        experts_lines,
        experts_sheet,
        experts_verdict,
    )

    form, path = chosen(form, as_json), one_file(file)
    with progress(path.stem) as report:
        result = work_out_experts(path, eps, limits, skews, report and partial(report, "layers"))
    if form == "json":
        click.echo(experts_json(result), nl=False)
        return
    print_sheets([experts_sheet(result)], form, before=list(experts_lines(result)))
    if form != "csv":
        click.echo("\n".join(experts_verdict(result)))
