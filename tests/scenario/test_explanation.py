"""Explanations: the parts, the gains and the sentence, against closed forms and walks by hand."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise

import pytest

from simulator.scenario.explain import Explanation, explain
from simulator.scenario.explain_json import explanation_json
from simulator.scenario.load import loads
from simulator.scenario.run import run
from simulator.scenario.run_any import run_any
from simulator.scenario.together_load import loads_together
from topologies.clock import to_seconds

ALPHA, BETA, GAMMA, M = 1e-6, 64e9, 512e9, 2**30


def explained(text: str) -> Explanation:
    return explain(run(loads(text)))


def ring(more: str = "", ranks: int = 8, size: int = M, algorithm: str = "ring") -> str:
    return (
        f"topology: {{kind: ring, ranks: {ranks}, bandwidth: 64 GB/s, latency: 1 us}}\n"
        f"collective: {{kind: reduce_scatter, algorithm: {algorithm}, size: {size} B}}\n{more}"
    )


def ring_time(alpha: float, beta: float, gamma: float) -> float:
    # the first seed: (N - 1)(alpha + M/N/beta + M/N/gamma)
    part = Fraction(M, 8)
    return float(7 * (Fraction(alpha) + part / Fraction(beta) + part / Fraction(gamma)))


def test_gains_are_those_of_the_closed_form() -> None:
    found = explained(ring("reduction: {bandwidth: 512 GB/s}"))
    times = {gain.parameter: to_seconds(gain.time) for gain in found.gains}
    assert times == pytest.approx(
        {
            "alpha": ring_time(ALPHA / 2, BETA, GAMMA),
            "beta": ring_time(ALPHA, 2 * BETA, GAMMA),
            "gamma": ring_time(ALPHA, BETA, 2 * GAMMA),
        },
        rel=1e-12,
    )
    before = ring_time(ALPHA, BETA, GAMMA)
    assert [gain.factor for gain in found.gains] == pytest.approx([before / time for time in times.values()])


def test_the_levels_of_a_hierarchy_gain_by_themselves() -> None:
    # 4 inside at 64 GB/s, then 2 outside at 8 GB/s with a quarter of M
    found = explained(
        "topology:\n  kind: multilevel\n  levels:\n"
        "  - {name: card, size: 4, shape: full_mesh, bandwidth: 64 GB/s, latency: 1 us}\n"
        "  - {name: node, size: 2, shape: full_mesh, bandwidth: 8 GB/s, latency: 5 us}\n"
        "collective: {kind: reduce_scatter, algorithm: hierarchical, size: 64 MB}\n"
    )
    inner, outer = 3 * 16e6 / 64e9, 8e6 / 8e9
    alphas = 3 * 1e-6 + 5e-6
    times = {gain.parameter: to_seconds(gain.time) for gain in found.gains}
    assert times == pytest.approx(
        {
            "alpha": inner + outer + alphas / 2,
            "beta": (inner + outer) / 2 + alphas,
            "beta of card": inner / 2 + outer + alphas,
            "beta of node": inner + outer / 2 + alphas,
        },
        rel=1e-9,
    )
    on = {name: to_seconds(parts["serialization"]) for name, parts in found.parts.levels.items()}
    assert on == pytest.approx({"card": inner, "node": outer})
    assert "serialization (57% of it on node links)" in found.sentence


def test_the_sentence_says_what_the_figures_say() -> None:
    found = explained(ring("reduction: {bandwidth: 512 GB/s}"))
    assert found.sentence == (
        "16.52 ms is 89% serialization; doubling beta would make it 1.8 times as fast; "
        "no algorithm can be more than 2.25 times as fast (the bandwidth bound is 7.34 ms: "
        "rank 0 sends 896 MiB over 2 links)."
    )


def test_at_the_bound_nothing_is_better() -> None:
    found = explained(ring(algorithm="bidirectional_ring"))
    assert "no algorithm can do better: it is at the bandwidth bound" in found.sentence


def test_a_queue_is_named_by_its_link() -> None:
    found = explained(
        "topology: {kind: crossbar, ranks: 4, bandwidth: 1 GB/s}\n"
        "collective: {kind: gather, algorithm: direct, size: 4 kB}\n"
        "network: {model: cut_through}\n"
    )
    # three messages of 1 us for one port
    assert found.path.totals()["queueing"] == 2 * 10**9
    assert "67% queueing (most of all for switch->0, which is in use 100% of the time)" in found.sentence
    link = int(found.hottest[0])
    assert (found.waits.queue[link], found.waits.longest[link]) == (2, 2 * 10**9)


def test_idle_ranks() -> None:
    # a chain of four in a ring: each hears and tells once, of three steps of 1 us
    found = explained(
        "topology: {kind: line, ranks: 4, bandwidth: 1 GB/s}\n"
        "collective: {kind: broadcast, algorithm: chain, size: 1 kB}\n"
    )
    assert (found.idle / 10**9).tolist() == [2.0, 1.0, 1.0, 2.0]


def test_a_late_rank_is_idle_until_it_begins() -> None:
    # AllGather on a ring of 4: rank 3 begins at 1 ms, then 3 steps of 1 us
    text = "topology: {kind: ring, ranks: 4, bandwidth: 1 GB/s}\n"
    found = explained(text + "collective: {kind: allgather, algorithm: ring, size: 4 kB}\ndelay: {3: 1 ms}\n")
    assert found.result.timeline.time == 10**12 + 3 * 10**9
    assert found.idle[3] == 10**12


def test_a_level_may_have_any_name() -> None:
    found = explained(
        "topology:\n  kind: multilevel\n  levels:\n"
        "  - {name: ranks, size: 2, shape: full_mesh, bandwidth: 1 GB/s}\n"
        "  - {name: at the ranks, size: 2, shape: full_mesh, bandwidth: 1 GB/s}\n"
        "collective: {kind: reduce_scatter, algorithm: hierarchical, size: 4 MB}\n"
    )
    # half of M inside, a quarter outside
    assert {name: parts["serialization"] for name, parts in found.parts.levels.items()} == {
        "ranks": 2 * 10**12,
        "at the ranks": 10**12,
    }
    assert not any(found.parts.ranks.values())


def test_no_bytes_and_one_rank() -> None:
    assert explained(ring(size=0)).sentence.startswith("7 us is 100% latency")
    alone = explained(ring(ranks=1))
    assert alone.sentence == "Nothing takes any time."
    assert (len(alone.path), len(alone.hottest)) == (0, 0)
    assert json.loads(explanation_json(alone))["gap"] is None


def test_where_rank_0_stands_for_all() -> None:
    text = ring(ranks=2048, size=2**20)
    found = explained(text)
    assert found.result_is_one_rank
    # 2047 (1 us + 512 B / 64 GB/s)
    assert found.path.totals()["latency"] == 2047 * 10**9
    assert [g.parameter for g in found.gains] == ["alpha", "beta"]
    assert to_seconds(found.gains[0].time) == pytest.approx(2047 * (0.5e-6 + 8e-9), rel=1e-12)
    assert len(json.loads(explanation_json(found))["idle"]) == 1


def test_several_collectives() -> None:
    # two messages of 1 MB for one link: one waits for the other
    result = run_any(
        loads_together(
            "topology: {kind: line, ranks: 3, bandwidth: 1 GB/s}\n"
            "collectives:\n"
            "- {name: a, kind: send_recv, algorithm: direct, size: 1 MB, root: 0, peer: 1}\n"
            "- {name: b, kind: send_recv, algorithm: direct, size: 1 MB, root: 0, peer: 1}\n"
        )
    )
    found = explain(result)
    assert found.textbook is None
    assert {part: time for part, time in found.path.totals().items() if time} == {
        "serialization": 10**12,
        "queueing": 10**12,
    }
    assert {g.parameter: g.factor for g in found.gains} == {"alpha": 1.0, "beta": 2.0}
    assert "bounds" not in json.loads(explanation_json(found))


def test_ends_and_buffers_are_parameters_too() -> None:
    more = "network: {model: cut_through, buffers: 64 KiB, endpoint: {overhead: 2 us, gap: 1 us}}"
    found = explained(ring(more, size=8))
    assert {"overhead of ranks", "buffers"} <= {gain.parameter for gain in found.gains}
    assert "halving overhead of ranks" in found.sentence


def test_json_is_what_was_found() -> None:
    found = explained(ring("reduction: {bandwidth: 512 GB/s}\ndelay: {3: 10 us}"))
    value = json.loads(explanation_json(found))
    assert value["sentence"] == found.sentence
    assert sum(value["critical_path"].values()) == pytest.approx(value["time"], rel=1e-15)
    levels = [*(level["critical_path"] for level in value["levels"]), value["at_ranks"]]
    assert {part: sum(level[part] for level in levels) for part in levels[0]} == pytest.approx(
        value["critical_path"]
    )
    assert value["path"][0]["begin"] == 0
    assert all(one["end"] == after["begin"] for one, after in pairwise(value["path"]))
    assert value["path"][0]["part"] == "waiting"
    assert value["textbook"] == {"latency": 3e-6, "bandwidth": pytest.approx(7 / 8 * M / 2 / 64e9)}
