from __future__ import annotations

from collections.abc import Callable
from math import inf, nan

import pytest

from tests.topologies.topology_examples import CARD, NODE
from topologies import (
    CollsimError,
    CustomLink,
    CustomNodes,
    Level,
    Shared,
    Tier,
    Topology,
    TopologyError,
    crossbar,
    custom,
    dragonfly,
    fat_tree,
    full_mesh,
    hypercube,
    leaf_spine,
    line,
    mesh,
    multilevel,
    rails,
    ring,
    star,
    torus,
)
from topologies.wiring import Wiring


def link(**wrong: object) -> Topology:
    good: dict[str, object] = {"src": 0, "dst": 1, "bandwidth": 1e9}
    return custom(CustomNodes(2), [CustomLink(0, 1, 1e9), CustomLink(**(good | wrong))])  # type: ignore[arg-type]


def level(**wrong: object) -> Topology:
    good: dict[str, object] = {"name": "rack", "size": 3, "shape": "ring", "bandwidth": 1e9}
    return multilevel([CARD, Level(**(good | wrong))])  # type: ignore[arg-type]


CASES: list[tuple[Callable[[], Topology], tuple[str | int, ...]]] = [
    (lambda: ring(0, 1e9), ("ranks",)),
    (lambda: ring(-1, 1e9), ("ranks",)),
    (lambda: ring(0, 1e9, direction="one"), ("ranks",)),
    (lambda: ring(4, 0.0), ("bandwidth",)),
    (lambda: ring(4, -1e9, direction="one"), ("bandwidth",)),
    (lambda: ring(4, 1e9, direction="left"), ("direction",)),  # type: ignore[arg-type]
    (lambda: full_mesh(0, 1e9), ("ranks",)),
    (lambda: full_mesh(4, inf), ("bandwidth",)),
    (lambda: crossbar(0, 1e9), ("ranks",)),
    (lambda: crossbar(4, nan), ("bandwidth",)),
    (lambda: crossbar(4, 1e9, latency=-1.0), ("latency",)),
    (lambda: crossbar(4, 1e9, overhead=inf), ("overhead",)),
    (lambda: hypercube(-1, 1e9), ("dimension",)),
    (lambda: hypercube(21, 1e9), ("dimension",)),
    (lambda: hypercube(3, 1e9, latency=nan), ("latency",)),
    (lambda: custom(CustomNodes(0), []), ("nodes", "ranks")),
    (lambda: custom(CustomNodes(2, ["s", "s"]), []), ("nodes", "switches", 1)),
    (lambda: link(src=2), ("links", 1, "src")),
    (lambda: link(src=-1), ("links", 1, "src")),
    (lambda: link(dst="spine"), ("links", 1, "dst")),
    (lambda: link(dst=0), ("links", 1, "dst")),
    (lambda: link(bandwidth=0.0), ("links", 1, "bandwidth")),
    (lambda: link(latency=-1e-6), ("links", 1, "latency")),
    (lambda: link(overhead=nan), ("links", 1, "overhead")),
    (lambda: link(count=0), ("links", 1, "count")),
    (lambda: link(direction="left"), ("links", 1, "direction")),
    (lambda: multilevel([]), ("levels",)),
    (lambda: multilevel([CARD, CARD]), ("levels", 1, "name")),
    (lambda: multilevel([Level("card", 4, "ring", 1e9, uplink=Shared(1)), NODE]), ("levels", 0, "uplink")),
    (lambda: level(size=0), ("levels", 1, "size")),
    (lambda: level(shape="hypercube"), ("levels", 1, "size")),
    (lambda: level(bandwidth=0.0), ("levels", 1, "bandwidth")),
    (lambda: level(latency=-1.0), ("levels", 1, "latency")),
    (lambda: level(overhead=-1.0), ("levels", 1, "overhead")),
    (lambda: level(uplink=Shared(0)), ("levels", 1, "uplink", "shared")),
    (lambda: level(shape="star"), ("levels", 1, "shape")),
    (lambda: line(0, 1e9), ("ranks",)),
    (lambda: line(4, 0.0), ("bandwidth",)),
    (lambda: star(0, 1e9), ("ranks",)),
    (lambda: star(4, 1e9, latency=-1.0), ("latency",)),
    (lambda: mesh([], 1e9), ("dims",)),
    (lambda: mesh([1] * 21, 1e9), ("dims",)),
    (lambda: mesh([4, 0], 1e9), ("dims", 1)),
    (lambda: mesh([1 << 11, 1 << 10], 1e9), ("dims",)),
    (lambda: mesh([10**400] * 20, 1e9), ("dims",)),
    (lambda: mesh([4, 4], 1e9, overhead=nan), ("overhead",)),
    (lambda: torus([2] * 20, 1e9, size_two="two_links"), ("dims",)),
    (lambda: torus([-1], 1e9), ("dims", 0)),
    (lambda: torus([2], 1e9, size_two="three"), ("size_two",)),  # type: ignore[arg-type]
    (lambda: fat_tree(0, 1e9), ("k",)),
    (lambda: fat_tree(3, 1e9), ("k",)),
    (lambda: fat_tree(1 << 40, 1e9), ("k",)),
    (lambda: fat_tree(4, 0.0), ("bandwidth",)),
    (lambda: fat_tree(4, 1e9, oversubscription=0.0), ("oversubscription",)),
    (lambda: fat_tree(4, 1e9, oversubscription=inf), ("oversubscription",)),
    (lambda: fat_tree(4, 1e9, oversubscription=1e-320), ("oversubscription",)),
    (lambda: fat_tree(4, 1e9, oversubscription=2.0, core=Tier(1e9)), ("oversubscription",)),
    (lambda: fat_tree(4, 1e9, aggregation=Tier(-1.0)), ("aggregation", "bandwidth")),
    (lambda: fat_tree(4, 1e9, core=Tier(1e9, -1.0)), ("core", "latency")),
    (lambda: leaf_spine(0, 4, 2, 1e9), ("leaves",)),
    (lambda: leaf_spine(2, 0, 2, 1e9), ("hosts",)),
    (lambda: leaf_spine(2, 4, 0, 1e9), ("spines",)),
    (lambda: leaf_spine(2, 1 << 40, 2, 1e9), ("hosts",)),
    (lambda: leaf_spine(2, 4, 1 << 60, 1e9), ("spines",)),
    (lambda: leaf_spine(2, 4, 2, 1e9, latency=nan), ("latency",)),
    (lambda: leaf_spine(2, 4, 2, 1e9, uplink=Tier(1e9, overhead=-1.0)), ("uplink", "overhead")),
    (lambda: leaf_spine(2, 4, 2, 1e9, oversubscription=2.0, uplink=Tier(1e9)), ("oversubscription",)),
    (lambda: dragonfly(0, 4, 2, 1e9), ("hosts",)),
    (lambda: dragonfly(2, 0, 2, 1e9), ("routers",)),
    (lambda: dragonfly(2, 4, 0, 1e9), ("global_links",)),
    (lambda: dragonfly(2, 4, 2, 1e9, groups=0), ("groups",)),
    (lambda: dragonfly(2, 4, 2, 1e9, groups=10), ("groups",)),
    (lambda: dragonfly(1 << 40, 4, 2, 1e9), ("hosts",)),
    (lambda: dragonfly(1, 1 << 15, 2, 1e9, groups=1), ("routers",)),
    (lambda: dragonfly(2, 4, 2, 1e9, overhead=-1.0), ("overhead",)),
    (lambda: dragonfly(2, 4, 2, 1e9, local=Tier(0.0)), ("local", "bandwidth")),
    (lambda: dragonfly(2, 4, 2, 1e9, between=Tier(1e9, nan)), ("between", "latency")),
    (lambda: rails(0, 4, 1e9, Tier(1e9)), ("nodes",)),
    (lambda: rails(4, 0, 1e9, Tier(1e9)), ("ranks_per_node",)),
    (lambda: rails(4, 4, 1e9, Tier(1e9), planes=0), ("planes",)),
    (lambda: rails(4, 4, 1e9, Tier(1e9), planes=1 << 60), ("planes",)),
    (lambda: rails(1 << 20, 4, 1e9, Tier(1e9)), ("nodes",)),
    (lambda: rails(4, 4, 0.0, Tier(1e9)), ("bandwidth",)),
    (lambda: rails(4, 4, 1e9, Tier(0.0)), ("rail", "bandwidth")),
]


@pytest.mark.parametrize(("build", "at"), CASES, ids=[f"{i}-{case[1][-1]}" for i, case in enumerate(CASES)])
def test_wrong_values_are_refused_and_located(
    build: Callable[[], Topology], at: tuple[str | int, ...]
) -> None:
    with pytest.raises(TopologyError) as caught:
        build()
    assert caught.value.at == at
    assert caught.value.message == str(caught.value)
    assert "\n" not in caught.value.message


def test_dims_that_do_not_fit_are_refused() -> None:
    with pytest.raises(TopologyError, match=r"dims \(2, 3\) do not multiply to 5 ranks"):
        Wiring(5).topology("odd", (2, 3), ())


def test_one_base() -> None:
    assert issubclass(TopologyError, CollsimError)
    assert CollsimError("no").at == ()
