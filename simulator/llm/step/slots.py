"""A pass of one micro-batch through one chunk."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

PassKind: TypeAlias = Literal["F", "B", "I", "W"]


@dataclass(frozen=True, slots=True)
class Slot:
    """A pass of one micro-batch through one chunk.

    Attributes
    ----------
    kind : {'F', 'B', 'I', 'W'}
        Forward; whole backward; or its two halves, the gradients of the input and of the weights.
    microbatch, chunk : int
        From 0; chunks in the model's order.
    with_next : bool
        Whether the next slot of the stage runs at the same time: DualPipe's F&B. Says nothing of which
        pass it is, and slots that differ in it only are equal.
    """

    kind: PassKind
    microbatch: int
    chunk: int
    with_next: bool = field(default=False, compare=False)

    def __repr__(self) -> str:
        pair = " &" if self.with_next else ""
        return f"{self.kind}{self.microbatch} of chunk {self.chunk}{pair}"
