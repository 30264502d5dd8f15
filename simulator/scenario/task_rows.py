"""Tasks of a step as rows: what every step says of them, after what is its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from simulator.scenario.rows import Kind, Rows
from topologies.clock import exact_seconds

if TYPE_CHECKING:
    from simulator.llm.step.graph import Task
    from simulator.llm.step.simulate import Step

_CALL: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        "collective": str,
        "group": str,
        "peer": int,
        "size": int,
        "memoised": int,
        "begin": float,
        "end": float,
    }
)
"""What is said of a task's call, and when it is."""

About = Callable[["Task"], tuple[Any, ...]]


def task_rows(step: Step, own: Mapping[str, Kind], about: About) -> Rows:
    """A row a task; times in s, exact to the femtosecond.

    Parameters
    ----------
    step : Step
    own : mapping of str to callable
        Columns of what is told of a task before its call.
    about : callable
        What they hold, of a task.
    """
    return Rows({"task": int, **own, **_CALL}, partial(_tasks, step, about))


def _tasks(step: Step, about: About) -> Iterator[tuple[Any, ...]]:
    times = zip(step.begin.tolist(), step.end.tolist(), strict=True)
    for number, (task, (begin, end)) in enumerate(zip(step.graph.tasks, times, strict=True)):
        way = task.way
        of_call: tuple[Any, ...] = ("",) * 5
        if way is not None:
            peer = "" if way.peer is None else way.peer
            of_call = (way.kind, way.group.name, peer, task.size, int(way in step.memoised))
        yield (number, *about(task), *of_call, exact_seconds(begin), exact_seconds(end))
