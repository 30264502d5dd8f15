"""Reader of MSCCL++ execution plans: what each thread block copies, reduces, signals and waits for.

What an operation does is what the executor's kernel does (microsoft/mscclpp,
src/core/include/execution_kernel.hpp).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from algorithms.collective import check_ranks
from algorithms.errors import ScheduleError
from algorithms.formats.msccl_elements import COLLECTIVES
from algorithms.formats.mscclpp_order import Order
from algorithms.formats.mscclpp_plan import LINK, blocks_of, operations_of
from algorithms.programs.buffers import BUFFERS, buffers_of
from algorithms.programs.making import Making
from algorithms.programs.purpose import Purpose, Side
from algorithms.schedule import check_moves
from topologies.errors import FormatError
from topologies.formats.json_text import parse_json
from topologies.formats.reading import decode
from topologies.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from algorithms.formats.mscclpp_plan import Block
    from algorithms.programs.buffers import Buffers
    from algorithms.programs.program import Program
    from topologies.formats.json_text import JsonFile, Path

_SIDES: Final[tuple[Side, Side]] = ("source", "target")

_MOST_SHARES: Final = 64
"""Into which thread block groups may cut a chunk, all groups together."""


@dataclass(frozen=True, slots=True)
class _Does:
    """What an operation does with its buffers.

    Attributes
    ----------
    pairs : bool
        Whether each source goes to a destination of its own; else all are added up, and go to all.
    packets_in, packets_out : int or None
        The first source, or destination, that is read, or written, as packets, which carry their own signal.
    """

    pairs: bool = False
    packets_in: int | None = None
    packets_out: int | None = None


_DOES: Final[Mapping[str, _Does]] = MappingProxyType(
    {
        **dict.fromkeys(("copy", "put", "pws", "pwsf", "get"), _Does(pairs=True)),
        "cpkt": _Does(pairs=True, packets_out=0),
        "upkt": _Does(pairs=True, packets_in=0),
        "ppkt": _Does(pairs=True, packets_out=0),
        **dict.fromkeys(("re", "res", "rre", "rres", "glres", "gstore"), _Does()),
        "rppkt": _Does(packets_in=0, packets_out=0),
        "repkt": _Does(packets_in=1),
        **dict.fromkeys(("respkt", "recpkt", "recspkt"), _Does(packets_in=1, packets_out=1)),
        "gstorepkt": _Does(packets_in=0, packets_out=0),
    }
)
_SIGNALS: Final = ("signal", "rlxsignal", "pws", "pwsf")
_WAITS: Final = ("wait", "rlxwait")
_NEITHER: Final = ("nop", "flush", "barrier", "sem_acquire", "sem_release")
_KNOWN: Final = (*_DOES, *_SIGNALS[:2], *_WAITS, *_NEITHER, "pipeline")


def read_mscclpp(data: bytes, file: str) -> Program:
    """Program of an MSCCL++ execution plan.

    The operations of a thread block run one after the other. A signal of a channel is waited for at its
    other end, the n-th by the n-th; packets are waited for by whoever reads them. A pipeline is run once,
    for all of its parts. A switch channel reads from all of its ranks, or writes to them.

    Raises
    ------
    FormatError
        If it is no plan, or says what no executor would take; names the place.
    """
    plan = parse_json(decode(data, file), file)
    if not isinstance(plan.value, dict):
        raise plan.error("expected the keys of an execution plan")
    try:
        return _Reader(plan).program()
    except ScheduleError as error:
        raise FormatError(error.message, file, 1, 1) from None


class _Reader:
    """Reads a plan, thread block by thread block."""

    def __init__(self, plan: JsonFile) -> None:
        self._plan = plan
        self._ranks = len(plan.get(("gpus",), list, "a list of GPUs"))
        check_ranks(self._ranks)
        self._blocks = self._checked()
        self._shares = self._common_shares()
        self._purpose, self._buffers = self._room()
        self._making = Making()
        self._order = Order(plan, self._making)

    def program(self) -> Program:
        """Read all operations, and what they wait for."""
        unsaid = list(self._unsaid())
        for block in self._blocks:
            last: list[int] = []
            for step, (path, inside) in enumerate(operations_of(self._plan, block)):
                last = self._operation(block, step, path, last)
                if inside and "a pipeline's parts go as one" not in unsaid:
                    unsaid.append("a pipeline's parts go as one")
        self._order.settle()
        check_moves(4 * sum(self._making.count))
        nobody = np.zeros(0, dtype=np.int64)
        places = self._buffers.with_wires(nobody, nobody)
        return self._making.program(self._text("name"), self._purpose, places, unsaid)

    def _text(self, key: str, default: str | None = None) -> str:
        found: str = self._plan.get((key,), str, "a text", default)
        return found

    def _checked(self) -> list[Block]:
        for rank in range(self._ranks):
            self._plan.get(("gpus", rank), dict, "a GPU")
            found = self._plan.get(("gpus", rank, "id"), int, "its rank")
            if found != rank:
                raise self._plan.error(f"found GPU {found}, expected {rank}", "gpus", rank, "id")
        return list(blocks_of(self._plan, self._ranks))

    def _common_shares(self) -> int:
        """Into how many shares each chunk is cut, so that every thread block group has whole ones."""
        shares = 1
        # most plans have no groups
        for block in self._blocks if '"tbg_info"' in self._plan.text else ():
            for path, _ in operations_of(self._plan, block):
                info = self._plan.get((*path, "tbg_info"), dict, "a mapping", {})
                if info:
                    size = self._plan.get((*path, "tbg_info", "tbg_size"), int, "a number of thread blocks")
                    shares = lcm(shares, size) if 0 < size <= _MOST_SHARES else _MOST_SHARES + 1
                if shares > _MOST_SHARES:
                    raise self._plan.error(f"more than {_MOST_SHARES} shares of a chunk", *path, "tbg_info")
        return shares

    def _room(self) -> tuple[Purpose, Buffers]:
        """What must be computed, and the buffers of every rank."""
        said = self._text("collective")
        kind = COLLECTIVES.get(said)
        if kind is None:
            message = f'collective is "{printable(said)}"; expected {", ".join(COLLECTIVES)}'
            raise self._plan.error(message, "collective")
        chunks = [
            [self._chunks(rank, f"{name}_chunks") for name in ("input", "output", "scratch")]
            for rank in range(self._ranks)
        ]
        parts = self._parts(kind, chunks)
        purpose = Purpose(kind, self._ranks, parts * self._shares)
        for rank, found in enumerate(chunks):
            for name, number, side in zip(("input", "output"), found, _SIDES, strict=False):
                wanted = purpose.room(side) // self._shares
                if number not in (0, wanted):
                    text = f"{name}_chunks is {number}; expected {wanted}, or 0 where it is not used"
                    raise self._plan.error(text, "gpus", rank, f"{name}_chunks")
        scratch = np.array([found[2] for found in chunks], dtype=np.int64) * self._shares
        in_place = self._plan.get(("inplace",), bool, "true or false", default=False)
        return purpose, buffers_of(purpose, scratch, in_place=in_place)

    def _chunks(self, rank: int, key: str) -> int:
        number: int = self._plan.get(("gpus", rank, key), int, "a number of chunks")
        if not 0 <= number < 1 << 24:
            raise self._plan.error(
                f"found {printable(number)}, expected a number of chunks", "gpus", rank, key
            )
        return number

    def _parts(self, kind: str, chunks: list[list[int]]) -> int:
        """Chunks of the full vector, as the first buffer that is used tells."""
        unit = Purpose(kind, self._ranks, self._ranks)
        for found in chunks:
            for number, side in zip(found, _SIDES, strict=False):
                if number:
                    return number * self._ranks // unit.room(side)
        raise self._plan.error("no rank has an input or an output", "gpus")

    def _unsaid(self) -> Iterator[str]:
        """What a program says nothing about."""
        if self._text("protocol", "Simple") != "Simple":
            yield f'protocol "{printable(self._text("protocol"))}"'
        for key, usual in (("min_message_size", 0), ("max_message_size", 2**64 - 1)):
            found = self._plan.get((key,), int, "a size", usual)
            if found != usual:
                yield f"{key} {printable(found)}"
        if any(block.groups for block in self._blocks):
            yield "switch channels: ranks do what the switch would"

    def _operation(self, block: Block, step: int, path: Path, last: list[int]) -> list[int]:
        """Add the instructions of an operation; the numbers of those that the next one waits for."""
        plan = self._plan
        word = plan.get((*path, "name"), str, "the name of an operation")
        if word not in _KNOWN[:-1]:
            raise plan.error(f'found "{printable(word)}", expected {", ".join(_KNOWN)}', *path, "name")
        where = (block.rank, block.number, step)
        if word in _DOES:
            made = [
                self._making.add(where, word, reads, writes, count, last)
                for reads, writes, count in self._accesses(block, path, word)
            ]
            last = made or last
        else:
            last = [self._making.add(where, word, after=last)]
        if word in _SIGNALS or word in _WAITS:
            self._order.channel(block, path, last, waits=word in _WAITS)
        elif word == "barrier":
            self._order.barrier(block, path, last[0])
        elif word.startswith("sem"):
            self._order.semaphore(block, path, last[0], acquires=word == "sem_acquire")
        return last

    def _accesses(self, block: Block, path: Path, word: str) -> Iterator[tuple[list[int], list[int], int]]:
        """(reads, writes, count) of each instruction of an operation."""
        does = _DOES[word]
        sources, targets = (self._places(block, path, key) for key in ("src_buff", "dst_buff"))
        pairs = does.pairs and len(sources) == len(targets)
        sizes = {size for _, size in (*sources, *targets)}
        if (
            not sources
            or not targets
            or (not pairs and (len(sizes) > 1 or (does.pairs and len(sources) > 1)))
        ):
            raise self._plan.error(f"the sources and destinations of {word} do not fit each other", *path)
        number = len(self._making)
        if does.packets_in is not None:
            for i, (place, size) in enumerate(sources[does.packets_in :]):
                self._order.reads_packets(number + i * pairs, place, size)
        if does.packets_out is not None:
            for i, (place, size) in enumerate(targets[does.packets_out :]):
                self._order.writes_packets(number + i * pairs, place, size, path)
        if not pairs:
            yield [place for place, _ in sources], [place for place, _ in targets], sizes.pop()
            return
        for (source, size), (target, other) in zip(sources, targets, strict=True):
            if size != other:
                raise self._plan.error(f"{word} reads {size} and writes {other} chunks", *path)
            yield [source], [target], size

    def _places(self, block: Block, path: Path, key: str) -> list[tuple[int, int]]:
        """(first place, number of places) of each buffer that an operation names."""
        found = []
        for i in range(len(self._plan.get((*path, key), list, "a list of buffers", []))):
            at = (*path, key, i)
            self._plan.get(at, dict, "a buffer")
            index, size = (
                self._plan.get((*at, name), int, "a number of chunks") for name in ("index", "size")
            )
            for rank, buffer in self._named(block, path, at):
                code = BUFFERS.index(buffer)
                room = int(self._buffers.room[code, rank]) // self._shares
                if not (index >= 0 and size > 0 and index + size <= room):
                    text = f"index is {printable(index)} and size is {printable(size)}"
                    text += f"; buffer {buffer} of rank {rank} has {room} chunks"
                    raise self._plan.error(text, *at)
                start, count = self._share(path, index, size)
                found.append((int(self._buffers.first[code, rank]) + start, count))
        return found

    def _share(self, path: Path, index: int, size: int) -> tuple[int, int]:
        """What of chunks a thread block of a group handles: its first share, and how many."""
        start, count = index * self._shares, size * self._shares
        if not self._plan.get((*path, "tbg_info"), dict, "a mapping", {}):
            return start, count
        part, parts = (
            self._plan.get((*path, "tbg_info", key), int, "a number") for key in ("tb_id", "tbg_size")
        )
        if not 0 <= part < parts:
            raise self._plan.error(f"thread block {printable(part)} of a group of {parts}", *path, "tbg_info")
        return start + count // parts * part, count // parts

    def _named(self, block: Block, path: Path, at: Path) -> list[tuple[int, str]]:
        """The buffers that are meant: a rank's own, another's, or all that a switch joins."""
        plan, entry = self._plan, self._plan.get(at, dict, "a buffer")
        if "type" in entry:
            buffer = plan.get((*at, "type"), str, "a buffer")
            if buffer not in BUFFERS:
                raise plan.error(f'found "{printable(buffer)}", expected {", ".join(BUFFERS)}', *at, "type")
            return [(block.rank, buffer)]
        key, known = "switch_channel_id", block.groups
        if key not in entry:
            kind = plan.get((*path, "channel_type"), str, "memory or port")
            if kind not in LINK:
                raise plan.error(f'found "{printable(kind)}", expected memory or port', *path, "channel_type")
            key, known = "buffer_id", [[buffer] for buffer in block.remote[kind]]
        number = plan.get((*at, key), int, "a number")
        if not 0 <= number < len(known):
            raise plan.error(f"{key} is {printable(number)}; the thread block has {len(known)}", *at, key)
        return known[number]
