"""What an MSCCL++ execution plan refers to: buffers of other ranks, and channels, by their numbers.

The meaning of its keys is that of the executor (microsoft/mscclpp, src/core/executor/execution_plan.cc).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from topologies.text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from topologies.formats.json_text import JsonFile, Path

MEMORY, PORT, SWITCH = "memory", "port", "switch"

LINK: Final = (MEMORY, PORT)
"""Types of channels between two ranks."""

Wire = tuple[int, int, str, int]
"""A channel as one end sees it: this rank, the other one, its type, and which of those between them."""

Buffer = tuple[int, str]
"""A buffer of a rank: "i", "o" or "s"."""

_NONE: Final[Mapping[str, Any]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Block:
    """A thread block and what its operations refer to.

    Attributes
    ----------
    rank, number : int
    path : tuple
        Where it stands in the file.
    wires : mapping of str to list of Wire
        Its channels of each type, in its own order.
    remote : mapping of str to list of Buffer
        Buffers of other ranks that it reaches by each type of channel.
    groups : list of list of Buffer
        Buffers that each of its switch channels joins.
    """

    rank: int
    number: int
    path: Path
    wires: Mapping[str, list[Wire]]
    remote: Mapping[str, list[Buffer]]
    groups: list[list[Buffer]]


def operations_of(plan: JsonFile, block: Block) -> Iterator[tuple[Path, bool]]:
    """Where the operations of a thread block stand, and whether in a pipeline.

    Raises
    ------
    FormatError
    """
    for path in _items(plan, (*block.path, "ops"), "operations"):
        if plan.get((*path, "name"), str, "the name of an operation") == "pipeline":
            for inner in _items(plan, (*path, "ops"), "operations"):
                yield inner, True
        else:
            yield path, False


def blocks_of(plan: JsonFile, ranks: int) -> Iterator[Block]:
    """Thread blocks of all ranks.

    Raises
    ------
    FormatError
        If they refer to what is not there.
    """
    for rank in range(ranks):
        gpu: Path = ("gpus", rank)
        wires = _wires(plan, gpu, rank, ranks)
        buffers, groups = _remote_buffers(plan, gpu, ranks), _groups(plan, gpu, ranks)
        for number, path in enumerate(_items(plan, (*gpu, "threadblocks"), "thread blocks")):
            found = plan.get((*path, "id"), int, "its number")
            if found != number:
                raise plan.error(f"found thread block {found}, expected {number}", *path, "id")
            own: dict[str, list[Any]] = {MEMORY: [], PORT: [], SWITCH: []}
            for at in _items(plan, (*path, "channels"), "channels", default=[]):
                kind = _word(plan, (*at, "channel_type"), own)
                known = groups if kind == SWITCH else wires[kind]
                own[kind] += [known[i] for i in _numbers(plan, (*at, "channel_ids"), len(known), "channel")]
            remote: dict[str, list[Buffer]] = {MEMORY: [], PORT: []}
            for at in _items(plan, (*path, "remote_buffer_refs"), "buffers", default=[]):
                kind = _word(plan, (*at, "access_channel_type"), remote)
                ids = _numbers(plan, (*at, "remote_buffer_ids"), len(buffers), "buffer of other ranks")
                remote[kind] += [buffers[i] for i in ids]
            yield Block(rank, number, path, own, remote, own[SWITCH])


def _wires(plan: JsonFile, gpu: Path, rank: int, ranks: int) -> dict[str, list[Wire]]:
    """Channels of a rank, type by type, in the order in which the executor numbers them."""
    wires: dict[str, list[Wire]] = {MEMORY: [], PORT: []}
    between = Counter[tuple[str, int]]()
    for path in _items(plan, (*gpu, "channels"), "channels", default=[]):
        kind = _word(plan, (*path, "channel_type"), (MEMORY, PORT, SWITCH))
        if kind == SWITCH:
            continue
        for peer in _numbers(plan, (*path, "connected_to"), ranks, "rank"):
            wires[kind].append((rank, peer, kind, between[kind, peer]))
            between[kind, peer] += 1
    return wires


def _groups(plan: JsonFile, gpu: Path, ranks: int) -> list[list[Buffer]]:
    """Buffers that the switch channels of a rank join."""
    groups: list[list[Buffer]] = []
    for path in _items(plan, (*gpu, "channels"), "channels", default=[]):
        if plan.get((*path, "channel_type"), str, "a type of channel") != SWITCH:
            continue
        older = "buffer_type" not in plan.get(path, dict, "a channel")
        buffer = _word(plan, (*path, "buff" if older else "buffer_type"), ("i", "o", "s"))
        groups += [
            [(peer, buffer) for peer in _numbers(plan, (*group, "ranks"), ranks, "rank")]
            for group in _items(plan, (*path, "rank_groups"), "groups of ranks")
        ]
    return groups


def _remote_buffers(plan: JsonFile, gpu: Path, ranks: int) -> list[Buffer]:
    found = []
    for path in _items(plan, (*gpu, "remote_buffers"), "buffers", default=[]):
        rank = plan.get((*path, "rank"), int, "a rank")
        if not 0 <= rank < ranks:
            raise plan.error(f"there is no rank {rank}; there are {ranks}", *path, "rank")
        found.append((rank, _word(plan, (*path, "type"), ("i", "o", "s"))))
    return found


def _items(plan: JsonFile, path: Path, what: str, default: list[Any] | None = None) -> Iterator[Path]:
    """Places of the members of a list, each of which has keys."""
    for i in range(len(plan.get(path, list, f"a list of {what}", default))):
        plan.get((*path, i), dict, "a mapping")
        yield (*path, i)


def _numbers(plan: JsonFile, path: Path, most: int, what: str) -> list[int]:
    """A list of numbers, each below another."""
    found = plan.get(path, list, f"a list of numbers, of a {what} each")
    for i in range(len(found)):
        if not 0 <= plan.get((*path, i), int, f"the number of a {what}") < most:
            raise plan.error(f"there is no {what} {printable(found[i])}; there are {most}", *path, i)
    return list(found)


def _word(plan: JsonFile, path: Path, known: Any) -> str:
    found: str = plan.get(path, str, "a word")
    if found not in known:
        raise plan.error(f'found "{printable(found)}", expected {", ".join(known)}', *path)
    return found
