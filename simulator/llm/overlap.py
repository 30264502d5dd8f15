"""Which compute a primitive may overlap: what neither feeds it nor waits for it.

The products of two neighbouring layers, forward and backward, and what moves between them, as a graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from simulator.llm.strategies import B, D, Flow, Strategy, flows
from simulator.llm.symbols import Expression

NEIGHBOURS: Final[Mapping[str, tuple[str, ...]]] = {
    "Y1": (),
    "Y2": ("Y1",),
    "dX2": ("Y2",),
    "dW2": ("Y2",),
    "dX1": ("dX2",),
    "dW1": ("dX2",),
}
"""Products of layers 1 and 2 and what each waits for: a layer's dY is the next one's dX."""

_BETWEEN: Final[Mapping[tuple[str, str], tuple[tuple[str, ...], tuple[str, ...]]]] = {
    ("forward", "Y"): (("Y1",), ("Y2",)),
    ("backward", "dX"): (("dX2",), ("dX1", "dW1")),
    ("backward", "X"): ((), ("dW2",)),
    ("forward", "W"): ((), ("Y2",)),
    ("backward", "W"): ((), ("dX1",)),
    ("backward", "dW"): (("dW2",), ()),
}
"""Of a phase and a variable: the products that it waits for, and those that wait for it."""

PASSES: Final[Mapping[str, frozenset[str]]] = {
    "forward": frozenset({"Y1", "Y2"}),
    "backward": frozenset({"dX1", "dX2", "dW1", "dW2"}),
}


def overlaps(flow: Flow) -> tuple[str, ...] | None:
    """Products of the same pass that may run while a flow is under way; None of flows that it does not know.

    Examples
    --------
    >>> from simulator.llm.strategies import STRATEGIES
    >>> for flow in flows(STRATEGIES["tp"]):
    ...     print(flow.phase, flow.change.name, overlaps(flow))
    forward All-Reduce ()
    backward All-Reduce ('dW2',)
    """
    if (flow.phase, flow.variable) not in _BETWEEN:
        return None
    before, after = _BETWEEN[flow.phase, flow.variable]
    waits = {name: set(sources) for name, sources in NEIGHBOURS.items()}
    waits["flow"] = set(before)
    for name in after:
        # what fetches a whole variable replaces the direct way
        waits[name] = {"flow"} | (waits[name] - set(before))
    feeds = _reached(waits, "flow")
    needs = {name for name in NEIGHBOURS if "flow" in _reached(waits, name)}
    return tuple(sorted(PASSES[flow.phase] - feeds - needs))


def _reached(waits: Mapping[str, set[str]], start: str) -> set[str]:
    """Everything that must be done before."""
    found: set[str] = set()
    todo = list(waits[start])
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += waits[name]
    return found


@dataclass(frozen=True, slots=True)
class ApplicationRow:
    """A row of the first seed document's table of uses in large language models.

    Attributes
    ----------
    strategy, primitive : str
    phase : str
    message : str
        What it names as volume: the size of the message, M.
    rank : Expression
        What a rank sends for it.
    overlap : str
        Which compute may hide it.
    """

    strategy: str
    primitive: str
    phase: str
    message: str
    rank: Expression
    overlap: str


WORDS: Final[Mapping[str, str]] = {
    "Y1": "the layer before",
    "Y2": "the layer",
    "dX1": "dX of the layer before",
    "dX2": "dX",
    "dW1": "dW of the layer before",
    "dW2": "dW",
}


def application_rows(strategies: Mapping[str, Strategy]) -> Iterator[ApplicationRow]:
    """Tensor and sequence parallelism and ZeRO-3 as the first seed has them, with what they send.

    A message is bsh for activations (BD in the second seed's letters), a layer's parameters for weights.
    """
    for name in ("tp", "sp", "fsdp"):
        for flow in flows(strategies[name]):
            waits = overlaps(flow)
            words = "nothing" if not waits else ", ".join(WORDS[word] for word in waits)
            yield ApplicationRow(
                name,
                flow.change.name,
                flow.phase,
                "bsh" if flow.size == B * D else "layer_params",
                flow.change.exact_rank,
                words,
            )
