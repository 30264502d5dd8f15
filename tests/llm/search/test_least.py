"""What a step takes at least: never more than its simulation, and without communication just that."""

from __future__ import annotations

from itertools import chain, cycle, product

from simulator.engine.network import Network
from simulator.llm.model import Experts, transformer
from simulator.llm.plan import MemoryPlan, Parallel
from simulator.llm.search.least import least_time
from simulator.llm.search.passes import Ends, lengths
from simulator.llm.step.overlap import Overlap
from simulator.llm.step.report_setting import groups_of
from simulator.llm.step.unit_passes import Sends, Stretch, Waits
from tests.llm.search.examples import setting

PLANS = (
    Parallel(dp=2, zero=3),
    Parallel(tp=2, sp=True, pp=2, zero=1, dp=2),
    Parallel(tp=2, pp=2),
    Parallel(cp=2, pp=2),
    Parallel(pp=4),
    Parallel(pp=4, interleave=2),
    Parallel(pp=4, schedule="gpipe"),
    Parallel(pp=4, schedule="zb-h1"),
    Parallel(tp=2, sp=True, pp=2, schedule="zbv"),
    Parallel(pp=2, schedule="dualpipe"),
)
OVERLAPS = (Overlap(), Overlap(tp=True, cp=True, ep=True), Overlap(pp=False, dp=False))


def test_bounds_hold_and_without_communication_are_the_step() -> None:
    for parallel, overlap in chain(product(PLANS[1:2], OVERLAPS), zip(PLANS, cycle(OVERLAPS))):
        again = MemoryPlan(recompute="full" if overlap.tp else "none")
        asked = setting(parallel, total=4 * parallel.dp, overlap=overlap, memory=again)
        least, graph = least_time(asked), asked.graph()
        free = asked.run(graph, free=groups_of(graph)).time
        assert least.exact == (parallel.schedule != "dualpipe")
        assert least.compute == free if least.exact else least.compute <= free
        assert least.compute <= least.time <= asked.run(graph).time


def test_tied_embeddings_and_experts() -> None:
    tied = transformer(layers=4, hidden=256, heads=8, vocab=512, sequence=256, tied=True)
    sparse = transformer(
        layers=4,
        hidden=256,
        heads=8,
        vocab=512,
        sequence=256,
        experts=Experts(count=4, active=2, ffn=256, shared=1, dense_layers=1),
    )
    for model, parallel in (
        (tied, Parallel(pp=4)),
        (sparse, Parallel(tp=2, sp=True, dp=2, ep=2)),
        (sparse, Parallel(pp=2, dp=2, ep=2, schedule="zb-h1")),
    ):
        asked = setting(parallel, total=8, model=model)
        least, graph = least_time(asked), asked.graph()
        assert least.compute == asked.run(graph, free=groups_of(graph)).time
        assert least.time <= asked.run(graph).time


def test_calls_that_stop_their_stage_count() -> None:
    """A group of two on a crossbar has nobody in its way, so all but latency is in the bound."""
    asked = setting(Parallel(tp=2), total=4, bandwidth=1e9)
    least, time = least_time(asked), asked.run().time
    assert 0.95 * time < least.time <= time
    assert least.compute < 0.5 * time


def test_shared_links_have_no_such_bound() -> None:
    asked = setting(Parallel(tp=2), total=2, network=Network("fair_share"))
    least = least_time(asked)
    assert least.time == least.compute


def test_a_slot_by_hand() -> None:
    """Chain 5 and aside 2, a call of 3 that stops, chain 4 and aside 1."""
    call = Sends(())
    unit = ((Stretch("a", 5, 2), 0), (call, 3), (Stretch("b", 4, 1), 0))
    # 5, call to 8, what was aside to 10, 4 more, aside to 15
    assert lengths([unit], "B").free == Ends(free=15, done=15, ready=14)
    assert lengths([unit], "I").free == Ends(free=12, done=12, ready=12)
    assert lengths([unit], "W").free.free == 3
    # a call first goes on while the stage is still at something else
    first = lengths([((call, 3), (Stretch("a", 5), 0))], "F")
    assert first.ends(free=10, there=0).ready == 15
    assert first.ends(free=0, there=10).ready == 18
    # begun before a stretch and waited for after it
    begun = lengths([((Sends((), until="x"), 7), (Stretch("a", 5), 0), (Waits("x"), 0))], "F")
    assert begun.ends(free=0, there=0).ready >= 7
