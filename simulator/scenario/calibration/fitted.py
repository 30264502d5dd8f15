"""Fitting alpha, beta, gamma and a start-up cost to series of times, all of them together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np

from simulator.scenario.calibration.explain import Part, coefficients, explain
from simulator.scenario.calibration.forms import Form, forms_of
from simulator.scenario.calibration.robust import Fit, fit, information
from topologies.errors import CollsimError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.scenario.measurements.series import Series

MOST_PROTOCOLS: Final = 4
FAR: Final = 0.2
"""Relative error from which on a time is not explained."""


@dataclass(frozen=True, slots=True)
class Value:
    """A fitted parameter, and the ends of its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Protocol:
    """alpha (s) and beta (bytes/s) of every level that is used; None where nothing tells it."""

    alphas: tuple[Value | None, ...]
    betas: tuple[Value | None, ...]


@dataclass(frozen=True, eq=False)
class Calibration:
    """What logs tell of a machine.

    Attributes
    ----------
    series : tuple of Series
    dims : tuple of int
        Ranks along every level.
    forms : tuple of sequence of Form
        What may explain each series.
    parts : tuple of tuple of Part
        What explains each series.
    protocols : tuple of Protocol
    startup : Value or None
        s before anything is sent; None where the logs cannot tell it from alpha.
    gamma : Value or None
        bytes/s; None where they cannot tell it from beta, or it makes no difference.
    predicted : tuple of ndarray of float
        s at every point of each series.
    """

    series: tuple[Series, ...]
    dims: tuple[int, ...]
    forms: tuple[Sequence[Form], ...]
    parts: tuple[tuple[Part, ...], ...]
    protocols: tuple[Protocol, ...]
    startup: Value | None
    gamma: Value | None
    predicted: tuple[NDArray[np.float64], ...]

    @cached_property
    def errors(self) -> tuple[NDArray[np.float64], ...]:
        """Predicted over measured, less 1, at every point of each series."""
        return tuple(
            found / np.array([point.time for point in one.points]) - 1
            for one, found in zip(self.series, self.predicted, strict=True)
        )


def fit_series(
    series: Sequence[Series],
    *,
    algorithms: Sequence[str] | None = None,
    dims: Sequence[int] | None = None,
    limits: Sequence[float | None] | None = None,
    protocols: int = MOST_PROTOCOLS,
) -> Calibration:
    """Fit series of times of one machine.

    Parameters
    ----------
    series : sequence of Series
    algorithms : sequence of str, optional
        Those that may have been at work; by default all of the catalogue.
    dims : sequence of int, optional
        Ranks along every level, innermost first; by default all on one level.
    limits : sequence of float or None, optional
        Most bytes/s that a rank sends at each level, where it is known.
    protocols : int
        Most protocols, each with an alpha and beta of its own.

    Raises
    ------
    CollsimError
        If a log is of one rank, has too few sizes, or no algorithm is known to do what it times.
    """
    shape = tuple(dims) if dims else (max(one.ranks for one in series),)
    for one in series:
        _check(one, shape)
    forms = tuple(forms_of(one, shape, algorithms) for one in series)
    for one, some in zip(series, forms, strict=True):
        if not some:
            raise CollsimError(f"{one.file}: no closed form for {one.kind} on {one.ranks} ranks")
    caps = tuple(limits) if limits else (None,) * len(shape)
    parts = tuple(explain(one, some, caps, protocols) for one, some in zip(series, forms, strict=True))
    return _fitted(tuple(series), shape, forms, parts)


def _check(one: Series, dims: Sequence[int]) -> None:
    if one.ranks < 2:
        raise CollsimError(
            f"{one.file}: times {one.kind} of one rank, which sends nothing (of more, each ran alone)"
        )
    if one.ranks > prod(dims):
        raise CollsimError(f"{one.file}: {one.ranks} ranks are more than the topology's {prod(dims)}")
    sizes = {point.size for point in one.points}
    if len(sizes) < 3:
        raise CollsimError(f"{one.file}: {one.kind} has {len(sizes)} sizes; a fit needs 3 at least")


def _fitted(
    series: tuple[Series, ...],
    dims: tuple[int, ...],
    forms: tuple[Sequence[Form], ...],
    parts: tuple[tuple[Part, ...], ...],
) -> Calibration:
    """All series together; a start-up cost and gamma where the logs tell them, and they help."""
    times = np.concatenate([[point.time for point in one.points] for one in series])
    count = max(part.protocol for those in parts for part in those) + 1
    base = np.concatenate(
        [coefficients(some, those, count) for some, those in zip(forms, parts, strict=True)]
    )
    reduced = np.concatenate([_reduced(some, those) for some, those in zip(forms, parts, strict=True)])
    best, used = fit(base, times), np.zeros(2, dtype=bool)
    for extra in (np.array([True, False]), np.array([False, True]), np.array([True, True])):
        design = np.column_stack([base, *np.stack([np.ones(len(times)), reduced])[extra]])
        if not _is_told(design, times):
            continue
        tried = fit(design, times)
        k, more = int((best.values > 0).sum()), int((tried.values > 0).sum())
        if information(tried.loss, len(times), more) < information(best.loss, len(times), k) - 2:
            best, used = tried, extra
    columns = iter(range(base.shape[1], base.shape[1] + 2))
    startup, rate = (_value(best, next(columns)) if one else None for one in used)
    design = np.column_stack([base, *np.stack([np.ones(len(times)), reduced])[used]])
    levels = len(dims)
    protocols = tuple(
        Protocol(
            tuple(_value(best, left + i) for i in range(levels)),
            tuple(_inverse(_value(best, left + levels + i)) for i in range(levels)),
        )
        for left in range(0, base.shape[1], 2 * levels)
    )
    ends = np.cumsum([0, *(len(one.points) for one in series)])
    predicted = design @ best.values
    return Calibration(
        *(series, dims, forms, parts, protocols, startup, _inverse(rate)),
        predicted=tuple(predicted[low:high] for low, high in pairwise(ends)),
    )


def _reduced(forms: Sequence[Form], parts: Sequence[Part]) -> NDArray[np.float64]:
    column = np.zeros(len(forms[0].reduced))
    for part in parts:
        here = slice(part.first, part.last + 1)
        column[here] = forms[part.form].reduced[here]
    return column


def _is_told(design: NDArray[np.float64], times: NDArray[np.float64]) -> bool:
    """Whether the columns are so different that each has a value of its own."""
    scaled = design / times[:, None]
    norms = np.linalg.norm(scaled, axis=0)
    kept = scaled[:, norms > 0] / norms[norms > 0]
    return bool(norms[-1] > 0 and np.linalg.svd(kept, compute_uv=False)[-1] > 1e-3)


def _value(found: Fit, column: int) -> Value | None:
    """A parameter; None where no point tells it."""
    value, spread = float(found.values[column]), float(found.spread[column])
    return Value(value, value / spread, value * spread) if value > 0 else None


def _inverse(found: Value | None) -> Value | None:
    if found is None:
        return None
    return Value(1 / found.value, 1 / found.high, float("inf") if found.low == 0 else 1 / found.low)
