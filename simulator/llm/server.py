"""A plan that serves requests: how long it reads, how long it takes from token to token, what it holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final, TypeAlias

from simulator.engine.engines import WORTH_COMPILING
from simulator.llm.cache import cache_per_token, working_bytes
from simulator.llm.errors import ModelError
from simulator.llm.fit import check_fit
from simulator.llm.layer_calls import Pass
from simulator.llm.memory import StageMemory, memory
from simulator.llm.placement import chunk_count, copies
from simulator.llm.plan import Batch, Parallel
from simulator.llm.step.inference import Passage, inference_graph
from simulator.llm.step.kernels import WorkPlan
from simulator.llm.step.overlap import Overlap
from simulator.llm.step.simulate import simulate_step

if TYPE_CHECKING:
    from simulator.llm.serve_plan import ServePlan
    from simulator.llm.step.fabric import Fabric
    from simulator.llm.step.stage_units import Machine

TIMES: Final = 3
"""Prompts and tokens that are simulated one after the other: those that follow take as long as the last."""

ALIKE: Final = 20
"""About how many graphs of its kind are run to find the largest batch: the compiled engine loads once."""


@dataclass(slots=True, eq=False)
class Server:
    """A plan that serves; what was found out is kept.

    Attributes
    ----------
    asked : Pass
        Model, plan, and how memory and traffic are counted; its batch does not count.
    serve : ServePlan
    machine : Machine
    fabric : Fabric
    overlap : Overlap
    work : WorkPlan

    Raises
    ------
    ModelError
        If the plan cannot serve this.
    """

    asked: Pass
    serve: ServePlan
    machine: Machine
    fabric: Fabric
    overlap: Overlap = field(default_factory=Overlap)
    work: WorkPlan = field(default_factory=WorkPlan)
    _read: tuple[int, ...] = ()
    _tokens: dict[int, int] = field(default_factory=dict)
    _groups: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_serving(self.asked)
        self._check_passes()
        if self.asked.parallel.cp > 1 and self.asked.parallel.cp_kind == "ring" and len(self.chunks()) > 1:
            message = "a ring of cp reads a prompt at once; what it has of chunks before is not sent round"
            raise ModelError(message, ("serve", "chunk"))

    @property
    def parallel(self) -> Parallel:
        """The plan."""
        return self.asked.parallel

    def ttft(self, requests: int) -> int:
        """Fs until so many prompts of a replica, one after the other, have been read.

        A prompt goes through the stages chunk by chunk, the next one right behind it.
        """
        if not self._read:
            step = len(self.chunks())
            ends = self._ends(self.chunks() * TIMES)
            self._read = tuple(ends[step - 1 :: step])
        if requests <= TIMES:
            return self._read[requests - 1]
        return self._read[-1] + (requests - TIMES) * (self._read[-1] - self._read[-2])

    def tpot(self, requests: int) -> int:
        """Fs from one token to the next, of as many requests of a replica, side by side.

        They are as many micro-batches as there are stages, so that each has one to work on; a
        micro-batch's next token begins when the last one is there.
        """
        if requests not in self._tokens:
            self._tokens[requests] = self._decode(requests)
        return self._tokens[requests]

    def exposed(self, requests: int, groups: Iterable[str]) -> int:
        """Fs by which calls delay a token: the time would be so much shorter if they took none.

        Parameters
        ----------
        requests : int
            Of a replica.
        groups : iterable of str
            Of `groups`.
        """
        free = [stream for group in groups for stream in self.groups[group]]
        return self.tpot(requests) - self._decode(requests, free)

    @property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """Streams of the calls of a token, by group."""
        if not self._groups:
            passages = [self.token(1), self.token(1, 0)]
            graph, _ = inference_graph(passages, self.machine, self.overlap, self.work)
            for stream in dict.fromkeys(task.stream.name for task in graph.tasks if task.way is not None):
                group = _GROUP_OF.get(stream, stream)
                self._groups[group] = (*self._groups.get(group, ()), stream)
        return self._groups

    def memory(self, requests: int) -> tuple[StageMemory, ...]:
        """Bytes of a rank of each stage with so many whole requests of a replica in its KV cache.

        Parameters
        ----------
        requests : int
            0 for what is there without any.
        """
        batch = Batch(total=self.parallel.dp, micro=1, sequence=self.serve.sequence, chunk=1)
        parallel = self.token(1).asked.parallel
        found = memory(self.asked.model, parallel, batch, self.asked.memory)
        working = max(
            working_bytes(self.asked.model, parallel, passed.asked.batch, self.asked.memory)
            for passed in (self.chunks()[0], self.token(max(self._sizes(requests), default=1)))
        )
        return tuple(
            replace(
                stage,
                parts={**stage.parts, "cache": requests * stage.parts["cache"], "working": working},
            )
            for stage in found.stages
        )

    def fits(self, requests: int) -> bool:
        """Whether memory has room for so many requests of a replica."""
        capacity = self.asked.memory.capacity
        return capacity is None or all(stage.total <= capacity for stage in self.memory(requests))

    @property
    def cache_per_token(self) -> Fraction:
        """Bytes of the KV cache of one token, over all ranks that share it."""
        return cache_per_token(self.asked.model, self.asked.memory)

    def chunks(self) -> tuple[Passage, ...]:
        """A prompt, chunk by chunk."""
        dp, sequence = self.parallel.dp, self.serve.sequence
        return tuple(
            Passage(replace(self.asked, batch=Batch(total=dp, sequence=sequence, chunk=tokens)), past)
            for tokens, past in self.serve.chunks()
        )

    def token(self, micro: int, after: int | None = None) -> Passage:
        """The next token of requests; one token cannot be shared as sequence parallelism shares them."""
        parallel = replace(self.parallel, sp=False)
        batch = Batch(total=micro * parallel.dp, micro=micro, sequence=self.serve.sequence, chunk=1)
        return Passage(replace(self.asked, parallel=parallel, batch=batch), self.serve.context, after)

    def _check_passes(self) -> None:
        """Refuse what the model cannot be cut by, at the place where a person wrote it."""
        first, last = self.chunks()[0], self.chunks()[-1]
        for passed, places in ((first, _OF_PROMPT), (last, _OF_PROMPT), (self.token(1), _OF_TOKEN)):
            try:
                given = (passed.asked.parallel, passed.asked.batch, self.asked.memory, self.asked.plan)
                check_fit(self.asked.model, *given)
            except ModelError as error:
                raise ModelError(error.message, places.get(error.at, error.at)) from None

    def _sizes(self, requests: int) -> list[int]:
        """Requests of each micro-batch."""
        count = min(self.parallel.pp, requests)
        return [requests // count + (number < requests % count) for number in range(count)]

    def _decode(self, requests: int, free: Iterable[str] = ()) -> int:
        sizes = self._sizes(requests)
        count = len(sizes)
        passages = [
            self.token(size, None if time == 0 else count * (time - 1) + number)
            for time in range(TIMES)
            for number, size in enumerate(sizes)
        ]
        ends = self._ends(passages, free)
        return max(ends[-count:]) - max(ends[-2 * count : -count])

    def _ends(self, passages: Sequence[Passage], free: Iterable[str] = ()) -> list[int]:
        """When the tokens that passages make are there."""
        graph, last = inference_graph(passages, self.machine, self.overlap, self.work)
        engine = "compiled" if ALIKE * len(graph) >= WORTH_COMPILING else "auto"
        steals = self.overlap.steals
        end = simulate_step(graph, self.fabric, free=frozenset(free), steals=steals, engine=engine).end
        return [int(end[task]) for task in last]


def _check_serving(asked: Pass) -> None:
    if asked.training:
        raise ModelError("serving is a phase of inference, found training", ("memory", "phase"))
    if copies(asked.parallel) > 1 or chunk_count(asked.parallel) > asked.parallel.pp:
        at = "interleave" if asked.parallel.interleave > 1 else "schedule"
        message = "what serves goes through each stage once, in one chunk of layers"
        raise ModelError(message, ("parallel", at))


_GROUP_OF: Final[Mapping[str, str]] = {"send forward": "pp", "send token": "pp", "gather": "dp"}
_Places: TypeAlias = Mapping[tuple[str | int, ...], tuple[str | int, ...]]
_LENGTH: Final[_Places] = {("batch", "sequence"): ("serve", "prompt")}
_OF_PROMPT: Final[_Places] = {**_LENGTH, ("batch", "chunk"): ("serve", "chunk")}
_OF_TOKEN: Final[_Places] = {**_LENGTH, ("batch", "chunk"): ("parallel", "cp")}
"""Where a person wrote what is wrong with a pass: a token's length is 1 by itself."""
