"""ASTRA-sim's network file of its analytical networks: one shape, size, bandwidth and latency a dimension.

Its "GB/s" are GiB/s: bytes per ns are bandwidth x 2^30 / 10^9 (astra-network-analytical, common/Type and
`bw_GBps_to_Bpns`); latencies are ns of a link. Who reads YAML hands in what it says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from topologies.errors import TopologyError
from topologies.formats.reading import Beside
from topologies.multilevel import Level, multilevel
from topologies.shapes import Shape
from topologies.text import format_bandwidth, printable

if TYPE_CHECKING:
    from topologies.topology import Links, Topology

SHAPES: Final[Mapping[str, Shape]] = {"Ring": "ring", "FullyConnected": "full_mesh", "Switch": "switch"}
KEYS: Final = ("topology", "npus_count", "bandwidth", "latency")
GIB: Final = 2.0**30
NS: Final = 1e9
"""In a second."""


def astra_topology(tree: Any, beside: Beside) -> Topology:
    """Make the topology that a file's plain values tell of.

    Parameters
    ----------
    tree : object
        What YAML reads: a dict of lists.
    beside : Beside
        Nothing is left open.

    Raises
    ------
    TopologyError
        With the path of what is wrong.

    Examples
    --------
    >>> tree = {"topology": ["Ring"], "npus_count": [4], "bandwidth": [50.0], "latency": [500]}
    >>> links = astra_topology(tree, Beside()).links
    >>> links.bandwidth[0].item(), links.latency[0].item()
    (53687091200.0, 5e-07)
    """
    if beside != Beside():
        raise TopologyError("bandwidths and latencies are in the file; none is left open")
    if not isinstance(tree, dict) or not tree.keys() >= set(KEYS):
        raise TopologyError(f"expected a mapping of {', '.join(KEYS)}")
    columns = [_column(tree, key) for key in KEYS]
    for key, column in zip(KEYS, columns, strict=True):
        if len(column) != len(columns[0]):
            raise TopologyError(f"found {len(column)} entries, but {len(columns[0])} of topology", (key,))
    levels = []
    for i, (shape, size, bandwidth, latency) in enumerate(zip(*columns, strict=True)):
        if not isinstance(shape, str) or shape not in SHAPES:
            raise TopologyError(f'found "{printable(shape)}", expected {", ".join(SHAPES)}', ("topology", i))
        if type(size) is not int or not 1 <= size <= 1 << 20:
            raise TopologyError(f"found {printable(size)}, expected a number of NPUs", ("npus_count", i))
        rate, time = _number(bandwidth, ("bandwidth", i)) * GIB, _number(latency, ("latency", i)) / NS
        if rate == 0:
            raise TopologyError(f"found {printable(bandwidth)}, expected more than 0", ("bandwidth", i))
        levels.append(Level(f"dim{i}", size, SHAPES[shape], rate, time))
    same = format_bandwidth(levels[0].bandwidth)
    note = f"ASTRA-sim's GB/s are GiB/s, and are converted: its {columns[2][0]} is {same}"
    return replace(multilevel(levels), notes=(note,))


def _column(tree: Mapping[str, Any], key: str) -> Sequence[Any]:
    value = tree[key]
    if not isinstance(value, list) or not 1 <= len(value) <= 20:
        raise TopologyError("expected a list with an entry for each dimension", (key,))
    return value


def _number(value: Any, at: tuple[str | int, ...]) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e12:
        raise TopologyError(f"found {printable(value)}, expected a number", at)
    return float(value)


def write_astra(topology: Topology) -> str:
    """Write a topology for ASTRA-sim.

    Raises
    ------
    TopologyError
        If it is no product of rings, full meshes and switches, each of one kind of link without overhead.

    Examples
    --------
    >>> from topologies import ring
    >>> print(write_astra(ring(4, bandwidth=50 * 2**30, latency=500e-9)), end="")
    topology: [ Ring ]
    npus_count: [ 4 ]
    bandwidth: [ 50 ]  # GiB/s, which ASTRA-sim calls GB/s
    latency: [ 500 ]  # ns
    """
    shapes = _shapes(topology)
    if shapes is None:
        raise TopologyError(
            "ASTRA-sim's file has only products of rings, full meshes and switches, each of one kind of link "
            "without overhead; this is none"
        )
    links = topology.links
    first = [int(np.argmax(links.level == i)) for i in range(len(topology.dims))]
    rates = [f"{links.bandwidth[row] / GIB:.12g}" for row in first]
    times = [f"{links.latency[row] * NS:.12g}" for row in first]
    rows = (shapes, [str(size) for size in topology.dims], rates, times)
    notes = ("", "", "  # GiB/s, which ASTRA-sim calls GB/s", "  # ns")
    return "".join(
        f"{key}: [ {', '.join(row)} ]{note}\n" for key, row, note in zip(KEYS, rows, notes, strict=True)
    )


def _shapes(topology: Topology) -> Sequence[str] | None:
    """The shape of every dimension, found by building it again; None where none fits."""
    links, dims = topology.links, topology.dims
    if len(topology.levels) != len(dims) or links.overhead.any() or prod(dims) < 2 or min(dims) < 2:
        return None
    if len(dims) > 4 or len(topology.nodes) > 2 * len(dims) * topology.ranks:
        return None
    first = [int(np.argmax(links.level == i)) for i in range(len(dims))]
    made = [(dims[i], links.bandwidth[row].item(), links.latency[row].item()) for i, row in enumerate(first)]
    for names in product(SHAPES, repeat=len(dims)):
        levels = [
            Level(f"dim{i}", size, SHAPES[name], bandwidth, latency)
            for i, (name, (size, bandwidth, latency)) in enumerate(zip(names, made, strict=True))
        ]
        if _sorted(multilevel(levels).links) == _sorted(links):
            return names
    return None


def _sorted(links: Links) -> list[tuple[float, ...]]:
    columns = (links.src, links.dst, links.bandwidth, links.latency, links.level)
    return sorted(zip(*(column.tolist() for column in columns), strict=True))
