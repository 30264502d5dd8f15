"""Points on a Dask cluster: the same rows, written by the process that asked."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import pytest

from simulator.scenario.sweep.cluster import cluster
from simulator.scenario.sweep.output import sweep_json
from simulator.scenario.sweep.run import sweep
from tests.scenario.sweep.sweep_examples import RING, write
from topologies.errors import CollsimError

distributed = pytest.importorskip("distributed")


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
def test_the_same_rows_and_each_once(tmp_path: Path) -> None:
    path, vary = write(tmp_path, RING), {"collective.size": "1 KiB..16 KiB", "topology.ranks": [4, 1, 0]}
    place = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "dashboard_address": None}
    with warnings.catch_warnings(), distributed.LocalCluster(**place) as there:
        warnings.simplefilter("ignore")
        found = sweep(path, vary, out=tmp_path / "out", crew=cluster(there.scheduler_address, None))
    assert sweep_json(found) == sweep_json(sweep(path, vary))
    assert len(json.loads((tmp_path / "out" / "sweep.json").read_text("utf-8"))["rows"]) == 15


def test_who_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        pytest.raises(CollsimError, match="there is no such file, which a Dask scheduler"),
        cluster(None, tmp_path / "none.json"),
    ):
        pass
    with (
        pytest.raises(CollsimError, match="no Dask scheduler answers at nowhere"),
        cluster("nowhere://1", None),
    ):
        pass
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(CollsimError, match=r'not installed: pip install "collsim\[dask\]"'),
        cluster("a", None),
    ):
        pass
