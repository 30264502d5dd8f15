"""Workloads named by scenarios: run, checked, written, kept with their files, and refused."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from simulator.cli import main
from simulator.scenario.check import hold
from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.folder import reopen
from simulator.scenario.pictures import picture
from simulator.scenario.plan_load import load_any, loads_any
from simulator.scenario.run_any import run_any
from simulator.scenario.sweep.run import sweep
from simulator.scenario.workload_models import WorkloadScenario
from simulator.scenario.workload_run import run_workload
from tests.damage import damaged
from tests.llm.workload.trace_examples import collective, compute
from tests.scenario.workload.workload_files import STEP, TABLE, TOPOLOGY, a_step, a_table, write_traces


def test_a_step_by_hand(tmp_path: Path) -> None:
    result = run_workload(a_step(tmp_path))
    assert result.time == 15e-6
    first, second = result.report.ranks
    # rank 0 computes for 2 us and rank 1 for 3; both are under way in calls for 8 and 4 us
    assert (first.compute, first.exposed, first.other) == (2 * 10**9, 12 * 10**9, 10**9)
    assert (second.compute, second.exposed, second.other) == (3 * 10**9, 12 * 10**9, 0)
    rows = [(row.kind, row.group, row.calls, row.bytes, row.bus) for row in result.report.calls]
    # an AllReduce among two has the factor 2 (2 - 1) / 2
    assert rows == [("allreduce", "group 1", 1, 8000, 1e9), ("send_recv", "send", 1, 4000, 1e9)]
    # over each link: 4 + 4 kB of the AllReduce; up from rank 0 and down to rank 1 the message, too
    assert result.report.use.bytes.tolist() == [12000, 8000, 8000, 12000]


def test_expectations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = a_step(tmp_path, STEP + "expect: {time: 15 us}\n")
    assert hold(file, run_any).fine
    file = a_step(tmp_path, STEP + "expect: {time: 14 us}  # not so\n")
    assert hold(file, run_any).lines == [
        f"{file}:4:10: time: expected 14 us (1.4e-05 s), found 15 us (1.5e-05 s)"
    ]
    main(["check", "--update", str(file)])
    assert "updated" in capsys.readouterr().out
    assert file.read_text("utf-8").endswith("expect: {time: 15 us}  # not so\n")


def test_a_folder_of_results_is_run_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    main(["run", str(a_step(tmp_path)), "--out", str(out), "--report"])
    assert "takes 15 us" in capsys.readouterr().out
    names = {path.name for path in out.iterdir()}
    assert names == {
        *("result.json", "timeline.csv", "timeline.png", "timeline.svg", "trace.json.gz", "report.html"),
        *("scenario.yaml", "step.0.et", "step.1.et", "groups.json"),
    }
    result = json.loads((out / "result.json").read_text("utf-8"))
    assert (result["time"], result["tasks"], result["calls"][0]["kind"]) == (15e-6, 5, "allreduce")
    with (out / "timeline.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["end"] for row in rows] == [f"0.0000{us:02d}000000000" for us in (2, 2, 10, 14, 15)]
    scenario = reopen(out)
    assert isinstance(scenario, WorkloadScenario)
    assert run_workload(scenario).time == 15e-6
    main(["report", str(out), "--force"])
    assert "Most of the ranks' time goes into communication" in (out / "report.html").read_text("utf-8")


def test_the_picture_has_a_lane_for_each_end_of_a_message(tmp_path: Path) -> None:
    axes = picture(a_step(tmp_path), "step").axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        *("compute", "group 1", "send"),
        *("compute", "group 1", "receive"),
    ]


def test_a_sweep_of_a_workload(tmp_path: Path) -> None:
    file = a_step(tmp_path, STEP + "sweep: {vary: {topology.bandwidth: [1 GB/s, 2 GB/s]}}\n")
    assert [row.fields["time"] for row in sweep(file).rows] == [15e-6, 9e-6]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            STEP.replace("file:", "files:"),
            'step.yaml:3:12: unknown key "files" in workload; did you mean "file"?',
        ),
        (STEP.replace("network: {", "network: {placement: [1, 0], "), "network.placement: does not go with"),
        (STEP + "collective: {kind: barrier, algorithm: dissemination}\n", 'found both "collective" and'),
        (STEP + "model: llama3-8b\n", 'found both "workload" and "model"'),
        (STEP.replace("groups: groups.json", "messages: late"), "workload.messages: found"),
        (STEP.replace("groups: groups.json", "algorithms: {allreduce: rings}"), 'did you mean "ring"?'),
    ],
)
def test_scenarios_that_are_wrong(text: str, message: str) -> None:
    with pytest.raises(ScenarioErrors) as error:
        loads_any(text, "step.yaml")
    assert message in str(error.value)


def _torn(folder: Path) -> None:
    file = folder / "traces" / "step.1.et"
    file.write_bytes(file.read_bytes()[:-1])


def _one_more(folder: Path) -> None:
    (folder / "traces" / "step.2.et").write_bytes(b"")


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (_torn, "traces/step.1.et: byte 135: ends early: a node of 20 bytes, of which 19 are there"),
        (
            _one_more,
            "step.yaml:3:18: workload.file: there is a trace of rank 2, but the topology has 2",
        ),
        (
            lambda folder: (folder / "traces" / "step.0.et").unlink(),
            'step.yaml:3:18: workload.file: there is no file "step.0.et"; the topology has 2 ranks',
        ),
        (
            lambda folder: (folder / "groups.json").write_text('{"1": [0, 3]}'),
            'groups.json:1:7: group "1": there is no rank "3"',
        ),
        (lambda folder: (folder / "groups.json").unlink(), "groups.json: there is no such file"),
        (
            lambda folder: (folder / "step.yaml").write_text(STEP.replace("*", "0")),
            'workload.file: expected one "*" in the place of a rank\'s number',
        ),
        (
            lambda folder: write_traces(folder, [compute(0, 0)], []),
            "step.yaml:3:12: workload.file: nothing in it takes time",
        ),
        (
            lambda folder: write_traces(folder, *[[collective(0, 0, 8)], [collective(0, 2, 8)]]),
            "traces/step.1.et: byte 9: node 0: collective 0 of all is allgather",
        ),
    ],
)
def test_files_that_are_wrong(
    harm: Callable[[Path], object], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = a_step(tmp_path)
    harm(tmp_path)
    with pytest.raises(SystemExit) as code:
        main(["run", str(file)])
    assert code.value.code == 2
    said = capsys.readouterr().err
    assert message in said
    assert len(said.splitlines()) == 1


def test_other_commands_say_who_reads_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = a_step(tmp_path)
    assert isinstance(load_any(file), WorkloadScenario)
    for command in ("explain", "compare", "topology"):
        with pytest.raises(SystemExit) as code:
            main([command, str(file)])
        assert code.value.code == 2
        assert 'a file of a workload, which "collsim run" reads' in capsys.readouterr().err


def test_damaged_traces_are_refused_or_run(tmp_path: Path) -> None:
    file = a_step(tmp_path)
    trace = tmp_path / "traces" / "step.1.et"
    outcomes = []
    for data in damaged(trace.read_bytes()):
        trace.write_bytes(data)
        try:
            outcomes.append(str(run_workload(file).duration))
        except ScenarioErrors as error:
            outcomes.append(str(error))
    assert sum(": byte " in outcome for outcome in outcomes) > 100
    assert all("\n" not in outcome for outcome in outcomes)


def test_many_ranks_are_told_by_their_extremes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_traces(tmp_path, *([compute(0, 1 + rank % 7)] for rank in range(32)))
    (tmp_path / "many.yaml").write_text(
        TOPOLOGY.replace("ranks: 2", "ranks: 32") + "workload: {file: traces/step.*.et}\n", encoding="utf-8"
    )
    main(["run", str(tmp_path / "many.yaml")])
    said = capsys.readouterr().out
    assert "6: computes most" in said
    assert "0: computes least" in said


def test_a_table_of_layers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    main(["run", str(a_table(tmp_path)), "--out", str(out), "--report"])
    said = capsys.readouterr()
    assert "2 ranks, all alike; 8 tasks, 2 of them collectives or messages" in said.out
    assert "takes 37 us" in said.out
    assert [line.partition("warning: ")[2] for line in said.err.splitlines()] == [
        "the table is for 8 ranks (4 a pipeline stage), the topology has 2",
        "what its 2 pipeline stages send to each other is not in the table's rows, and not run",
    ]
    assert (out / "layers.txt").read_text("utf-8") == TABLE
    result = json.loads((out / "result.json").read_text("utf-8"))
    assert result["rank_times"] == [{"rank": None, "compute": 21e-6, "exposed": 16e-6, "else": 0.0}]
    axes = picture(out, "step").axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["compute", "tp"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("groups: a.json", "layers.yaml:3:30: workload.groups: goes with Chakra traces; a table"),
        ("messages: eager", "workload.messages: goes with Chakra traces"),
        ("passes: 1000000000", "layers.yaml:3:38: to go through 6,000,000,000 layers one by one is too long"),
        ("algorithms: {allreduce: hierarchicl}", 'did you mean "hierarchical"?'),
    ],
)
def test_what_does_not_go_with_a_table(more: str, message: str, tmp_path: Path) -> None:
    file = a_table(tmp_path)
    file.write_text(file.read_text("utf-8").replace("layers.txt", f"layers.txt, {more}"), encoding="utf-8")
    with pytest.raises(ScenarioErrors) as error:
        run_workload(file)
    assert message in str(error.value)


def test_a_table_that_is_wrong_names_its_line(tmp_path: Path) -> None:
    file = a_table(tmp_path)
    (tmp_path / "layers.txt").write_text(TABLE.replace("4000 NONE", "4000 SOME"), encoding="utf-8")
    with pytest.raises(ScenarioErrors, match=r"layers\.txt:4:14: found \"SOME\", expected NONE"):
        run_workload(file)


def test_passes_do_not_go_with_traces(tmp_path: Path) -> None:
    file = a_step(tmp_path, STEP.replace("groups: groups.json", "passes: 2"))
    with pytest.raises(ScenarioErrors, match="passes: goes with a table of layers"):
        run_workload(file)
