"""The points of a sweep: which values go together, and the scenario that they make."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Final

from simulator.scenario.errors import ScenarioError, ScenarioErrors
from simulator.scenario.plan_load import AnyScenario, read_any
from simulator.scenario.source import At, Block, Node, Scalar, Source
from simulator.scenario.sweep.paths import set_field

if TYPE_CHECKING:
    from simulator.scenario.sweep.models import How
    from simulator.scenario.sweep.values import Choice

ROUTING: Final[At] = ("network", "routing")
DRAWN: Final = ("ecmp", "spray", "valiant")
"""Kinds of routing that draw: all that is random in a scenario."""

TYPED: Final = -1
"""Line of what stands in no file, but was given beside it."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A field and its values.

    Attributes
    ----------
    name : str
        Its path, as it is written.
    at : path
    values : tuple of Choice
    place : Scalar
        Where its path is written.
    """

    name: str
    at: At
    values: tuple[Choice, ...]
    place: Scalar


@dataclass(frozen=True, slots=True)
class Point:
    """One scenario of a sweep.

    Attributes
    ----------
    number : int
        From 0.
    chosen : tuple of Choice
        The value of every field.
    seed : int or None
        None where none is varied, or nothing is drawn.
    """

    number: int
    chosen: tuple[Choice, ...]
    seed: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepScenario:
    """A scenario and what of it is varied.

    Attributes
    ----------
    name : str
    source : Source
        The whole, and what was given beside the file is in its block `sweep`.
    base : Source
        The scenario without that block.
    refused : tuple of ScenarioError
        Of the file, when it was parsed.
    axes : tuple of Axis
    how : {'grid', 'zip'}
    seeds : tuple of int or None
        None varies no seed.
    origin : str
        What stands in no file goes by this name in errors.
    """

    name: str
    source: Source = field(repr=False)
    base: Source = field(repr=False)
    refused: tuple[ScenarioError, ...] = ()
    axes: tuple[Axis, ...] = ()
    how: How = "grid"
    seeds: tuple[int, ...] | None = None
    origin: str = "vary"

    @property
    def varied(self) -> tuple[str, ...]:
        """Names of what is varied, `seed` last."""
        return (*(axis.name for axis in self.axes), *(() if self.seeds is None else ("seed",)))

    def points(self) -> tuple[Point, ...]:
        """All of them: of a grid the last field changes fastest, and seeds faster still."""
        return tuple(Point(i, *chosen) for i, chosen in enumerate(self._combinations()))

    def _combinations(self) -> Iterator[tuple[tuple[Choice, ...], int | None]]:
        values = [axis.values for axis in self.axes]
        for chosen in zip(*values, strict=True) if self.how == "zip" and values else product(*values):
            drawn = self.seeds is not None and self._draws(chosen)
            yield from ((chosen, seed) for seed in (self.seeds if drawn and self.seeds else (None,)))

    def _draws(self, chosen: tuple[Choice, ...]) -> bool:
        """Whether a seed makes a difference; it does not where something is wrong."""
        with suppress(ScenarioErrors):
            source = self._set(chosen)
            return source.word(_kind(source)[0]) in DRAWN
        return False

    def read(self, point: Point) -> AnyScenario:
        """Read the scenario of a point.

        Raises
        ------
        ScenarioErrors
            With everything that is wrong in it.
        """
        try:
            source = self._set(point.chosen)
            return read_any(source if point.seed is None else _seeded(source, point.seed), self.refused)
        except ScenarioErrors as error:
            raise said_by(error, self.origin) from None

    def _set(self, chosen: tuple[Choice, ...]) -> Source:
        """The scenario with its fields set, the whole of a block before its parts."""
        source = self.base
        pairs = sorted(zip(self.axes, chosen, strict=True), key=lambda pair: len(pair[0].at))
        for axis, choice in pairs:
            source = set_field(source, axis.at, choice.node, axis.place)
        return source


def is_typed(error: ScenarioError) -> bool:
    """Whether an error is in what stands in no file."""
    return error.line == TYPED


def said_by(error: ScenarioErrors, origin: str) -> ScenarioErrors:
    """Errors in which what stands in no file goes by a name."""
    return ScenarioErrors(
        ScenarioError(one.message, origin, at=one.at) if is_typed(one) else one for one in error.errors
    )


def _kind(source: Source) -> tuple[At, Node | None]:
    """Where a scenario says how it routes."""
    node = source.find(ROUTING)
    at: At = (*ROUTING, "kind") if isinstance(node, Block) else ROUTING
    return at, source.find(at)


def _seeded(source: Source, seed: int) -> Source:
    """The scenario with another seed of what it draws."""
    _, kind = _kind(source)
    if not isinstance(kind, Scalar):
        return source
    place = Scalar(kind.line, kind.column, "seed", "seed")
    whole = Block(
        kind.line,
        kind.column,
        {
            "kind": (Scalar(kind.line, kind.column, "kind", "kind"), kind),
            "seed": (place, Scalar(kind.line, kind.column, seed, str(seed))),
        },
    )
    return set_field(source, ROUTING, whole, place)
