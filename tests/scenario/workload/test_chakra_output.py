"""Traces of a schedule as files."""

from __future__ import annotations

from pathlib import Path

import pytest

from algorithms.formats.chakra_schedule import to_chakra
from algorithms.registry import build
from simulator.engine.engines import simulate
from simulator.engine.network import Network
from simulator.scenario.chakra_output import write_traces
from simulator.scenario.output import OutputError
from simulator.scenario.workload_run import run_workload
from topologies import ring


def test_a_written_schedule_runs_in_its_own_time(tmp_path: Path) -> None:
    schedule = build("ring", "allgather", 3, 3000)
    files = to_chakra(schedule, "dataflow")
    paths = write_traces(files, tmp_path / "new" / "gather")
    assert [path.name for path in paths] == ["gather.0.et", "gather.1.et", "gather.2.et"]
    (tmp_path / "gather.yaml").write_text(
        "topology: {kind: ring, ranks: 3, bandwidth: 1 GB/s, latency: 1 us}\n"
        "workload: {file: new/gather.*.et}\n",
        encoding="utf-8",
    )
    topology = ring(3, bandwidth=1e9, latency=1e-6)
    own = simulate(schedule, topology, Network(sync="dataflow"))
    assert run_workload(tmp_path / "gather.yaml").duration == own.time
    paths[1].write_bytes(b"mine")
    with pytest.raises(OutputError, match=r"gather\.0\.et exists"):
        write_traces(files, tmp_path / "new" / "gather")
    assert paths[1].read_bytes() == b"mine"
    write_traces(files, tmp_path / "new" / "gather", force=True)
    assert paths[1].read_bytes() == files.data[1]


def test_a_prefix_without_a_name_is_refused() -> None:
    with pytest.raises(OutputError, match="has no name for files"):
        write_traces(to_chakra(build("ring", "allgather", 2, 2)), Path("/"))
