"""Rows under a header: written as CSV as they come, or gathered as columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TextIO, TypeAlias

import numpy as np

from topologies.errors import CollsimError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray
    from pandas import DataFrame

    Column: TypeAlias = NDArray[Any] | list[Any]

Kind: TypeAlias = "Callable[[Any], int | float | str | bool]"
"""Makes a value of what is in a cell: int, float, str, bool."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    r"""A table. An empty cell is nothing.

    Attributes
    ----------
    kinds : mapping of str to callable
        Makes a value of what is in a cell, by the column's name.
    make : callable
        Gives the rows, from the first on at every call; numbers may be written out as text.

    Examples
    --------
    >>> rows = Rows({"rank": int, "time": float}, lambda: [(0, "0.50"), (1, "")])
    >>> rows.csv()
    'rank,time\n0,0.50\n1,\n'
    >>> {name: column.tolist() for name, column in rows.columns.items()}
    {'rank': [0, 1], 'time': [0.5, nan]}
    """

    kinds: Mapping[str, Kind]
    make: Callable[[], Iterable[Sequence[Any]]]

    @classmethod
    def of(cls, values: Mapping[str, Sequence[Any]]) -> Rows:
        """Columns of plain values by name, None for nothing, as rows: what mixes numbers and words is words.

        >>> Rows.of({"a": [1, None, 2.5], "b": [8, "auto", True]}).values()
        {'a': [1.0, None, 2.5], 'b': ['8', 'auto', 'True']}
        """
        kinds = {name: kind_of(some) for name, some in values.items()}
        return cls(kinds, lambda: zip(*values.values(), strict=True))

    def __iter__(self) -> Iterator[Sequence[Any]]:
        return iter(self.make())

    @property
    def names(self) -> tuple[str, ...]:
        """The header."""
        return tuple(self.kinds)

    def values(self) -> dict[str, list[Any]]:
        """Plain values of every column by name, None for nothing."""
        rows = list(self)
        return {
            name: [None if row[i] is None or row[i] == "" else kind(row[i]) for row in rows]
            for i, (name, kind) in enumerate(self.kinds.items())
        }

    @property
    def columns(self) -> dict[str, Column]:
        """Columns by name: numbers and truths as arrays, others as lists; as `as_column`."""
        return {name: as_column(values) for name, values in self.values().items()}

    def frame(self) -> DataFrame:
        """A pandas DataFrame, with missing whole numbers as missing.

        Raises
        ------
        CollsimError
            If pandas is not installed.
        """
        return frame_of(self.values())

    def csv(self) -> str:
        """As CSV."""
        text = io.StringIO()
        self._write(text)
        return text.getvalue()

    def save(self, path: Path) -> None:
        """Write as CSV, row by row."""
        with path.open("w", encoding="utf-8", newline="") as stream:
            self._write(stream)

    def _write(self, stream: TextIO) -> None:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(self.names)
        writer.writerows(self)


def kind_of(values: Iterable[Any]) -> Kind:
    """What all of some values are; fractions are numbers, and nothing is a word."""
    kinds = {type(value) for value in values if value is not None}
    if not kinds:
        return str
    if len(kinds) == 1 and kinds <= {bool, int}:
        return bool if bool in kinds else int
    return float if kinds <= {int, float, Fraction} else str


def as_column(values: Sequence[Any]) -> Column:
    """Values as an array where they are numbers.

    Whole numbers are int64 where none is missing, other numbers float64 with nan for what there is
    not; truths are bool where none is missing; all else is a list, with None for nothing.

    >>> as_column([1, None]).tolist(), as_column([1, 2]).dtype, as_column(["ring", None])
    ([1.0, nan], dtype('int64'), ['ring', None])
    """
    kinds = {type(value) for value in values if value is not None}
    if kinds == {bool} and None not in values:
        return np.array(values, dtype=np.bool_)
    if not kinds or not kinds <= {int, float}:
        return list(values)
    if kinds == {int} and None not in values and max(map(abs, values)) < 2**63:
        return np.array(values, dtype=np.int64)
    return np.array([np.nan if value is None else float(value) for value in values])


def frame_of(values: Mapping[str, Sequence[Any]]) -> DataFrame:
    """Columns of plain values as a pandas DataFrame.

    Raises
    ------
    CollsimError
        If pandas is not installed.
    """
    try:
        import pandas
    except ImportError:
        raise CollsimError("a DataFrame needs pandas: pip install 'collsim[pandas]'") from None
    return pandas.DataFrame({name: pandas.Series(some, dtype=_dtype(some)) for name, some in values.items()})


def _dtype(values: Sequence[Any]) -> str:
    """What pandas calls what some values are."""
    kinds = {type(value) for value in values if value is not None}
    some_missing = None in values
    if kinds == {bool}:
        return "boolean" if some_missing else "bool"
    if kinds == {int} and max(abs(value) for value in values if value is not None) < 2**63:
        return "Int64" if some_missing else "int64"
    return "float64" if kinds and kinds <= {int, float} else "object"
