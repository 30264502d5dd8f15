"""The file that keeps what a sweep finds: whole, each row once, for several processes."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path

import pytest

from simulator.scenario.sweep.outcome import Outcome
from simulator.scenario.sweep.store import STORE, open_store
from topologies.errors import CollsimError


def write_all(folder: Path, first: int) -> None:
    """Open the file again and again, as several sweeps do, and write rows of which others write some."""
    for start in range(first, first + 60, 20):
        with open_store(folder) as store:
            for key in range(start, start + 20):
                store.keep([(f"{key}", Outcome({"time": key}))])


def test_two_processes_at_once(tmp_path: Path) -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        list(pool.map(write_all, [tmp_path / "out"] * 2, [0, 30]))
    with open_store(tmp_path / "out") as store:
        keys = [str(key) for key in range(100)]
        assert store.done(keys) == {str(key) for key in range(90)}
        assert {key: one.fields["time"] for key, one in store.outcomes(keys).items()} == {
            str(key): key for key in range(90)
        }
    with closing(sqlite3.connect(tmp_path / "out" / STORE)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_what_failed_is_not_done_and_is_replaced(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        store.keep([("a", Outcome({}, ("mind",), "too much")), ("b", Outcome({"gap": None}))])
        assert store.done(["a", "b", "c"]) == {"b"}
        assert store.outcomes(["a"]) == {"a": Outcome({}, ("mind",), "too much")}
        store.keep([("a", Outcome({"time": 1.5}))])
        assert store.outcomes(["a", "b"]) == {"a": Outcome({"time": 1.5}), "b": Outcome({"gap": None})}


def test_all_of_a_batch_or_nothing(tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        with pytest.raises(ValueError, match="JSON"):
            store.keep([("a", Outcome({"time": 1.0})), ("b", Outcome({"time": float("nan")}))])
        assert store.outcomes(["a", "b"]) == {}


def test_what_is_no_such_file(tmp_path: Path) -> None:
    (tmp_path / STORE).write_text("a diary, of some length, and no data of sqlite at all", encoding="utf-8")
    with (
        pytest.raises(CollsimError, match="cannot keep what a sweep finds: file is not a database"),
        open_store(tmp_path),
    ):
        pass
    with pytest.raises(CollsimError, match="cannot write"), open_store(tmp_path / STORE / "deep"):
        pass


@pytest.mark.parametrize("fields", ["{broken", "[1]", b"\xff\x00"])
def test_rows_that_something_else_has_written(fields: str | bytes, tmp_path: Path) -> None:
    with open_store(tmp_path) as store:
        store.keep([("a", Outcome({"time": 1.0}))])
    with closing(sqlite3.connect(tmp_path / STORE)) as connection, connection:
        connection.execute("UPDATE rows SET fields = ?", [fields])
    with (
        pytest.raises(CollsimError, match="holds what collsim has not written"),
        open_store(tmp_path) as store,
    ):
        store.done(["a"])
