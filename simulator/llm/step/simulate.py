"""From the graph of a step to its timeline: one plan in which calls that can meet share real links."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from simulator.engine.engines import WORTH_COMPILING, run_plan
from simulator.engine.errors import PLAN_TOO_LONG, PlanError
from simulator.engine.plan import COMPUTE as COMPUTES
from simulator.engine.plan import STREAM
from simulator.engine.tasks import HOLDS, TaskPlan, Tasks, task_plan
from simulator.llm.step.fabric import that_meet
from simulator.llm.step.graph import COMPUTE
from simulator.llm.step.steals import slowed
from topologies.clock import LONGEST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.engine.plan import Plan
    from simulator.engine.timeline import Timeline
    from simulator.llm.step.fabric import Fabric, Way
    from simulator.llm.step.graph import Graph, Task


MOST_ROUNDS: Final = 20
"""Runs after which the slowing down of compute by calls has come to rest, or nearly."""


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A step that has been simulated.

    Attributes
    ----------
    graph : Graph
    begin, end : ndarray of int64, shape (tasks,)
        fs.
    memoised : frozenset of Way
        Calls that meet no others: simulated once, by themselves.
    timeline : Timeline
    plan : TaskPlan
    """

    graph: Graph
    begin: NDArray[np.int64]
    end: NDArray[np.int64]
    memoised: frozenset[Way]
    timeline: Timeline
    plan: TaskPlan

    @property
    def time(self) -> int:
        """Fs of the whole step."""
        return int(self.end.max(initial=0))


def simulate_step(
    graph: Graph,
    fabric: Fabric,
    *,
    free: Collection[str] = (),
    memoise: bool = True,
    steals: float | None = None,
    engine: str = "auto",
) -> Step:
    """Run the graph of a step.

    A call that no other stream's call can meet on a link, or at a reducer, takes what it takes
    alone; all others are laid over the network together.

    Parameters
    ----------
    graph : Graph
        At least one task.
    fabric : Fabric
    free : collection of str
        Streams whose calls take no time.
    memoise : bool
        False lays all calls over the network.
    steals : float, optional
        Part of its speed that a stage loses while its calls are under way, below 1; None loses nothing.
    engine : {'auto', 'simpy', 'compiled'}

    Raises
    ------
    ModelError, PlanError
        As `Fabric.plan`.
    """
    if engine == "auto" and len(graph) > WORTH_COMPILING:
        # then every call is, too
        engine = "compiled"
    laid, calls, memoised = _laid_out(graph, fabric, free, memoise=memoise, engine=engine)
    if any(task.hold > LONGEST for task in graph.tasks):
        raise PlanError(PLAN_TOO_LONG)
    own = np.array([task.hold for task in graph.tasks], dtype=np.int64)
    step = _run(graph, laid, own + calls, memoised, engine)
    if not steals:
        return step
    for _ in range(MOST_ROUNDS):
        # where calls are depends on what they slow down: once nothing changes, that is what happens
        hold = slowed(graph, step.begin, step.end, steals)
        if (hold == own).all():
            return step
        own, step = hold, _run(graph, laid, hold + calls, memoised, engine)
    return step


@dataclass(frozen=True, slots=True, eq=False)
class _Laid:
    """Calls that are laid over the network: their plans, and which of them each task runs."""

    plans: list[Plan]
    runs: NDArray[np.int32]


def _laid_out(
    graph: Graph, fabric: Fabric, free: Collection[str], *, memoise: bool, engine: str
) -> tuple[_Laid, NDArray[np.int64], frozenset[Way]]:
    """Which calls are laid over the network, what the others take, and whose time was found once for all."""
    # the same call on two streams may meet itself
    used = {
        (task.call, id(task.stream)): task
        for task in graph.tasks
        if task.call >= 0 and task.stream.name not in free
    }
    memoised = _undisturbed(list(used.values()), fabric) if memoise else frozenset()
    called = {call: None for call, _ in used}
    laid = [number for number in called if graph.calls[number][0] not in memoised]
    # by the number of its call; the last stands for what computes
    plan = np.full(len(graph.calls) + 1, HOLDS, dtype=np.int32)
    plan[laid] = np.arange(len(laid))
    time = np.zeros(len(graph.calls) + 1, dtype=np.int64)
    for number in called.keys() - set(laid):
        time[number] = fabric.time(*graph.calls[number], engine)
    call = np.array([task.call for task in graph.tasks], dtype=np.int64)
    return _Laid([fabric.plan(*graph.calls[number]) for number in laid], plan[call]), time[call], memoised


def _run(graph: Graph, laid: _Laid, hold: NDArray[np.int64], memoised: frozenset[Way], engine: str) -> Step:
    streams, (offset, after) = graph.streams, graph.edges()
    number = {id(stream): number for number, stream in enumerate(streams)}
    planned = task_plan(
        Tasks(
            laid.plans,
            laid.runs,
            np.array([number[id(task.stream)] for task in graph.tasks], dtype=np.int32),
            hold,
            offset,
            after,
            np.array([COMPUTES if stream.name == COMPUTE else STREAM for stream in streams], dtype=np.uint8),
            np.array([stream.stage for stream in streams], dtype=np.int32),
        )
    )
    timeline = run_plan(planned.plan, engine)
    begin, end = planned.spans(timeline)
    return Step(graph, begin, end, memoised, timeline, planned)


def _undisturbed(calls: Sequence[Task], fabric: Fabric) -> frozenset[Way]:
    """Ways of calls that share no link, and nothing else, with those of another stream."""
    ways = {
        (task.way, id(task.stream)): (task.stream, fabric.plan(task.way, task.size))
        for task in calls
        if task.way is not None
    }
    if not ways:
        return frozenset()
    resources = next(iter(ways.values()))[1].resources
    if resources.gap.any():
        # what a call leaves behind keeps the next one on its stream waiting
        return frozenset()
    held = [(stream, np.unique(plan.resource)) for stream, plan in ways.values()]
    meet = {way for (way, _), met in zip(ways, that_meet(held, len(resources)), strict=True) if met}
    return frozenset(way for way, _ in ways if way not in meet)
