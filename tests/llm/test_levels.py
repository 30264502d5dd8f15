"""What the links of each level carry of a plan's traffic."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

import pytest

from simulator.llm.errors import ModelError
from simulator.llm.levels import levels
from simulator.llm.plan import Batch, Parallel
from simulator.llm.traffic_plan import TrafficPlan
from tests.llm.sent import PARAMETERS, M, step
from topologies import Level, Shared, Topology, crossbar, multilevel, ring


def machines(uplink: Literal["per_rank"] | Shared = "per_rank") -> Topology:
    node = Level("node", 8, "switch", 450e9)
    return multilevel([node, Level("net", 2, "switch", 50e9, uplink=uplink)])


def test_which_level_carries_what() -> None:
    """Tensor parallel groups are machines; replicas meet in the network only."""
    found = step(Parallel(tp=8, dp=2), Batch(total=2))
    over = levels(found, machines())
    shares = {(row.group, row.level): row.share for row in over.groups}
    assert shares == {("tp", "node"): 1, ("tp", "net"): 0, ("dp", "node"): 0, ("dp", "net"): 1}
    # a message goes up to the switch and down
    assert over.levels[0].total == 2 * sum(
        call.total_bytes(found.parallel) for call in found.calls if call.group.name == "tp"
    )
    assert over.levels[1].busiest == found.rank(0, "dp")
    assert over.levels[1].time == pytest.approx(float(found.rank(0, "dp")) / 50e9)


def test_order_of_the_axes_decides_which_level_is_busy() -> None:
    """With replicas side by side in a machine, tensor parallel groups of 8 reach over two."""
    parallel = Parallel(tp=8, dp=2, order=("dp", "cp", "ep", "tp", "pp"))
    over = levels(step(parallel, Batch(total=2)), machines())
    shares = {(row.group, row.level): row.share for row in over.groups}
    assert shares["dp", "net"] == 0
    # all 8 hops of a ring take two links of a machine, and 2 of them two of the network besides
    assert shares["tp", "net"] == pytest.approx(2 * 2 / (8 * 2 + 2 * 2))


@pytest.mark.parametrize(
    "parallel",
    [
        Parallel(tp=4, sp=True, pp=2, dp=2),
        Parallel(tp=2, cp=2, dp=4, zero=3),
        Parallel(cp=4, cp_kind="ulysses", dp=4, zero=3, shard=8),
        Parallel(pp=4, interleave=2, dp=4, zero=1),
        Parallel(pp=4, schedule="zbv", dp=4, zero=1),
        Parallel(pp=4, schedule="dualpipe", dp=4, zero=1),
    ],
)
def test_links_carry_what_ranks_send(parallel: Parallel) -> None:
    """On a crossbar every byte that a rank sends leaves over its one link."""
    found = step(parallel, Batch(total=32))
    over = levels(found, crossbar(16, bandwidth=1e9))
    assert over.levels[0].total == pytest.approx(2 * float(found.total), rel=1e-12)
    busiest = max(float(found.rank(stage)) for stage in range(parallel.pp))
    assert over.levels[0].busiest == pytest.approx(busiest, rel=1e-12)


def test_a_ring_of_replicas_on_a_ring() -> None:
    found = step(Parallel(dp=8), Batch(total=8))
    over = levels(found, ring(8, bandwidth=1e9))
    # eight links of one direction carry it all, the other eight nothing
    assert over.levels[0].busiest == float(found.rank(0))
    assert over.levels[0].total == pytest.approx(8 * float(found.rank(0)))


def test_hierarchical_collectives_spare_the_outer_level() -> None:
    """Along the levels each rank takes an eighth of the sum into the network: 2 (1/2) M/8 over its link."""
    plain = step(Parallel(dp=16), Batch(total=16))
    levelled = step(
        Parallel(dp=16), Batch(total=16), plan=TrafficPlan(algorithms={"allreduce": "hierarchical"})
    )
    one, two = (levels(found, machines()) for found in (plain, levelled))
    size = 4 * PARAMETERS
    assert two.levels[1].busiest == pytest.approx(2 * Fraction(1, 2) * size / 8)
    assert one.levels[1].busiest == pytest.approx(float(plain.rank(0)))


def test_shared_uplinks_carry_the_sum() -> None:
    found = step(Parallel(tp=8, dp=2), Batch(total=2))
    over = levels(found, machines(uplink=Shared(1)))
    assert over.levels[1].busiest == pytest.approx(8 * float(found.rank(0, "dp")))


def test_boundaries_on_a_topology() -> None:
    found = step(Parallel(pp=4), Batch(total=2))
    over = levels(found, ring(4, bandwidth=1e9))
    # six boundaries' worth of messages, each over one link
    assert over.levels[0].total == 6 * 2 * M
    assert over.levels[0].busiest == 2 * M


def test_a_topology_of_another_size() -> None:
    with pytest.raises(ModelError, match="8 ranks, the topology 4"):
        levels(step(Parallel(dp=8), Batch(total=8)), ring(4, bandwidth=1e9))


def test_an_algorithm_that_cannot() -> None:
    plan = TrafficPlan(algorithms={"allreduce": "in_network"})
    with pytest.raises(ModelError, match="in_network") as caught:
        levels(step(Parallel(dp=8), Batch(total=8), plan=plan), ring(8, bandwidth=1e9))
    assert caught.value.at == ("traffic", "algorithms", "allreduce")
