"""Links that differ from the rest."""

from __future__ import annotations

import pytest

from topologies import Level, TopologyError, full_mesh, multilevel, ring
from topologies.overrides import Override, override

CLUSTER = multilevel([Level("card", 4, "ring", 64e9, 1e-6), Level("room", 2, "line", 8e9, 5e-6)])


def test_a_level_changes_as_a_whole() -> None:
    changed = override(CLUSTER, [Override(level="room", bandwidth=25e9, overhead=1e-7)])
    room = changed.links.level == 1
    assert set(changed.links.bandwidth[room]) == {25e9}
    assert set(changed.links.overhead[room]) == {1e-7}
    assert set(changed.links.latency[room]) == {5e-6}
    assert (changed.links.bandwidth[~room] == CLUSTER.links.bandwidth[~room]).all()


def test_a_rank_changes_both_ways() -> None:
    changed = override(full_mesh(4, 64e9), [Override(rank=2, bandwidth=1e9)])
    touched = (changed.links.src == 2) | (changed.links.dst == 2)
    assert touched.sum() == 6
    assert (changed.links.bandwidth[touched] == 1e9).all()
    assert (changed.links.bandwidth[~touched] == 64e9).all()


def test_a_link_changes_one_way_and_the_last_word_counts() -> None:
    changes = [
        Override(src=0, dst=1, latency=1e-3),
        Override(level="ring", latency=2e-3),
        Override(rank=3, latency=0.0),
    ]
    changed = override(ring(4, 64e9), changes[:1])
    assert changed.links.latency.tolist().count(1e-3) == 1
    changed = override(ring(4, 64e9), changes)
    assert sorted(set(changed.links.latency.tolist())) == [0.0, 2e-3]
    assert changed.graph.edges[0, 1, 0]["latency"] == 2e-3


@pytest.mark.parametrize(
    ("change", "at", "text"),
    [
        (Override(level="room"), (), "needs a bandwidth"),
        (Override(bandwidth=1e9), (), "by level, by rank"),
        (Override(level="room", rank=1, bandwidth=1e9), (), "by level, by rank"),
        (Override(level="rom", bandwidth=1e9), ("level",), "there are card, room"),
        (Override(rank=8, bandwidth=1e9), ("rank",), "ranks are 0 to 7"),
        (Override(src=0, bandwidth=1e9), (), "both src and dst"),
        (Override(src=0, dst="hub", bandwidth=1e9), ("dst",), "no node hub"),
        (Override(src=0, dst=2, bandwidth=1e9), (), "no link from 0 to 2"),
        (Override(rank=0, bandwidth=0.0), ("bandwidth",), "must be positive"),
        (Override(rank=0, latency=-1.0), ("latency",), "zero or more"),
    ],
)
def test_what_makes_no_sense_is_refused(change: Override, at: tuple[str, ...], text: str) -> None:
    with pytest.raises(TopologyError, match=text) as caught:
        override(CLUSTER, [Override(rank=1, bandwidth=1e9), change])
    assert caught.value.at == ("overrides", 1, *at)
