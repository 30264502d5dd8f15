"""Options that an algorithm takes from the topology where a scenario does not give them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from algorithms.registry import ALGORITHMS

if TYPE_CHECKING:
    from simulator.scenario.models import Scenario
    from topologies.topology import Topology


def options_on(scenario: Scenario, topology: Topology) -> dict[str, Any]:
    """The algorithm's options: those that were given, and what follows from the topology.

    Nothing follows from it for some of its ranks.

    Raises
    ------
    ScheduleError
        If the algorithm needs something that the topology does not have.
    """
    given, place = scenario.collective.options, scenario.network.placement
    from_topology = ALGORITHMS[scenario.collective.algorithm].from_topology
    order = None if isinstance(place, str) else place
    if from_topology is None or (order is not None and len(order) != topology.ranks):
        return dict(given)
    return {**from_topology(topology, given, order), **given}
