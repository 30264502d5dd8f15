"""Exact expressions in symbols: sums of products of powers, as in (N-1)LBD or 1/N + 1/L."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import Final, TypeAlias

from simulator.llm.errors import ModelError

ORDER: Final = "NFGvmkLMBOID"
"""Single letters in the order in which a product names them; others follow."""

Powers: TypeAlias = tuple[tuple[str, int], ...]
"""A product of powers: symbol and exponent, no exponent 0, in the order of names."""

Number: TypeAlias = int | Fraction


@dataclass(frozen=True, slots=True)
class Expression:
    """A sum of products of whole powers of symbols, negative ones too, with exact coefficients.

    Attributes
    ----------
    terms : tuple of (powers, coefficient)
        Sorted; none has the coefficient 0.

    Examples
    --------
    >>> N, M = symbols("N", "M")
    >>> print((N - 1) / N * M, "|", (N - 1) / N * M + (N - 1) * M)
    (N-1)M/N | (N-1)(N+1)M/N
    >>> ((N - 1) * M).at(N=8, M=4)
    Fraction(28, 1)
    """

    terms: tuple[tuple[Powers, Fraction], ...] = ()

    def __add__(self, other: Expression | Number) -> Expression:
        total = dict(self.terms)
        for powers, coefficient in expression(other).terms:
            total[powers] = total.get(powers, Fraction(0)) + coefficient
        return _from(total)

    __radd__ = __add__

    def __neg__(self) -> Expression:
        return _from({powers: -coefficient for powers, coefficient in self.terms})

    def __sub__(self, other: Expression | Number) -> Expression:
        return self + -expression(other)

    def __rsub__(self, other: Number) -> Expression:
        return expression(other) - self

    def __mul__(self, other: Expression | Number) -> Expression:
        total: dict[Powers, Fraction] = {}
        for left, one in self.terms:
            for right, two in expression(other).terms:
                powers = _times(left, right)
                total[powers] = total.get(powers, Fraction(0)) + one * two
        return _from(total)

    __rmul__ = __mul__

    def __truediv__(self, other: Expression | Number) -> Expression:
        """Divide by a single product; a sum does not divide.

        Raises
        ------
        ModelError
        """
        divisor = expression(other)
        if len(divisor.terms) != 1:
            raise ModelError(f"cannot divide by {divisor}")
        [(powers, coefficient)] = divisor.terms
        inverse = tuple((name, -power) for name, power in powers)
        return self * Expression(((inverse, 1 / coefficient),))

    def __rtruediv__(self, other: Number) -> Expression:
        return expression(other) / self

    def __str__(self) -> str:
        return text(self)

    @property
    def names(self) -> frozenset[str]:
        """Symbols that occur."""
        return frozenset(name for powers, _ in self.terms for name, _ in powers)

    def replaced(self, **values: Expression | Number) -> Expression:
        """The expression with symbols replaced by numbers, or by products.

        >>> N, L, D = symbols("N", "L", "D")
        >>> print(((N - 1) * D).replaced(N=L))
        (L-1)D
        """
        total = expression(0)
        for powers, coefficient in self.terms:
            product = expression(coefficient)
            for name, power in powers:
                factor = expression(values.get(name, symbol(name)))
                for _ in range(abs(power)):
                    product = product * factor if power > 0 else product / factor
            total = total + product
        return total

    def at(self, **values: Number) -> Fraction:
        """The value where every symbol has one.

        Raises
        ------
        ModelError
            If a symbol has no value.
        """
        number = self.replaced(**values)
        if number.names:
            raise ModelError(f"no value for {', '.join(sorted(number.names))}")
        return dict(number.terms).get((), Fraction(0))

    def leading(self, name: str) -> Expression:
        """What counts where a symbol is large: the terms of its highest power.

        >>> N, M = symbols("N", "M")
        >>> print(((N - 1) / N * M).leading("N"), ((N - 1) * M + (N - 1) / N * M).leading("N"))
        M NM
        """
        power = max((dict(powers).get(name, 0) for powers, _ in self.terms), default=0)
        return Expression(tuple(term for term in self.terms if dict(term[0]).get(name, 0) == power))


def symbol(name: str) -> Expression:
    """A symbol by itself."""
    return Expression(((((name, 1),), Fraction(1)),))


def symbols(*names: str) -> tuple[Expression, ...]:
    """Several symbols."""
    return tuple(symbol(name) for name in names)


def expression(value: Expression | Number) -> Expression:
    """A number as an expression; an expression as it is."""
    if isinstance(value, Expression):
        return value
    return _from({(): Fraction(value)})


def total(parts: Iterable[Expression]) -> Expression:
    """Sum of expressions, 0 where there is none."""
    return sum(parts, Expression())


@dataclass(frozen=True, slots=True)
class Factors:
    """An expression taken apart: a product of powers, times sums that have no common factor."""

    product: Expression
    sums: list[Expression]


def factor(value: Expression) -> Factors:
    """Take out what all terms have in common, then N - 1 and N + 1 of every symbol."""
    if not value.terms:
        return Factors(value, [])
    common = {
        name: min(dict(powers).get(name, 0) for powers, _ in value.terms) for name in sorted(value.names)
    }
    powers = tuple((name, power) for name, power in common.items() if power)
    content = _content(coefficient for _, coefficient in value.terms)
    outside = Expression(((powers, content),))
    rest, sums = value / outside, []
    for name in sorted(rest.names):
        for root in (1, -1):
            while (divided := _divided(rest, name, root)) is not None:
                sums.append(symbol(name) - root)
                rest = divided
    if not rest.names:
        return Factors(outside * rest, sums)
    return Factors(outside, [*sums, rest])


def _content(coefficients: Iterable[Fraction]) -> Fraction:
    """Largest number by which all coefficients divide to whole numbers; negative if all are."""
    every = list(coefficients)
    below = lcm(*(coefficient.denominator for coefficient in every))
    above = gcd(*(int(coefficient * below) for coefficient in every))
    return Fraction(-above if all(coefficient < 0 for coefficient in every) else above, below)


def _divided(value: Expression, name: str, root: int) -> Expression | None:
    """The polynomial in one symbol over (symbol - root), or None where that does not divide it."""
    if value.names != {name}:
        return None
    coefficient = {dict(powers).get(name, 0): number for powers, number in value.terms}
    found: dict[Powers, Fraction] = {}
    carried = Fraction(0)
    for power in range(max(coefficient), 0, -1):
        carried = coefficient.get(power, Fraction(0)) + carried * root
        found[((name, power - 1),) if power > 1 else ()] = carried
    if coefficient.get(0, Fraction(0)) + carried * root:
        return None
    return _from(found)


def text(value: Expression) -> str:
    """An expression for people: a product where it is one, else a sum of products in one symbol each.

    >>> N, L, O, I, B = symbols("N", "L", "O", "I", "B")
    >>> print((N - 1) * (L * O * I + L * B), "|", L * O * I + (N - 1) * O * I)
    (N-1)LB + (N-1)LOI | LOI + (N-1)OI
    """
    if not value.terms:
        return "0"
    parts = [value] if _is_product(value) else _grouped(value)
    return " + ".join(map(_product, parts)).replace("+ -", "- ")


def _is_product(value: Expression) -> bool:
    """Whether it is one of several symbols that is read best as a product: (Nv-1)BD."""
    sums = factor(value).sums
    return all(len(part.terms) == 2 and () in dict(part.terms) for part in sums)


def _grouped(value: Expression) -> list[Expression]:
    """The sum in as few parts as have one symbol each besides their common factors."""
    names = sorted(value.names, key=_place) or [""]
    ways = ([Expression(tuple(terms)) for terms in _groups(value, name).values()] for name in names)
    return min(ways, key=len)


def _groups(value: Expression, name: str) -> dict[Powers, list[tuple[Powers, Fraction]]]:
    """Terms by their powers of all symbols but one; those with low powers of it first."""
    groups: dict[Powers, list[tuple[Powers, Fraction]]] = {}
    for powers, number in sorted(value.terms, key=lambda term: _rank(term[0], name)):
        others = tuple((other, power) for other, power in powers if other != name)
        groups.setdefault(others, []).append((powers, number))
    for terms in groups.values():
        terms.sort()
    return dict(sorted(groups.items(), key=lambda item: _top(item[1], name)))


def _top(terms: list[tuple[Powers, Fraction]], name: str) -> int:
    return max(dict(powers).get(name, 0) for powers, _ in terms)


def _rank(powers: Powers, name: str) -> tuple[int, list[tuple[int, str]]]:
    return dict(powers).get(name, 0), [_place(other) for other, _ in powers]


def _product(value: Expression) -> str:
    taken = factor(value)
    [(powers, coefficient)] = taken.product.terms
    return product_text(powers, coefficient, taken.sums, [])


def _place(name: str) -> tuple[int, str]:
    """Where a symbol stands in a product: single letters as in `ORDER`, then words."""
    return (ORDER.find(name) if len(name) == 1 and name in ORDER else len(ORDER), name)


def _degree(powers: Powers) -> int:
    return sum(power for _, power in powers)


def product_text(
    powers: Powers, coefficient: Fraction, above: Iterable[Expression], below: Iterable[Expression]
) -> str:
    """A product of powers, times sums in brackets, over others."""
    sign = "-" if coefficient < 0 else ""
    upper = [(name, power) for name, power in powers if power > 0]
    lower = [(name, -power) for name, power in powers if power < 0]
    number = "" if abs(coefficient.numerator) == 1 else str(abs(coefficient.numerator))
    over = "" if coefficient.denominator == 1 else str(coefficient.denominator)
    numerator = number + "".join(f"({_plain(part)})" for part in above) + _letters(upper)
    parts = [f"({_plain(part)})" for part in below]
    denominator = over + "".join(parts) + _letters(lower)
    if not denominator:
        return sign + (numerator or "1")
    lone = len(denominator) == 1 or denominator.isdigit() or (len(parts) == 1 and denominator == parts[0])
    short = len(lower) == 1 and not over and not parts
    return f"{sign}{numerator or '1'}/{denominator if lone or short else f'({denominator})'}"


def _plain(value: Expression) -> str:
    """A sum in one symbol as it stands in brackets: N-1."""
    terms = sorted(value.terms, key=lambda term: -_degree(term[0]))
    words = [product_text(powers, coefficient, [], []) for powers, coefficient in terms]
    return "+".join(words).replace("+-", "-")


def _letters(powers: Iterable[tuple[str, int]]) -> str:
    """A product of powers: NLOI, N^2; words are set apart by stars."""
    ordered = sorted(powers, key=lambda item: _place(item[0]))
    words = [name if power == 1 else f"{name}^{power}" for name, power in ordered]
    letters = "".join(word for word, (name, _) in zip(words, ordered, strict=True) if len(name) == 1)
    others = [word for word, (name, _) in zip(words, ordered, strict=True) if len(name) > 1]
    return "*".join([letters, *others] if letters else others)


def _times(left: Powers, right: Powers) -> Powers:
    total = dict(left)
    for name, power in right:
        total[name] = total.get(name, 0) + power
    return tuple(sorted((name, power) for name, power in total.items() if power))


def _from(terms: Mapping[Powers, Fraction]) -> Expression:
    return Expression(tuple(sorted((powers, number) for powers, number in terms.items() if number)))
