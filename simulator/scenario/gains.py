"""What a scenario would gain from a machine that is twice as good in one respect."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from simulator.engine.engines import run_plan
from simulator.engine.lower import lower, lower_together
from simulator.engine.one_rank import lower_one
from simulator.scenario.run import Result
from topologies.orbits import SymmetricTopology
from topologies.topology import Topology

if TYPE_CHECKING:
    from simulator.engine.network import Network, Reduction
    from simulator.scenario.together_result import TogetherResult


HALVED: Final = ("alpha", "overhead of ranks")
"""Parameters of which less is better."""


@dataclass(frozen=True, slots=True, eq=False)
class _Setting:
    """What a plan is made for.

    Attributes
    ----------
    topology : Topology or SymmetricTopology
    network : Network
    reduction : Reduction or None
    """

    topology: Topology | SymmetricTopology
    network: Network
    reduction: Reduction | None


@dataclass(frozen=True, slots=True)
class Gain:
    """What a run takes with one parameter twice as good.

    Attributes
    ----------
    parameter : str
    time : int
        fs.
    before : int
        fs without the change.
    """

    parameter: str
    time: int
    before: int

    @property
    def halved(self) -> bool:
        """Whether less of it is better."""
        return self.parameter in HALVED

    @property
    def factor(self) -> float:
        """How many times as fast it is; 1 where it takes no time at all."""
        return self.before / self.time if self.time else 1.0


def gains(
    result: Result | TogetherResult, report: Callable[[int, int], None] | None = None
) -> tuple[Gain, ...]:
    """Run a result's plan again with each parameter twice as good: half of alpha, double beta and gamma.

    Parameters
    ----------
    result : Result or TogetherResult
    report : callable, optional
        Told (done, of how many).
    """
    scenario = result.scenario
    seen = result.symmetry.seen if isinstance(result, Result) and result.symmetry else result.topology
    changes = dict(_changes(_Setting(seen, scenario.network, scenario.reduction)))
    found = []
    for done, (name, setting) in enumerate(changes.items()):
        if report is not None:
            report(done, len(changes))
        found.append(Gain(name, _time_with(result, setting), result.duration))
    return tuple(found)


def _changes(now: _Setting) -> Iterator[tuple[str, _Setting]]:
    """What can be twice as good, by name."""
    yield "alpha", replace(now, topology=_scaled(now.topology, alpha=0.5))
    yield "beta", replace(now, topology=_scaled(now.topology, beta=2.0))
    if len(now.topology.levels) > 1:
        for level, name in enumerate(now.topology.levels):
            yield f"beta of {name}", replace(now, topology=_scaled(now.topology, beta=2.0, level=level))
    if now.reduction is not None:
        rates = {rank: 2 * rate for rank, rate in now.reduction.ranks.items()}
        twice = replace(now.reduction, bandwidth=2 * now.reduction.bandwidth, ranks=rates)
        yield "gamma", replace(now, reduction=twice)
    endpoint = now.network.endpoint
    if endpoint is not None:
        half = replace(endpoint, overhead=endpoint.overhead / 2, gap=endpoint.gap / 2)
        yield "overhead of ranks", replace(now, network=replace(now.network, endpoint=half))
    staging = now.network.staging
    if staging is not None and staging.legs:
        yield "staging", replace(now, network=replace(now.network, staging=staging.faster(2.0)))
    if now.network.buffers is not None:
        yield "buffers", replace(now, network=replace(now.network, buffers=2 * now.network.buffers))


def _scaled(
    topology: Topology | SymmetricTopology, alpha: float = 1.0, beta: float = 1.0, level: int | None = None
) -> Topology | SymmetricTopology:
    """A topology with alpha times the latency and overhead of its links, and beta times their bandwidth.

    With a level, only the bandwidth of its links is changed.
    """
    if isinstance(topology, SymmetricTopology):
        wire = topology.wire
        return replace(
            topology,
            wire=replace(
                wire,
                latency=alpha * wire.latency,
                overhead=alpha * wire.overhead,
                bandwidth=beta * wire.bandwidth,
            ),
        )
    links = topology.links
    times = np.where((links.level == level) | (level is None), beta, 1.0)
    return replace(
        topology,
        links=replace(
            links,
            latency=alpha * links.latency,
            overhead=alpha * links.overhead,
            bandwidth=times * links.bandwidth,
        ),
    )


def _time_with(result: Result | TogetherResult, setting: _Setting) -> int:
    """What a result's collectives take in another setting, fs."""
    scenario, topology = result.scenario, setting.topology
    if not isinstance(result, Result):
        assert isinstance(topology, Topology)
        everything = lower_together(result.together.jobs, topology, setting.network, setting.reduction)
        timeline = run_plan(everything.plan, scenario.engine)
        return max(end for _, end in everything.spans(timeline)[: len(result.members)])
    if isinstance(topology, SymmetricTopology):
        assert result.symmetry is not None
        plan = lower_one(result.symmetry.one, topology, setting.network, setting.reduction)
    else:
        network = replace(setting.network, placement=tuple(result.placement))
        plan = lower(result.schedule, topology, network, setting.reduction, result.scenario.delay)
    return run_plan(plan, scenario.engine).time
