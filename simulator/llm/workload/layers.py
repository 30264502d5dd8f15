"""Tables of layers, the text workloads of ASTRA-sim and SimAI: read.

The first line names the kind of parallelism and says numbers of it, the second how many rows follow; a row is
a layer: its name, a number that nobody reads, and for the forward pass, the gradients of its inputs and those
of its weights a time, a collective and its bytes; then the time that follows each of these collectives. Times
are ns (aliyun/SimAI, astra-sim-alibabacloud/astra-sim/workload/Workload.cc; mlcommons/chakra, src/converter).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from algorithms.collective import LARGEST
from topologies.errors import FormatError
from topologies.text import quoted

POLICIES: Final = (
    *("DATA", "MODEL", "HYBRID_DATA_MODEL", "HYBRID_MODEL_DATA"),
    *("HYBRID_TRANSFORMER", "HYBRID_TRANSFORMER_FWD_IN_BCKWD", "HYBRID_DLRM", "HYBRID_DLRM_ENHANCED"),
    *("HYBRID_CUSTOMIZED", "MICRO", "DISTRIBUTED_INFERENCE"),
)
"""Kinds of parallelism."""

OF_LAYERS: Final = POLICIES[:4]
"""Those that a layer may have, where each has its own."""

COLLECTIVES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "ALLREDUCE": "allreduce",
        "ALLGATHER": "allgather",
        "REDUCESCATTER": "reduce_scatter",
        "ALLTOALL": "all_to_all",
    }
)

_SUFFIXES: Final = ("_DP_EP", "_EP")
_NUMBERS: Final = {
    **{"model_parallel_NPU_group": "tp", "ep": "ep", "pp": "pp", "vpp": "vpp", "ga": "ga"},
    **{"all_gpus": "all_gpus", "pp_comm": "pp_comm", "DLRM_LAST_BOTTOM_LAYER": "bottom"},
}
_LISTS: Final = {"checkpoints": "checkpoints", "checkpoint_initiates": "recomputes"}
_LONGEST: Final = 10**13
"""ns, past what a run may take."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What a layer does in one of its turns.

    Attributes
    ----------
    time : int
        ns.
    kind : str
        Of the collective; empty where there is none.
    group : str
        What the table says of its group: `_EP`, `_DP_EP`, or nothing.
    size : int
        Bytes, as the table says them.
    """

    time: int
    kind: str
    group: str
    size: int


@dataclass(frozen=True, slots=True)
class Layer:
    """A row.

    Attributes
    ----------
    name : str
    forward, inputs, weights : Turn
    update : int
        ns that follow each of its collectives.
    policy : str
        Its own kind of parallelism; empty where it is the table's.
    """

    name: str
    forward: Turn
    inputs: Turn
    weights: Turn
    update: int
    policy: str = ""


@dataclass(frozen=True, slots=True)
class LayerTable:
    """A table of layers.

    Attributes
    ----------
    policy : str
        One of `POLICIES`.
    layers : tuple of Layer
    numbers : mapping of str to int
        What the first line says: `tp`, `ep`, `pp`, `ga`, `all_gpus`, `pp_comm`, `bottom`, ...
    checkpoints : tuple of int
        Layers from which the forward pass is done again.
    recomputes : tuple of int
        Layers before whose gradients that is done.
    file : str
    """

    policy: str
    layers: tuple[Layer, ...]
    numbers: Mapping[str, int]
    checkpoints: tuple[int, ...]
    recomputes: tuple[int, ...]
    file: str

    def number(self, name: str) -> int:
        """A number of the first line, 1 where it says none."""
        return self.numbers.get(name, 1)


def read_layers(text: str, file: str) -> LayerTable:
    r"""Table of a text.

    Raises
    ------
    FormatError
        If it is none; names the line and column.

    Examples
    --------
    >>> table = read_layers("DATA\n1\nfc -1 10 NONE 0 10 NONE 0 10 ALLREDUCE 64 1\n", "a.txt")
    >>> table.policy, table.layers[0].weights
    ('DATA', Turn(time=10, kind='allreduce', group='', size=64))
    """
    lines = [line for line in _lines(text, file) if line]
    if not lines:
        raise FormatError("is empty; expected a table of layers", file)
    head = _head(lines[0])
    if len(lines) < 2:
        raise lines[0][0].wrong(f"expected a line with the number of layers after {head.policy}")
    rows, count = lines[2:], lines[1][0]
    if len(lines[1]) > 1 or count.number(1 << 20) != len(rows):
        raise count.wrong(f"there are {len(rows)} rows, found {quoted(count.text)}")
    if not rows:
        raise count.wrong("there is no layer")
    layers = tuple(_layer(row, own=head.policy == "HYBRID_CUSTOMIZED") for row in rows)
    table = LayerTable(head.policy, layers, head.numbers, *head.lists, file)
    _check_layers(table, lines[0][0])
    return table


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of the text, and where it stands."""

    text: str
    file: str
    line: int
    column: int

    def wrong(self, message: str) -> FormatError:
        return FormatError(message, self.file, self.line, self.column)

    def number(self, most: int) -> int:
        """The word as a number of zero or more."""
        if not re.fullmatch(r"[0-9]{1,18}", self.text) or int(self.text) > most:
            raise self.wrong(f"found {quoted(self.text)}, expected a number from 0 to {most:,}")
        return int(self.text)


