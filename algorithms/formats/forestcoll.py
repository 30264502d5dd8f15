"""Reader of ForestColl's trees: of every rank some that bring its chunks to all others.

The elements are those that it writes (liangyuRain/ForestColl, pipeline_allgather.py, spanning_trees_to_xml).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from algorithms.formats.moves import Move, collective_of, program_of_moves
from topologies.formats.tags import parse_tags

if TYPE_CHECKING:
    from algorithms.programs.program import Program
    from topologies.formats.tags import Tag

_MOST_CHUNKS: Final = 1 << 16
_MOST_MOVES: Final = 1 << 20
_PIECE: Final = re.compile(r"\d+|\D+")


def read_forestcoll(data: bytes, file: str) -> Program:
    """Program of ForestColl's trees: an AllGather whose ranks are its GPUs, in the order of their names.

    Raises
    ------
    FormatError
        If there are no trees, or they are none; names the place.
    """
    root = parse_tags(data, file)
    trees = list(root.all("tree"))
    gpus = sorted({name for tree in trees for name in _names(tree)}, key=_in_order)
    if not trees:
        raise root.error("there is no <tree>")
    rank = {name: number for number, name in enumerate(gpus)}
    used = dict.fromkeys(gpus, 0)
    each = root.whole("nchunkspernode", _chunks(trees[0]))
    if not 0 < each <= _MOST_CHUNKS:
        raise root.error(f"nchunkspernode is {each}; expected 1 to {_MOST_CHUNKS}")
    moves: list[Move] = []
    for tree in trees:
        owner, count = tree.get("root"), _chunks(tree)
        first = used[owner]
        used[owner] += count
        if used[owner] > each:
            raise tree.error(f"the trees of one root carry more than its {each} chunks")
        depth = {owner: 0}
        for send in tree.all("send"):
            src, dst = send.get("src"), send.get("dst")
            if src not in depth:
                raise send.error("its source has not been reached yet in this tree")
            depth.setdefault(dst, depth[src] + 1)
            if len(moves) + count > _MOST_MOVES:
                raise send.error(f"more than {_MOST_MOVES:,} chunks are sent")
            chunks = range(rank[owner] * each + first, rank[owner] * each + first + count)
            moves += [Move(depth[src], rank[src], rank[dst], chunk) for chunk in chunks]
    unsaid = ["the switches that paths go by"] if any(_switches(tree) for tree in trees) else []
    collective = collective_of(file, "allgather", len(gpus), segments=each)
    return program_of_moves(file, "forestcoll", collective, moves, unsaid)


def _chunks(tree: Tag) -> int:
    count = tree.whole("nchunks")
    if not 0 < count <= _MOST_CHUNKS:
        raise tree.error(f"nchunks is {count}; expected 1 to {_MOST_CHUNKS}")
    return count


def _names(tree: Tag) -> set[str]:
    ends = {send.get(end) for send in tree.all("send") for end in ("src", "dst")}
    return {tree.get("root"), *ends}


def _switches(tree: Tag) -> bool:
    """Whether a way is longer than from its one end to the other."""
    sends = tree.all("send")
    return any(
        send.attributes.get("path", "") not in ("", f"{send.get('src')},{send.get('dst')}") for send in sends
    )


def _in_order(name: str) -> list[tuple[int, str]]:
    """Names in which numbers count as such: (2, 'GPU', 0) before (10, 'GPU', 0)."""
    pieces = (piece for piece in _PIECE.findall(name))
    return [(int(piece[:40]), "") if piece[0].isdigit() else (-1, piece) for piece in pieces]
