"""A simulated step as a trace: a group a stage, a track a stream, a slice a task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.engine.formats.trace_events import NONE, Slices, Trace, Track, as_text
from simulator.llm.step.graph import COMPUTE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.llm.step.graph import Graph, Stream, Task
    from simulator.llm.step.simulate import Step

STREAMS: Final = (COMPUTE, "tp", "cp", "ep", "send forward", "send backward", "gather", "reduce")
"""Order of a stage's lanes."""


def streams_in_order(step: Step) -> list[Stream]:
    """Streams, stage by stage, that which computes first."""
    place = {name: number for number, name in enumerate(STREAMS)}
    return sorted(
        step.graph.streams,
        key=lambda stream: (stream.stage, place.get(stream.name, len(place)), stream.name),
    )


def step_trace(step: Step, whose: str = "stage") -> Trace:
    """Trace of a step; a flow leads to each task from what it waited for last on another stream.

    Parameters
    ----------
    step : Step
    whose : str
        What its streams are of, if not of stages.
    """
    streams = streams_in_order(step)
    number = {stream: number for number, stream in enumerate(streams)}
    tasks = step.graph.tasks

    def about(task: int) -> tuple[str, str]:
        return as_text(tasks[task].name), as_text(_about(tasks[task]))

    return Trace(
        [f"{whose} {stage}" for stage in range(1 + max(stream.stage for stream in streams))],
        [Track(stream.stage, stream.name) for stream in streams],
        Slices(
            np.array([number[task.stream] for task in tasks], dtype=np.int64),
            step.begin,
            step.end,
            np.arange(len(tasks)),
            _sources(step.graph, step.end),
            about,
        ),
    )


def _sources(graph: Graph, end: NDArray[np.int64]) -> NDArray[np.int64]:
    """Task of another stream that each task waited for last, or NONE where its own stream was later."""
    source = np.full(len(graph), NONE, dtype=np.int64)
    for number, (task, after) in enumerate(zip(graph.tasks, graph.after, strict=True)):
        last = max(after, key=end.__getitem__, default=NONE)
        if last != NONE and graph.tasks[last].stream != task.stream:
            source[number] = last
    return source


def _about(task: Task) -> dict[str, Any]:
    about: dict[str, Any] = {"phase": task.phase}
    if task.microbatch >= 0:
        about["microbatch"] = task.microbatch
    if task.way is not None:
        about |= {"collective": task.way.kind, "group": task.way.group.name, "size": task.size}
    return about
