"""Searches whose winner is known for a reason."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.engine.network import Network
from simulator.llm.errors import ModelError
from simulator.llm.plan import MemoryPlan, Parallel
from simulator.llm.search import search as searching
from simulator.llm.search.rating import Rating
from simulator.llm.search.search import Found, search
from simulator.llm.search.space import Degrees, Space
from tests.llm.search.examples import MODEL, setting
from topologies import ring

ONE = {"zero": [0], "recompute": ["none"], "micro": [1], "schedule": ["1f1b"], "interleave": [1]}
MANY = Space(pp=[1, 2], zero=[0, 3], recompute=["none", "full"], micro=[1], schedule=["1f1b"], interleave=[1])

SHORT = replace(MODEL, layers=4)


def everything(found: Found) -> int:
    return len(found.rows) + len(found.failed) + len(found.dropped) + found.pruned + found.left_out


def test_least_bubble_wins_where_communication_is_free() -> None:
    """Bubbles of (p - 1) / m and, with two chunks a stage, half of it (Narayanan et al. 2021)."""
    base = setting(Parallel(pp=4), total=8, bandwidth=1e18)
    space = Space(**ONE | {"pp": [4], "tp": [1], "interleave": [2, 1], "schedule": ["gpipe", "1f1b"]})
    found = search(base, space)
    order = [(row.kept.degrees.schedule, row.kept.degrees.interleave) for row in found.rows]
    # GPipe takes as long as 1F1B, and keeps more
    assert order == [("1f1b", 2), ("1f1b", 1), ("gpipe", 1)]
    assert [row.best for row in found.rows] == [True, True, False]
    assert everything(found) == found.tried == 3


def test_least_recomputation_wins_where_all_fits() -> None:
    base = setting(Parallel(dp=2), total=8)
    found = search(base, Space(**ONE | {"dp": [2], "recompute": ["full", "selective", "none"]}))
    assert found.rows[0].kept.degrees.recompute != "full"
    assert found.rows[-1].kept.degrees.recompute == "full"


def test_little_memory_leaves_what_is_sharded() -> None:
    """P parameters in 18 bytes over 4 replicas: less than 6 P + 12 P / 4 is left to ZeRO-3 alone."""
    base = setting(Parallel(dp=4), total=4)
    size = base.asked.model.parameters()
    base = replace(base, asked=replace(base.asked, memory=MemoryPlan(capacity=9 * size - 1)))
    found = search(base, Space(**ONE | {"tp": [1], "pp": [1], "zero": [0, 1, 3], "recompute": ["full"]}))
    assert [row.kept.degrees.zero for row in found.rows] == [3]
    # weights and gradients are 6 P in both
    assert [(one.why, one.where, one.degrees.zero) for one in found.dropped] == [
        ("memory", "optimizer", 0),
        ("memory", "optimizer", 1),
    ]


def test_every_plan_is_accounted_for() -> None:
    base = setting(Parallel(dp=8), total=4)
    base = replace(base, asked=replace(base.asked, memory=MemoryPlan(capacity=40 * 2**20)))
    space = replace(MANY, tp=[1, 4, 8], pp=[1, 2], schedule=["1f1b", "dualpipe"], most=2)
    found = search(base, space, top=1)
    assert everything(found) == found.tried
    assert found.left_out
    assert {one.why for one in found.dropped} == {"layout", "memory"}
    # 8 replicas cannot share 4 sequences, and dualpipe on 2 stages needs 4 micro-batches
    assert {one.where for one in found.dropped if one.why == "layout"} == {
        "parallel.schedule",
        "batch.global",
    }


def test_pruning_loses_neither_the_best_nor_the_front(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "AHEAD", 2)
    base = setting(Parallel(dp=4), total=4, bandwidth=5e9, model=SHORT)
    whole, pruned = (search(base, MANY, top=3, prune=prune) for prune in (False, True))
    assert whole.pruned == 0
    assert pruned.pruned > 0
    assert pruned.rows[:3] == whole.rows[:3]
    assert [row for row in pruned.rows if row.best] == [row for row in whole.rows if row.best]
    assert [row.costs for row in whole.rows] == sorted(row.costs for row in whole.rows)


def test_workers_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "AHEAD", 3)
    base, space = setting(Parallel(dp=4), total=4, model=SHORT), Space(**ONE)
    alone, three = (search(base, space, top=2, workers=workers) for workers in (1, 3))
    assert (alone.rows, alone.pruned, alone.dropped) == (three.rows, three.pruned, three.dropped)


def test_a_plan_that_fails_is_a_row() -> None:
    """Tensor parallel ranks are neighbours on a ring; the others of a replica are not."""
    base = setting(
        Parallel(dp=4),
        total=4,
        topology=ring(4, bandwidth=1e9, latency=1e-6),
        network=Network(direct_links_only=True),
    )
    found = search(base, Space(**ONE | {"tp": [2, 4], "pp": [1]}))
    assert [row.kept.degrees.tp for row in found.rows] == [4]
    [failed] = found.failed
    assert failed.kept.degrees.tp == 2
    assert "hops" in failed.rating.error
    assert everything(found) == found.tried


def test_what_is_known_is_not_simulated_again() -> None:
    class Told:
        def __init__(self, known: dict[Degrees, Rating]) -> None:
            self.known, self.kept = known, dict[Degrees, Rating]()

        def find(self, degrees: Degrees) -> Rating | None:
            return self.known.get(degrees)

        def keep(self, degrees: Degrees, rating: Rating) -> None:
            self.kept[degrees] = rating

    base, space = setting(Parallel(dp=4), total=4, model=SHORT), Space(**ONE)
    reports: list[tuple[str, int, int]] = []
    first = Told({})
    whole = search(base, space, memo=first, report=lambda *told: reports.append(told))
    assert len(first.kept) == len(whole.rows)
    assert reports[-1] == ("simulate plans", len(whole.rows), len(whole.rows))
    some = Told(dict(list(first.kept.items())[:2]))
    again = search(base, space, memo=some)
    assert again.rows == whole.rows
    assert set(some.kept) == set(first.kept) - set(some.known)


def test_exposed_and_utilisation() -> None:
    """Slow links expose more of the same communication; what takes no time without it is the same."""
    slow, fast = (
        search(setting(Parallel(tp=2), total=4, bandwidth=speed), Space(**ONE | {"tp": [2]}))
        for speed in (1e9, 1e18)
    )
    [here], [there] = slow.rows, fast.rows
    assert here.rating.free == there.rating.free
    assert here.exposed > 10 * there.exposed > 0
    hardware = setting(Parallel()).machine.hardware
    assert slow.flops.mfu(here.rating.time, hardware) < fast.flops.mfu(there.rating.time, hardware) <= 1


def test_hardware_must_say_how_fast_it_is() -> None:
    base = setting(Parallel(dp=2))
    slow = replace(base.machine, hardware=replace(base.machine.hardware, compute=None))
    with pytest.raises(ModelError, match="compute"):
        search(replace(base, machine=slow), Space())
