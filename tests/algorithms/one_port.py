"""The textbook's one-port machine: a crossbar on which alpha is overhead and links are cut through."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from algorithms import Platform, Schedule, closed_form
from algorithms.rounds import Round
from simulator.engine.lower import lower
from simulator.engine.network import Network, Reduction
from simulator.engine.simpy_engine import run_simpy
from topologies import crossbar


def machine_time(
    schedule: Schedule, bandwidth: float, alpha: float, reduction: Reduction | None = None
) -> Fraction:
    """Seconds."""
    machine = crossbar(schedule.ranks, bandwidth, latency=0.0, overhead=alpha)
    return Fraction(run_simpy(lower(schedule, machine, Network("cut_through"), reduction)).time, 10**15)


def alpha_steps(schedule: Schedule) -> int:
    """Steps that a machine takes on which a message costs 1 us; the schedule is one of no bytes."""
    steps = machine_time(schedule, 1e9, 1e-6) * 10**6
    assert steps.denominator == 1
    return int(steps)


def beta_term(schedule: Schedule) -> Fraction:
    """Time of a machine on which messages cost nothing but their bytes, in units of M / beta."""
    return machine_time(schedule, 1e9, 0.0) * 10**9 / schedule.collective.size


def is_price(turns: tuple[Round, ...], schedule: Schedule, reduction: Reduction | None = None) -> bool:
    """Whether the closed form is what the machine takes, but for the rounding of hops to femtoseconds."""
    platform = Platform(0.0, 64e9, 3e-7)
    if reduction is not None:
        platform = replace(platform, reduction=reduction.bandwidth, mode=reduction.mode)
    hops = sum(turn.times * (1 + turn.fan_in) for turn in turns)
    apart = machine_time(schedule, 64e9, 3e-7, reduction) - closed_form(turns, [platform])
    return abs(apart) <= Fraction(hops, 10**15)
