"""Loops that numba compiles, and what runs where it is not, or does not work."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from topologies.loops import WORTH_LOADING, fast, numba_is_here


def double(number: int) -> int:
    return 2 * number


def doubled_sum(most: int) -> int:
    total = 0
    for number in range(most):
        total += double(number)
    return total


@pytest.fixture
def asked_anew() -> Iterator[None]:
    numba_is_here.cache_clear()
    yield
    numba_is_here.cache_clear()


@pytest.mark.usefixtures("asked_anew")
def test_numba_that_cannot_be_imported_is_not_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    assert not numba_is_here()
    assert fast(double, WORTH_LOADING) is double


def test_few_turns_are_not_worth_it() -> None:
    assert fast(double, 10) is double


def test_the_compiled_twin_does_the_same() -> None:
    pytest.importorskip("numba")
    assert fast(double, WORTH_LOADING)(21) == 42


def test_a_loop_may_call_its_steps() -> None:
    pytest.importorskip("numba")
    assert fast(doubled_sum, WORTH_LOADING, (double,))(5) == doubled_sum(5) == 20
