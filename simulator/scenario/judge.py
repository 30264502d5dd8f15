"""What is said of a scenario's run beside its time: the closed form's, and what to mind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from algorithms.bounds import Bounds, lower_bounds
from algorithms.platform import link_platforms, platforms
from algorithms.registry import ALGORITHMS, dimensions, rounds
from algorithms.rounds import closed_form
from simulator.engine.engines import wants_compiled
from simulator.engine.frames import packet_sizes
from simulator.scenario.defaults import options_on

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from algorithms.bandwidth_bound import Effort
    from algorithms.cuts import Cut
    from algorithms.rounds import Platform
    from algorithms.schedule import Schedule
    from simulator.engine.network import Network
    from simulator.engine.timeline import Timeline
    from simulator.scenario.models import CollectiveChoice, Scenario
    from simulator.scenario.together_models import TogetherScenario
    from topologies.topology import Topology


def bounds_on(
    scenario: Scenario,
    topology: Topology,
    schedule: Schedule,
    place: NDArray[np.int64],
    cut: Cut | None = None,
    effort: Effort = "quick",
) -> Bounds:
    """Lower bounds of a scenario's collective.

    Parameters
    ----------
    scenario : Scenario
    topology : Topology
    schedule : Schedule
    place : ndarray of int64, shape (ranks,)
        The topology's rank that plays each rank.
    cut : Cut, optional
    effort : {'quick', 'full'}
        As `lower_bounds`.
    """
    reduction = scenario.reduction
    return lower_bounds(
        schedule.collective,
        topology,
        model=scenario.network.model,
        reduction=reduction.rates(topology.ranks)[place] if reduction else None,
        placement=place,
        messages=packet_sizes(schedule.sizes(), scenario.network),
        cut=cut,
        effort=effort,
    )


def analytic(scenario: Scenario, topology: Topology, place: NDArray[np.int64]) -> float | None:
    """The closed form in s, priced with the topology's alpha and beta along each dimension.

    None where the algorithm has none, or the topology has no one alpha and beta.

    Parameters
    ----------
    scenario : Scenario
    topology : Topology
    place : ndarray of int64, shape (ranks,)
        The topology's rank that plays each rank.
    """
    choice, reduction = scenario.collective, scenario.reduction
    if choice.own is not None:
        return None
    network = scenario.network
    if network.model == "packet" or network.endpoint is not None or network.staging is not None:
        return None
    options = options_on(scenario, topology)
    if reduction is not None and len(set(reduction.rates(topology.ranks).tolist())) > 1:
        return None
    reducer = (reduction.bandwidth if reduction else None, reduction.mode if reduction else "after")
    if not ALGORITHMS[choice.algorithm].ideal:
        return None
    if ALGORITHMS[choice.algorithm].ideal == "switch":
        priced = link_platforms(topology, *reducer)
    else:
        dims = dimensions(choice.algorithm, len(place), options)
        priced = platforms(topology, dims, network.model, *reducer, place)
    return closed_time(choice, len(place), options, priced)


def closed_time(
    choice: CollectiveChoice, ranks: int, options: Mapping[str, Any], priced: Sequence[Platform] | None
) -> float | None:
    """An algorithm's closed form in s at given prices; None where it has none, or there are no prices."""
    if priced is None:
        return None
    turns = rounds(choice.algorithm, choice.kind, ranks, choice.size, **options)
    return None if turns is None else float(closed_form(turns, priced))


def cautions(scenario: Scenario | TogetherScenario, topology: Topology, timeline: Timeline) -> Iterator[str]:
    """What a person should know about a scenario that ran."""
    if timeline.engine == "simpy" and wants_compiled(timeline.plan, scenario.engine):
        yield "numba is not installed, so that the plan ran on SimPy: the same times, but slower"
    yield from network_cautions(scenario.network, topology)


def network_cautions(network: Network, topology: Topology) -> Iterator[str]:
    """What a person should know about a topology's file, and about switches under the network's model."""
    yield from topology.notes
    if network.model == "store_and_forward" and len(topology.nodes) > topology.ranks:
        yield (
            "under store_and_forward every switch on the way stores the whole message before it sends it on, "
            "so that a crossbar costs double; switches as they are built work under cut_through"
        )
