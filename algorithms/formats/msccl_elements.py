"""The elements of an MSCCL XML file, as columns, with the line of each.

The meaning of the elements is that of the runtime's own parser (microsoft/msccl, src/graph/topo.cc;
Azure/msccl-scheduler, src/parser.cc).
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NoReturn

from algorithms.programs.buffers import BUFFERS
from topologies.errors import FormatError
from topologies.formats.tags import take_tags

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Type:
    """What a step does: it adds up a message, its source and its destination, as far as it says so."""

    receives: bool = False
    reads_source: bool = False
    reads_target: bool = False
    writes: bool = False
    sends: bool = False


TYPES: Final[Mapping[str, Type]] = MappingProxyType(
    {
        "s": Type(reads_source=True, sends=True),
        "r": Type(receives=True, writes=True),
        "rcs": Type(receives=True, writes=True, sends=True),
        "rrs": Type(receives=True, reads_source=True, sends=True),
        "rrc": Type(receives=True, reads_source=True, writes=True),
        "rrcs": Type(receives=True, reads_source=True, writes=True, sends=True),
        "cpy": Type(reads_source=True, writes=True),
        "re": Type(reads_source=True, reads_target=True, writes=True),
        "nop": Type(),
    }
)

COLLECTIVES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "allreduce": "allreduce",
        "allgather": "allgather",
        "reduce_scatter": "reduce_scatter",
        "reducescatter": "reduce_scatter",
        "broadcast": "broadcast",
        "reduce": "reduce",
        "alltoall": "all_to_all",
        "gather": "gather",
        "scatter": "scatter",
    }
)
"""What MSCCL and MSCCL++ call the collectives: of two names MSCCL writes the first, MSCCL++ the last."""

_CODES: Final = {word: code for code, word in enumerate(TYPES)}
_BUFFERS: Final = {name: code for code, name in enumerate(BUFFERS)}
_DEPTH: Final = {"algo": 0, "gpu": 1, "tb": 2, "step": 3, "op": 3}
_MOST_DIGITS: Final = 9

STEP: Final = ("s", "type", "srcbuf", "srcoff", "dstbuf", "dstoff", "cnt", "depid", "deps")
"""Columns of a step, before its thread block and its line."""

_NUMBERS: Final = frozenset(STEP) - {"type", "srcbuf", "dstbuf"}


class Elements:
    """Takes the elements as they come.

    Attributes
    ----------
    name : str
        Of the file.
    algo : dict of str
        Attributes of the outermost element.
    gpus : list of tuple of int
        (id, input, output and scratch chunks, line) of each.
    blocks : list of tuple of int
        (id, peer to send to, peer to receive from, channel, gpu's position, line) of each thread block.
    steps : list of tuple of int
        The columns of `STEP`, thread block's position and line of each.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        # numbers that were read before, as they were written: none below 0, and with -1
        self._whole: dict[str, int] = {}
        self._or_none: dict[str, int] = {}
        self.expat: Any = None
        self._open: list[str] = []
        self.algo: dict[str, str] = {}
        self.algo_line = 0
        self.gpus: list[tuple[int, ...]] = []
        self.blocks: list[tuple[int, ...]] = []
        self.steps: list[tuple[int, ...]] = []

    def line(self) -> int:
        """Where the parser is."""
        return int(self.expat.CurrentLineNumber)

    def start(self, name: str, said: dict[str, str]) -> None:
        """Take an element that stands where it must."""
        if _DEPTH.get(name, -1) != len(self._open):
            where = f"in <{self._open[-1]}>" if self._open else "at the beginning"
            self.refuse(
                f"found <{name[:40]}> {where}; expected algo, gpu, tb and step, each in the one before"
            )
        self._open.append(name)
        if name == "step":
            self.steps.append(self._step(said))
        elif name == "op":
            self.steps.append(self._step(self._spelled_out(said)))
        elif name == "tb":
            peers = (self.number(said, key, -1) for key in ("send", "recv", "chan"))
            self.blocks.append((self.number(said, "id"), *peers, len(self.gpus) - 1, self.line()))
        elif name == "gpu":
            rooms = (self.number(said, f"{buffer}_chunks") for buffer in BUFFERS)
            self.gpus.append((self.number(said, "id"), *rooms, self.line()))
        else:
            self.algo, self.algo_line = said, self.line()

    def end(self, _name: str) -> None:
        """Leave the element."""
        self._open.pop()

    def refuse(self, message: str) -> NoReturn:
        """Say what is wrong, here."""
        raise self.error(message)

    def error(self, message: str, line: int = 0) -> FormatError:
        """What is wrong in a line, or where the parser is."""
        return FormatError(message, self.name, line or self.line() or 1, 1)

    def number(
        self, said: Mapping[str, str], key: str, least: int = 0, element: str = "", line: int = 0
    ) -> int:
        """A whole number that is not below `least`, of the innermost open element or of another one.

        Raises
        ------
        FormatError
        """
        text = said.get(key)
        if text is None:
            message = f'missing attribute "{key}" in <{element or self._open[-1]}>'
            raise self.error(message, line)
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS) or int(text) < least:
            message = f'{key} is "{text[:40]}"; expected a whole number from {least} on'
            raise self.error(message, line)
        return int(text)

    def _step(self, said: Mapping[str, str]) -> tuple[int, ...]:
        whole, or_none, at = self._whole, self._or_none, (len(self.blocks) - 1, self.line())
        try:
            # what was read before needs no look
            return (
                whole[said["s"]],
                _CODES[said["type"]],
                _BUFFERS[said["srcbuf"]],
                or_none[said["srcoff"]],
                _BUFFERS[said["dstbuf"]],
                or_none[said["dstoff"]],
                whole[said["cnt"]],
                or_none[said["depid"]],
                or_none[said["deps"]],
                *at,
            )
        except KeyError:
            return (*self._checked(said), *at)

    def _checked(self, said: Mapping[str, str]) -> tuple[int, ...]:
        row = (
            self.number(said, "s"),
            self._word(said, "type", _CODES),
            self._word(said, "srcbuf", _BUFFERS),
            self.number(said, "srcoff", -1),
            self._word(said, "dstbuf", _BUFFERS),
            self.number(said, "dstoff", -1),
            self.number(said, "cnt"),
            self.number(said, "depid", -1),
            self.number(said, "deps", -1),
        )
        found = {said[name]: number for name, number in zip(STEP, row, strict=True) if name in _NUMBERS}
        self._whole |= {text: number for text, number in found.items() if number >= 0}
        self._or_none |= found
        return row

    def _word(self, said: Mapping[str, str], key: str, known: Mapping[str, int]) -> int:
        text = said.get(key)
        if text is None:
            self.refuse(f'missing attribute "{key}" in <{self._open[-1]}>')
        if text not in known:
            self.refuse(f'{key} is "{text[:40]}"; expected {", ".join(known)}')
        return known[text]

    def _spelled_out(self, said: Mapping[str, str]) -> dict[str, str]:
        """An <op>, which names one place only, as a <step>: that of what is sent, or of what is written."""
        if said.get("type") in ("cpy", "re"):
            self.refuse("an <op> that copies or reduces does not say from where; expected a <step>")
        place, at = said.get("buf", "o"), said.get("off", "-1")
        ends = {"srcbuf": place, "srcoff": at, "dstbuf": place, "dstoff": at}
        return {"cnt": "1", "depid": "-1", "deps": "-1", "s": said.get("step", ""), **said, **ends}


def elements_of(data: bytes, file: str) -> Elements:
    """The elements of a file.

    Raises
    ------
    FormatError
        If it is not XML, declares a document type, or an element or an attribute is wrong; names the line.
    """
    elements = Elements(file)
    take_tags(data, file, elements)
    return elements
