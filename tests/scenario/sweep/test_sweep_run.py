"""Points of a sweep: each as by itself, whoever runs it, and each once."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from simulator.scenario.flat import flat
from simulator.scenario.load import loads
from simulator.scenario.memory_tables import memory_object
from simulator.scenario.plan_load import load_plan
from simulator.scenario.plan_run import work_out
from simulator.scenario.result import as_object
from simulator.scenario.run_any import run_any
from simulator.scenario.serve_run import work_out_serve
from simulator.scenario.serve_tables import serve_object
from simulator.scenario.step_json import step_object
from simulator.scenario.step_run import work_out_step
from simulator.scenario.sweep import run as sweeping
from simulator.scenario.sweep.output import sweep_csv, sweep_json
from simulator.scenario.sweep.run import sweep
from tests.scenario.sweep.sweep_examples import (
    DRAWN,
    PLAN,
    RING,
    SERVE,
    STEP,
    SWEEP,
    TOGETHER,
    write,
)
from topologies.errors import CollsimError

Fields = dict[str, object]


def of_run(path: Path) -> Fields:
    return flat(as_object(run_any(path)))


def of_serve(path: Path) -> Fields:
    whole = serve_object(work_out_serve(path))
    (plan,) = whole.pop("plans")
    (point,) = (one for one in plan.pop("points") if one["requests"] == load_plan(path).batch.total)
    return flat({**whole, **plan, **point})


@pytest.mark.parametrize(
    ("text", "field", "values", "alone"),
    [
        (RING, "collective.size", ["1 KiB", "4 KiB", "5 B", "1 GiB"], of_run),
        (
            RING.replace("algorithm: ring", "algorithm: rabenseifner"),
            "topology.ranks",
            ["5", "8", "64"],
            of_run,
        ),
        (RING, "network", ["{sync: dataflow}", "{model: packet}", "{model: fair_share}"], of_run),
        (DRAWN, "network.routing", ["shortest", "{kind: ecmp, seed: 3}"], of_run),
        (TOGETHER, "collectives[0].size", ["1 MB", "2 MB"], of_run),
        (PLAN, "parallel.dp", ["2", "4"], lambda path: flat(memory_object(work_out(path)))),
        (STEP, "parallel.zero", ["0", "3"], lambda path: flat(step_object(work_out_step(path)))),
        (SERVE, "serve.prompt", ["32", "64"], of_serve),
        # of what only serves a training step is not asked for
        (
            SERVE.partition("serve:")[0],
            "parallel.dp",
            ["4"],
            lambda path: flat(memory_object(work_out(path))),
        ),
    ],
)
def test_a_point_is_what_it_is_by_itself(
    text: str, field: str, values: list[str], alone: Callable[[Path], Fields], tmp_path: Path
) -> None:
    path = write(tmp_path, f"{text}sweep: {{vary: {{'{field}': [{', '.join(values)}]}}}}\n")
    rows = sweep(path).rows
    assert [row.error for row in rows] == [""] * len(values)
    for row, value in zip(rows, values, strict=True):
        write(tmp_path, changed(text, field, value))
        assert row.fields == alone(path)


def changed(text: str, field: str, value: str) -> str:
    """The file as a person would write it for one point."""
    old = {
        "collective.size": "size: 1 MiB",
        "topology.ranks": "ranks: 4",
        "network.routing": "routing: ecmp",
        "collectives[0].size": "size: 8 MB",
        "parallel.dp": "dp: 4",
        "parallel.zero": "dp: 4",
        "serve.prompt": "prompt: 64",
    }
    if field == "network":
        return f"{text}network: {value}\n"
    assert old[field] in text
    new = (
        f"{old[field]}, zero: {value}" if field == "parallel.zero" else f"{old[field].split(':')[0]}: {value}"
    )
    return text.replace(old[field], new)


def test_the_same_bytes_whoever_runs_it(tmp_path: Path) -> None:
    path = write(tmp_path, SWEEP)
    one, two = sweep(path), sweep(path, workers=2)
    assert len(one.rows) == 12
    assert sweep_json(one) == sweep_json(two)
    assert sweep_csv(one) == sweep_csv(two)
    first = json.loads(sweep_json(one))["rows"][0]
    # 2 (N - 1) messages of M/N: 6 (1 us + 256 B / 64 GB/s)
    assert (first["collective.size"], first["topology.ranks"], first["time"]) == (1024, 4, 6.024e-6)
    assert first["error"] is None


def test_columns_are_arrays_where_they_hold_numbers() -> None:
    vary = {"collective.algorithm": ["ring", "direct"], "collective.size": ["0 B", "1 KiB"]}
    columns = sweep(loads(RING, "ring.yaml"), vary).columns
    assert columns["collective.algorithm"] == ["ring", "ring", "direct", "direct"]
    sizes, gaps = columns["collective.size"], columns["gap"]
    assert isinstance(sizes, np.ndarray)
    assert isinstance(gaps, np.ndarray)
    assert (sizes.dtype, sizes.tolist()) == (np.int64, [0, 1024, 0, 1024])
    assert gaps.dtype == np.float64
    # messages of nothing move no bytes, which no cut bounds
    congestion = columns["congestion_factor"]
    assert np.isnan(congestion[0])
    assert not np.isnan(congestion[1])


def test_a_point_that_fails_is_a_row(tmp_path: Path) -> None:
    vary = {"collective.algorithm": ["ring", "bruck", "recursive_doubling"], "topology.ranks": [4, 2**21, 0]}
    found = sweep(write(tmp_path, RING), vary)
    assert [bool(row.error) for row in found.rows] == [False, True, True, True, True, True, False, True, True]
    errors = [row.error for row in found.failed]
    assert all("\n" not in error for error in errors)
    assert errors[2].startswith('vary: collective.algorithm: the algorithm "bruck" does not do allreduce')
    assert errors[1] == "vary: topology.ranks: found the number 0, expected 1 or more"
    assert str(tmp_path) not in "".join(errors)
    assert found.columns["error"][0] is None


class Counting:
    """What a sweep runs, in order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, stop: int = 10**6) -> None:
        self.ran: list[tuple[int, str]] = []
        run = sweeping.run_batch

        def counted(setting: object, scenarios: list[object], many: bool) -> object:
            for scenario in scenarios:
                if len(self.ran) == stop:
                    raise KeyboardInterrupt
                self.ran.append((scenario.collective.size, scenario.collective.algorithm))  # type: ignore[attr-defined]
            return run(setting, scenarios, many)  # type: ignore[arg-type]

        monkeypatch.setattr(sweeping, "run_batch", counted)


