"""The passes of a unit of the model as stretches of compute and the calls between them, in femtoseconds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from simulator.llm.step.kernels import NOTHING, Part
from simulator.llm.step.roofline import Efficiency, duration
from simulator.llm.step.weave import Await, Exchange, Item

if TYPE_CHECKING:
    from simulator.llm.hardware import Hardware
    from simulator.llm.step.kernels import Work
    from simulator.llm.step.weave import Calls


@dataclass(frozen=True, slots=True)
class Stretch:
    """Compute without a call in it.

    Attributes
    ----------
    name : str
        Of its longest part's place.
    chain : int
        fs that what comes next waits for.
    aside : int
        fs of gradients of weights, for which nothing of the pass waits.
    """

    name: str
    chain: int
    aside: int = 0


@dataclass(frozen=True, slots=True)
class Sends:
    """Calls, one after the other.

    Attributes
    ----------
    calls : tuple of Call
    aside : bool
        Whether only gradients of weights wait for them.
    until : str
        Where they are waited for; at once where it is empty.
    """

    calls: Calls
    aside: bool = False
    until: str = ""


@dataclass(frozen=True, slots=True)
class Waits:
    """Where calls are waited for that were begun before."""

    until: str


Operation: TypeAlias = Stretch | Sends | Waits


@dataclass(frozen=True, slots=True)
class UnitPasses:
    """What a unit does in each kind of pass.

    Attributes
    ----------
    forward, backward : tuple of Stretch, Sends or Waits
        Backward, what is done again among it.
    """

    forward: tuple[Operation, ...]
    backward: tuple[Operation, ...]


def unit_passes(items: tuple[Item, ...], hardware: Hardware, efficiency: Efficiency) -> UnitPasses:
    """Find what a unit does, from its parts and calls as they are forward.

    Raises
    ------
    ModelError
        If the hardware does not say how fast it is.
    """
    speed = _Speed(hardware, efficiency)
    forward = tuple(_joined(_forward(items, speed)))
    again = any(isinstance(item, Part) and item.recomputed for item in items)
    whole = again and all(item.recomputed for item in items if isinstance(item, Part))
    backward = tuple(_joined(_backward(items, speed, selective=again and not whole)))
    return UnitPasses(forward, (*forward, *backward) if whole else backward)


@dataclass(frozen=True, slots=True)
class _Speed:
    hardware: Hardware
    efficiency: Efficiency

    def time(self, work: Work) -> int:
        """Femtoseconds of work; of any at least one, or the program would not have it."""
        return max(duration(work, self.hardware, self.efficiency), int(work != NOTHING))


def _forward(items: Iterable[Item], speed: _Speed) -> Iterator[Operation]:
    for item in items:
        if isinstance(item, Part):
            yield Stretch(item.place, speed.time(item.forward))
        elif isinstance(item, Await):
            yield Waits(item.until)
        elif item.forward:
            yield Sends(item.forward, until=item.until)


def _backward(items: tuple[Item, ...], speed: _Speed, *, selective: bool) -> Iterator[Operation]:
    """In reverse; what is begun at one place and awaited at another changes its ends."""
    begun = {item.until: item.backward for item in items if isinstance(item, Exchange) and item.until}
    for item in reversed(items):
        if isinstance(item, Part):
            again = speed.time(item.forward) if selective and item.recomputed else 0
            yield Stretch(
                item.place, again + speed.time(item.input_gradient), speed.time(item.weight_gradient)
            )
        elif isinstance(item, Await):
            if begun[item.until]:
                yield Sends(begun[item.until], until=item.until)
        elif item.until:
            yield Waits(item.until)
        else:
            if item.backward:
                yield Sends(item.backward)
            if item.weights:
                yield Sends(item.weights, aside=True)


def _joined(operations: Iterable[Operation]) -> Iterator[Operation]:
    """Stretches with nothing between them as one, by the name of the longest."""
    run: list[Stretch] = []
    for operation in operations:
        if isinstance(operation, Stretch):
            run.append(operation)
            continue
        yield from _one(run)
        run = []
        yield operation
    yield from _one(run)


def _one(run: list[Stretch]) -> Iterator[Stretch]:
    if run:
        longest = max(run, key=lambda stretch: stretch.chain + stretch.aside)
        yield Stretch(longest.name, sum(one.chain for one in run), sum(one.aside for one in run))
