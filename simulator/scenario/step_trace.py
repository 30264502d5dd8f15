"""A simulated step as a trace: what Perfetto and Chrome's tracing show, a track for each stream.

The format is the JSON array of complete events of "Trace Event Format" (Google, 2016): times in us.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from simulator.llm.step.graph import COMPUTE

if TYPE_CHECKING:
    from simulator.llm.step.graph import Stream, Task
    from simulator.llm.step.simulate import Step

STREAMS: Final = (COMPUTE, "tp", "cp", "ep", "send forward", "send backward", "gather", "reduce")
"""Order of a stage's lanes."""

_IN_US: Final = 10**9


def streams_in_order(step: Step) -> list[Stream]:
    """Streams, stage by stage, that which computes first."""
    return sorted(step.graph.streams, key=lambda stream: (stream.stage, STREAMS.index(stream.name)))


def step_trace(step: Step) -> str:
    """One object with `traceEvents`: a process a stage, a thread a stream, an event a task."""
    streams = streams_in_order(step)
    thread = {stream: number for number, stream in enumerate(streams)}
    events = [*_names(thread), *_events(step, thread)]
    return '{"traceEvents": [\n' + ",\n".join(map(json.dumps, events)) + '\n], "displayTimeUnit": "ns"}\n'


def _names(thread: Mapping[Stream, int]) -> Iterator[dict[str, Any]]:
    for stage in dict.fromkeys(stream.stage for stream in thread):
        named = {"name": f"stage {stage}"}
        yield {"name": "process_name", "ph": "M", "pid": stage, "args": named}
    for stream, number in thread.items():
        where = {"pid": stream.stage, "tid": number}
        yield {"name": "thread_name", "ph": "M", **where, "args": {"name": stream.name}}
        yield {"name": "thread_sort_index", "ph": "M", **where, "args": {"sort_index": number}}


def _events(step: Step, thread: Mapping[Stream, int]) -> Iterator[dict[str, Any]]:
    for task, begin, end in zip(step.graph.tasks, step.begin.tolist(), step.end.tolist(), strict=True):
        yield {
            "name": task.name,
            "cat": task.stream.name,
            "ph": "X",
            "ts": begin / _IN_US,
            "dur": (end - begin) / _IN_US,
            "pid": task.stream.stage,
            "tid": thread[task.stream],
            "args": _about(task),
        }


def _about(task: Task) -> dict[str, Any]:
    about: dict[str, Any] = {"phase": task.phase}
    if task.microbatch >= 0:
        about["microbatch"] = task.microbatch
    if task.way is not None:
        about |= {"collective": task.way.kind, "group": task.way.group.name, "size": task.size}
    return about
