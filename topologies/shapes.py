"""Shapes in which the members of one level are wired."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from topologies.errors import TopologyError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from topologies.wiring import Wire, Wiring

Shape = Literal["ring", "line", "full_mesh", "switch", "hypercube"]


def pairs(shape: Shape, size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Directed links of a switchless shape, each member's in its order of preference.

    The positive direction comes before the negative one, a hypercube's lower dimension
    before the higher: so the first link on a shortest path goes the positive way round
    where both are as short, and in dimension order.

    Examples
    --------
    >>> [end.tolist() for end in pairs("ring", 3)]
    [[0, 1, 2, 0, 1, 2], [1, 2, 0, 2, 0, 1]]
    >>> [end.tolist() for end in pairs("ring", 2)]
    [[0, 1], [1, 0]]
    """
    member = np.arange(size, dtype=np.int64)
    match shape:
        case "ring" if size > 2:
            return np.tile(member, 2), np.concatenate([member + 1, member - 1]) % size
        case "ring" | "line":
            return np.concatenate([member[:-1], member[1:]]), np.concatenate([member[1:], member[:-1]])
        case "full_mesh":
            offset = np.arange(1, size)[:, None]
            return np.tile(member, size - 1), ((member + offset) % size).ravel()
        case "hypercube":
            bits = 1 << np.arange(size.bit_length() - 1)[:, None]
            return np.tile(member, len(bits)), (member ^ bits).ravel()
        case _:
            raise TopologyError(f"{shape} is not a shape of direct links", ("shape",))


def connect(
    wiring: Wiring,
    members: Sequence[int],
    shape: Shape,
    wire: Wire,
    *,
    count: int = 1,
    switch: str = "switch",
) -> None:
    """Wire `members` in a shape with `count` parallel links a pair; a `switch` shape adds its switch."""
    if shape == "hypercube" and len(members).bit_count() != 1:
        raise TopologyError(f"a hypercube needs a power of two, found {len(members)} members", ("size",))
    if shape == "switch":
        wiring.join(members, [wiring.switch(switch)], wire, count)
        return
    if shape == "full_mesh":
        wiring.make_room(len(members) * (len(members) - 1) * count)
    nodes = np.asarray(members, dtype=np.int64)
    src, dst = pairs(shape, len(members))
    wiring.add(nodes[src], nodes[dst], wire, count)
