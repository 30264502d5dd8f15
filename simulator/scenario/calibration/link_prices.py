"""What links must have so that messages take the fitted alpha and beta."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from topologies.routing import routes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.schedule import Schedule
    from topologies.topology import Topology

Price = tuple[float, float]
"""alpha (s) and beta (bytes/s): of a message, or latency and bandwidth of a link."""


def of_one_level(built: Topology, price: Price | None) -> dict[str, Price]:
    """Links, by their levels' names, on the way from rank 0 to its nearest, each with a share of alpha."""
    if price is None or built.ranks < 2:
        return {}
    others = np.arange(1, built.ranks)
    ways = routes(built, np.zeros(len(others), dtype=np.int64), others)
    shortest = int(np.argmin(ways.hops()))
    walked = ways.links[ways.offsets[shortest] : ways.offsets[shortest + 1]]
    names = dict.fromkeys(built.levels[int(level)] for level in built.links.level[walked])
    return dict.fromkeys(names, (price[0] / len(walked), price[1]))


def of_levels(built: Topology, prices: Sequence[Price | None], schedule: Schedule) -> dict[str, Price]:
    """Links by the names of their levels, where a message is of the outermost level of its way.

    A level's alpha is that of its message of most hops: what inner links of the way take of it, outer ones
    do not (nor less than nothing, where they take more). A link that several messages of a step share has
    as many betas.

    Parameters
    ----------
    built : Topology
        With a dimension a level.
    prices : sequence of (float, float) or None
        Of each level's messages; None leaves the level's links as they are.
    schedule : Schedule
        What is sent.
    """
    links = built.links
    sent = np.unique(np.stack([schedule.src, schedule.dst, schedule.step]), axis=1).astype(np.int64)
    ways = routes(built, sent[0], sent[1])
    message = np.repeat(np.arange(sent.shape[1]), ways.hops())
    level = links.level[ways.links]
    hops = np.zeros((sent.shape[1], len(prices)))
    np.add.at(hops, (message, level), 1)
    outermost = len(prices) - 1 - np.argmax(hops[:, ::-1] > 0, axis=1)
    delays = _delays(built, len(prices))
    found: dict[str, Price] = {}
    for i, price in enumerate(prices):
        mine = outermost == i
        if price is None or not mine.any():
            continue
        slowest = int(np.argmax(np.where(mine, hops.sum(axis=1), -1)))
        delays[i] = max(price[0] - hops[slowest, :i] @ delays[:i], 0.0) / hops[slowest, i]
        # steps of a level are alike: the first is as good as any
        here = (mine & (sent[2] == sent[2][mine].min()))[message] & (level == i)
        found[built.levels[i]] = float(delays[i]), price[1] * int(np.bincount(ways.links[here]).max())
    return found


def _delays(built: Topology, levels: int) -> NDArray[np.float64]:
    """Overhead and latency of each level's links, s."""
    links = built.links
    most = np.zeros(levels)
    np.maximum.at(most, links.level, links.overhead + links.latency)
    return most
