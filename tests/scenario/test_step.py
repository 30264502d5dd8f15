"""Steps of plans in files: their blocks, what is refused and where, and what may be expected."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.engine.network import Network, Reduction
from simulator.llm.step.kernels import WorkPlan
from simulator.llm.step.overlap import Overlap
from simulator.llm.step.roofline import Efficiency
from simulator.scenario.check import check
from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.plan_load import loads_plan
from simulator.scenario.plan_run import work_out
from simulator.scenario.step_output import step_rows
from simulator.scenario.step_run import work_out_step
from simulator.scenario.update import update

MODEL = "model: {layers: 4, hidden: 64, heads: 4, vocab: 512, sequence: 128}\n"
HARDWARE = "hardware: {capacity: 1 GiB, compute: 1 TFLOP/s, memory_bandwidth: 100 GB/s}\n"
TOPOLOGY = "topology: {kind: crossbar, ranks: 4, bandwidth: 10 GB/s}\n"
PLAN = f"""\
{MODEL}{HARDWARE}{TOPOLOGY}network: {{model: cut_through}}
parallel: {{pp: 2, dp: 2}}
batch: {{global: 8}}
"""


def refusal(text: str) -> str:
    with pytest.raises(ScenarioErrors) as caught:
        work_out_step(loads_plan(text, "a.yaml"))
    return str(caught.value)


def test_what_is_not_said_and_what_may_be() -> None:
    plan = loads_plan(f"{MODEL}batch: {{global: 8}}\n")
    assert (plan.network, plan.reduction) == (Network(), None)
    assert (plan.efficiency, plan.work, plan.overlap) == (Efficiency(), WorkPlan(), Overlap())
    plan = loads_plan(f"""\
{PLAN}reduction: {{bandwidth: 1 TB/s, mode: streamed}}
efficiency: {{matmul: 0.5, attention: 0.25, memory: 0.8}}
work: {{mask: full, skew: 1.5}}
overlap: {{tp: true, cp: true, ep: true, pp: false, dp: false, bucket: 25 MB}}
""")
    assert plan.network == Network("cut_through")
    assert plan.reduction == Reduction(1e12, "streamed")
    assert plan.efficiency == Efficiency(matmul=0.5, attention=0.25, memory=0.8)
    assert plan.work == WorkPlan(mask="full", skew=1.5)
    assert plan.overlap == Overlap(tp=True, cp=True, ep=True, pp=False, dp=False, bucket=25_000_000)


def test_wrong_words_and_where_they_stand() -> None:
    for block, said in (
        ("efficiency: {matmull: 1}", '7:14: unknown key "matmull" in efficiency; did you mean "matmul"'),
        ("efficiency: {matmul: 1.5}", "a.yaml:7:22: efficiency.matmul: must be 1 or less, found 1.5"),
        ("work: {mask: casual}", 'did you mean "causal"'),
        ("work: {skew: 0.5}", "a.yaml:7:14: work.skew: must be 1 or more, found 0.5"),
        ("overlap: {bucket: 5}", "a.yaml:7:19: overlap.bucket"),
        ("overlap: {tp: 1}", "a.yaml:7:15: overlap.tp"),
        ("expect: {mfu: -1}", "a.yaml:7:15: expect.mfu: must be zero or more, found -1"),
    ):
        assert said in refusal(f"{PLAN}{block}\n"), block
    placed = PLAN.replace("cut_through}", "cut_through, placement: auto}")
    assert "a.yaml:4:31: network.placement: does not go with a plan" in refusal(placed)
    # a collective has no such keys
    with pytest.raises(ScenarioErrors, match='both "collective" and "overlap"'):
        loads_plan("collective: {}\noverlap: {}\n")


def test_a_step_needs_a_machine_to_run_on() -> None:
    for gone, said in (
        (TOPOLOGY, 'missing key "topology": a step is simulated on the links of one'),
        (HARDWARE, 'missing key "hardware": how fast a rank computes'),
        (", compute: 1 TFLOP/s", "a.yaml:2:11: hardware.compute: a step needs the FLOP/s of the hardware"),
    ):
        assert said in refusal(PLAN.replace(gone, "")), gone
    assert "a.yaml:7:17: memory.phase: a step is one of training" in refusal(
        f"{PLAN}memory: {{phase: inference}}"
    )
    assert "4 ranks, but the topology has 8" in refusal(PLAN.replace("ranks: 4", "ranks: 8"))
    # what the network refuses stands there, too
    assert "a.yaml:4" in refusal(PLAN.replace("cut_through}", "cut_through, direct_links_only: true}"))


def test_what_is_expected_of_a_step(tmp_path: Path) -> None:
    found = work_out_step(loads_plan(PLAN)).report
    seconds = f"{found.time / 10**9:.15f}".rstrip("0") + " us"
    right = f"""\
{PLAN}expect:
  step_time: {seconds}
  mfu: {found.now.mfu!r}
  hfu: {{value: {found.now.hfu + 0.001!r}, abs: 0.002}}
  tokens_per_second: {{value: {found.now.tokens_per_second * 1.01!r}, rel: 0.02}}
  bubble: {found.now.bubble!r}
  ideal_bubble: {found.ideal.bubble!r}
  ideal_bubble_share: {found.ideal.bubble_share!r}
"""
    assert check(work_out(loads_plan(right))) == ()
    path = tmp_path / "plan.yaml"
    path.write_text(right.replace(seconds, "1 us").replace(f"mfu: {found.now.mfu!r}", "mfu: 0.5"), "utf-8")
    result = work_out(path)
    wrong = check(result)
    assert [mismatch.key for mismatch in wrong] == ["step_time", "mfu"]
    assert wrong[1].today == found.now.mfu
    assert update(result, wrong) == 2
    assert check(work_out(path)) == ()


def test_a_row_a_task() -> None:
    result = work_out_step(loads_plan(PLAN))
    table = step_rows(result)
    rows = [dict(zip(table.names, row, strict=True)) for row in table]
    assert len(rows) == len(result.report.step.graph)
    # 4 micro-batches go to the second stage, as 2 s h bytes each
    sent = [row for row in rows if row["stream"] == "send forward"]
    assert [(row["microbatch"], row["peer"], row["size"]) for row in sent] == [
        (number, 1, 2 * 128 * 64) for number in range(4)
    ]
    assert max(row["end"] for row in rows) == f"{result.report.time / 10**15:.15f}"
    computes = next(row for row in rows if row["stream"] == "compute")
    assert (computes["collective"], computes["memoised"], computes["begin"]) == ("", "", "0.000000000000000")
