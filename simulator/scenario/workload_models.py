"""What a scenario of a workload says, once read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from simulator.engine.network import Network, Reduction
from simulator.llm.workload.plan import WorkloadPlan
from simulator.scenario.fields import Short
from simulator.scenario.models import ExpectedTime, TopologyChoice
from simulator.scenario.source import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadFiles:
    """The files of a workload, from the scenario's folder on.

    Parameters
    ----------
    file : str
        Chakra traces, with `*` in the place of a rank's number; or a table of layers.
    groups : str, optional
        JSON that lists the ranks of each communicator.
    """

    file: str
    groups: str | None = None


@dataclass(frozen=True, slots=True)
class WorkloadChoice:
    """Which workload, and how what its files leave open is done.

    Parameters
    ----------
    files : WorkloadFiles
    plan : WorkloadPlan
    """

    files: WorkloadFiles
    plan: WorkloadPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectWorkload:
    """What a workload must come to; None expects nothing.

    Parameters
    ----------
    time : ExpectedTime, optional
        When everything has ended.
    """

    time: Annotated[ExpectedTime, Short("value")] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadScenario:
    """A scenario that runs what other tools have written down.

    Parameters
    ----------
    name : str
        What people call it; the stem of the file's name where it says nothing.
    topology : TopologyChoice
    workload : WorkloadChoice
        The files of another tool, and how what they leave open is done.
    source : Source
        Where each of these stands in the file; not compared.
    reduction : Reduction, optional
        A reducer at every rank; without it reducing takes no time.
    network : Network
        How messages pass the network; without a placement.
    engine : {'auto', 'simpy', 'compiled'}
        What runs the plan, with the same result: compiled loops where they pay off, or SimPy.
    expect : ExpectWorkload
        What must come of it, as `collsim check` holds it.
    """

    name: str
    topology: TopologyChoice
    workload: WorkloadChoice
    source: Source = field(repr=False, compare=False)
    reduction: Reduction | None = None
    network: Network = field(default_factory=Network)
    engine: Literal["auto", "simpy", "compiled"] = "auto"
    expect: ExpectWorkload = field(default_factory=ExpectWorkload)

    @property
    def expects_something(self) -> bool:
        """Whether there is anything to hold the result against."""
        return self.expect != ExpectWorkload()
