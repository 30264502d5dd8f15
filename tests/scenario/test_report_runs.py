"""Reports of scenarios: their numbers are those of the results."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import collsim
from simulator.scenario.explain import explain
from simulator.scenario.library import expand
from simulator.scenario.output import OutputError, write_results
from simulator.scenario.plan_load import load_any
from simulator.scenario.report import Reported, doubts, report, report_page, run_again
from simulator.scenario.run import Result
from simulator.scenario.step_run import StepResult
from simulator.scenario.together_result import TogetherResult
from tests.plots.page_reader import column, data_of
from topologies.text import format_time

SIXTY_FOUR = """\
topology: {kind: ring, ranks: 64, bandwidth: 64 GB/s, latency: 1 us}
collective: {kind: allreduce, algorithm: ring, size: 1 GiB}
reduction: {bandwidth: 512 GB/s, mode: after}
"""


@cache
def result_of(name: str) -> Reported:
    [file] = expand([Path(f"library:{name}")])
    return run_again(load_any(file))


def run_in(result: Reported) -> dict[str, Any]:
    [run] = data_of(report_page([(result, ())]))
    return run


def fact(run: dict[str, Any], label: str) -> str:
    [text] = [fact["text"] for fact in run["facts"] if fact["label"] == label]
    return str(text)


@pytest.mark.parametrize(
    "name",
    [
        "first-walk/ring-reduce-scatter-8",
        "machines/sg2260-four-levels",
        "network-models/fair-share-halving",
        "network-models/packet-incast",
        "catalogue/in-network-switch",
        "first-walk/late-rank",
    ],
)
def test_the_numbers_are_those_of_the_result(name: str) -> None:
    result = result_of(name)
    assert isinstance(result, Result)
    run = run_in(result)
    assert fact(run, "time") == format_time(result.time)
    assert fact(run, "steps") == str(result.counts.steps)
    assert fact(run, "proof") == result.verified
    assert run["time"] == result.duration
    # the parts of the critical path sum to the time, in all and by place
    [stacks] = run["stacks"]
    [(_, whole), *places] = stacks["bars"]
    assert sum(whole) == result.duration
    assert [sum(column) for column in zip(*(times for _, times in places), strict=True)] == whole
    chart, place = run["timeline"], run["place"]
    spans = chart["spans"]
    end = sum(column(spans[part]) for part in ("arrival", "wait", "hold"))
    assert (end == result.timeline.release).all()
    # every lane that is a link leads to that link of the topology
    own = column(chart["resources"]["link"])
    names = [result.topology.link_name(link) for link in own[own >= 0].tolist()]
    assert names == [chart["resources"]["names"][i] for i in np.flatnonzero(own >= 0)]
    assert (column(place["bytes"]) == result.link_use.bytes).all()
    if result.bounds.cut is not None:
        assert column(place["cut"]["links"]).tolist() == list(result.bounds.cut.links)


def test_a_report_of_64_ranks_is_small_and_always_the_same(tmp_path: Path) -> None:
    (tmp_path / "ring.yaml").write_text(SIXTY_FOUR, encoding="utf-8")
    first = report(tmp_path / "ring.yaml", tmp_path / "a.html").read_bytes()
    assert len(first) < 2_000_000
    assert report(collsim.run(tmp_path / "ring.yaml"), tmp_path / "b.html").read_bytes() == first


def test_what_is_held_step_by_step_is_what_the_collective_asks_for() -> None:
    run = run_in(result_of("first-walk/ring-reduce-scatter-8"))
    [told] = run["timeline"]["schedules"]
    held = np.ones((told["nodes"], told["chunks"]), dtype=np.int64)
    columns = {name: column(told[name]) for name in ("step", "src", "dst", "first", "mode")}
    for step in range(told["steps"]):
        own = {name: values[columns["step"] == step] for name, values in columns.items()}
        moved = held[own["src"], own["first"]]
        assert own["mode"].all()
        held[own["dst"], own["first"]] += moved
    target = column(told["target"])
    assert (held[target, np.arange(told["chunks"])] == told["ranks"]).all()


def test_a_brief_explanation_runs_nothing_again() -> None:
    result = result_of("first-walk/ring-reduce-scatter-8")
    assert not isinstance(result, StepResult)
    brief = explain(result, brief=True)
    assert brief.gains == ()
    assert "would make it" not in brief.sentence
    assert brief.sentence.startswith("16.52 ms is 89% serialization; no algorithm")


def test_several_collectives_and_who_slows_whom() -> None:
    result = result_of("together/background-on-a-ring")
    assert isinstance(result, TogetherResult)
    run = run_in(result)
    assert run["timeline"]["tints"]["names"] == list(result.names)
    tables = {table["title"].split(":")[0]: table for table in run["tables"]}
    # by hand: the ring's second message waits from 21 to 30 us for the background's first one, which waited
    # from 1 to 20 us, as its second one does from 51 to 71 us, behind the ring's
    assert tables["who slows whom"]["rows"] == [
        ["allgather-0", "-", "9 us"],
        ["background 0", "39 us", "-"],
    ]
    assert tables["the collectives"]["rows"][0][0] == "allgather-0"


def test_a_step_of_a_language_model() -> None:
    result = result_of("llm/step-fsdp-8")
    assert isinstance(result, StepResult)
    run = run_in(result)
    step = result.report.step
    chart = run["timeline"]
    spans = chart["spans"]
    assert (column(spans["arrival"]) == step.begin).all()
    assert (column(spans["hold"]) == step.end - step.begin).all()
    names = [chart["tasks"]["names"][i] for i in column(chart["tasks"]["name"])]
    assert names == [task.name for task in step.graph.tasks]
    for _, times in run["stacks"][0]["bars"]:
        assert sum(times) == run["time"] == step.time
    assert fact(run, "MFU") == f"{result.report.now.mfu:.2%}"


def test_rank_0_for_all_is_said() -> None:
    result = run_again(load_any(Path(__file__).parents[2] / "benchmarks" / "ring-1024.yaml"))
    run = run_in(result)
    assert fact(run, "topology") == "ring: 1,024 ranks"
    [told] = run["timeline"]["schedules"]
    assert not told["whole"]
    assert not told["animated"]
    assert "rank 0 was run for all" in run["warnings"][0]


def test_a_folder_that_tells_another_time_is_doubted(tmp_path: Path) -> None:
    result = result_of("first-walk/ring-reduce-scatter-8")
    assert isinstance(result, Result)
    folder = tmp_path / "out"
    write_results([result], folder, report=True)
    page = (folder / "report.html").read_text("utf-8")
    assert data_of(page)[0]["warnings"] == []
    assert list(doubts(folder, result)) == []
    file = folder / "result.json"
    for told, said in (({"time": 1.5}, "tells 1.5 s"), ({}, "tells no time"), ([], "tells no time")):
        file.write_text(json.dumps(told), encoding="utf-8")
        [doubt] = doubts(folder, result)
        assert said in doubt
        assert "but its scenario takes 0.016522072 s when it is run now" in doubt
    file.write_text("{", encoding="utf-8")
    path = report(folder, tmp_path / "again.html")
    assert "tells no time" in data_of(path.read_text("utf-8"))[0]["warnings"][0]


def test_several_at_once_and_what_is_in_the_way(tmp_path: Path) -> None:
    results = [result_of(f"first-walk/{name}") for name in ("halving-hypercube-8", "halving-ring-8")]
    path = report(results, tmp_path / "new" / "two.html")
    assert [run["name"] for run in data_of(path.read_text("utf-8"))] == [
        "Recursive halving on a hypercube",
        "Recursive halving on a ring",
    ]
    with pytest.raises(OutputError, match=r"two\.html exists; --force overwrites it"):
        report(results, path)
    report(results, path, force=True)
    with pytest.raises(OutputError, match="nothing to report"):
        report([], tmp_path / "none.html")
    with pytest.raises(OutputError, match="is a folder"):
        report(results, tmp_path)
