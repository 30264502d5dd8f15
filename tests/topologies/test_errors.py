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
    Topology,
    TopologyError,
    crossbar,
    custom,
    full_mesh,
    hypercube,
    multilevel,
    ring,
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
