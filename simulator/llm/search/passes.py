"""How long a slot of a stage takes at least, from what it waits for to what waits for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from simulator.llm.step.unit_passes import Operation, Sends, Stretch

if TYPE_CHECKING:
    from simulator.llm.step.slots import PassKind

Priced: TypeAlias = tuple[Operation, int]
"""An operation, and fs for which its calls let their stage compute nothing, at least."""

NEVER: Final = -(10**30)
"""Fs: when something has come that nobody waits for."""


@dataclass(frozen=True, slots=True)
class Ends:
    """When what a slot does has ended.

    Attributes
    ----------
    free : int
        fs at which the stage can compute again.
    done : int
        fs at which all of the slot is done.
    ready : int
        fs at which what goes through the layers is done, but for gradients of weights.
    """

    free: int
    done: int
    ready: int

    def later(self, other: Ends) -> Ends:
        """The later of each."""
        return Ends(max(self.free, other.free), max(self.done, other.done), max(self.ready, other.ready))

    def after(self, time: int) -> Ends:
        """All of them so many fs later."""
        return Ends(self.free + time, self.done + time, self.ready + time)


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long a slot takes.

    Attributes
    ----------
    free, there : Ends
        From when the stage is free, and from when its input is there; the later ones count.
    """

    free: Ends
    there: Ends

    def ends(self, free: int, there: int) -> Ends:
        """When a slot ends.

        >>> Lengths(Ends(5, 5, 4), Ends(3, 3, NEVER)).ends(10, 20)
        Ends(free=23, done=23, ready=14)
        """
        return self.free.after(free).later(self.there.after(there))


def lengths(units: Iterable[tuple[Priced, ...]], kind: PassKind) -> Lengths:
    """Lengths of a slot.

    Parameters
    ----------
    units : iterable of tuple of (operation, fs)
        What each unit does, in the order of the slot.
    kind : {'F', 'B', 'I', 'W'}
    """
    listed = list(units)
    from_free, from_there = _Clock(0, NEVER), _Clock(NEVER, 0)
    for clock in (from_free, from_there):
        for operations in listed:
            clock.unit(operations, kind)
    return Lengths(from_free.ends, from_there.ends)


@dataclass(slots=True, eq=False)
class _Clock:
    """Walks through a slot.

    Attributes
    ----------
    free : int
        fs at which the stage can compute again.
    ready : int
        fs at which what comes next through the layers can begin.
    computed : int
        fs at which the stage has computed last.
    """

    free: int
    ready: int
    computed: int = NEVER
    due: list[tuple[int, int]] = field(default_factory=list)
    begun: dict[str, int] = field(default_factory=dict)

    @property
    def ends(self) -> Ends:
        """Where it has come to."""
        return Ends(self.free, max(self.ready, self.computed), self.ready)

    def unit(self, operations: Iterable[Priced], kind: PassKind) -> None:
        """Go through a unit."""
        for operation, time in operations:
            if isinstance(operation, Stretch):
                self._stretch(0 if kind == "W" else operation.chain, 0 if kind == "I" else operation.aside)
            elif isinstance(operation, Sends):
                if kind not in "IW" or operation.aside == (kind == "W"):
                    self._send(operation, time)
            elif kind != "W":
                self.ready = max(self.ready, self.begun.pop(operation.until, NEVER))
        self._flush()

    def _stretch(self, chain: int, aside: int) -> None:
        if not chain and not aside:
            return
        self._flush()
        if chain:
            self.free = self.ready = self.computed = max(self.free, self.ready) + chain
        if aside:
            self.due.append((aside, self.ready))

    def _flush(self) -> None:
        """Gradients of weights come before the next stretch."""
        for aside, ready in self.due:
            self.free = self.computed = max(self.free, ready) + aside
        self.due = []

    def _send(self, sends: Sends, time: int) -> None:
        end = self.ready + time
        # what does not go on meanwhile waits for its end
        self.free = max(self.free, end)
        if sends.until:
            self.begun[sends.until] = end
        elif not sends.aside:
            self.ready = end