def _lines(text: str, file: str) -> list[list[_Word]]:
    return [
        [_Word(match[0], file, number, match.start() + 1) for match in re.finditer(r"\S+", line)]
        for number, line in enumerate(text.split("\n"), 1)
    ]


@dataclass(frozen=True, slots=True)
class _Head:
    """What the first line says."""

    policy: str
    numbers: dict[str, int]
    lists: tuple[tuple[int, ...], tuple[int, ...]]


def _head(words: list[_Word]) -> _Head:
    policy, *rest = words
    if policy.text not in POLICIES:
        raise policy.wrong(f"found {quoted(policy.text)}, expected {', '.join(POLICIES)}")
    numbers: dict[str, int] = {}
    lists: dict[str, tuple[int, ...]] = dict.fromkeys(_LISTS.values(), ())
    if policy.text.startswith("HYBRID_DLRM") and rest and rest[0].text.isdecimal():
        numbers["bottom"] = rest.pop(0).number(1 << 20)
    while rest:
        name = rest.pop(0)
        key = name.text.removesuffix(":")
        if key not in _NUMBERS and key not in _LISTS:
            known = ", ".join([*_NUMBERS, *_LISTS])
            raise name.wrong(f"found {quoted(name.text)}, expected {known}")
        value = _next(name, rest).number(LARGEST)
        if key in _NUMBERS:
            numbers[_NUMBERS[key]] = value
            continue
        lists[_LISTS[key]] = tuple(
            _next(name, rest).number(1 << 20) for _ in range(min(value, len(rest) + 1))
        )
    return _Head(policy.text, numbers, (lists["checkpoints"], lists["recomputes"]))


def _next(name: _Word, rest: list[_Word]) -> _Word:
    if not rest:
        raise name.wrong(f"expected a number after {quoted(name.text)}")
    return rest.pop(0)


def _layer(words: list[_Word], *, own: bool) -> Layer:
    wanted = 13 if own else 12
    if len(words) != wanted:
        raise words[0].wrong(f"found a row of {len(words)} words, expected {wanted}")
    name, _, *turns = words
    policy = words[-1].text if own else ""
    if own and policy not in OF_LAYERS:
        raise words[-1].wrong(f"found {quoted(policy)}, expected {', '.join(OF_LAYERS)}")
    forward, inputs, weights = (_turn(*turns[place : place + 3]) for place in (0, 3, 6))
    return Layer(name.text, forward, inputs, weights, words[11].number(_LONGEST), policy)


def _turn(time: _Word, collective: _Word, size: _Word) -> Turn:
    word = collective.text
    suffix = next((suffix for suffix in _SUFFIXES if word.endswith(suffix)), "")
    kind = COLLECTIVES.get(word.removesuffix(suffix))
    if kind is None and word != "NONE":
        known = ", ".join(["NONE", *COLLECTIVES])
        raise collective.wrong(f"found {quoted(word)}, expected {known}, or one of these with _EP or _DP_EP")
    moved = size.number(LARGEST)
    # an empty collective is none
    return Turn(time.number(_LONGEST), kind if kind and moved else "", suffix, moved)


def _check_layers(table: LayerTable, head: _Word) -> None:
    """Refuse numbers of layers that are not there, and what is done again from nowhere."""
    last = len(table.layers) - 1
    named = (*table.checkpoints, *table.recomputes, table.numbers.get("bottom", 0))
    absent = next((layer for layer in named if layer > last), None)
    if absent is not None:
        raise head.wrong(f"there is no layer {absent}; layers are 0 to {last}")
    for layer in table.recomputes:
        if not any(checkpoint <= layer for checkpoint in table.checkpoints):
            raise head.wrong(f"nothing is kept before layer {layer}, from which it could be computed again")
    for name in ("tp", "ep", "pp"):
        if table.number(name) < 1:
            raise head.wrong(f"found {name} 0, expected 1 or more")
