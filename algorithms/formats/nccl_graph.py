"""Reader of NCCL's graph XML: its rings, or its trees, as an AllReduce over all of their channels.

Written by NCCL_GRAPH_DUMP_FILE (NVIDIA/nccl, src/graph/search.cc and connect.cc).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from algorithms.formats.moves import Move, collective_of, program_of_moves
from algorithms.schedule import COPY, REDUCE
from topologies.formats.tags import parse_tags

if TYPE_CHECKING:
    from algorithms.programs.program import Program
    from topologies.formats.tags import Tag

RING, TREE = "0", "1"
"""Numbers of NCCL's graphs."""

_MOST_CHANNELS: Final = 1 << 10


def read_nccl_ring(data: bytes, file: str) -> Program:
    """Program of the rings: in each channel a ring AllReduce of its share, in the order of the file.

    Raises
    ------
    FormatError
        If there are none, or they leave the machine; names the place.
    """
    orders = _orders(data, file, RING)
    ranks = len(orders[0])
    moves = [move for channel, order in enumerate(orders) for move in _ring(channel, order)]
    collective = collective_of(file, "allreduce", ranks, blocks=len(orders) * ranks)
    return program_of_moves(file, "nccl-ring", collective, moves)


def read_nccl_tree(data: bytes, file: str) -> Program:
    """Program of the trees, which in a machine are chains: sums go up to the first GPU, and come down again.

    Raises
    ------
    FormatError
        If there are none, or they leave the machine; names the place.
    """
    orders = _orders(data, file, TREE)
    moves = [move for channel, order in enumerate(orders) for move in _chain(channel, order)]
    collective = collective_of(file, "allreduce", len(orders[0]), blocks=len(orders))
    return program_of_moves(file, "nccl-tree", collective, moves)


def _ring(channel: int, order: list[int]) -> Iterator[Move]:
    """Each block goes round twice: from who comes after its owner to it, and from it to all."""
    ranks = len(order)
    for step in range(2 * (ranks - 1)):
        mode = REDUCE if step < ranks - 1 else COPY
        for at, src in enumerate(order):
            block = channel * ranks + (at - step - 1) % ranks
            yield Move(step, src, order[(at + 1) % ranks], block, mode, channel)


def _chain(channel: int, order: list[int]) -> Iterator[Move]:
    links = list(pairwise(order))
    for step, (above, below) in enumerate(links[::-1]):
        yield Move(step, below, above, channel, REDUCE, channel)
    for step, (above, below) in enumerate(links, len(links)):
        yield Move(step, above, below, channel, COPY, channel)


def _orders(data: bytes, file: str, number: str) -> list[list[int]]:
    """Ranks of each channel of a graph, in their order."""
    root = parse_tags(data, file)
    graphs = [graph for graph in root.all("graph") if graph.get("id") == number]
    if not graphs:
        raise root.error(f"there is no graph {number}, of {'rings' if number == RING else 'trees'}")
    channels = list(graphs[0].all("channel"))
    if not 0 < len(channels) <= _MOST_CHANNELS:
        raise graphs[0].error(f"found {len(channels)} channels, expected 1 to {_MOST_CHANNELS}")
    found = [[_gpu(gpu) for gpu in channel.all("gpu")] for channel in channels]
    gpus = sorted(found[0])
    for channel, order in zip(channels, found, strict=True):
        if any(channel.all("net")):
            raise channel.error("it leaves the machine; nobody knows for which GPUs")
        if sorted(order) != gpus or len(set(order)) < len(order) or not order:
            raise channel.error("expected the GPUs of the first channel, each once")
    rank = {gpu: i for i, gpu in enumerate(gpus)}
    return [[rank[gpu] for gpu in order] for order in found]


def _gpu(tag: Tag) -> int:
    """Number of a GPU: its rank, where it has one; devices are hexadecimal."""
    if "rank" in tag.attributes:
        return tag.whole("rank")
    text = tag.get("dev")
    try:
        return int(text[:40], 16)
    except ValueError:
        raise tag.error("dev is no hexadecimal number") from None
