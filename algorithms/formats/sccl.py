"""Reader of the algorithms of SCCL and TACCL: sends of addresses, step by step.

Their keys are those of msccl/serialization.py (microsoft/msccl-tools) and of taccl/serialization.py
(microsoft/taccl).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from algorithms.formats.moves import Move, collective_of, program_of_moves
from algorithms.schedule import COPY, REDUCE
from topologies.formats.json_text import parse_json
from topologies.formats.reading import decode

if TYPE_CHECKING:
    from algorithms.programs.program import Program
    from topologies.formats.json_text import JsonFile, Path

_MOST_ADDRESSES: Final = 1 << 16


def read_sccl(data: bytes, file: str) -> Program:
    """Program of an algorithm of SCCL or TACCL.

    Whether a send is a copy or a sum follows from what both ranks have by then: where that has nothing in
    common, the sum is taken.

    Raises
    ------
    FormatError
        If it is no such algorithm, or of a collective that is not known; names the place.
    """
    text = parse_json(decode(data, file), file)
    if not isinstance(text.value, dict):
        raise text.error("expected the keys of an algorithm")
    asked = _asked(text)
    collective = collective_of(file, asked.kind, asked.ranks, **asked.cut)
    has = {address: {rank: frozenset([rank]) for rank in source} for address, source in asked.source.items()}
    moves: list[Move] = []
    for step, sends in enumerate(_steps(text)):
        sent = {address for _, (address, _, _) in sends}
        before = {address: dict(has[address]) for address in sent if address in has}
        for path, (address, src, dst) in sends:
            if address not in has or not (0 <= src < asked.ranks and 0 <= dst < asked.ranks):
                raise text.error("there is no such address, or no such rank", *path)
            given, held = before[address].get(src), has[address].get(dst, frozenset())
            if given is None:
                raise text.error(f"rank {src} does not have what it sends", *path)
            if held & given and not held <= given:
                raise text.error(f"rank {dst} would count a contribution twice", *path)
            mode = COPY if held <= given else REDUCE
            has[address][dst] = held | given
            moves.append(Move(step, src, dst, asked.chunk[address], mode))
    return program_of_moves(file, text.get(("name",), str, "a name", "sccl"), collective, moves)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What an algorithm must compute.

    Attributes
    ----------
    kind : str
        One of our collectives.
    ranks : int
    cut : dict of str to int
        Into how many blocks or segments the vector is cut, and the root.
    source : dict of int to set of int
        Ranks that contribute to each address.
    chunk : dict of int to int
        Our number of each address.
    """

    kind: str
    ranks: int
    cut: dict[str, int]
    source: dict[int, set[int]]
    chunk: dict[int, int]


def _asked(text: JsonFile) -> _Asked:
    """The collective, by who has each address before, and who must have it after."""
    text.get(("collective",), dict, "a collective")
    ranks = text.get(("collective", "nodes"), int, "a number of ranks")
    parts = 1
    if text.get(("instance",), dict, "an instance", {}):
        parts = text.get(("instance", "chunks"), int, "a number of chunks", 1)
    source, target = _ends(text, ranks, parts)
    every = set(range(ranks))

    def where(ends: dict[int, set[int]]) -> str:
        sets = list(ends.values())
        if all(one == every for one in sets):
            return "every"
        if any(len(one) != 1 for one in sets):
            return "other"
        return "root" if all(one == sets[0] for one in sets) else "each"

    places = (where(source), where(target))
    kind = _KINDS.get(places)
    if kind is None:
        raise text.error("a collective that is not known, by what ranks have before and after", "collective")
    owner: dict[int, tuple[int, ...]] = dict.fromkeys(source, ())
    for place, ends in zip(places, (source, target), strict=True):
        if place == "each":
            owner = {address: (*before, min(ends[address])) for address, before in owner.items()}
    blocks = ranks ** places.count("each")
    each = Counter(owner.values())
    if "each" in places and (len(each) < blocks or len(set(each.values())) > 1):
        raise text.error("ranks have blocks of different numbers of chunks", "collective")
    cut = {"segments": len(owner) // blocks} if "each" in places else {"blocks": len(owner)}
    for place, ends in zip(places, (source, target), strict=True):
        if place == "root":
            cut["root"] = min(next(iter(ends.values())))
    order = sorted(owner, key=lambda address: (owner[address], address))
    return _Asked(kind, ranks, cut, source, {address: number for number, address in enumerate(order)})


_KINDS: Final = {
    ("each", "every"): "allgather",
    ("every", "every"): "allreduce",
    ("every", "each"): "reduce_scatter",
    ("each", "each"): "all_to_all",
    ("root", "every"): "broadcast",
    ("every", "root"): "reduce",
    ("root", "each"): "scatter",
    ("each", "root"): "gather",
}
"""By where chunks are before and after."""


def _ends(text: JsonFile, ranks: int, parts: int) -> tuple[dict[int, set[int]], dict[int, set[int]]]:
    """Ranks that have each address before, and must have it after."""
    source: dict[int, set[int]] = {}
    target: dict[int, set[int]] = {}
    at: Path = ("collective", "chunks")
    chunks = text.get(at, list, "a list of chunks")
    if not 0 < parts * len(chunks) <= _MOST_ADDRESSES or not 0 < ranks <= _MOST_ADDRESSES:
        raise text.error(f"expected 1 to {_MOST_ADDRESSES:,} chunks and ranks", *at)
    for i in range(len(chunks)):
        text.get((*at, i), dict, "a chunk")
        address = text.get((*at, i, "addr"), int, "an address")
        for name, ends in (("pre", source), ("post", target)):
            found = text.get((*at, i, name), list, "a list of ranks")
            for j in range(len(found)):
                if not 0 <= text.get((*at, i, name, j), int, "a rank") < ranks:
                    raise text.error(f"there is no such rank; there are {ranks}", *at, i, name, j)
            for part in range(parts):
                ends.setdefault(address * parts + part, set()).update(found)
    return source, target


def _steps(text: JsonFile) -> list[list[tuple[Path, tuple[int, int, int]]]]:
    """Sends of every step, with their places."""
    steps = []
    for i in range(len(text.get(("steps",), list, "a list of steps"))):
        text.get(("steps", i), dict, "a step")
        sends: list[tuple[Path, tuple[int, int, int]]] = []
        for j, send in enumerate(text.get(("steps", i, "sends"), list, "a list of sends")):
            path: Path = ("steps", i, "sends", j)
            text.get(path, list, "an address and two ranks")
            if len(send) < 3:
                raise text.error("expected an address and two ranks", *path)
            address, src, dst = (text.get((*path, k), int, "a number") for k in range(3))
            sends.append((path, (address, src, dst)))
        steps.append(sends)
    return steps
