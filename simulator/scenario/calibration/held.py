"""How well a fit tells times that it has not seen: every other size of a log is held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from simulator.scenario.calibration.fitted import fit_series
from simulator.scenario.calibration.forms import forms_of
from simulator.scenario.calibration.platform import part_at
from simulator.scenario.measurements.series import Point

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.scenario.calibration.fitted import Calibration
    from simulator.scenario.measurements.series import Series


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """Relative errors of a fit to half of the sizes, at the other half.

    Attributes
    ----------
    series : Series
        What was held out.
    errors : ndarray of float
        Predicted over measured, less 1.
    """

    series: Series
    errors: NDArray[np.float64]

    @property
    def median(self) -> float:
        """Median of the errors without their signs."""
        return float(np.median(np.abs(self.errors)))

    @property
    def largest(self) -> float:
        """The largest error, without its sign."""
        return float(np.abs(self.errors).max())


def hold_out(series: Sequence[Series], **how: Any) -> tuple[Held, ...]:
    """Fit every other size, and see how far the sizes in between are from it.

    Parameters
    ----------
    series : sequence of Series
    **how
        As `fit_series`.

    Raises
    ------
    CollsimError
        As `fit_series`.
    """
    seen, unseen = halves(series)
    found = fit_series(seen, **how)
    held = []
    for index, one in enumerate(unseen):
        times = np.array([point.time for point in one.points])
        predicted = predict(found, index, [point.size for point in one.points])
        held.append(Held(one, predicted / times - 1))
    return tuple(held)


def halves(series: Sequence[Series]) -> tuple[list[Series], list[Series]]:
    """Every other size of each series, and the sizes in between."""
    even: list[Series] = []
    odd: list[Series] = []
    for one in series:
        order = {size: i for i, size in enumerate(sorted({point.size for point in one.points}))}
        for parity, half in enumerate((even, odd)):
            points = tuple(point for point in one.points if order[point.size] % 2 == parity)
            half.append(replace(one, points=points))
    return even, odd


def predict(found: Calibration, index: int, sizes: Sequence[int]) -> NDArray[np.float64]:
    """Times of a series at other sizes, s.

    Parameters
    ----------
    found : Calibration
    index : int
        Of the series.
    sizes : sequence of int
        Bytes.
    """
    other = replace(found.series[index], points=tuple(Point(size, 1.0, 0) for size in sizes))
    known = found.forms[index]
    again = {form.name: form for form in forms_of(other, found.dims, [form.name for form in known])}
    times = np.full(len(sizes), found.startup.value if found.startup else 0.0)
    for row, size in enumerate(sizes):
        part = part_at(found, index, size)
        form, prices = again[known[part.form].name], found.protocols[part.protocol]
        times[row] += sum(
            n * alpha.value for n, alpha in zip(form.alphas[row], prices.alphas, strict=True) if alpha
        )
        times[row] += sum(
            sent / beta.value for sent, beta in zip(form.bytes[row], prices.betas, strict=True) if beta
        )
        times[row] += form.reduced[row] / found.gamma.value if found.gamma else 0.0
    return times
