"""The compiled engine against SimPy's: the same bits in every arrival, grant and release."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms import ALGORITHMS, build
from simulator.engine import compiled, engines
from simulator.engine.compiled import run_compiled, run_events, run_in_order
from simulator.engine.engines import run_plan
from simulator.engine.errors import PlanError
from simulator.engine.lower import lower
from simulator.engine.network import Endpoint, Mode, Model, Network, Protocol, Reduction, Sync
from simulator.engine.plan import Plan
from simulator.engine.simpy_engine import run_simpy
from simulator.engine.timeline import Timeline
from tests.algorithms.variants import KINDS, variants
from tests.engine.path_check import check_path
from tests.engine.plan_builder import Hop, Operation, plan_of
from tests.engine.test_reference import plans
from topologies import Level, Shared, Topology, crossbar, fat_tree, full_mesh, multilevel, ring, torus
from topologies.clock import LONGEST
from topologies.trees import aggregation_tree

B, ALPHA = 64e9, 1e-6


def check_same(one: Timeline, other: Timeline) -> None:
    for column in ("arrival", "grant", "release"):
        np.testing.assert_array_equal(getattr(one, column), getattr(other, column), column)


@settings(max_examples=200, derandomize=True, deadline=None, database=None)
@given(plans())
def test_random_plans(plan: Plan) -> None:
    reference = run_simpy(plan)
    check_same(run_events(plan), reference)
    alone = run_in_order(plan)
    if alone is not None:
        check_same(alone, reference)


@settings(max_examples=100, derandomize=True, deadline=None, database=None)
@given(plans(most=5))
def test_small_plans_of_which_many_need_no_queue(plan: Plan) -> None:
    reference = run_simpy(plan)
    check_same(run_compiled(plan), reference)
    # a link for every resource
    check_path(reference, ring(len(plan.resources) + 1, B))


def places(ranks: int) -> list[Topology]:
    link = (B, ALPHA)
    return {
        4: [ring(4, *link), full_mesh(4, *link), crossbar(4, *link, switch="reduces"), torus([2, 2], *link)],
        6: [
            ring(6, *link),
            ring(6, *link, direction="one"),
            crossbar(6, B, overhead=ALPHA, switch="reduces"),
        ],
        8: [
            torus([4, 2], *link),
            multilevel(
                [
                    Level("card", 4, "full_mesh", *link),
                    Level("node", 2, "switch", B / 4, 5 * ALPHA, uplink=Shared(2)),
                ]
            ),
        ],
        16: [fat_tree(4, *link, switch="reduces")],
    }[ranks]


@settings(max_examples=80, derandomize=True, deadline=None, database=None)
@given(st.data())
def test_random_scenarios_of_the_registries(data: st.DataObject) -> None:
    name, kind = data.draw(st.sampled_from(KINDS))
    ranks = data.draw(st.sampled_from([4, 6, 8, 16]))
    topology = data.draw(st.sampled_from(places(ranks)))
    options = data.draw(st.sampled_from(variants(name, kind, ranks)))
    if ALGORITHMS[name].ideal == "switch":
        if not topology.reduces:
            return
        options = {"tree": aggregation_tree(topology)}
    size = 0 if kind == "barrier" else data.draw(st.sampled_from([0, 1001, 2**20]))
    schedule = build(name, kind, ranks, size, segments=data.draw(st.sampled_from([1, 1, 3])), **options)
    network = networks(data, size, ranks)
    gamma = data.draw(st.sampled_from([None, 8e9, 512e9]))
    reduction = None if gamma is None else Reduction(gamma, data.draw(st.sampled_from(get_args(Mode))))
    plan = lower(schedule, topology, network, reduction, data.draw(st.sampled_from([{}, {1: 3e-6}])))
    found = [outcome(plan, engine) for engine in ("simpy", "compiled")]
    if isinstance(found[0], str) or isinstance(found[1], str):
        assert found[0] == found[1]
        return
    check_same(found[1], found[0])
    check_path(found[1], topology)
    if plan.flows is None and plan.buffers is None:
        check_same(run_events(plan), found[0])


def networks(data: st.DataObject, size: int, ranks: int) -> Network:
    """Any model, with ends and with buffers where it knows them."""
    model, protocol = (data.draw(st.sampled_from(get_args(words))) for words in (Model, Protocol))
    packet = model == "packet"
    mtu = data.draw(st.sampled_from([size // 9 + 1, size // (2 * ranks) + 1, 2**20])) if packet else None
    ends = [None, Endpoint(), Endpoint(2e-7, 1e-7, protocol, 300 if protocol == "rendezvous" else 0)]
    rooms = [None, 1, size // 40 + 1, size // (2 * ranks) + 1, 2 * size + 1]
    endpoint, room = data.draw(st.sampled_from(ends)), data.draw(st.sampled_from(rooms))
    shared = model == "fair_share"
    # what is stored on its way must fit
    least = size * ranks if model == "store_and_forward" else mtu or 1
    return Network(
        model=model,
        sync=data.draw(st.sampled_from(get_args(Sync))),
        placement=data.draw(st.permutations(range(ranks))),
        mtu=mtu,
        endpoint=None if shared else endpoint,
        buffers=None if shared or room is None else max(room, least),
    )


def outcome(plan: Plan, engine: str) -> Timeline | str:
    """Timeline of a plan, or why there is none."""
    try:
        return run_plan(plan, engine)
    except PlanError as error:
        return error.message


def test_two_that_meet_are_not_passed_in_order() -> None:
    # by hand: the second comes while the first holds the resource, so it waits 2 fs
    plan = plan_of([Operation([Hop(0, 3)]), Operation([Hop(1, 1), Hop(0, 1)])], [0, 0])
    assert run_in_order(plan) is None
    assert run_compiled(plan).grant.tolist() == [0, 0, 3]


def test_one_after_the_other_is_passed_in_order() -> None:
    plan = plan_of([Operation([Hop(0, 3)]), Operation([Hop(1, 4), Hop(0, 1)])], [0, 0])
    found = run_in_order(plan)
    assert found is not None
    assert (found.grant.tolist(), found.time, found.engine) == ([0, 0, 4], 5, "compiled")


def test_an_empty_plan() -> None:
    assert run_compiled(plan_of([], [])).time == 0


@pytest.mark.parametrize("run", [run_events, run_in_order])
def test_the_clock_does_not_run_over(run: object) -> None:
    plan = plan_of([Operation([Hop(0, LONGEST)]), Operation([Hop(0, LONGEST)], [0])], [0])
    with pytest.raises(PlanError, match=r"ran past 2\.5 hours"):
        run(plan)  # type: ignore[operator]


def test_progress_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "REPORT_EVERY", 5)
    told: list[tuple[int, int]] = []
    plan = lower(build("direct", "all_to_all", 8, 800), ring(8, B, ALPHA))
    timeline = run_events(plan, lambda done, total: told.append((done, total)))
    assert len(told) > 5
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1] == (plan.hops, plan.hops)
    check_same(timeline, run_simpy(plan))


def test_auto_compiles_what_is_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = lower(build("ring", "allgather", 8, 800), ring(8, B, ALPHA))
    assert run_plan(plan).engine == "simpy"
    monkeypatch.setattr(engines, "WORTH_COMPILING", plan.hops)
    monkeypatch.setattr(engines, "numba_is_here", lambda: True)
    assert run_plan(plan).engine == "compiled"
    # a machine without numba runs the reference, and the timeline says so
    monkeypatch.setattr(engines, "numba_is_here", lambda: False)
    assert run_plan(plan).engine == "simpy"
    assert run_plan(plan, "compiled").engine == "simpy"
