"""Compute and calls woven together: what comes after what in a unit of the model.

A unit is what ZeRO gathers at once: the embedding, a layer, the output layer. What is listed forward is
done backward in reverse: a part's gradients in place of its forward pass, and in place of a call what
it is backward.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Final, TypeAlias

from simulator.llm.calls import that_send
from simulator.llm.layer_calls import Pass, layer_calls
from simulator.llm.step.kernels import Part, WorkPlan
from simulator.llm.step.work import DEFAULT, embedding_parts, head_parts, layer_parts
from simulator.llm.traffic import end_calls

if TYPE_CHECKING:
    from simulator.llm.calls import Call
    from simulator.llm.plan import Parallel

Calls: TypeAlias = tuple["Call", ...]


@dataclass(frozen=True, slots=True)
class Exchange:
    """Calls between parts.

    Attributes
    ----------
    forward, backward : tuple of Call
        One after the other; what comes next waits for them.
    weights : tuple of Call
        Backward, what only the gradients of weights wait for, of the parts before it.
    until : str
        The `Await` at which they are waited for, where that is not at once; backward they begin
        there, and are waited for here.
    """

    forward: Calls = ()
    backward: Calls = ()
    weights: Calls = ()
    until: str = ""


@dataclass(frozen=True, slots=True)
class Await:
    """Where calls are waited for that have begun before.

    Attributes
    ----------
    until : str
        The same as of the `Exchange`.
    """

    until: str


Item: TypeAlias = Part | Exchange | Await


@dataclass(frozen=True, slots=True)
class _Known:
    """Calls of a unit, by phase and what they move."""

    calls: Mapping[tuple[str, str], Calls] = field(default_factory=dict)

    @classmethod
    def of(cls, calls: Iterable[Call], parallel: Parallel) -> _Known:
        found: dict[tuple[str, str], Calls] = {}
        for call in that_send(calls, parallel):
            found[call.phase, call.what] = (*found.get((call.phase, call.what), ()), call)
        return cls(found)

    def get(self, phase: str, *names: str) -> Calls:
        """Calls of that name, or of none."""
        return tuple(call for name in names for call in self.calls.get((phase, name), ()))

    def enter(self, where: str = "") -> Exchange:
        """Before matrices that tensor parallelism cuts into columns."""
        return Exchange(
            self.get("forward", f"layer input{where}"), self.get("backward", f"layer output{where}")
        )

    def leave(self, where: str = "") -> Exchange:
        """After those that it cuts into rows."""
        return Exchange(
            self.get("forward", f"layer output{where}"),
            self.get("backward", f"layer input{where}"),
            self.get("backward", f"input again{where}"),
        )


_NEAR_AND_FAR: Final = ("", ", machines", ", ranks")
"""What follows the name of a call of experts: one for all, or one to machines and one inside them."""


def layer_items(
    asked: Pass, stage: int, layer: int, plan: WorkPlan = DEFAULT, past: int = 0
) -> tuple[Item, ...]:
    """Parts and calls of a layer, as they are forward.

    Parameters
    ----------
    asked : Pass
    stage : int
        Whose calls they are.
    layer : int
        From 0.
    plan : WorkPlan
    past : int
        In inference, tokens of each sequence in the KV cache already.
    """
    known = _Known.of(layer_calls(asked, stage, (range(layer, layer + 1),)), asked.parallel)
    return tuple(_woven(layer_parts(asked, layer, plan, past), known))


def _woven(parts: Sequence[Part], known: _Known) -> Iterator[Item]:
    # one AllReduce adds up what shared and routed experts gave, where they are not gathered apart
    apart = bool(known.get("forward", "layer output, experts"))
    places = {part.place for part in parts}
    first = "shared expert" if "shared expert" in places else "experts"
    for place, group in groupby(parts, key=lambda part: part.place):
        if place == first:
            yield _dispatch(known)
        if place in ("projections", "mlp") or (place == first and not apart):
            yield known.enter()
        match place:
            case "attention":
                yield from _around_attention(known, group)
            case "shared expert" if apart:
                yield known.enter(", shared expert")
                yield from group
                yield known.leave(", shared expert")
            case "experts":
                yield from _around_experts(known, group, apart=apart)
            case _:
                yield from group
        if place in ("attention output", "mlp"):
            yield known.leave()


def _around_attention(known: _Known, parts: Iterable[Part]) -> Iterator[Item]:
    """Keys and values go round, and again backward; or heads are swapped for tokens and back."""
    before = ("keys, values", "queries, keys, values")
    yield Exchange(
        known.get("forward", *before), known.get("backward", "their gradients", "queries, keys, values")
    )
    yield from parts
    yield Exchange(
        known.get("forward", "attention"), known.get("backward", "keys, values again", "attention")
    )


def _dispatch(known: _Known) -> Exchange:
    """Tokens on their way to machines first, and from there to ranks; the shared expert need not wait."""
    there = [f"dispatch{where}" for where in _NEAR_AND_FAR]
    return Exchange(known.get("forward", *there), known.get("backward", *reversed(there)), until="experts")


def _around_experts(known: _Known, parts: Iterable[Part], *, apart: bool) -> Iterator[Item]:
    """Once tokens are there; and back the other way round."""
    yield Await("experts")
    if apart:
        yield known.enter(", experts")
    yield from parts
    if apart:
        yield known.leave(", experts")
    back = [f"combine{where}" for where in reversed(_NEAR_AND_FAR)]
    yield Exchange(known.get("forward", *back), known.get("backward", *reversed(back)))
    if not apart:
        yield known.leave()


def embedding_items(asked: Pass, stage: int) -> tuple[Item, ...]:
    """Parts and calls before the first layer."""
    known = _Known.of(end_calls(asked, stage), asked.parallel)
    return (
        *embedding_parts(asked),
        Exchange(known.get("forward", "embedding"), known.get("backward", "embedding")),
    )


def head_items(asked: Pass, stage: int) -> tuple[Item, ...]:
    """Parts and calls after the last layer."""
    known = _Known.of(end_calls(asked, stage), asked.parallel)
    items: list[Item] = []
    for part in head_parts(asked):
        if part.place == "head":
            items.append(
                Exchange(known.get("forward", "output layer"), known.get("backward", "output layer"))
            )
        items.append(part)
        if part.place == "head":
            items.append(Exchange(weights=known.get("backward", "input again")))
    # the maxima of the logits, their sums, and the right ones
    loss = known.get("forward", "loss") * 3
    return (*items, Exchange((*loss, *known.get("forward", "logits of the last token"))))