def rows_in(folder: Path) -> int:
    with closing(sqlite3.connect(folder / "sweep.sqlite")) as connection:
        return int(connection.execute("SELECT COUNT(*) FROM rows").fetchone()[0])


def test_begun_again_it_runs_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, out = write(tmp_path, SWEEP), tmp_path / "out"
    whole = sweep(path)
    with monkeypatch.context() as patch:
        Counting(patch, stop=5)
        with pytest.raises(KeyboardInterrupt):
            sweep(path, out=out)
    kept = rows_in(out)
    assert 0 < kept < 12
    with monkeypatch.context() as patch:
        again = Counting(patch)
        assert sweep_json(sweep(path, out=out)) == sweep_json(whole)
    assert len(again.ran) == 12 - kept
    with monkeypatch.context() as patch:
        # other values that share some with what is there: only the others are run
        more = Counting(patch)
        found = sweep(path, {"collective.size": ["2 KiB", "8 KiB"]}, out=out)
    assert {size for size, _ in more.ran} == {8192}
    assert len(found.rows) == 8
    assert rows_in(out) == 16
    assert len(json.loads((out / "sweep.json").read_text("utf-8"))["rows"]) == 8


def test_what_a_point_depends_on_makes_it_another(tmp_path: Path) -> None:
    code = "import numpy as np\ndef my(ranks):\n    r = np.arange(ranks)\n    for k in range(ranks - 1):\n"
    code += "        yield r, (r + 1) % ranks, (r - k) % ranks, 0\n"
    (tmp_path / "my.py").write_text(code, encoding="utf-8")
    text = RING.replace("allreduce", "allgather").replace("ring, size", "{file: my.py, function: my}, size")
    path, out = write(tmp_path, text), tmp_path / "out"
    vary = {"collective.size": ["1 KiB", "2 KiB"]}
    for change, rows in (("", 2), ("# a word\n", 4)):
        (tmp_path / "my.py").write_text(code + change, encoding="utf-8")
        assert not sweep(path, vary, out=out, allow_code=True).failed
        assert rows_in(out) == rows
    refused = sweep(path, {"collective.size": ["3 KiB"]})
    assert "is run only with --allow-code" in refused.rows[0].error


def test_a_point_that_failed_is_tried_again(tmp_path: Path) -> None:
    path, out, vary = write(tmp_path, RING), tmp_path / "out", {"collective.size": ["1 KiB"]}
    assert "memory" in sweep(path, vary, out=out, memory_limit=1).rows[0].error
    assert not sweep(path, vary, out=out).failed
    assert rows_in(out) == 1


@pytest.mark.parametrize("workers", [0, -1, 1.5, 10**9])
def test_no_such_number_of_workers(workers: float, tmp_path: Path) -> None:
    with pytest.raises(CollsimError, match="there are 1 to 1,024 workers, found"):
        sweep(write(tmp_path, RING), {"topology.ranks": [2]}, workers=workers, out=tmp_path / "out")  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()
