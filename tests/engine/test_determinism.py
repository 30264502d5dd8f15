"""The same bytes on every run, in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from algorithms.registry import build
from simulator.engine.engines import run_plan, simulate
from simulator.engine.errors import PlanError
from simulator.engine.lower import lower
from simulator.engine.network import Network, Reduction
from topologies import ring

PROGRAM = """
import hashlib
from algorithms.registry import build
from simulator.engine.engines import run_plan
from simulator.engine.lower import lower
from simulator.engine.network import Network, Reduction
from topologies import ring

digest = hashlib.sha256()
for sync in ("step", "dataflow", "barrier"):
    schedule = build("rabenseifner", "allreduce", 12, 100_003)
    topology = ring(12, bandwidth=64e9, latency=1e-6)
    plan = lower(schedule, topology, Network(sync=sync), Reduction(512e9), {5: 1e-6, 2: 3e-6})
    timeline = run_plan(plan)
    for column in (plan.transfer, plan.hop_offset, plan.resource, plan.hold, plan.head,
                   plan.dependency_offset, plan.dependency,
                   timeline.arrival, timeline.grant, timeline.release):
        digest.update(column.tobytes())
print(digest.hexdigest())
"""


def digest(seed: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_hash_seeds_do_not_matter() -> None:
    found = digest("1")
    assert len(found) == 65
    assert found == digest("2")


def test_columns_are_64_bit_integers() -> None:
    plan = lower(build("ring", "allreduce", 4, 400), ring(4, bandwidth=1e9), Network(), Reduction(1e9))
    timeline = run_plan(plan)
    for column in (timeline.arrival, timeline.grant, timeline.release, plan.hold, plan.resources.latency):
        assert column.dtype == np.int64
    assert len(timeline.arrival) == len(timeline.grant) == len(timeline.release) == plan.hops
    assert timeline.engine == "simpy"


def test_hops_know_their_operation_and_their_place_in_it() -> None:
    # a transfer of a ReduceScatter is a link and a reducer, one of the AllGather after it a link alone
    plan = lower(build("ring", "allreduce", 2, 4), ring(2, bandwidth=1e9), None, Reduction(1e9), {1: 1e-6})
    timeline = run_plan(plan)
    assert timeline.operation().tolist() == [0, 1, 1, 2, 2, 3, 4]
    assert timeline.hop().tolist() == [0, 0, 1, 0, 1, 0, 0]


def test_from_a_schedule_to_its_timeline_in_one_call() -> None:
    schedule, topology = build("ring", "reduce_scatter", 4, 400), ring(4, bandwidth=1e9)
    options = (Network(sync="barrier"), Reduction(1e9), {2: 1e-6})
    one, other = simulate(schedule, topology, *options), run_plan(lower(schedule, topology, *options))
    assert one.release.tolist() == other.release.tolist()
    # 1 us late, then three steps of 100 B on the wire and 100 B in the reducer
    assert one.seconds == 1.6e-6


@pytest.mark.parametrize("engine", ["auto", "simpy"])
def test_engines_are_found_by_name(engine: str) -> None:
    plan = lower(build("ring", "allgather", 4, 400), ring(4, bandwidth=1e9))
    assert run_plan(plan, engine).time == 300 * 10**6


def test_there_is_no_other_engine() -> None:
    plan = lower(build("ring", "allgather", 4, 400), ring(4, bandwidth=1e9))
    with pytest.raises(PlanError, match='no engine "warp"') as caught:
        run_plan(plan, "warp")
    assert caught.value.at == ("engine",)
