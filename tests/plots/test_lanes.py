"""Lanes of timelines: which resource is shown where."""

from __future__ import annotations

import numpy as np
import pytest

from algorithms.registry import build
from plots.lanes import HIDDEN, by_rank, by_resource, packed
from simulator.engine.lower import lower
from tests.plots.figures import run
from topologies import (
    Level,
    Shared,
    full_mesh,
    multilevel,
)


def test_links_that_share_a_lane_share_its_height() -> None:
    plan = lower(build("direct", "allgather", 4, 64), full_mesh(4, bandwidth=64e9))
    lanes = by_rank(plan, full_mesh(4, bandwidth=64e9))
    assert len(lanes) == 8
    for lane in range(8):
        own = lanes.lane == lane
        assert sorted(lanes.low[own]) == pytest.approx([0, 1 / 3, 2 / 3])
        assert sorted(lanes.high[own]) == pytest.approx([1 / 3, 2 / 3, 1])


def test_links_in_use_at_different_times_take_the_whole_lane() -> None:
    # a ring inside, then across: a rank never sends on both
    cards = Level("machine", 2, "full_mesh", 16e9, 1e-6)
    cluster = multilevel([Level("card", 2, "full_mesh", 64e9, 1e-6), cards])
    timeline, *_ = run(build("hierarchical", "allreduce", 4, 2**20, dims=(2, 2)), cluster)
    apart = by_rank(timeline.plan, cluster)
    lanes = packed(apart, timeline)
    used = lanes.lane != HIDDEN
    assert (apart.high - apart.low)[used].min() == 0.5
    assert ((lanes.high - lanes.low)[used] == 1.0).all()


def test_links_in_use_at_once_stay_side_by_side() -> None:
    mesh = full_mesh(4, bandwidth=64e9)
    timeline, *_ = run(build("direct", "allgather", 4, 2**20), mesh)
    lanes = packed(by_rank(timeline.plan, mesh), timeline)
    for lane in range(len(lanes)):
        own = lanes.lane == lane
        assert sorted(lanes.low[own]) == pytest.approx([0, 1 / 3, 2 / 3])
        assert sorted(lanes.high[own]) == pytest.approx([1 / 3, 2 / 3, 1])


@pytest.mark.parametrize("role_first", [False, True])
def test_links_between_switches_are_never_hidden(role_first: bool) -> None:
    cards = Level("machine", 2, "ring", 16e9, uplink=Shared(2))
    cluster = multilevel([Level("card", 4, "full_mesh", 64e9), cards])
    plan = lower(build("hierarchical", "allreduce", 8, 2**20, dims=(4, 2)), cluster)
    lanes = by_rank(plan, cluster, role_first=role_first)
    used = np.bincount(plan.resource, minlength=len(plan.resources)) > 0
    assert ((lanes.lane != HIDDEN).any(axis=0) == used).all()
    inner = [lanes.name(i) for i in range(len(lanes)) if "gateway0->" in lanes.name(i)]
    assert len(inner) == 2
    assert lanes.groups[-1] == ("machine links" if role_first else "")


def test_links_stand_by_level_then_source() -> None:
    cards = Level("machine", 2, "ring", 16e9)
    cluster = multilevel([Level("card", 4, "ring", 64e9), cards])
    plan = lower(build("hierarchical", "allgather", 8, 2**20, dims=(4, 2)), cluster)
    lanes = by_resource(plan, cluster)
    assert lanes.groups == ("card links", "machine links")
    row = [np.flatnonzero(lanes.lane[0] == lane)[0] for lane in range(len(lanes))]
    order = [(cluster.links.level[i], cluster.links.src[i], cluster.links.dst[i]) for i in row]
    assert order == sorted(order)
