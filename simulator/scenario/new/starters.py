"""Topologies for a beginning: the arguments of a kind for N ranks, as YAML."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil, isqrt
from types import MappingProxyType
from typing import Final

from simulator.scenario.errors import one_of
from simulator.scenario.fields import parameters_of
from simulator.scenario.new.layout import Entry, Given
from simulator.scenario.new.samples import sample_of
from topologies.errors import CollsimError
from topologies.registry import TOPOLOGIES

LINK: Final = MappingProxyType({"bandwidth": "64 GB/s", "latency": "1 us"})
SLOW: Final = MappingProxyType({"bandwidth": "25 GB/s", "latency": "5 us"})
RANKS: Final = 8
"""N where nobody says."""

Arguments = dict[str, Given]


def starter(kind: str, ranks: int | None) -> Arguments:
    """Arguments of a kind of topology.

    Parameters
    ----------
    kind : str
        A name in the registry.
    ranks : int, optional
        N; by default what suits the kind.

    Raises
    ------
    CollsimError
        If the kind has no topology of N ranks.

    Examples
    --------
    >>> starter("torus", 12)
    {'dims': '[4, 3]', 'bandwidth': '64 GB/s', 'latency': '1 us'}
    """
    if kind in _STARTERS:
        return _STARTERS[kind](ranks)
    keys = parameters_of(TOPOLOGIES[kind])
    given: Arguments = {name: text for name, key in keys.items() if key.required and (text := sample_of(key))}
    if "ranks" in keys:
        given["ranks"] = str(ranks or RANKS)
    return {**given, **{name: text for name, text in LINK.items() if name in keys}}


def _grid(ranks: int | None) -> Arguments:
    inner, outer = _factors(ranks or RANKS)
    return {"dims": f"[{inner}, {outer}]" if outer > 1 else f"[{inner}]", **LINK}


def _hypercube(ranks: int | None) -> Arguments:
    dimension = (ranks or RANKS).bit_length() - 1
    _refuse_unless(2**dimension, ranks, "hypercube", (4, 8, 16, 32))
    return {"dimension": str(dimension), **LINK}


def _fat_tree(ranks: int | None) -> Arguments:
    ports = next(k for k in range(2, 1 << 20, 2) if k**3 // 4 >= (ranks or 16))
    _refuse_unless(ports**3 // 4, ranks, "fat_tree", (2, 16, 54, 128))
    return {"k": str(ports), **LINK}


def _leaf_spine(ranks: int | None) -> Arguments:
    hosts, leaves = _factors(ranks or RANKS)
    return {"leaves": str(leaves), "hosts": str(hosts), "spines": "2", **LINK}


def _dragonfly(ranks: int | None) -> Arguments:
    routed, groups = _factors(ranks or 12)
    routers, hosts = _factors(routed)
    links = max(1, ceil((groups - 1) / routers))
    sizes = {"hosts": hosts, "routers": routers, "global_links": links, "groups": groups}
    return {**{name: str(size) for name, size in sizes.items()}, **LINK}


def _rails(ranks: int | None) -> Arguments:
    inside, nodes = _factors(ranks or RANKS)
    return {"nodes": str(nodes), "ranks_per_node": str(inside), **LINK, "rail": _flow(SLOW)}


def _multilevel(ranks: int | None) -> Arguments:
    inside, nodes = _factors(ranks or RANKS)
    levels = [("node", inside, "full_mesh", LINK), ("between", nodes, "ring", SLOW)]
    # a name and shape of one's own each: what the keys are is said once, in the manual
    given = [
        [
            Entry("name", name),
            Entry("size", str(size)),
            Entry("shape", shape),
            *(Entry(*item) for item in wire.items()),
        ]
        for name, size, shape, wire in levels
    ]
    return {"levels": given}


def _custom(ranks: int | None) -> Arguments:
    """A ring, link by link."""
    count = ranks or RANKS
    pairs = [(i, (i + 1) % count) for i in range(count if count > 2 else count - 1)]
    links = [
        [Entry("src", str(src)), Entry("dst", str(dst)), *(Entry(*item) for item in LINK.items())]
        for src, dst in pairs
    ]
    return {"nodes": _flow({"ranks": str(count)}), "links": links or "[]"}


_STARTERS: Final[Mapping[str, Callable[[int | None], Arguments]]] = MappingProxyType(
    {
        "mesh": _grid,
        "torus": _grid,
        "hypercube": _hypercube,
        "fat_tree": _fat_tree,
        "leaf_spine": _leaf_spine,
        "dragonfly": _dragonfly,
        "rails": _rails,
        "multilevel": _multilevel,
        "custom": _custom,
    }
)
"""Of the kinds that do not simply have N `ranks`."""


def _factors(ranks: int) -> tuple[int, int]:
    """Two factors as near to each other as can be, the larger first.

    >>> _factors(12), _factors(7)
    ((4, 3), (7, 1))
    """
    low = next(factor for factor in range(isqrt(ranks), 0, -1) if ranks % factor == 0)
    return ranks // low, low


def _flow(keys: Mapping[str, str]) -> str:
    return f"{{{', '.join(f'{name}: {text}' for name, text in keys.items())}}}"


def _refuse_unless(has: int, ranks: int | None, kind: str, some: tuple[int, ...]) -> None:
    if ranks is not None and has != ranks:
        known = one_of(map(str, some))
        raise CollsimError(f"there is no {kind} of {ranks} ranks; one has {known}, ...", ("ranks",))
