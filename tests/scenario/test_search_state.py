"""What a search keeps, and of which plans it is."""

from __future__ import annotations

from pathlib import Path

from simulator.llm.search.rating import Rating
from simulator.llm.search.space import Degrees
from simulator.scenario.plan_load import loads_plan
from simulator.scenario.search_state import search_state

PLAN = """\
model: {layers: 4, hidden: 64, heads: 4, vocab: 512, sequence: 128}
hardware: {capacity: 12 MiB, compute: 1 TFLOP/s, memory_bandwidth: 100 GB/s}
topology: {kind: crossbar, ranks: 4, bandwidth: 1 GB/s, overhead: 1 us}
batch: {global: 4}
"""
ONE = Degrees(
    tp=2, sp=True, cp=1, pp=1, schedule="1f1b", interleave=1, dp=2, ep=1, zero=0, recompute="none", micro=1
)


def test_kept_by_what_a_time_depends_on(tmp_path: Path) -> None:
    state = tmp_path / "state.db"
    with search_state(state, loads_plan(PLAN)) as memo:
        assert memo.find(ONE) is None
        memo.keep(ONE, Rating(2**62, 3))
        memo.keep(ONE, Rating(2**62, 4))
    same = {
        "": "",
        "bandwidth: 1 GB/s, overhead: 1 us": "overhead: 1000 ns, bandwidth: 1000 MB/s",
        "global: 4": "global: 4, micro: 2",
        "batch": "memory: {recompute: full, capacity: 1 GiB}\nparallel: {dp: 2}\nsearch: {tp: [1]}\nbatch",
    }
    for old, new in same.items():
        with search_state(state, loads_plan(PLAN.replace(old, new))) as memo:
            assert memo.find(ONE) == Rating(2**62, 4)
    others = {
        "global: 4": "global: 8",
        "ranks: 4": "ranks: 8",
        "1 us": "2 us",
        "batch": "network: {model: cut_through}\nbatch",
        "compute: 1 T": "compute: 2 T",
        "hidden: 64": "hidden: 128",
    }
    for old, new in others.items():
        with search_state(state, loads_plan(PLAN.replace(old, new))) as memo:
            assert memo.find(ONE) is None


def test_what_failed_is_tried_again(tmp_path: Path) -> None:
    with search_state(tmp_path / "state.db", loads_plan(PLAN)) as memo:
        memo.keep(ONE, Rating(0, 0, "too much"))
        assert memo.find(ONE) is None
