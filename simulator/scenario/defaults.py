"""Options that an algorithm takes from the topology where a scenario does not give them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from algorithms.errors import ScheduleError
from algorithms.platform import level_bandwidths
from topologies.trees import aggregation_tree

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
    options = dict(scenario.collective.options)
    name = scenario.collective.algorithm
    if "dims" not in options and _has_dims(name, topology, options):
        options["dims"] = topology.dims
    if name == "themis" and len(options["dims"]) == len(topology.levels):
        options.setdefault("weights", level_bandwidths(topology))
    if name == "in_network" and "tree" not in options:
        options["tree"] = _tree_of_switches(scenario, topology)
    return options


def _has_dims(name: str, topology: Topology, options: dict[str, Any]) -> bool:
    """Whether the algorithm goes along the topology's dimensions unless told otherwise."""
    if name in ("hierarchical", "themis"):
        return True
    if topology.kind != "torus":
        return False
    if name == "swing":
        # of other tori it knows only the line of all ranks
        whole = options.get("variant") == "latency"
        return all(p.bit_count() == 1 if whole else p % 2 == 0 for p in topology.dims)
    return name in ("bucket", "hamiltonian_rings")


def _tree_of_switches(scenario: Scenario, topology: Topology) -> tuple[int, ...]:
    """The topology's tree of reducing switches, its leaves named as the schedule's ranks."""
    tree = aggregation_tree(topology)
    if tree is None:
        message = (
            "in_network needs switches that reduce above all ranks, e.g. a crossbar with switch: reduces"
        )
        raise ScheduleError(message, ("algorithm",))
    place = scenario.network.placement
    if place is None or isinstance(place, str) or sorted(place) != list(range(topology.ranks)):
        return tree
    return (*(tree[rank] for rank in place), *tree[topology.ranks :])
