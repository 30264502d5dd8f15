"""Small topologies of every builder, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from topologies import CustomLink, CustomNodes, Level, Shared, Tier

SIZES = (1, 2, 3, 5, 8, 12)
# the chips of an SG2260 box: a ladder of two by four
LADDER = ((0, 4), (0, 2), (0, 1), (2, 6), (2, 3), (6, 7), (7, 3), (3, 1), (1, 5), (5, 4))

CARD = Level("card", 4, "full_mesh", 64e9, 1e-6)
NODE = Level("node", 2, "ring", 16e9, 2e-6)
RACK = Level("rack", 3, "ring", 8e9, 5e-6)

LINK: Mapping[str, float] = {"bandwidth": 64e9, "latency": 1e-6, "overhead": 1e-7}


def shared(level: Level, count: int) -> Level:
    """The same level, behind a gateway."""
    return Level(level.name, level.size, level.shape, level.bandwidth, level.latency, uplink=Shared(count))


def ladder_links() -> list[CustomLink]:
    return [CustomLink(a, b, 64e9, 1e-6, level="pcie") for a, b in LADDER]


def _flat(key: str, sizes: tuple[int, ...] = SIZES, **more: Any) -> list[dict[str, Any]]:
    return [{key: size, **LINK, **more} for size in sizes]


GRIDS = ((1,), (5,), (2, 2), (4, 3), (3, 1, 2), (3, 3, 3), (2, 3, 2, 2))

EXAMPLES: Mapping[str, list[dict[str, Any]]] = {
    "ring": _flat("ranks") + _flat("ranks", direction="one"),
    "line": _flat("ranks"),
    "star": _flat("ranks"),
    "mesh": [{"dims": dims, **LINK} for dims in GRIDS],
    "torus": [{"dims": dims, **LINK} for dims in GRIDS]
    + [{"dims": dims, **LINK, "size_two": "two_links"} for dims in ((2,), (2, 2), (3, 2), (2, 1, 2))],
    "hypercube": _flat("dimension", (0, 1, 2, 3, 4)),
    "full_mesh": _flat("ranks"),
    "crossbar": _flat("ranks"),
    "fat_tree": [
        {"k": 2, **LINK},
        {"k": 4, **LINK},
        {"k": 4, **LINK, "oversubscription": 2.0},
        {"k": 4, **LINK, "aggregation": Tier(32e9, 2e-6), "core": Tier(16e9, 5e-6, 1e-7)},
        {"k": 6, **LINK, "core": Tier(16e9, 5e-6)},
    ],
    "leaf_spine": [
        {"leaves": 1, "hosts": 1, "spines": 1, **LINK},
        {"leaves": 2, "hosts": 4, "spines": 2, **LINK},
        {"leaves": 3, "hosts": 2, "spines": 4, **LINK, "oversubscription": 3.0},
        {"leaves": 4, "hosts": 4, "spines": 1, **LINK, "uplink": Tier(128e9, 2e-6)},
    ],
    "dragonfly": [
        {"hosts": 1, "routers": 1, "global_links": 1, **LINK},
        {"hosts": 1, "routers": 2, "global_links": 1, **LINK},
        {"hosts": 3, "routers": 2, "global_links": 2, **LINK, "groups": 1},
        {"hosts": 2, "routers": 2, "global_links": 2, **LINK, "groups": 2},
        {
            "hosts": 2,
            "routers": 4,
            "global_links": 2,
            **LINK,
            "local": Tier(32e9),
            "between": Tier(16e9, 5e-6),
        },
    ],
    "rails": [
        {"nodes": 1, "ranks_per_node": 1, **LINK, "rail": Tier(25e9)},
        {"nodes": 1, "ranks_per_node": 4, **LINK, "rail": Tier(25e9, 2e-6)},
        {"nodes": 3, "ranks_per_node": 1, **LINK, "rail": Tier(25e9, 2e-6)},
        {"nodes": 2, "ranks_per_node": 2, **LINK, "rail": Tier(25e9, 2e-6), "planes": 2},
        {"nodes": 4, "ranks_per_node": 4, **LINK, "rail": Tier(25e9, 2e-6, 1e-7), "planes": 3},
    ],
    "multilevel": [
        {"levels": [CARD]},
        {"levels": [Level("alone", 1, "switch", 64e9), Level("pair", 2, "line", 8e9)]},
        {"levels": [CARD, NODE, RACK]},
        {"levels": [CARD, NODE, shared(RACK, 2)]},
        {"levels": [CARD, shared(NODE, 3), RACK]},
        {"levels": [CARD, shared(NODE, 4), shared(RACK, 2)]},
        {"levels": [Level("card", 4, "switch", 64e9), Level("rail", 3, "switch", 8e9)]},
        {
            "levels": [
                Level("card", 4, "switch", 64e9),
                Level("node", 2, "switch", 8e9, uplink=Shared(2)),
                Level("rack", 2, "hypercube", 8e9, uplink=Shared(1)),
            ]
        },
    ],
    "custom": [
        {"nodes": CustomNodes(1), "links": []},
        {"nodes": CustomNodes(8), "links": ladder_links()},
        {
            "nodes": CustomNodes(3, ["leaf", "spine"]),
            "links": [
                CustomLink(0, "leaf", 64e9),
                CustomLink(1, "leaf", 64e9),
                CustomLink("leaf", "spine", 32e9, 1e-6, level="up", count=3),
                CustomLink(2, "spine", 64e9),
                CustomLink(0, 2, 1e9, level="side", direction="one"),
            ],
        },
    ],
}
"""Arguments for every builder of the registry."""
