"""Options that an algorithm takes from the topology where a scenario does not give them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from algorithms.registry import ALGORITHMS

if TYPE_CHECKING:
    from simulator.scenario.models import Scenario
    from topologies.topology import Topology


def options_on(scenario: Scenario, topology: Topology) -> dict[str, Any]:
    """The algorithm's options: those that were given, and what follows from the topology.

    Raises
    ------
    ScheduleError
        If the algorithm needs something that the topology does not have.
    """
    given, place = scenario.collective.options, scenario.network.placement
    from_topology = ALGORITHMS[scenario.collective.algorithm].from_topology
    if from_topology is None:
        return dict(given)
    return {**from_topology(topology, given, None if isinstance(place, str) else place), **given}
