from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from simulator.llm.errors import ModelError
from simulator.llm.notation import parse, quotient
from simulator.llm.symbols import Expression, expression, factor, symbols, total

N, L, B, D, M = symbols("N", "L", "B", "D", "M")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (N * L * B * D - L * B * D, "(N-1)LBD"),
        (M - M / N, "(N-1)M/N"),
        ((N - 1) * M / (N * N), "(N-1)M/N^2"),
        ((N * N - 1) / N, "(N-1)(N+1)/N"),
        (1 / N + 1 / L, "1/N + 1/L"),
        (1 / (L * N), "1/(NL)"),
        (2 * (N - 1) * M / N, "2(N-1)M/N"),
        (L * B * D / 2, "LBD/2"),
        (expression(0), "0"),
        (expression(1), "1"),
        (-N, "-N"),
        (1 - N, "-(N-1)"),
        (L * D - D / 3, "(3L-1)D/3"),
    ],
)
def test_text(value: Any, text: str) -> None:
    assert str(value) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("LBI + LOI + LBO", 3 * 5 * 11 + 3 * 7 * 11 + 3 * 5 * 7),
        ("1/N + 1/L", Fraction(5, 6)),
        ("1/LN", Fraction(1, 6)),
        ("3NLOI", 3 * 2 * 3 * 7 * 11),
        ("(N-1)LBD/2", Fraction(3 * 5 * 13, 2)),
        ("(N-1)(N+1)M/N", Fraction(3 * 17, 2)),
        ("(N-1)M/NN", Fraction(17, 4)),
        ("0", 0),
        ("1", 1),
    ],
)
def test_what_is_read(text: str, value: int | Fraction) -> None:
    assert parse(text).at(N=2, L=3, B=5, O=7, I=11, D=13, M=17) == value


def test_dividing_by_a_sum_is_refused() -> None:
    with pytest.raises(ModelError, match="cannot divide"):
        N / (N - 1)


def test_a_symbol_without_a_value_is_named() -> None:
    with pytest.raises(ModelError, match="no value for L, N"):
        (N * L * B).at(B=3)


def test_an_expression_is_the_product_of_its_factors() -> None:
    value = 6 * (N - 1) * (N + 1) * L / N
    taken = factor(value)
    product = taken.product
    for part in taken.sums:
        product = product * part
    assert product == value
    assert taken.sums == [N - 1, N + 1]


def test_leading_terms() -> None:
    assert ((N - 1) * M + (N - 1) / N * M).leading("N") == N * M
    assert (M - M / N).leading("N") == M
    assert expression(0).leading("N") == expression(0)


def test_replacing_by_an_expression() -> None:
    assert ((N - 1) / N * M).replaced(N=L, M=B * D) == (L - 1) / L * B * D


def test_quotients() -> None:
    assert quotient(N * M, (N - 1) * M) == "N/(N-1)"
    assert quotient(3 * (N - 1) * L, 2 * (N - 1) * L) == "3/2"
    assert quotient(expression(0), N) == "0"
    assert quotient(N, expression(0)) == "1/0"


def test_total_of_nothing_is_nothing() -> None:
    assert total([]) == Expression()
