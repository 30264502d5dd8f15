"""What each algorithm's closed form asks of alpha, beta and gamma, at the sizes of a log.

A closed form is a sum of rounds, so that a time is linear in alpha, 1/beta and 1/gamma of every level: its
coefficients are how many messages follow each other, how many bytes, and how many bytes are reduced.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from algorithms.errors import ScheduleError
from algorithms.registry import ALGORITHMS, rounds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.algorithm import Algorithm
    from simulator.scenario.measurements.series import Series

ALIKE: Final = 1e-9

NCCL: Final = ("ring", "double_binary_tree", "pat", "chain", "pairwise")
"""What NCCL and RCCL have of the catalogue; what switches do in the network has no such closed form."""


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """An algorithm's closed form at the sizes of a series.

    Attributes
    ----------
    name : str
        Of the algorithm.
    options : mapping
        With which it is written into a scenario.
    alphas : ndarray of float, shape (points, levels)
        Messages one after the other.
    bytes : ndarray of float, shape (points, levels)
        Bytes one after the other.
    reduced : ndarray of float, shape (points,)
        Bytes that are reduced one after the other.
    same : tuple of str
        Algorithms whose closed form is no other here.
    """

    name: str
    options: Mapping[str, Any]
    alphas: NDArray[np.float64]
    bytes: NDArray[np.float64]
    reduced: NDArray[np.float64]
    same: tuple[str, ...] = ()


def forms_of(series: Series, dims: Sequence[int], names: Sequence[str] | None) -> list[Form]:
    """The closed forms that may explain a series, in the order of the catalogue.

    Parameters
    ----------
    series : Series
    dims : sequence of int
        Ranks along every level, innermost first. An algorithm that knows no levels has its messages on the
        outermost that so many ranks reach.
    names : sequence of str, optional
        Of the algorithms; by default all that the library may have whose closed form needs nothing of a
        topology but alpha and beta.

    Raises
    ------
    ScheduleError
        If none that is named does the collective, or has a closed form; each log may have its own.
    """
    found: list[Form] = []
    refused: ScheduleError | None = None
    for name in _candidates(series) if names is None else names:
        try:
            form = _form(name, series, dims)
        except ScheduleError as error:
            refused, form = refused or error, None
        twin = next((i for i, other in enumerate(found) if form and _is_same(form, other)), None)
        if form is not None and twin is not None:
            known = found[twin]
            found[twin] = Form(
                *(known.name, known.options, known.alphas, known.bytes, known.reduced),
                same=(*known.same, name),
            )
        elif form is not None:
            found.append(form)
    if names is not None and not found:
        what = f'"{names[0]}" has no closed form for {series.kind} on {series.ranks} ranks'
        raise refused or ScheduleError(what)
    return found


def _candidates(series: Series) -> list[str]:
    able = [name for name, one in ALGORITHMS.items() if series.kind in one.collectives and _is_plain(one)]
    if series.library != "nccl":
        return able
    return [name for name in able if name in (*NCCL, "hierarchical")]


def _is_plain(algorithm: Algorithm) -> bool:
    """Whether nothing but alpha and beta of a message prices it: one port, and no options of a topology."""
    if algorithm.name == "hierarchical":
        return True
    return (
        algorithm.ideal in ("ring", "hypercube", "crossbar", "full_mesh") and algorithm.from_topology is None
    )


def _form(name: str, series: Series, dims: Sequence[int]) -> Form | None:
    level = next(i for i in range(len(dims)) if prod(dims[: i + 1]) >= series.ranks or i == len(dims) - 1)
    options: dict[str, Any] = {}
    if name == "hierarchical":
        if prod(dims) != series.ranks or len(dims) < 2:
            return None
        options = {"dims": tuple(dims)}
    shape = (len(series.points), len(dims))
    alphas, sent, reduced = np.zeros(shape), np.zeros(shape), np.zeros(len(series.points))
    for row, point in enumerate(series.points):
        turns = rounds(name, series.kind, series.ranks, point.size, **options)
        if turns is None or any(turn.pipelined for turn in turns):
            return None
        for turn in turns:
            at = turn.level if options else level
            alphas[row, at] += turn.times
            sent[row, at] += float(turn.times * turn.sent)
            reduced[row] += float(turn.times * turn.fan_in * turn.sent)
    return Form(name, options, alphas, sent, reduced)


def _is_same(one: Form, other: Form) -> bool:
    pairs = ((one.alphas, other.alphas), (one.bytes, other.bytes), (one.reduced, other.reduced))
    return all(np.allclose(a, b, rtol=ALIKE) for a, b in pairs)
