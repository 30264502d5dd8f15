"""Ranges of all that a scenario measures, against values worked out by hand."""

from __future__ import annotations

import pytest

from simulator.scenario.errors import UnitError
from simulator.scenario.ranges import parse_range
from simulator.scenario.units import bandwidth, size, time


def test_doublings_end_where_the_range_does() -> None:
    assert parse_range("8..64") == ("8", "16", "32", "64")
    assert parse_range("3..20") == ("3", "6", "12", "20")
    assert [size(text) for text in parse_range("1 kB..5 kB")] == [1000, 2000, 4000, 5000]
    assert [time(text) for text in parse_range("500 ns..4us")] == [5e-7, 1e-6, 2e-6, 4e-6]
    assert [bandwidth(text) for text in parse_range("25 GB/s..1 Tbit/s")] == [25e9, 50e9, 100e9, 125e9]


def test_points_have_equal_ratios() -> None:
    assert parse_range("1..1000", 4) == ("1", "10", "100", "1000")
    assert parse_range("1 MB/s..1 GB/s", 4) == ("1 MB/s", "10 MB/s", "100 MB/s", "1 GB/s")
    assert parse_range("1 us..1 ms", 3)[1] == "31.6228 us"
    # close whole numbers are one
    assert parse_range("1..4", 100) == ("1", "2", "3", "4")


@pytest.mark.parametrize(
    ("text", "points", "message"),
    [
        ("ring..direct", None, "is no range"),
        ("8..x", None, "is no range"),
        ("1.5..8", None, "is no range"),
        ("1 KiB..8", None, "8 needs a unit"),
        ("1 KiB..8 us", None, "is a time, not a size"),
        ("8..8", None, "goes from"),
        ("0 us..1 us", None, "goes from"),
        ("1..8", 1, "2 to 200"),
        ("1 KiB..1 MiB", 201, "2 to 200"),
    ],
)
def test_what_is_no_range(text: str, points: int | None, message: str) -> None:
    with pytest.raises(UnitError, match=message):
        parse_range(text, points)
