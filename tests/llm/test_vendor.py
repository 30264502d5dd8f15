"""SOPHGO's AllReduce times, from its planner's own formulas worked out by hand, and simulated."""

from __future__ import annotations

from fractions import Fraction

import pytest

from simulator.llm.errors import ModelError
from simulator.llm.vendor import VARIANTS, simulated_allreduce, vendor_allreduce
from simulator.scenario.vendor_tables import vendor_rows

NANOSECOND = Fraction(1, 10**9)

# us of 2 and of 8 chips: tpu.json, then newer with numbers of two bytes
EXPECTED = {
    2**16: ("2.450", "6.646", "2.257", "6.790"),
    2**20: ("26.45", "41.086", "27.11", "36.644"),
    2**24: ("410.45", "592.126", "301.532", "500.892"),
    2**26: ("1639.25", "2355.454", "1151.516", "1948.956"),
}
CASES = [(variant, ranks) for variant in ("tpu.json", "newer") for ranks in (2, 8)]


def test_the_formulas_to_a_nanosecond_and_the_simulation_beside_them() -> None:
    for size, times in EXPECTED.items():
        for (variant, ranks), time in zip(CASES, times, strict=True):
            formula = vendor_allreduce(variant, ranks, size)
            assert abs(formula - Fraction(time) / 10**6) <= NANOSECOND
            simulated = simulated_allreduce(variant, ranks, size)
            # the ends of `newer` are no whole femtoseconds, and neither is a hop over 512 GB/s of some sizes
            assert abs(simulated - formula) < Fraction(1, 10**13)


def test_1_mib_over_8_chips_by_hand() -> None:
    # us, with g = 128 KiB in kB and rates in GB/s: three sums, an exchange, half of it summed, three gathers
    g = Fraction(2**17, 1000)
    around = Fraction(1, 128) + Fraction(1, 512) + Fraction(1, 128)
    by_hand = 3 * (g * (Fraction(1, 32) + around) + Fraction(145, 100)) + g * (Fraction(1, 32) + around / 2)
    assert vendor_allreduce("tpu.json", 8, 2**20) * 10**6 == by_hand + 3 * g / 32


def test_links_alone_are_a_ring_at_64_gb_per_second() -> None:
    """The first seed's ring, 2 (N - 1)/N M / 64 GB/s, is left where legs overlap and commands are free."""
    commands = 3 * Fraction(145, 10**8)
    assert simulated_allreduce("tpu.json", 8, 2**20, order="overlapped") - commands == Fraction(
        2 * 7 * 2**17, 64 * 10**9
    )


def test_other_even_numbers_of_chips() -> None:
    for ranks in (4, 6, 10, 16, 34):
        for variant in VARIANTS:
            # blocks of whole bytes: those that are a byte longer set the pace
            apart = simulated_allreduce(variant, ranks, 2**20) - vendor_allreduce(variant, ranks, 2**20)
            assert 0 <= apart < NANOSECOND if ranks in (6, 10, 34) else abs(apart) < Fraction(1, 10**13)


def test_pieces_of_the_newer_version_count_in_full() -> None:
    # 2^19 numbers a chip are one piece; one more makes two, each of them counted whole
    one, more = (vendor_allreduce("newer", 8, 2 * (8 * 2**19 + extra)) for extra in (0, 8))
    ends = Fraction(2 * 2**20 * 10, 1152 * 10**9)
    assert more - ends == 2 * (one - ends)
    # numbers of four bytes: twice the bytes a piece, half the pieces
    assert vendor_allreduce("newer", 8, 2**26, 4) < vendor_allreduce("newer", 8, 2**26, 2)


def test_one_chip_takes_no_time() -> None:
    for variant in VARIANTS:
        assert vendor_allreduce(variant, 1, 2**20) == simulated_allreduce(variant, 1, 2**20) == 0
    assert vendor_rows((), 1, [2**20], 2)[0].saved is None


@pytest.mark.parametrize(
    ("variant", "ranks", "size", "message"),
    [
        ("tpu.json", 3, 1, "SOPHGO's AllReduce is for an even number of chips, or one; found 3"),
        ("newer", 0, 1, "SOPHGO's AllReduce is for an even number of chips, or one; found 0"),
        ("older", 8, 1, 'there is no variant "older"; there are tpu.json and newer'),
        ("newer", 8, -1, "found -1 B of numbers of 2 B"),
    ],
)
def test_wrong_input(variant: str, ranks: int, size: int, message: str) -> None:
    for work_out in (vendor_allreduce, simulated_allreduce):
        with pytest.raises(ModelError) as caught:
            work_out(variant, ranks, size)
        assert caught.value.message == message
