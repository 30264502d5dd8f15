"""What came of a sweep: its rows, and their columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from simulator.scenario.answer import Answer
from simulator.scenario.flat import gathered
from simulator.scenario.rows import as_column

if TYPE_CHECKING:
    from simulator.scenario.rows import Column
    from simulator.scenario.sweep.points import Point, SweepScenario

ERROR: Final = "error"
SEED: Final = "seed"


@dataclass(frozen=True, slots=True)
class Row:
    """What came of a point.

    Attributes
    ----------
    point : Point
    fields : mapping of str to int, float, str, bool or None
        The result, flat; empty where it failed.
    warnings : tuple of str
    error : str
        In one line; empty where it did not.
    """

    point: Point
    fields: Mapping[str, Any]
    warnings: tuple[str, ...] = ()
    error: str = ""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sweep(Answer):
    """A scenario run at every point of a sweep.

    Attributes
    ----------
    scenario : SweepScenario
    rows : tuple of Row
        In the order of the points.
    """

    scenario: SweepScenario
    rows: tuple[Row, ...]

    @property
    def headline(self) -> str:
        """What it is of, and what came of it."""
        return f"{self.name}: {len(self.rows)} points"

    @property
    def name(self) -> str:
        """What the scenario goes by."""
        return self.scenario.name

    @property
    def varied(self) -> tuple[str, ...]:
        """Names of what is varied: paths of fields, and `seed` last."""
        return self.scenario.varied

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns: what is varied, the fields of the results, and the error."""
        found = gathered([row.fields for row in self.rows])
        return tuple(dict.fromkeys((*self.varied, *found, ERROR)))

    @property
    def failed(self) -> tuple[Row, ...]:
        """Points that came to nothing."""
        return tuple(row for row in self.rows if row.error)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should know, each once."""
        return tuple(dict.fromkeys(warning for row in self.rows for warning in row.warnings))

    @property
    def columns(self) -> Mapping[str, Column]:
        """Columns by name, a value a row; times in s, sizes in bytes.

        Numbers are an array, of float64 with nan for what there is not, or of int64 where there is
        something in every row; truths an array of bool; others a list, with None for nothing.
        """
        return {name: as_column(values) for name, values in self.values().items()}

    def values(self) -> dict[str, list[Any]]:
        """Plain values of every column by name, None for nothing."""
        rows = list(self.records())
        return {name: [row[name] for row in rows] for name in self.names}

    def records(self) -> Iterator[dict[str, Any]]:
        """Every row by name of the column, None for nothing."""
        names = self.names
        for row in self.rows:
            chosen = dict(zip(self.varied, self.cells(row), strict=True))
            whole = {**row.fields, **chosen, ERROR: row.error or None}
            yield {name: whole.get(name) for name in names}

    def cells(self, row: Row) -> list[Any]:
        """What is varied, of a row."""
        cells: list[Any] = [choice.cell for choice in row.point.chosen]
        return cells + [row.point.seed] * (len(self.varied) - len(cells))
