"""Passes of inference as a graph of tasks: prompts that are read, and tokens that are made one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from simulator.llm.step.fabric import Way
from simulator.llm.step.graph import Builder, Graph, check_passes
from simulator.llm.step.kernels import WorkPlan
from simulator.llm.step.lines import Line
from simulator.llm.step.overlap import Overlap
from simulator.llm.step.slots import Slot
from simulator.llm.step.stage import Stage
from simulator.llm.step.stage_units import Machine, StageUnits
from simulator.llm.traffic import PIPELINE, boundary_call

if TYPE_CHECKING:
    from simulator.llm.layer_calls import Pass
    from simulator.llm.plan import Batch

TOKEN: Final = 4
"""Bytes of the number of a token."""


@dataclass(frozen=True, slots=True)
class Passage:
    """Tokens that go through all stages together.

    Attributes
    ----------
    asked : Pass
        Whose one micro-batch they are.
    past : int
        Tokens of each sequence in the KV cache already.
    after : int or None
        The passage before it that makes its tokens.
    """

    asked: Pass
    past: int = 0
    after: int | None = None


def inference_graph(
    passages: Sequence[Passage],
    machine: Machine,
    overlap: Overlap | None = None,
    plan: WorkPlan | None = None,
) -> tuple[Graph, tuple[int, ...]]:
    """Tasks of passages, which go through every stage in this order.

    Parameters
    ----------
    passages : sequence of Passage
        Of one parallel plan, with one chunk of layers a stage.
    machine : Machine
    overlap : Overlap, optional
    plan : WorkPlan, optional

    Returns
    -------
    graph : Graph
    last : tuple of int
        The task at whose end the tokens that a passage makes are there.

    Raises
    ------
    ModelError
        If the hardware does not say how fast it is, or there are too many passages and layers.
    """
    check_passes(sum(passage.asked.model.layers + 2 for passage in passages), ("serve",))
    program = _Program(machine, overlap or Overlap(), plan or WorkPlan())
    for number, passage in enumerate(passages):
        program.add(number, passage)
    return program.builder.graph(), tuple(program.last)


@dataclass(slots=True, eq=False)
class _Program:
    """A program that grows passage by passage.

    Attributes
    ----------
    stages : dict
        What each stage does of passages that are alike.
    visits : dict
        Of each stage, the last tasks of the units that it has worked through.
    last : list of int
        The last task of each passage.
    """

    machine: Machine
    overlap: Overlap
    plan: WorkPlan
    builder: Builder = field(default_factory=Builder)
    stages: dict[tuple[int, Batch, int], Stage] = field(default_factory=dict)
    visits: dict[int, list[list[int]]] = field(default_factory=dict)
    last: list[int] = field(default_factory=list)

    def add(self, number: int, passage: Passage) -> None:
        """Let a passage go through all stages."""
        asked = passage.asked
        ends = self._token(passage)
        for stage in range(asked.parallel.pp):
            line = Line(self.builder, asked.parallel, self.overlap, stage, "F", number, ends)
            for _ in self._stage(stage, passage).slot(Slot("F", number, stage), line):
                pass
            ends = [*line.ends, *line.aside]
            if stage + 1 < asked.parallel.pp:
                call = boundary_call(asked, "forward", stage, stage + 1)
                ends = [self.builder.call(call, "send forward", "F", ends, number)]
                if not self.overlap.pp:
                    self.builder.hold_up(stage, ends)
        # the output layer, or the call that gathers what it gives
        self.last.append(ends[-1])

    def _token(self, passage: Passage) -> list[int]:
        """What brings the tokens of the passage before to the first stage."""
        if passage.after is None:
            return []
        made, parallel = self.last[passage.after], passage.asked.parallel
        if parallel.pp == 1:
            return [made]
        way = Way(PIPELINE, "send_recv", parallel.pp - 1, 0)
        size = TOKEN * passage.asked.batch.micro
        return [self.builder.send("tokens", way, size, "send token", "F", [made], passage.after)]

    def _stage(self, stage: int, passage: Passage) -> Stage:
        key = (stage, passage.asked.batch, passage.past)
        if key not in self.stages:
            units = StageUnits(passage.asked, stage, self.machine, self.plan, passage.past)
            visits = self.visits.setdefault(stage, [])
            self.stages[key] = Stage(passage.asked, self.overlap, self.builder, units, (), visits=visits)
        return self.stages[key]
