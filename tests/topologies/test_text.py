"""Quantities in words; the expected texts are counted by hand."""

from __future__ import annotations

import pytest

from topologies.text import format_bandwidth, format_bytes, format_sizes, format_time


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (-0.0, "0 s"),
        (1e6, "1e+06 s"),
        (1.0, "1 s"),
        (0.0125, "12.5 ms"),
        (-0.0125, "-12.5 ms"),
        (1e-6, "1 us"),
        (999.9999999e-9, "1 us"),
        (999.9994e-9, "999.999 ns"),
        (2.5e-12, "2.5 ps"),
        (3e-15, "3 fs"),
        (5e-324, "4.94066e-309 fs"),
    ],
)
def test_times(seconds: float, words: str) -> None:
    assert format_time(seconds) == words


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (1000, "1 kB"),
        (1024, "1 KiB"),
        (1500, "1500 B"),
        (2**20 + 1, "1048577 B"),
        (3 * 2**40, "3 TiB"),
        (10**15, "1000 TB"),
        (123_456_789, "123.457 MB"),
    ],
)
def test_sizes(count: int, words: str) -> None:
    assert format_bytes(count) == words


@pytest.mark.parametrize(
    ("rate", "words"),
    [
        (0.001, "0.001 B/s"),
        (999.9999999, "1 kB/s"),
        (12.5e6, "12.5 MB/s"),
        (25 * 2**30, "26.8435 GB/s"),
        (2e12, "2 TB/s"),
    ],
)
def test_bandwidths(rate: float, words: str) -> None:
    assert format_bandwidth(rate) == words


def test_fewer_digits() -> None:
    assert format_time(0.014680064, digits=4) == "14.68 ms"
    # 999.96 ns has four digits only as 1 us
    assert format_time(999.96e-9, digits=4) == "1 us"
    assert format_bandwidth(25 * 2**30, digits=4) == "26.84 GB/s"
    assert format_bytes(123_456_789, digits=4) == "123.5 MB"


def test_sizes_of_a_sentence_have_units_of_one_kind() -> None:
    assert format_sizes(2**30, 896 * 2**20) == ("1 GiB", "896 MiB")
    assert format_sizes(2**30, 939_524_097) == ("1.07374 GB", "939.524 MB")
    assert format_sizes(2**30, 7, 0) == ("1 GiB", "7 B", "0 B")
