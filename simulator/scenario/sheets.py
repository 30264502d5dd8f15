"""Tables that are printed in several forms: for a terminal, as Markdown, as CSV."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from simulator.scenario.rows import Rows, kind_of

if TYPE_CHECKING:
    from rich.table import Table

Value = int | float | str | Fraction | None
NOTHING = "-"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    header : str
    values : sequence
        As CSV has them.
    text : callable
        A value as people read it.
    words : bool
        Whether it holds words, which are set left and may be broken.
    shown : bool
        Whether people are shown it at all.
    unit : str
        Of the values, for CSV's header, where the header does not say it.
    """

    header: str
    values: Sequence[Value]
    text: Callable[..., str] = str
    words: bool = False
    shown: bool = True
    unit: str = ""

    @property
    def in_csv(self) -> str:
        """The header as one word without commas, colons and signs, with the unit.

        >>> Column("MFU %", []).in_csv, Column("timeline, most", [], unit="s").in_csv
        ('MFU_percent', 'timeline_most_s')
        """
        words = re.findall(r"[^ ,:]+", self.header.replace("%", "percent"))
        return "_".join([*words, *([self.unit] if self.unit else [])])

    @property
    def texts(self) -> list[str]:
        """Values as people read them."""
        return [NOTHING if value is None else self.text(value) for value in self.values]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table: columns of equal length under a title."""

    title: str
    columns: tuple[Column, ...]

    @property
    def visible(self) -> list[Column]:
        """Columns that people are shown."""
        return [column for column in self.columns if column.shown]


def sheet_table(sheet: Sheet) -> Table:
    """A table on a terminal."""
    from simulator.scenario.tables import new_table

    table = new_table(title=sheet.title)
    for column in sheet.visible:
        if column.words:
            table.add_column(column.header, justify="left", overflow="fold")
        else:
            table.add_column(column.header, justify="right", no_wrap=True)
    for row in zip(*(column.texts for column in sheet.visible), strict=True):
        table.add_row(*row)
    return table


def sheet_markdown(sheet: Sheet) -> str:
    r"""A table in Markdown, under its title.

    Examples
    --------
    >>> print(sheet_markdown(Sheet("Sizes", (Column("a", [1, 22]), Column("b", ["x|y", None], words=True)))))
    **Sizes**
    <BLANKLINE>
    | a | b |
    |--:|:--|
    | 1 | x\|y |
    | 22 | - |
    <BLANKLINE>
    """
    columns = sheet.visible
    lines = [_row(column.header for column in columns)]
    lines.append("|" + "|".join(":--" if column.words else "--:" for column in columns) + "|")
    lines += [_row(row) for row in zip(*(column.texts for column in columns), strict=True)]
    return f"**{sheet.title}**\n\n" + "\n".join(lines) + "\n"


def _row(cells: Iterable[str]) -> str:
    escaped = (cell.replace("|", "\\|").replace("\n", " ") for cell in cells)
    return "| " + " | ".join(escaped) + " |"


def sheet_csv(sheet: Sheet) -> str:
    """A table as CSV, all its columns, values as they are and headers of one word."""
    return sheet_rows(sheet).csv()


def sheet_rows(sheet: Sheet) -> Rows:
    """All columns of a table, values as they are and headers of one word."""
    kinds = {column.in_csv: kind_of(column.values) for column in sheet.columns}
    return Rows(kinds, lambda: zip(*(column.values for column in sheet.columns), strict=True))
