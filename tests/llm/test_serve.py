"""What a plan serves, by hand counts and by formulas."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest

from simulator.engine.network import Network
from simulator.llm.errors import ModelError
from simulator.llm.hardware import Hardware
from simulator.llm.layer_calls import TENSOR, Pass
from simulator.llm.model import Experts, Model, transformer
from simulator.llm.plan import Batch, MemoryPlan, Parallel
from simulator.llm.serve import limits, serve, with_tensor_parallelism
from simulator.llm.serve_plan import ServePlan
from simulator.llm.server import Server
from simulator.llm.step.fabric import Fabric, Way
from simulator.llm.step.inference import Passage, inference_graph
from simulator.llm.step.simulate import simulate_step
from simulator.llm.step.stage_units import Machine, StageUnits
from simulator.llm.step.unit_passes import Stretch
from simulator.llm.traffic_plan import TrafficPlan
from topologies import crossbar, torus
from topologies.clock import FEMTOSECONDS

SMALL = transformer(layers=4, hidden=512, heads=8, vocab=1024, sequence=4096)
CHIP = Hardware(capacity=2**26, compute=1e14, memory_bandwidth=1e11)
FAST = Hardware(capacity=2**40, compute=1e12, memory_bandwidth=1e18)
ASKS = ServePlan(prompt=256, output=64)
INFERENCE = MemoryPlan(phase="inference")
US = 10**9


def server(
    parallel: Parallel,
    serves: ServePlan = ASKS,
    *,
    model: Model = SMALL,
    chip: Hardware = CHIP,
    traffic: TrafficPlan | None = None,
    memory: MemoryPlan = INFERENCE,
    bandwidth: float = 1e10,
    overhead: float = 1e-6,
) -> Server:
    """A server on a crossbar: a message takes its overhead and its bytes over the bandwidth."""
    plan = traffic or TrafficPlan()
    memory = replace(memory, capacity=chip.capacity)
    network = crossbar(parallel.ranks, bandwidth=bandwidth, overhead=overhead)
    return Server(
        Pass(model, parallel, Batch(total=parallel.dp), memory, plan),
        serves,
        Machine(chip),
        Fabric(parallel, plan, network, Network("cut_through")),
    )


def test_decoding_one_request_reads_all_weights() -> None:
    """Memory-bound: bytes of all matrices, and of the KV cache, over the bandwidth; the rest is small."""
    found = server(Parallel())
    weights = 2 * (4 * 12 * 512**2 + 512 * 1024)
    cache = 4 * 2 * 512 * 2 * (ASKS.context + 2)
    seconds = Fraction(found.tpot(1), FEMTOSECONDS)
    least = Fraction(weights + cache) / 10**11
    assert least < seconds < Fraction(101, 100) * least
    # alone: nothing is sent
    assert found.groups == {}
    [point] = serve(server(Parallel(), replace(ASKS, batch=(1,)))).points[:1]
    assert (point.exposed, point.first, point.ttft) == (0, found.ttft(1), found.ttft(1))


def test_tensor_parallel_decoding_adds_two_all_reduces_a_layer() -> None:
    """2L of 2bh bytes, one for the embedding, and 2bV bytes of logits that are gathered, by rings of two."""
    for requests in (1, 4):
        found = server(Parallel(tp=2))
        half = Fraction(requests * 512 * 2, 2) / 10**10
        reduces = (2 * 4 + 1) * 2 * (Fraction(1, 10**6) + half)
        gathered = Fraction(1, 10**6) + Fraction(requests * 1024 * 2, 2) / 10**10
        assert found.exposed(requests, ["tp"]) == (reduces + gathered) * FEMTOSECONDS


def test_an_all_reduce_on_eight_chips() -> None:
    """Rings of 4, a pair, rings of 4: 3 + 2 + 3 steps of 0.55 us, and 2 x 12 + 4 KiB at 32 GB/s."""
    network = torus([4, 2], bandwidth=32e9, latency=0.55e-6, size_two="two_links")
    plan = TrafficPlan(algorithms={"allreduce": "hierarchical"})
    fabric = Fabric(Parallel(tp=8), plan, network, Network("cut_through"))
    found = fabric.time(Way(TENSOR, "allreduce", 0), 16384)
    assert found == (8 * Fraction(55, 10**8) + Fraction(28 * 2**10, 32 * 10**9)) * FEMTOSECONDS == 5.296 * US


def test_reading_is_compute_bound() -> None:
    """24 s h^2 + 2 h s (s + 1) operations a layer, and 2 h V of the last token; chunks have one each."""
    s, h, v = 256, 512, 1024
    layers = 4 * (24 * s * h**2 + 2 * h * s * (s + 1))
    for chunk, count in ((None, 1), (128, 2), (100, 3)):
        found = server(Parallel(), replace(ASKS, chunk=chunk), chip=FAST)
        seconds = Fraction(found.ttft(1), FEMTOSECONDS)
        assert float(seconds) == pytest.approx((layers + count * 2 * h * v) / 1e12, rel=1e-5)
        assert found.ttft(7) == 7 * found.ttft(1)


def test_a_pipeline_has_a_micro_batch_for_every_stage() -> None:
    """One request goes round all stages; as many as there are stages wait for the slowest, one by one."""
    found = server(Parallel(pp=4), overhead=0, bandwidth=1e15)
    token = found.token(1)
    holds = []
    for stage in range(4):
        units = StageUnits(token.asked, stage, found.machine, found.work, token.past)
        kinds = units.chunk(stage)
        parts = (part for kind in kinds for part in units.passes(kind).forward)
        holds.append(sum(part.chain for part in parts if isinstance(part, Stretch)))
    alone, full = found.tpot(1), found.tpot(4)
    assert sum(holds) <= alone < sum(holds) + US // 1000
    assert full == 4 * max(holds)
    assert full > alone
    # five requests are micro-batches of 2, 1, 1 and 1
    assert full < found.tpot(5) < found.tpot(8)


def test_what_follows_takes_as_long_as_the_last_that_was_simulated() -> None:
    for parallel in (Parallel(tp=2, pp=2), Parallel(tp=2), Parallel(dp=4, zero=3)):
        found = server(parallel, replace(ASKS, chunk=128))
        prompts = found.chunks() * 6
        graph, last = inference_graph(prompts, found.machine)
        end = simulate_step(graph, found.fabric).end
        assert [found.ttft(count) for count in range(1, 7)] == [int(end[task]) for task in last[1::2]]
        # eight tokens of one request
        tokens = [found.token(1, None if time == 0 else time - 1) for time in range(8)]
        graph, last = inference_graph(tokens, found.machine)
        end = simulate_step(graph, found.fabric).end
        assert {int(end[b] - end[a]) for a, b in pairwise(last[1:])} == {found.tpot(1)}


def test_more_requests_never_take_less_and_faster_links_never_more() -> None:
    for parallel in (Parallel(tp=4), Parallel(pp=4), Parallel(tp=2, pp=2), Parallel(cp=2), Parallel(dp=2)):
        found, faster = server(parallel), server(parallel, bandwidth=2e10)
        times = [found.tpot(requests) for requests in (1, 2, 5, 32)]
        assert times == sorted(times)
        assert all(faster.tpot(requests) <= found.tpot(requests) for requests in (1, 4))
        assert faster.ttft(2) <= found.ttft(2)


def test_bytes_of_dispatch_and_combine() -> None:
    """DeepEP, low latency: 128 tokens of 7168 numbers to 8 experts, in 8 bits with scales, back in 16."""
    experts = Experts(count=16, active=8, ffn=64)
    model = transformer(layers=1, hidden=7168, heads=56, vocab=64, sequence=64, experts=experts)
    traffic = TrafficPlan(dispatch=1.03125, combine=2)
    asked = Pass(
        model,
        Parallel(dp=8, ep=8),
        Batch(total=1024, micro=128, chunk=1),
        MemoryPlan(phase="inference"),
        traffic,
    )
    graph, _ = inference_graph([Passage(asked, 32)], Machine(CHIP))
    sizes = {task.name: task.size for task in graph.tasks if task.stream.name == "ep"}
    assert sizes == {"dispatch": 128 * 8 * (7168 + 224), "combine": 128 * 8 * 7168 * 2}


def test_upper_bound_of_deepseek_v3() -> None:
    """(1 + 2) B x 32 x 9 x 7000 over 50 GB/s are 120.96 us; twice, in 61 layers, 14.76 ms.

    Of 32 ranks one is the sender itself.
    """
    experts = Experts(count=288, active=9, ffn=8)
    model = transformer(
        layers=61, hidden=7000, heads=1, head_size=8, ffn=8, vocab=32, sequence=64, experts=experts
    )
    found = server(
        Parallel(dp=32, ep=32),
        ServePlan(prompt=32, output=32),
        model=model,
        chip=FAST,
        traffic=TrafficPlan(dispatch=1, combine=2),
        bandwidth=50e9,
        overhead=0,
    )
    bound = Fraction(3 * 32 * 9 * 7000, 50 * 10**9)
    assert float(bound) == pytest.approx(120.96e-6)
    assert float(2 * 61 * bound) == pytest.approx(14.76e-3, rel=1e-3)
    sending = Fraction(found.exposed(64, ["ep"]), FEMTOSECONDS)
    assert float(sending) == pytest.approx(float(2 * 61 * bound * Fraction(31, 32)), rel=1e-9)


def test_memory_has_room_for_so_many() -> None:
    """Weights of 2 bytes, a key and a value of 512 numbers in 4 layers and 320 tokens; what is working."""
    found = server(Parallel())
    parameters, cache = SMALL.parameters(), 4 * 2 * 512 * 2 * 320
    working = 2 * 256 * (512 + 512 + 2048) + 4 * 1024
    [stage] = found.memory(3)
    assert stage.parts["weights"] == 2 * parameters
    assert stage.parts["cache"] == 3 * cache
    assert stage.parts["working"] == working
    in_memory, largest = limits(found)
    assert in_memory == largest == (2**26 - 2 * parameters - working) // cache
    assert found.fits(in_memory)
    assert not found.fits(in_memory + 1)
    assert serve(found).binds == ("memory",)
    # nothing fits: no request, and no row
    tiny = server(Parallel(), chip=replace(CHIP, capacity=2**20))
    nothing = serve(tiny, also=[4])
    assert (nothing.in_memory, nothing.largest, nothing.best) == (0, 0, None)
    assert [(point.requests, point.missed) for point in nothing.points] == [(4, ("memory",))]


def test_the_largest_batch_meets_its_targets() -> None:
    free = server(Parallel(dp=2))
    tpot, ttft = free.tpot(5) / 1e15, free.ttft(9) / 1e15
    cases: tuple[tuple[dict[str, Any], int, tuple[str, ...]], ...] = (
        ({"tpot": tpot}, 10, ("tpot",)),
        ({"ttft": ttft}, 18, ("ttft",)),
        ({"tpot": tpot, "ttft": free.ttft(5) / 1e15}, 10, ("ttft", "tpot")),
        ({"tpot": free.tpot(1) / 2e15}, 0, ("tpot",)),
    )
    for targets, largest, binds in cases:
        found = serve(server(Parallel(dp=2), replace(ASKS, **targets)))
        assert (found.largest, found.binds) == (largest, binds)
        for point in found.points:
            assert (point.missed == ()) == (point.requests <= largest)
            assert point.rate == Fraction(point.requests * FEMTOSECONDS, point.tpot)
            assert point.whole_rate < point.rate


def test_rows_are_powers_of_two_and_what_is_asked() -> None:
    found = serve(server(Parallel(dp=2)), also=[6, 7])
    requests = [point.requests for point in found.points]
    assert requests == [2, 4, 6, 8, 16, found.largest]
    asked = serve(server(Parallel(dp=2), replace(ASKS, batch=(4, 12))))
    assert [point.requests for point in asked.points] == [4, 12, asked.largest]
    assert asked.exposed() == {}
    with pytest.raises(ModelError, match="2 replicas do not share 5 requests"):
        serve(server(Parallel(dp=2), replace(ASKS, batch=(4, 5))))


def test_tensor_parallelism_on_as_many_ranks() -> None:
    plan = Parallel(tp=8, pp=2)
    assert [with_tensor_parallelism(plan, tp).dp for tp in (1, 2, 4, 8)] == [8, 4, 2, 1]
    with pytest.raises(ModelError, match="groups of 32 ranks do not share 16 ranks"):
        with_tensor_parallelism(plan, 16)


def test_plans_that_cannot_serve() -> None:
    for parallel, serves, memory, message in (
        (Parallel(), ASKS, MemoryPlan(), "a phase of inference, found training"),
        (Parallel(pp=2, interleave=2), ASKS, INFERENCE, "each stage once"),
        (Parallel(pp=2, schedule="zbv"), ASKS, INFERENCE, "each stage once"),
        (Parallel(pp=2, schedule="dualpipe"), ASKS, INFERENCE, "each stage once"),
        (Parallel(cp=2), replace(ASKS, chunk=64), INFERENCE, "a ring of cp reads a prompt at once"),
        (Parallel(cp=2), replace(ASKS, prompt=255), INFERENCE, "cp of 2 does not divide"),
        (Parallel(cp=2, cp_kind="ulysses"), ASKS, INFERENCE, "cp of 2 does not divide 1 token at once"),
        (Parallel(tp=3), ASKS, INFERENCE, "tp of 3 does not divide 8 heads"),
    ):
        with pytest.raises(ModelError, match=message):
            server(parallel, serves, memory=memory)
    wrong_fields: tuple[tuple[dict[str, Any], str], ...] = (
        ({"output": 1}, "an answer of 1 token"),
        ({"chunk": 300}, "300 tokens at once are more than the 256"),
        ({"batch": ()}, "at least one number"),
        ({"tpot": 0.0}, "a number above 0"),
    )
    for wrong, message in wrong_fields:
        with pytest.raises(ModelError, match=message):
            replace(ASKS, **wrong)


def test_sequence_parallelism_is_for_prompts() -> None:
    """A prompt's collectives are halves of AllReduces; a token's are AllReduces."""
    plain, shared = server(Parallel(tp=2)), server(Parallel(tp=2, sp=True))
    assert shared.tpot(3) == plain.tpot(3)
    assert shared.ttft(1) < plain.ttft(1)
