"""Programs are timed: expected times are counted by hand from 1 GB/s, 1 us and 10 GB/s."""

from __future__ import annotations

import numpy as np
import pytest

from algorithms import build, count
from algorithms.formats.msccl_xml import read_msccl_xml
from algorithms.programs.from_schedule import program_of
from algorithms.programs.timing import schedule_of
from simulator.engine.engines import run_plan
from simulator.engine.lower import lower
from simulator.engine.network import Endpoint, Network, Reduction
from simulator.engine.staging import Staging
from tests.algorithms.formats.format_files import text
from topologies import full_mesh, line

GAMMA = Reduction(10e9)


def seconds(name: str, size: int, *, network: Network | None = None, engine: str = "simpy") -> float:
    program = read_msccl_xml(text(name).encode(), "a.xml")
    topology = full_mesh(program.ranks, bandwidth=1e9, latency=1e-6)
    plan = lower(schedule_of(program, size), topology, network, GAMMA)
    return run_plan(plan, engine).seconds


def test_each_adds_what_it_received() -> None:
    # 10 us over the link, 1 us of latency, 1 us to add
    assert seconds("pair-allreduce.xml", 10_000) == pytest.approx(12e-6, rel=1e-12)


def test_a_chain_waits_for_each_link_and_each_sum() -> None:
    # up: two messages and two sums; down: two messages; ranks may pass on at once
    assert seconds("chain-allreduce.xml", 10_000) == pytest.approx(4 * 11e-6 + 2 * 1e-6, rel=1e-12)


def test_a_late_rank_sends_late() -> None:
    program = read_msccl_xml(text("chain-allreduce.xml").encode(), "a.xml")
    topology = line(3, bandwidth=1e9, latency=1e-6)
    plan = lower(schedule_of(program, 10_000), topology, None, GAMMA, {0: 5e-6})
    assert run_plan(plan).seconds == pytest.approx(51e-6, rel=1e-12)


NETWORKS = [
    Network("cut_through"),
    Network("packet", mtu=1000),
    Network("packet", mtu=1000, buffers=2000),
    Network(endpoint=Endpoint(2e-6, 1e-6)),
    Network(endpoint=Endpoint(2e-6, 1e-6, "rendezvous")),
    Network("packet", mtu=1000, endpoint=Endpoint(2e-6)),
    Network(staging=Staging(send=5e9)),
]


@pytest.mark.parametrize("network", NETWORKS, ids=range(len(NETWORKS)))
@pytest.mark.parametrize("mode", ["after", "streamed"])
def test_the_engines_agree_under_every_model(network: Network, mode: str) -> None:
    schedule = schedule_of(program_of(build("recursive_doubling", "allreduce", 4, 0)), 12_345)
    topology = line(4, bandwidth=1e9, latency=1e-6)
    plan = lower(schedule, topology, network, Reduction(10e9, mode))
    slow, quick = (run_plan(plan, engine) for engine in ("simpy", "compiled"))
    assert np.array_equal(slow.release, quick.release)


def test_flows_share_the_links_of_a_program() -> None:
    times = [
        seconds("chain-allreduce.xml", 10_000, network=Network("fair_share"), engine=engine)
        for engine in ("simpy", "compiled")
    ]
    assert times == pytest.approx([46e-6, 46e-6], rel=1e-9)


@pytest.mark.parametrize(
    ("name", "kind", "ranks"),
    [
        ("ring", "allgather", 5),
        ("ring", "allreduce", 4),
        ("chain", "broadcast", 6),
        ("direct", "all_to_all", 4),
    ],
)
def test_a_file_of_an_algorithm_takes_as_long_as_the_algorithm(name: str, kind: str, ranks: int) -> None:
    schedule = build(name, kind, ranks, 60_000)
    again = schedule_of(program_of(schedule), 60_000)
    topology = full_mesh(ranks, bandwidth=1e9, latency=1e-6)
    first, second = (run_plan(lower(one, topology, None, GAMMA)).seconds for one in (schedule, again))
    assert second == pytest.approx(first, rel=1e-12)
    assert (again.steps, count(again).depth) == (schedule.steps, count(schedule).depth)
