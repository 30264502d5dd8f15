"""What every answer to a scenario can be turned into: tables, columns, JSON, files, a page of a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

    from pandas import DataFrame

    from simulator.scenario.forms import Forms
    from simulator.scenario.rows import Column, Rows


class Answer(ABC):
    """What came of a scenario.

    How each kind of answer does this stands in `simulator.scenario.forms`, which is loaded when somebody
    asks.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def headline(self) -> str:
        """What it is of, and what came of it, in a few words."""

    @property
    def tables(self) -> Mapping[str, Rows]:
        """Its tables by name, the one with most in it first."""
        return self._forms().tables(self)

    @property
    def columns(self) -> Mapping[str, Column]:
        """Columns of its first table by name: numbers as numpy arrays, words as lists; times in s."""
        return next(iter(self.tables.values())).columns

    def frame(self, table: str | None = None) -> DataFrame:
        """One of its tables as a pandas DataFrame, by default the first.

        Raises
        ------
        CollsimError
            If there is no such table, or pandas is not installed.
        """
        tables = self.tables
        if table is None:
            return next(iter(tables.values())).frame()
        from simulator.scenario.errors import known

        return tables[known(table, tables, "table")].frame()

    def json(self) -> str:
        """As the command prints it with --json: the same bytes on every run."""
        return self._forms().json(self)

    def write(self, folder: str | os.PathLike[str], *, force: bool = False) -> list[Path]:
        """Write its files into a folder, as the command does with --out; where it has no --out, JSON and CSV.

        Parameters
        ----------
        folder : path-like
            New or empty, unless `force`.
        force : bool
            Overwrite what is there.

        Raises
        ------
        OutputError
            If the folder is in use or cannot be written.
        """
        return self._forms().write(self, Path(folder), force=force)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.headline}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the tables that are printed, and the picture."""
        from simulator.scenario.notebook import page

        return page(self._forms().printed(self), self._forms().figure(self))

    def _forms(self) -> Forms:
        from simulator.scenario.forms import forms_of

        return forms_of(self)
