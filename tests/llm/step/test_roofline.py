"""Durations by hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from simulator.llm.errors import ModelError
from simulator.llm.hardware import Hardware
from simulator.llm.step.kernels import NOTHING, Work
from simulator.llm.step.roofline import Efficiency, duration

CHIP = Hardware(capacity=1, compute=4e15, memory_bandwidth=1e15)
"""Four operations, or one byte, a femtosecond."""


def test_the_slower_of_both_counts() -> None:
    one = Efficiency()
    assert duration(NOTHING, CHIP, one) == 0
    assert duration(Work("matmul", Fraction(400), Fraction(30)), CHIP, one) == 100
    assert duration(Work("matmul", Fraction(400), Fraction(130)), CHIP, one) == 130
    assert duration(Work(bytes=Fraction(30)), CHIP, one) == 30


def test_each_kind_has_its_efficiency() -> None:
    some = Efficiency(matmul=0.5, attention=0.25, memory=0.125)
    assert duration(Work("matmul", Fraction(400)), CHIP, some) == 200
    assert duration(Work("attention", Fraction(400)), CHIP, some) == 400
    assert duration(Work(bytes=Fraction(30)), CHIP, some) == 240


def test_rounded_once_half_to_even() -> None:
    for flops, time in ((2, 0), (6, 2), (10, 2), (11, 3)):
        assert duration(Work("matmul", Fraction(flops)), CHIP, Efficiency()) == time


def test_published_times() -> None:
    """A product of 4096 x 4096 x 4096 at A100's 312 TFLOP/s; 2 GB at 2039 GB/s."""
    a100 = Hardware(capacity=1, compute=312e12, memory_bandwidth=2039e9)
    product = Work("matmul", Fraction(2 * 4096**3), Fraction(3 * 2 * 4096**2))
    assert duration(product, a100, Efficiency()) == round(Fraction(2 * 4096**3 * 10**15, 312 * 10**12))
    assert duration(Work(bytes=Fraction(2 * 10**9)), a100, Efficiency()) == round(Fraction(2 * 10**15, 2039))


def test_hardware_must_say_how_fast_it_is() -> None:
    for hardware, key in (
        (Hardware(capacity=1, memory_bandwidth=1e9), "compute"),
        (Hardware(capacity=1, compute=1e9), "memory_bandwidth"),
    ):
        with pytest.raises(ModelError, match=key) as error:
            duration(NOTHING, hardware, Efficiency())
        assert error.value.at == ("hardware", key)


def test_efficiencies_are_above_0_and_at_most_1() -> None:
    for name in ("matmul", "attention", "memory"):
        wrongs: tuple[Any, ...] = (0, -1, 1.5, float("nan"), "1")
        for value in wrongs:
            with pytest.raises(ModelError) as error:
                Efficiency(**{name: value})
            assert error.value.at == (name,)
