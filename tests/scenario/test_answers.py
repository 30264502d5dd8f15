"""Answers of every kind as tables, frames, JSON, files, and pages of a notebook."""

from __future__ import annotations

import builtins
import csv
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

import collsim
from simulator.scenario.answer import Answer
from simulator.scenario.forms import _FORMS
from tests.cases import case
from tests.cli.test_llm_experts import PLAN as EXPERTS
from tests.cli.test_llm_search import SMALL as SEARCH
from tests.cli.test_llm_serve import PLAN as SERVE
from tests.scenario.measurements.logs import nccl_log
from tests.scenario.test_step import PLAN

RING = """\
name: four
topology: {kind: ring, ranks: 4, bandwidth: 1 GB/s, latency: 1 us}
collective: {kind: allreduce, algorithm: ring, size: 4 kB}
"""
SEVERAL = """\
name: two
topology: {kind: ring, ranks: 4, bandwidth: 1 GB/s}
collectives:
  - {name: sum, kind: allreduce, algorithm: ring, size: 4 kB}
  - {name: all, kind: allgather, algorithm: ring, size: 4 kB, start: 1 us}
"""


def ring() -> collsim.Result:
    return collsim.run(collsim.loads(RING))


def difference() -> collsim.Difference:
    return collsim.diff(ring(), collsim.run(collsim.loads(RING.replace("4 kB", "8 kB"))))


def calibration() -> collsim.CalibrationResult:
    sizes = [2**power for power in range(10, 16)]
    with TemporaryDirectory() as folder:
        log = Path(folder) / "all_reduce.log"
        log.write_text(nccl_log("all_reduce", 4, sizes, lambda size: 6e-6 + 1.5e-9 * size))
        return collsim.calibrate([log])


MAKERS: Mapping[str, Callable[[], Answer]] = {
    "Result": ring,
    "TogetherResult": lambda: collsim.run(collsim.loads_together(SEVERAL)),
    "Explanation": lambda: collsim.explain(ring()),
    "Comparison": lambda: collsim.compare(collsim.loads(RING), [8, 4000], algorithms=["ring", "direct"]),
    "Difference": difference,
    "Sweep": lambda: collsim.sweep(collsim.loads(RING), {"collective.size": ["1 kB", "4 kB"]}),
    "PlanResult": lambda: collsim.work_out(collsim.loads_plan(PLAN)),
    "TrafficResult": lambda: collsim.work_out_traffic(collsim.loads_plan(PLAN)),
    "StepResult": lambda: collsim.run(collsim.loads_plan(PLAN)),
    "WorkloadResult": lambda: collsim.run("library:workloads/transformer-8"),
    "ServeResult": lambda: collsim.run(collsim.loads_plan(SERVE)),
    "SearchResult": lambda: collsim.work_out_search(collsim.loads_plan(SEARCH)),
    "ExpertsResult": lambda: collsim.work_out_experts(collsim.loads_plan(EXPERTS), [2, 4]),
    "VendorTimes": lambda: collsim.vendor_times([2**20]),
    "CalibrationResult": calibration,
    "States": lambda: collsim.states(collsim.loads_plan(PLAN)),
}


def test_every_kind_is_tried() -> None:
    assert set(MAKERS) == {kind.__name__ for kind in _FORMS}


@pytest.mark.parametrize("kind", MAKERS)
def test_every_form_of_every_kind(kind: str, tmp_path: Path) -> None:
    answer = MAKERS[kind]()
    assert type(answer).__name__ == kind
    assert repr(answer) == f"<{kind} of {answer.headline}>"
    first, *_ = answer.tables
    for name, table in answer.tables.items():
        with case(name):
            rows = list(csv.DictReader(io.StringIO(table.csv())))
            frame = answer.frame(name)
            assert tuple(frame.columns) == tuple(table.columns) == table.names
            assert len(frame) == len(rows) > 0
            # a frame has what its CSV has, and lacks what it lacks
            for column in frame:
                assert [row[column] == "" for row in rows] == frame[column].isna().tolist()
    assert list(answer.columns) == list(answer.frame()) == list(answer.tables[first].names)
    assert json.loads(answer.json())
    page = answer._repr_html_()
    assert page.startswith("<pre ")
    assert page.count("<img ") == (kind in PICTURED)
    written = answer.write(tmp_path / "out")
    assert {path.suffix for path in written} >= {".json"}
    with pytest.raises(collsim.CollsimError, match=r"is not empty|holds"):
        answer.write(tmp_path / "out")


PICTURED = (
    "CalibrationResult",
    "Result",
    "TogetherResult",
    "Explanation",
    "Comparison",
    "Sweep",
    "StepResult",
    "WorkloadResult",
)


def test_columns_are_what_the_timeline_is() -> None:
    result = ring()
    columns, timeline = result.columns, result.timeline
    np.testing.assert_array_equal(columns["operation"], timeline.operation())
    np.testing.assert_allclose(columns["release"], timeline.release / 1e15, rtol=1e-15)
    assert columns["src"].dtype == np.int64  # type: ignore[union-attr]
    assert columns["resource"][0] == "0->1"
    links = result.tables["links"].columns
    np.testing.assert_array_equal(links["bytes"], result.link_use.bytes)
    path = result.frame("critical path")
    assert path["end"].iloc[-1] == result.time
    assert path.groupby("part")["end"].sum().index.tolist() == ["latency", "serialization"]


def test_what_is_missing_is_missing() -> None:
    # the starts of the second collective move nothing
    frame = collsim.run(collsim.loads_together(SEVERAL)).frame()
    late = frame[frame["resource"].str.endswith("starts")]
    assert len(late) == 4
    assert late["src"].isna().all()
    assert str(frame["src"].dtype) == "Int64"
    assert late["release"].tolist() == [1e-6] * 4


def test_a_table_that_is_not_there() -> None:
    with pytest.raises(collsim.CollsimError, match='there is no table "lins"; did you mean "links"'):
        ring().frame("lins")


def test_without_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "pandas":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(collsim.CollsimError, match="a DataFrame needs pandas: pip install"):
        ring().frame()


def test_one_call_writes_one_or_several(tmp_path: Path) -> None:
    one, other = ring(), collsim.run(collsim.loads(RING.replace("four", "five")))
    written = collsim.write([one, other], tmp_path / "both")
    assert {path.parent.name for path in written} == {"four", "five"}
    assert [found["scenario"] for found in json.loads(collsim.as_json([one, other]))] == ["four", "five"]
    assert collsim.as_json(one) == one.json()


def test_what_is_looked_at_says_what_it_is() -> None:
    result = ring()
    assert repr(result.schedule) == "<Schedule ring allreduce, N = 4, M = 4 kB: 24 transfers in 6 steps>"
    assert repr(result.timeline) == "<Timeline of 24 hops: 12 us>"
    assert repr(result.timeline.plan) == "<Plan of 24 operations, 24 hops>"
