"""What the bars of a timeline say: which hop held which part of a lane, and when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from plots.lanes import HIDDEN
from simulator.engine.plan import LINK, NO_TRANSFER
from topologies.clock import femtoseconds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from plots.lanes import Lanes
    from simulator.engine.timeline import Timeline
    from topologies.topology import Topology

NO_STEP: Final = -1


@dataclass(frozen=True, slots=True, eq=False)
class Bars:
    """Bars of a Gantt chart, one for each time that a hop is shown.

    Attributes
    ----------
    hop : ndarray of int64, shape (bars,)
    step : ndarray of int64
        Step of the schedule, or which of several it belongs to; NO_STEP for a delay.
    kind : ndarray of uint8
        LINK, REDUCER, or another of a plan's.
    top, bottom : ndarray of float64
        Part of the chart's height, in lanes.
    arrival, grant, release, landing : ndarray of float64
        Times; landing is when the latency after the release is over.
    overhead : ndarray of float64
        Time of the hold before the first byte.
    """

    hop: NDArray[np.int64]
    step: NDArray[np.int64]
    kind: NDArray[np.uint8]
    top: NDArray[np.float64]
    bottom: NDArray[np.float64]
    arrival: NDArray[np.float64]
    grant: NDArray[np.float64]
    release: NDArray[np.float64]
    landing: NDArray[np.float64]
    overhead: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.hop)

    def heights(self, low: float, high: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Upper and lower edge of a part of each bar's room."""
        tall = self.bottom - self.top
        return self.top + low * tall, self.top + high * tall


def bars(
    timeline: Timeline, tints: NDArray[np.integer], topology: Topology, lanes: Lanes, scale: float
) -> Bars:
    """Bars of a timeline whose transfers have these tints, times in units of `scale` femtoseconds."""
    plan = timeline.plan
    layer, hop = np.nonzero(lanes.lane[:, plan.resource] != HIDDEN)
    resource = plan.resource[hop]
    lane = lanes.lane[layer, resource]
    transfer = plan.transfer[timeline.operation()[hop]]
    step = np.full(len(hop), NO_STEP)
    moves = transfer != NO_TRANSFER
    step[moves] = tints[transfer[moves]]
    return Bars(
        hop,
        step,
        plan.resources.kind[resource],
        lane + lanes.low[layer, resource],
        lane + lanes.high[layer, resource],
        _come(timeline)[hop] / scale,
        timeline.grant[hop] / scale,
        timeline.release[hop] / scale,
        (timeline.release[hop] + plan.resources.latency[resource]) / scale,
        _overhead(timeline, topology)[resource] / scale,
    )


def _come(timeline: Timeline) -> NDArray[np.int64]:
    """When each hop comes to its resource; a flow comes when it has taken its latencies, and never queues."""
    plan = timeline.plan
    if plan.flows is None:
        return timeline.arrival
    return np.where(plan.flows.capacity[plan.resource] > 0, timeline.grant, timeline.arrival)


def _overhead(timeline: Timeline, topology: Topology) -> NDArray[np.int64]:
    """Femtoseconds that each resource is held before the bytes of a message; none where it is shared."""
    resources = timeline.plan.resources
    overhead = np.zeros(len(resources), dtype=np.int64)
    if timeline.plan.flows is not None:
        return overhead
    link = resources.kind == LINK
    fs = np.array([femtoseconds(s) for s in topology.links.overhead.tolist()], dtype=np.int64)
    overhead[link] = fs[resources.which[link]]
    return overhead
