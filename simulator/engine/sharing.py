"""Max-min fair sharing: what the flows over shared resources get, and when they end.

Rates change only where a flow starts or ends. All starts and ends of one instant are one change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from topologies.clock import FEMTOSECONDS, LONGEST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.engine.plan import Plan


def flow_hops(plan: Plan) -> NDArray[np.int64]:
    """How many hops of each operation, the first ones, are its flow.

    Returns
    -------
    ndarray of int64, shape (operations,)
    """
    if plan.flows is None:
        return np.zeros(len(plan), dtype=np.int64)
    before = np.zeros(plan.hops + 1, dtype=np.int64)
    np.cumsum(plan.flows.capacity[plan.resource] > 0, out=before[1:])
    return np.asarray(before[plan.hop_offset[1:]] - before[plan.hop_offset[:-1]])


def max_min_rates(
    offset: NDArray[np.integer], resource: NDArray[np.integer], capacity: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Max-min fair rates, by progressive filling (Bertsekas and Gallager, Data Networks, 1992, 6.5.2).

    All rates rise together. Where a resource has nothing left, the flows that cross it are frozen;
    the others rise on. A flow that crosses a resource twice uses it twice.

    Parameters
    ----------
    offset : ndarray of int, shape (flows + 1,)
        Flow f crosses resource[offset[f]:offset[f + 1]], one at least.
    resource : ndarray of int
    capacity : ndarray of float64, shape (resources,)
        Bytes/s.

    Returns
    -------
    ndarray of float64, shape (flows,)
        Bytes/s. Where resources are alike, with alike flows, so are their bits.

    Examples
    --------
    Two links in a row: one flow over both, one over the first, two over the second.

    >>> rates = max_min_rates(np.array([0, 2, 3, 4, 5]), np.array([0, 1, 0, 1, 1]), np.array([9.0, 6.0]))
    >>> rates.tolist()
    [2.0, 7.0, 2.0, 2.0]
    """
    flow = np.repeat(np.arange(len(offset) - 1), np.diff(offset))
    rates = np.zeros(len(offset) - 1)
    used = np.zeros(len(capacity))
    rising = resource
    while len(rising):
        crossings = np.bincount(rising, minlength=len(capacity))
        share = np.full(len(capacity), np.inf)
        np.divide(capacity - used, crossings, out=share, where=crossings > 0)
        level = share.min()
        rates[flow[share[rising] == level]] = level
        frozen = rates[flow] > 0
        # one product a level: the order of flows is not in the sum
        used += np.bincount(rising[frozen], minlength=len(capacity)) * level
        flow, rising = flow[~frozen], rising[~frozen]
    return rates


def left_to_send(left: float, rate: float, elapsed: int) -> float:
    """Bytes that are left of `left` after `elapsed` fs at `rate` bytes/s."""
    return max(0.0, left - rate * elapsed / FEMTOSECONDS)


def end_of_flow(now: int, left: float, rate: float) -> int:
    """When a flow ends that has `left` bytes to send at `rate` bytes/s from `now` on.

    The one place where a flow's end becomes whole femtoseconds: the nearest, half to even. What
    ends past the last instant ends just after it.
    """
    duration = np.rint(left * FEMTOSECONDS / rate)
    return now + int(duration) if duration <= LONGEST - now else LONGEST + 1
