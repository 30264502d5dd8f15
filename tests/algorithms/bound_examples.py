"""Topologies of unit links whose best times are known, by name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from topologies import (
    CustomLink,
    CustomNodes,
    Tier,
    Topology,
    crossbar,
    custom,
    full_mesh,
    hypercube,
    leaf_spine,
    line,
    mesh,
    ring,
    torus,
)

# NVLinks between the GPUs of a DGX-1 with V100: https://github.com/microsoft/msccl-tools
DGX1 = (
    *((0, 1, 1), (0, 2, 1), (0, 3, 2), (0, 4, 2), (1, 2, 2), (1, 3, 1), (1, 5, 2), (2, 3, 2)),
    *((2, 6, 1), (3, 7, 1), (4, 5, 1), (4, 6, 1), (4, 7, 2), (5, 6, 2), (5, 7, 1), (6, 7, 2)),
)
PETERSEN = tuple(
    pair for i in range(5) for pair in ((i, (i + 1) % 5, 1), (i, i + 5, 1), (5 + i, 5 + (i + 2) % 5, 1))
)
DIGRAPH = ((0, 1, 2), (1, 2, 1), (2, 0, 1), (1, 0, 1))

# xGMI links between the dies of 8 MI250: https://github.com/liangyuRain/ForestColl, topologies.py
MI250 = (
    *((0, 1, 4), (0, 4, 2), (0, 8, 1), (1, 5, 1), (1, 9, 1), (1, 10, 1), (2, 3, 4), (2, 6, 1)),
    *((2, 9, 1), (2, 10, 1), (3, 7, 2), (3, 11, 1), (4, 5, 4), (4, 6, 1), (5, 6, 1), (5, 7, 1)),
    *((6, 7, 4), (8, 9, 4), (8, 12, 2), (9, 13, 1), (10, 11, 4), (10, 14, 1), (11, 15, 2)),
    *((12, 13, 4), (12, 14, 1), (13, 14, 1), (13, 15, 1), (14, 15, 4)),
)


def linked(ranks: int, links: Iterable[tuple[int, int, float]], *, both: bool = True) -> Topology:
    """Ranks joined by links of so much bandwidth."""
    way = "both" if both else "one"
    return custom(CustomNodes(ranks), [CustomLink(a, b, float(c), direction=way) for a, b, c in links])


@dataclass(frozen=True)
class Best:
    """Links of the farthest pair, smallest cut from rank 0, and least times in M / N over a bandwidth."""

    topology: Topology
    diameter: int
    broadcast: int
    allgather: str
    all_to_all: str | None


def best_times() -> dict[str, Best]:
    """Found by ForestColl's code and by trying all cuts, which agree; All-to-All by linear programming."""
    rings = {3: "1", 4: "2", 5: "3", 6: "9/2", 8: "8"}
    return {
        "DGX-1": Best(linked(8, DGX1), 2, 6, "7/6", "8/3"),
        **{f"ring {n}": Best(ring(n, 1.0), n // 2, 2, f"{n - 1}/2", all_to) for n, all_to in rings.items()},
        "ring one way": Best(ring(8, 1.0, direction="one"), 7, 1, "7", "28"),
        "line 4": Best(line(4, 1.0), 3, 1, "3", "4"),
        "line 8": Best(line(8, 1.0), 7, 1, "7", "16"),
        "K4": Best(full_mesh(4, 1.0), 1, 3, "1", "1"),
        "K8": Best(full_mesh(8, 1.0), 1, 7, "1", "1"),
        "switch 4": Best(crossbar(4, 1.0), 2, 1, "3", "3"),
        "switch 8": Best(crossbar(8, 1.0), 2, 1, "7", "7"),
        "hypercube 3": Best(hypercube(3, 1.0), 3, 3, "7/3", "4"),
        "hypercube 4": Best(hypercube(4, 1.0), 4, 4, "15/4", "8"),
        "mesh 3x3": Best(mesh([3, 3], 1.0), 4, 2, "4", "6"),
        "mesh 4x4": Best(mesh([4, 4], 1.0), 6, 2, "15/2", "16"),
        "mesh 5x5": Best(mesh([5, 5], 1.0), 8, 2, "12", None),
        "torus 3x3": Best(torus([3, 3], 1.0), 2, 4, "2", "3"),
        "torus 4x4": Best(torus([4, 4], 1.0), 4, 4, "15/4", "8"),
        "torus 2x4": Best(torus([2, 4], 1.0), 3, 3, "7/3", "4"),
        "torus 3x4": Best(torus([3, 4], 1.0), 3, 4, "11/4", None),
        "Petersen": Best(linked(10, PETERSEN), 2, 3, "3", "5"),
        "two leaves": Best(leaf_spine(2, 4, 1, 1.0, uplink=Tier(2.0)), 4, 1, "7", "8"),
        "digraph": Best(linked(3, DIGRAPH, both=False), 2, 1, "2", "2"),
    }


def a100(machines: int) -> Topology:
    """8 GPUs on an NVSwitch, each with a network card of its own to one of two InfiniBand switches."""
    gpus = 8 * machines
    links = [CustomLink(gpu, f"nvswitch{gpu // 8}", 300e9) for gpu in range(gpus)]
    switches = [f"nvswitch{machine}" for machine in range(machines)]
    if machines > 1:
        switches += ["ib0", "ib1", *(f"card{gpu}" for gpu in range(gpus))]
        for gpu in range(gpus):
            links += [CustomLink(gpu, f"card{gpu}", 25e9), CustomLink(f"card{gpu}", f"ib{gpu % 2}", 25e9)]
    return custom(CustomNodes(gpus, switches), links)


def mi250(machines: int) -> Topology:
    """16 dies joined by xGMI, each with a way to one InfiniBand switch."""
    links = [
        CustomLink(16 * machine + a, 16 * machine + b, count * 50e9)
        for machine in range(machines)
        for a, b, count in MI250
    ]
    if machines > 1:
        links += [CustomLink(die, "ib", 16e9) for die in range(16 * machines)]
    return custom(CustomNodes(16 * machines, ["ib"] if machines > 1 else []), links)


def in_links(seconds: Fraction | float, topology: Topology, size: int) -> Fraction:
    """Seconds in M / N over a link's bandwidth of 1, as a small fraction."""
    return Fraction(seconds * topology.ranks / size).limit_denominator(1000)
