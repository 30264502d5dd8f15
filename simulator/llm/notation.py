"""Expressions read as tables print them, and one over another."""

from __future__ import annotations

from fractions import Fraction

from simulator.llm.symbols import Expression, expression, factor, product_text, symbol, total


def parse(written: str) -> Expression:
    """Read a sum of products of single letters, as tables print it.

    >>> print(parse("3NLOI"), parse("1/N + 1/L"), parse("(N-1)LBD"), parse("0"))
    3NLOI 1/N + 1/L (N-1)LBD 0
    """
    return total(_parse_product(product.strip()) for product in written.split(" + "))


def _parse_product(written: str) -> Expression:
    above, _, below = written.partition("/")
    return _parse_factors(above) / _parse_factors(below or "1")


def _parse_factors(written: str) -> Expression:
    """Factors side by side; what stands in brackets is a letter and a number, or factors again."""
    product, rest = expression(1), written.replace(" ", "")
    while rest:
        digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
        if digits:
            product, rest = product * int(digits), rest[len(digits) :]
        elif rest[0] == "(":
            inner, _, rest = rest[1:].partition(")")
            product = product * _parse_bracket(inner)
        else:
            product, rest = product * symbol(rest[0]), rest[1:]
    return product


def _parse_bracket(inner: str) -> Expression:
    for sign, times in (("-", -1), ("+", 1)):
        left, found, right = inner.partition(sign)
        if found:
            return _parse_factors(left) + times * _parse_factors(right)
    return _parse_factors(inner)


def quotient(one: Expression, other: Expression) -> str:
    """One expression over another, as short as it gets.

    >>> from simulator.llm.symbols import symbols
    >>> N, M = symbols("N", "M")
    >>> quotient(N * M, (N - 1) * M), quotient((N - 1) / N * M + (N - 1) * M, (N - 1) * M)
    ('N/(N-1)', '(N+1)/N')
    """
    if not other.terms:
        return "0/0" if not one.terms else "1/0"
    above, below = factor(one), factor(other)
    for part in list(below.sums):
        if part in above.sums:
            above.sums.remove(part)
            below.sums.remove(part)
    [(powers, coefficient)] = (above.product / below.product).terms or (((), Fraction(0)),)
    return product_text(powers, coefficient, above.sums, below.sums)
