"""What a sweep has found, in a file of sqlite3: killed and begun again it repeats nothing.

The file is in WAL mode: what is committed outlives a process that is killed, and several processes may
write to it at once.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final, TypeVar

from simulator.scenario.sweep.outcome import Outcome
from topologies.errors import CollsimError

Form = TypeVar("Form")

STORE: Final = "sweep.sqlite"
"""Name of the file in a folder of a sweep."""

_TABLE: Final = """
CREATE TABLE IF NOT EXISTS rows (
    key TEXT PRIMARY KEY, error TEXT NOT NULL, warnings TEXT NOT NULL, fields TEXT NOT NULL
) WITHOUT ROWID
"""
_WAIT: Final = 60.0
"""Seconds for which another process may hold the file."""

_PAUSE: Final = 0.01
_AT_ONCE: Final = 500
"""Keys of one question, of which sqlite3 takes a thousand."""


@dataclass(frozen=True, slots=True, eq=False)
class Store:
    """Outcomes of points by their keys, each once.

    Attributes
    ----------
    connection : sqlite3.Connection
    """

    connection: sqlite3.Connection

    def done(self, keys: Sequence[str]) -> set[str]:
        """Those of some keys that need not be run; a point that failed is tried again."""
        return {key for key, outcome in self._found(keys) if not outcome.error}

    def outcomes(self, keys: Sequence[str]) -> dict[str, Outcome]:
        """What came of some points."""
        return dict(self._found(keys))

    def keep(self, found: Iterable[tuple[str, Outcome]]) -> None:
        """Write outcomes down, all of them or none."""
        rows = [
            (key, one.error, json.dumps(one.warnings), json.dumps(one.fields, allow_nan=False))
            for key, one in found
        ]
        with self.connection:
            self.connection.execute("BEGIN IMMEDIATE")
            self.connection.executemany("INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?)", rows)

    def _found(self, keys: Sequence[str]) -> Iterator[tuple[str, Outcome]]:
        for first in range(0, len(keys), _AT_ONCE):
            part = list(keys[first : first + _AT_ONCE])
            marks = ", ".join("?" * len(part))
            query = f"SELECT key, fields, warnings, error FROM rows WHERE key IN ({marks})"
            for key, fields, warnings, error in self.connection.execute(query, part):
                yield key, Outcome(_read(fields, dict), tuple(_read(warnings, list)), error)


def _read(text: Any, kind: type[Form]) -> Form:
    """What was written down, unless something else has written there."""
    try:
        found = json.loads(text)
    except (ValueError, TypeError):
        found = None
    if not isinstance(found, kind):
        raise sqlite3.DatabaseError("it holds what collsim has not written")
    return found


def _prepare(connection: sqlite3.Connection) -> None:
    """Set the mode and make the table, once nobody else is about to: sqlite does not wait for that itself."""
    until = monotonic() + _WAIT
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(_TABLE)
        except sqlite3.OperationalError as error:
            if monotonic() > until or not error.sqlite_errorname.startswith("SQLITE_BUSY"):
                raise
            sleep(_PAUSE)
        else:
            return


@contextmanager
def open_store(folder: Path | None) -> Iterator[Store]:
    """Open the file in a folder, and make both where there are none; without a folder nothing is kept.

    Raises
    ------
    CollsimError
        If it is another kind of file, or cannot be written.
    """
    path = ":memory:" if folder is None else str(folder / STORE)
    try:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(path, timeout=_WAIT, isolation_level=None)) as connection:
            _prepare(connection)
            yield Store(connection)
    except sqlite3.Error as error:
        raise CollsimError(f"{path}: cannot keep what a sweep finds: {error}") from None
    except OSError as error:
        raise CollsimError(f"cannot write {folder}: {error.strerror}") from None
