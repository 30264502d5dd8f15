"""WHAT: schedules of transfers, their proof, their costs and their bounds."""

from algorithms.algorithm import Algorithm
from algorithms.assembly import assemble
from algorithms.bounds import Bounds, lower_bounds, textbook_bounds
from algorithms.catalogue.hierarchical import level_flow
from algorithms.collective import COLLECTIVES, Collective, make_collective
from algorithms.compose import beside, fold, on, then, together
from algorithms.congestion import congestion_factor
from algorithms.counts import Counts, count
from algorithms.cuts import Cut
from algorithms.duality import dual
from algorithms.errors import ProofError, ScheduleError
from algorithms.order import association, keeps_order
from algorithms.platform import platforms
from algorithms.proof import prove
from algorithms.registry import ALGORITHMS, build, rounds, totals
from algorithms.rounds import Platform, Round, Totals, closed_form
from algorithms.schedule import COPY, REDUCE, Lists, Ranges, Schedule
from algorithms.trace import trace
from algorithms.variation import rooted, segmented

__all__ = [
    "ALGORITHMS",
    "COLLECTIVES",
    "COPY",
    "REDUCE",
    "Algorithm",
    "Bounds",
    "Collective",
    "Counts",
    "Cut",
    "Lists",
    "Platform",
    "ProofError",
    "Ranges",
    "Round",
    "Schedule",
    "ScheduleError",
    "Totals",
    "assemble",
    "association",
    "beside",
    "build",
    "closed_form",
    "congestion_factor",
    "count",
    "dual",
    "fold",
    "keeps_order",
    "level_flow",
    "lower_bounds",
    "make_collective",
    "on",
    "platforms",
    "prove",
    "rooted",
    "rounds",
    "segmented",
    "textbook_bounds",
    "then",
    "together",
    "totals",
    "trace",
]
