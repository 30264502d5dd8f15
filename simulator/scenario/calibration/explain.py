"""Which algorithm and protocol explains which sizes of a series: the least parameters for the least error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Final

import numpy as np

from simulator.scenario.calibration.breaks import breaks_of
from simulator.scenario.calibration.robust import first_guess, information

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.scenario.calibration.forms import Form
    from simulator.scenario.measurements.series import Series

BREAK: Final = 2
"""Parameters that a break counts as, since it is sought among all sizes (Zhang and Siegmund 2007)."""

AS_GOOD: Final = 2.0
"""Difference of the information criterion below which two explanations are as good (Raftery 1995)."""


@dataclass(frozen=True, slots=True)
class Part:
    """Sizes that one algorithm by one protocol explains.

    Attributes
    ----------
    first, last : int
        Of the series' points, both in it.
    form : int
        Of the series' forms.
    protocol : int
        Parts with the same have alpha and beta in common.
    others : tuple of int
        Forms that would do as well.
    """

    first: int
    last: int
    form: int
    protocol: int
    others: tuple[int, ...] = ()


def explain(
    series: Series, forms: Sequence[Form], limits: Sequence[float | None], most_protocols: int
) -> tuple[Part, ...]:
    """The parts of a series, and what explains each.

    Tried are up to four parts of the sizes, on each an algorithm (two different ones at most) and a protocol,
    which never goes back to an earlier one. Of those that are as good by Bayes' information criterion, the
    one of fewest parts and protocols is taken, and of these the first algorithms of the catalogue.

    Parameters
    ----------
    series : Series
    forms : sequence of Form
        At least one.
    limits : sequence of float or None
        Most bytes/s that a rank can send at each level, where it is known: what needs more explains nothing.
    most_protocols : int
    """
    times = np.array([point.time for point in series.points])
    sizes = np.array([float(point.size) for point in series.points])
    tried: list[tuple[float, tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = []
    for at in breaks_of(sizes, times) or [()]:
        for which, protocols in _choices(len(at) + 1, len(forms), most_protocols):
            parts = _parts(len(times), at, which, protocols)
            values, lost = first_guess(coefficients(forms, parts, protocols[-1] + 1), times)
            score = information(lost, len(times), int((values > 0).sum()) + BREAK * len(at))
            if _is_possible(values, limits):
                tried.append((score, at, which, protocols))
    if not tried:
        # nothing is slow enough for the topology: the nearest is said, and so is that it cannot be
        return _parts(len(times), (), (0,), (0,))
    least = min(score for score, *_ in tried)
    good = [one for one in tried if one[0] < least + AS_GOOD]
    # fewer parts, then fewer protocols, then the order of the catalogue
    _, at, which, protocols = min(good, key=lambda one: (len(one[1]), max(one[3]), one[2]))
    others = [
        tuple(sorted({one[2][i] for one in good if one[1] == at and one[3] == protocols} - {which[i]}))
        for i in range(len(at) + 1)
    ]
    return _parts(len(times), at, which, protocols, others)


def _choices(parts: int, forms: int, most: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Forms and protocols of so many parts; neighbours differ in one of them."""
    for steps in product((0, 1), repeat=parts - 1):
        protocols = (0, *np.cumsum(steps).tolist())
        if protocols[-1] >= most:
            continue
        if parts > 3:
            # by then only the protocols can be what changes
            yield from (((form,) * parts, protocols) for form in range(forms) if all(steps))
            continue
        for which in product(range(forms), repeat=parts):
            changes = all(step or which[i] != which[i + 1] for i, step in enumerate(steps))
            if changes and len(set(which)) <= 2:
                yield which, protocols


def _parts(
    points: int,
    at: Sequence[int],
    which: Sequence[int],
    protocols: Sequence[int],
    others: Sequence[tuple[int, ...]] | None = None,
) -> tuple[Part, ...]:
    ends = [0, *at, points]
    return tuple(
        Part(ends[i], ends[i + 1] - 1, which[i], protocols[i], others[i] if others else ())
        for i in range(len(which))
    )


def coefficients(forms: Sequence[Form], parts: Sequence[Part], protocols: int) -> NDArray[np.float64]:
    """What every point of a series asks of each protocol's alphas, and then of its 1/betas, level by level.

    Returns
    -------
    ndarray of float, shape (points, 2 * levels * protocols)
    """
    points, levels = forms[0].alphas.shape
    design = np.zeros((points, 2 * levels * protocols))
    for part in parts:
        rows, left = slice(part.first, part.last + 1), 2 * levels * part.protocol
        design[rows, left : left + levels] = forms[part.form].alphas[rows]
        design[rows, left + levels : left + 2 * levels] = forms[part.form].bytes[rows]
    return design


def _is_possible(values: NDArray[np.float64], limits: Sequence[float | None]) -> bool:
    """Whether no beta is more than a rank's links carry."""
    inverse = values.reshape(-1, 2, len(limits))[:, 1, :]
    return all(
        limit is None or not ((column > 0) & (column < 1 / limit)).any()
        for limit, column in zip(limits, inverse.T, strict=True)
    )
