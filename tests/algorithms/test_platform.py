"""alpha and beta of a topology: where it has them, and where it must say that it has none."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

import numpy as np
import pytest

from algorithms import Platform, platforms
from topologies import (
    CustomLink,
    CustomNodes,
    Level,
    Shared,
    crossbar,
    custom,
    full_mesh,
    hypercube,
    multilevel,
    ring,
)

Model = Literal["store_and_forward", "cut_through"]
MODELS: tuple[Model, ...] = ("store_and_forward", "cut_through")


@pytest.mark.parametrize("model", MODELS)
def test_one_hop_has_its_links_own(model: Model) -> None:
    for topology in (
        ring(8, 64e9, 1e-6, 1e-7),
        hypercube(3, 64e9, 1e-6, 1e-7),
        full_mesh(8, 64e9, 1e-6, 1e-7),
    ):
        assert platforms(topology, (8,), model) == (Platform(Fraction(1e-6), Fraction(64e9), Fraction(1e-7)),)


def test_a_crossbar_is_the_one_port_machine_only_under_cut_through() -> None:
    through = platforms(crossbar(4, 64e9, 0.0, 1e-6), (4,), "cut_through")
    forward = platforms(crossbar(4, 64e9, 0.0, 1e-6), (4,), "store_and_forward")
    assert through is not None
    assert forward is not None
    assert (float(through[0].alpha), through[0].bandwidth) == (1e-6, 64e9)
    assert (float(forward[0].alpha), forward[0].bandwidth) == (2e-6, 32e9)


def test_a_flat_algorithm_on_unequal_levels_has_none() -> None:
    levels = [Level("card", 4, "full_mesh", 64e9, 1e-6), Level("machine", 2, "full_mesh", 8e9, 5e-6)]
    assert platforms(multilevel(levels), (8,), "store_and_forward") is None
    along = platforms(multilevel(levels), (4, 2), "store_and_forward")
    assert along is not None
    assert [(float(p.alpha), p.bandwidth) for p in along] == [(1e-6, 64e9), (5e-6, 8e9)]


def test_unequal_links_of_one_level_have_none() -> None:
    links = [CustomLink(0, 1, 1e9), CustomLink(1, 2, 2e9)]
    assert platforms(custom(CustomNodes(3), links), (3,), "store_and_forward") is None


def test_cut_through_is_priced_by_the_slowest_hold() -> None:
    # up and down the inner level and across the slower outer one, which holds longest for every size
    levels = [Level("card", 2, "line", 64e9, 1e-6), Level("room", 2, "line", 8e9, 2e-6, 1e-7, Shared(1))]
    priced = platforms(multilevel(levels), (2, 2), "cut_through")
    assert priced is not None
    assert (float(priced[1].latency), priced[1].overhead, priced[1].bandwidth) == (
        pytest.approx(4e-6),
        1e-7,
        8e9,
    )
    # a slow link without overhead and a fast one with it: which holds longer depends on the size
    mixed = [Level("card", 2, "line", 64e9, 1e-6, 1e-7), Level("room", 2, "line", 8e9, 2e-6, 0.0, Shared(1))]
    assert platforms(multilevel(mixed), (2, 2), "cut_through") is None


def test_streamed_reduction_after_two_stored_hops_has_none() -> None:
    box = crossbar(4, 64e9)
    assert platforms(box, (4,), "store_and_forward", 512e9, "streamed") is None
    assert platforms(box, (4,), "store_and_forward", 512e9, "after") is not None
    assert platforms(box, (4,), "store_and_forward", None, "streamed") is not None


def test_placement_chooses_the_first_rank() -> None:
    line = custom(CustomNodes(3), [CustomLink(0, 1, 1e9, 1e-6), CustomLink(1, 2, 1e9, 1e-6)])
    priced = platforms(line, (3,), "store_and_forward", placement=np.array([1, 0, 2]))
    assert priced is not None
    assert float(priced[0].alpha) == 1e-6
