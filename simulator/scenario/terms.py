"""What an algorithm's closed form is made of: a term in alpha, one in M / beta, one in M / gamma."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal

from algorithms.bounds import textbook_bounds
from algorithms.collective import bus_factor
from algorithms.registry import ALGORITHMS, rounds
from simulator.scenario.defaults import options_on
from simulator.scenario.judge import analytic

if TYPE_CHECKING:
    from simulator.scenario.compare_runs import Timed
    from simulator.scenario.models import Scenario

Optimal = Literal["both", "latency", "bandwidth", "neither"]

_LARGE: Final = 1 << 40
"""Bytes; a closed form that is a straight line up to here is taken for one."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The closed form of an algorithm on a topology.

    Attributes
    ----------
    alphas : mapping of int to int
        How many alpha of each level follow each other.
    shares : mapping of int to Fraction
        Bytes that a rank sends at each level one after the other, in units of M.
    latency, bandwidth, reduction : float or None
        s at the scenario's size; None where the topology has no one alpha and beta.
    per_byte : float or None
        s of each further byte of M; None where the closed form is no straight line in M.
    optimal : {'both', 'latency', 'bandwidth', 'neither'}
        Whether the alphas are no more than the textbook's ceil(log2 N), and the bytes no more than
        its (N - 1) / N M, which is twice that for an AllReduce.
    """

    alphas: Mapping[int, int]
    shares: Mapping[int, Fraction]
    latency: float | None
    bandwidth: float | None
    reduction: float | None
    per_byte: float | None
    optimal: Optimal

    @property
    def parts(self) -> tuple[float | None, float | None, float | None]:
        """Seconds of latency, bandwidth and reduction."""
        return self.latency, self.bandwidth, self.reduction


def terms_of(timed: Timed) -> Terms | None:
    """Terms of an algorithm that was timed; None where it has no closed form."""
    choice = timed.scenario.collective
    if choice.own is not None or not ALGORITHMS[choice.algorithm].ideal:
        return None
    kind, ranks = choice.kind, timed.schedule.ranks
    options = options_on(timed.scenario, timed.topology)
    # of one byte: what is sent is then in units of M, of which a barrier has none
    turns = rounds(choice.algorithm, kind, ranks, 0 if kind == "barrier" else 1, **options)
    if turns is None:
        return None
    alphas: dict[int, int] = {}
    shares: dict[int, Fraction] = {}
    for turn in turns:
        alphas[turn.level] = alphas.get(turn.level, 0) + (0 if turn.pipelined else turn.times)
        shares[turn.level] = shares.get(turn.level, Fraction(0)) + turn.times * turn.sent
    return Terms(
        alphas,
        shares,
        *_priced(timed),
        _slope(timed),
        _optimal(kind, ranks, sum(alphas.values()), sum(shares.values(), Fraction(0))),
    )


def meeting(before: Terms | None, after: Terms | None) -> float | None:
    """Size in bytes at which two closed forms take the same time; None where there is none above 0."""
    if before is None or after is None or before.per_byte is None or after.per_byte is None:
        return None
    if before.latency is None or after.latency is None:
        return None
    later, steeper = after.latency - before.latency, before.per_byte - after.per_byte
    return later / steeper if later * steeper > 0 else None


def closed_form_at(timed: Timed, size: int, *, reduced: bool = True) -> float | None:
    """Seconds of the closed form of what was timed at a size, or without its reductions; None where none."""
    scenario = _resized(timed.scenario, size)
    if not reduced:
        scenario = replace(scenario, reduction=None)
    if timed.symmetry is not None:
        return timed.symmetry.analytic(scenario)
    return analytic(scenario, timed.topology, timed.place)


def _priced(timed: Timed) -> tuple[float | None, float | None, float | None]:
    """Seconds of latency, bandwidth and reduction."""
    size = timed.scenario.collective.size
    latency, wire = closed_form_at(timed, 0), closed_form_at(timed, size, reduced=False)
    whole = closed_form_at(timed, size)
    if latency is None or wire is None or whole is None:
        return None, None, None
    return latency, wire - latency, whole - wire


def _resized(scenario: Scenario, size: int) -> Scenario:
    return replace(scenario, collective=replace(scenario.collective, size=size))


def _slope(timed: Timed) -> float | None:
    """Seconds of each byte, where they are the same for every size."""
    none, half, whole = (closed_form_at(timed, size) for size in (0, _LARGE // 2, _LARGE))
    if none is None or half is None or whole is None:
        return None
    slope = (whole - none) / _LARGE
    return slope if abs(whole - 2 * half + none) <= 1e-9 * whole else None


def _optimal(kind: str, ranks: int, alphas: int, share: Fraction) -> Optimal:
    latency = alphas <= textbook_bounds(kind, ranks, 0, 1.0, 1.0).latency
    bandwidth = share <= (bus_factor(kind, ranks) or 0)
    if latency:
        return "both" if bandwidth else "latency"
    return "bandwidth" if bandwidth else "neither"
