"""A sweep for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from simulator.scenario.sheets import Column, Sheet
from simulator.scenario.sweep.measures import measures_of, short_names

if TYPE_CHECKING:
    from simulator.scenario.sweep.result import Row, Sweep

SHOWN: Final = 200
"""Rows of a table."""


def sweep_sheet(sweep: Sweep) -> Sheet:
    """A row a point that came to something: what is varied, and what came of it."""
    rows = [row for row in sweep.rows if not row.error][:SHOWN]
    names = short_names(sweep)
    varied = [
        Column(name, [_text(row, number) for row in rows], words=_holds_words(sweep, number))
        for number, name in enumerate(names)
    ]
    figures = [
        Column(
            measure.title,
            [row.fields.get(measure.name) for row in rows],
            measure.form,
            words=measure.name == "bound_by",
        )
        for measure in measures_of(sweep)
    ]
    return Sheet(sweep.name, (*varied, *figures))


def _text(row: Row, number: int) -> str | int | None:
    """What is varied, as it was written."""
    return row.point.chosen[number].text if number < len(row.point.chosen) else row.point.seed


def _holds_words(sweep: Sweep, number: int) -> bool:
    axes = sweep.scenario.axes
    return number < len(axes) and any(isinstance(one.cell, str) for one in axes[number].values)


def sweep_lines(sweep: Sweep) -> Iterator[str]:
    """What the table does not show."""
    fine = len(sweep.rows) - len(sweep.failed)
    if fine > SHOWN:
        yield f"{fine - SHOWN} more rows; --csv has them all"


def failed_lines(sweep: Sweep) -> Iterator[str]:
    """The points that failed, a line each."""
    names = short_names(sweep)
    for row in sweep.failed[:SHOWN]:
        at = ", ".join(f"{name} {_text(row, number)}" for number, name in enumerate(names))
        yield f"{at}: {row.error}"
    if len(sweep.failed) > SHOWN:
        yield f"... and {len(sweep.failed) - SHOWN} more"
    if sweep.failed:
        yield f"{len(sweep.failed)} of {len(sweep.rows)} points failed"
