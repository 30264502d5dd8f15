from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.scenario import units
from simulator.scenario.errors import UnitError
from topologies import text as words

# by hand, from the meaning of the prefixes
BANDWIDTHS: dict[str, int | Fraction] = {
    "B/s": 1,
    "kB/s": 1000,
    "KB/s": 1000,
    "MB/s": 10**6,
    "GB/s": 10**9,
    "TB/s": 10**12,
    "KiB/s": 1024,
    "MiB/s": 1024**2,
    "GiB/s": 1024**3,
    "TiB/s": 1024**4,
    "bit/s": Fraction(1, 8),
    "b/s": Fraction(1, 8),
    "kbit/s": 125,
    "Mb/s": 125_000,
    "Gbit/s": 125_000_000,
    "Gb/s": 125_000_000,
    "Tbit/s": 125 * 10**9,
    "Gibit/s": 2**27,
}
TIMES = {"fs": 15, "ps": 12, "ns": 9, "us": 6, "\u00b5s": 6, "\u03bcs": 6, "ms": 3, "s": 0}
SIZES = {"B": 1, "kB": 1000, "KB": 1000, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KiB": 2**10, "MiB": 2**20}
SIZES |= {"GiB": 2**30, "TiB": 2**40}

numbers = st.decimals(min_value=0, max_value=10**6, places=9).map(str)
spaces = st.sampled_from(["", " ", "  ", "\t"])


@given(numbers, spaces, st.sampled_from(sorted(BANDWIDTHS)))
def test_bandwidth_is_exact(number: str, space: str, unit: str) -> None:
    assert units.exact(f"{number}{space}{unit}", "bandwidth") == Fraction(Decimal(number)) * BANDWIDTHS[unit]


@given(numbers, spaces, st.sampled_from(sorted(TIMES)))
def test_time_is_exact(number: str, space: str, unit: str) -> None:
    assert units.exact(f"{number}{space}{unit}", "time") == Fraction(Decimal(number)) / 10 ** TIMES[unit]


@given(st.integers(0, 1024), spaces, st.sampled_from(sorted(SIZES)))
def test_size_is_exact(number: int, space: str, unit: str) -> None:
    assert units.size(f"{number}{space}{unit}") == number * SIZES[unit]


@given(st.integers(0, 10**9), st.integers(-20, 20))
def test_exponents_are_exact(mantissa: int, exponent: int) -> None:
    assert units.exact(f"{mantissa}e{exponent} s", "time") == mantissa * Fraction(10) ** exponent


def read_or_refuse(read: Callable[[str], float], text: str) -> float | str:
    try:
        return read(text)
    except UnitError as error:
        return error.message


@given(st.text() | st.from_regex(r"-?[0-9.]{1,4}(e-?[0-9]{1,3})? ?[kKMGTi]{0,2}[bBs](/s)?", fullmatch=True))
def test_any_text_is_read_or_refused(text: str) -> None:
    for read in (units.bandwidth, units.time, units.size):
        answer = read_or_refuse(read, text)
        assert answer.isprintable() if isinstance(answer, str) else answer >= 0


@pytest.mark.parametrize("number", ["8", "8.", ".5", "+8", "08", "1e-3", "1E+3", "1.5e3"])
def test_numbers(number: str) -> None:
    assert units.exact(f"{number} s", "time") == Fraction(number)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "s",
        "e3 s",
        "1_000 s",
        "1,5 s",
        "1 s s",
        "1 s2",
        "0x8 s",
        "\u0661 s",
        "1/2 s",
        "--1 s",
        "1e s",
        "1e1000 s",
        "9" * 41 + " s",
        "nan s",
        "inf s",
        "1 m s",
        "1\ns",
        "1\u00a0s",
    ],
)
def test_what_is_not_a_quantity(text: str) -> None:
    with pytest.raises(UnitError):
        units.exact(text, "time")


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("time", "8", '8 needs a unit, e.g. "8 us"'),
        ("bytes", "8", '8 needs a unit, e.g. "8 GiB"'),
        ("bandwidth", "8", '8 needs a unit, e.g. "8 GB/s"'),
        ("bandwidth", "64 GB", '"64 GB" is a size, not a bandwidth; did you mean "64 GB/s"?'),
        ("bandwidth", "8 us", '"8 us" is a time, not a bandwidth; expected e.g. "64 GB/s"'),
        ("bytes", "1 GB/s", '"1 GB/s" is a bandwidth, not a size; did you mean "1 GB"?'),
        ("bandwidth", "64 gb/s", 'unknown unit "gb/s" in "64 gb/s"; did you mean "GB/s"?'),
        ("bandwidth", "400 Gbps", 'unknown unit "Gbps" in "400 Gbps"; did you mean "Gb/s"?'),
        ("time", "8 US", 'unknown unit "US" in "8 US"; did you mean "us"?'),
        ("time", "8 fortnights", 'unknown unit "fortnights" in "8 fortnights"; expected a time, e.g. "8 us"'),
        ("time", "soon", '"soon" is not a time; expected a number and a unit, e.g. "8 us"'),
    ],
)
def test_messages(kind: units.Kind, text: str, message: str) -> None:
    with pytest.raises(UnitError) as caught:
        units.exact(text, kind)
    assert caught.value.message == message


def test_limits() -> None:
    assert units.bandwidth("1e6 TB/s") == 1e18
    assert units.bandwidth("0.001 B/s") == 1e-3
    assert units.time("1e6 s") == 1e6
    assert units.size(f"{2**50} B") == 2**50
    assert units.time("1e-30 s") == 1e-30
    assert units.time("0e300 s") == 0
    for read, text in [
        (units.bandwidth, "1000001 TB/s"),
        (units.bandwidth, "0.0009 B/s"),
        (units.time, "1000000.1 s"),
        (units.size, f"{2**50 + 1} B"),
        (units.bandwidth, "1e300 GB/s"),
        (units.bandwidth, "1e-300 GB/s"),
        (units.time, "1e99999999 us"),
        (units.time, "1e-99999999 us"),
        (units.time, f"1e{'9' * 30} us"),
        (units.time, "9e-31 s"),
        (units.size, "9" * 5000 + " B"),
        (units.size, "1e-50 B"),
    ]:
        with pytest.raises(UnitError, match="is out of range: expected"):
            read(text)


def test_a_quantity_is_written_shortly() -> None:
    with pytest.raises(UnitError, match="is longer than 200 characters"):
        units.time("1." + "0" * 5000 + " us")


@given(st.integers(0, 999_999), st.sampled_from(["B", "kB", "MB", "GB", "KiB", "MiB", "GiB"]))
def test_what_is_formatted_is_read_again(number: int, unit: str) -> None:
    count = number * SIZES[unit]
    again = units.size(words.format_bytes(count))
    assert abs(again - count) <= 5e-6 * count


@given(st.floats(1e-3, 1e17))
def test_a_formatted_bandwidth_is_read_again(bandwidth: float) -> None:
    assert units.bandwidth(words.format_bandwidth(bandwidth)) == pytest.approx(bandwidth, rel=1e-5)
