"""Least squares of relative errors in which a single bad measurement does not count for much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Column = NDArray[np.float64]

SOFT: Final = 0.05
"""Relative error from which on an error counts by its size, and no longer by its square."""

NOISE: Final = 0.005
"""Relative error below which a better fit is no better: timers and averages are no finer."""

ROUNDS: Final = 4


def loss(errors: Column) -> float:
    """Sum of soft_l1 over logarithmic errors, as scipy's `least_squares` counts it, times two."""
    return float(np.sum(2 * SOFT**2 * (np.sqrt(1 + (errors / SOFT) ** 2) - 1)))


def first_guess(design: Column, times: Column) -> tuple[Column, float]:
    """Non-negative coefficients for small relative errors, and their loss.

    Parameters
    ----------
    design : ndarray of float, shape (points, parameters)
    times : ndarray of float, shape (points,)
    """
    from scipy.optimize import nnls

    scale = np.linalg.norm(design / times[:, None], axis=0)
    scale[scale == 0] = 1.0
    scaled, weights = design / times[:, None] / scale, np.ones(len(times))
    found: Column = np.zeros(design.shape[1])
    for _ in range(ROUNDS):
        found = nnls(scaled * weights[:, None], weights)[0]
        errors = scaled @ found - 1
        weights = (1 + (errors / SOFT) ** 2) ** -0.25
    return found / scale, loss(np.log(np.maximum(scaled @ found, 1e-9)))


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Parameters of a fit in log space.

    Attributes
    ----------
    values : ndarray of float
        0 or more.
    spread : ndarray of float
        Factor by which the true one may be larger or smaller, with 95 %; infinite where nothing is known.
    loss : float
    """

    values: Column
    spread: Column
    loss: float


def fit(design: Column, times: Column) -> Fit:
    """Fit parameters that are 0 or more by soft_l1 least squares of log(predicted / measured).

    Examples
    --------
    >>> sizes = np.array([1e3, 1e4, 1e5, 1e6, 1e7])
    >>> found = fit(np.stack([np.ones(5), sizes], axis=1), 5e-6 + sizes / 1e10)
    >>> [float(f"{value:.6g}") for value in found.values]
    [5e-06, 1e-10]
    """
    from scipy.optimize import least_squares

    guess, _ = first_guess(design, times)
    free = np.flatnonzero(guess > 0)
    part, logs = design[:, free], np.log(times)

    def errors(logged: Column) -> Any:
        return np.log(part @ np.exp(logged)) - logs

    found = least_squares(errors, np.log(guess[free]), loss="soft_l1", f_scale=SOFT, xtol=1e-14, ftol=1e-14)
    values, spread = np.zeros(len(guess)), np.full(len(guess), np.inf)
    values[free] = np.exp(found.x)
    spread[free] = _spread(found.jac, 2 * found.cost)
    return Fit(values, spread, 2 * float(found.cost))


def _spread(jacobian: Column, lost: float) -> Column:
    """95 % intervals as factors, from the curvature at the best fit."""
    from scipy.special import stdtrit

    points, parameters = jacobian.shape
    if points <= parameters:
        return np.full(parameters, np.inf)
    curvature = jacobian.T @ jacobian
    if np.linalg.cond(curvature) > 1e14:
        return np.full(parameters, np.inf)
    freedom = points - parameters
    variance = np.diag(np.linalg.inv(curvature)) * max(lost, points * NOISE**2) / freedom
    factors: Column = np.exp(np.minimum(stdtrit(freedom, 0.975) * np.sqrt(variance), 700.0))
    return factors


def information(lost: float, points: int, parameters: int) -> float:
    """Bayes' information criterion (Schwarz 1978), of errors no smaller than the noise; less is better."""
    return points * float(np.log(max(lost / points, NOISE**2))) + parameters * float(np.log(points))
