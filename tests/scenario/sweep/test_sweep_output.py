"""What a sweep leaves behind: tables, files and a picture, the same bytes on every run."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from pyarrow import parquet

from simulator.scenario.load import loads
from simulator.scenario.output import OutputError
from simulator.scenario.sheets import sheet_csv
from simulator.scenario.sweep.figure import sweep_figure
from simulator.scenario.sweep.output import check_sweep_folder
from simulator.scenario.sweep.run import sweep
from simulator.scenario.sweep.tables import failed_lines, sweep_sheet
from tests.scenario.sweep.sweep_examples import DRAWN, RING, SWEEP, write

FILES = [
    "scenario.yaml",
    "sweep.csv",
    "sweep.json",
    "sweep.parquet",
    "sweep.png",
    "sweep.sqlite",
    "sweep.svg",
]


def test_files_say_the_same_and_are_the_same_bytes(tmp_path: Path) -> None:
    path, folders = write(tmp_path, SWEEP), [tmp_path / "one", tmp_path / "two"]
    vary = {"topology.ranks": [4, 0], "collective.size": ["1 KiB", "0 B"]}
    found, _ = (sweep(path, vary, out=folder) for folder in folders)
    assert sorted(file.name for file in folders[0].iterdir()) == FILES
    for name in FILES:
        if name != "sweep.sqlite":
            assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()
    rows = json.loads((folders[0] / "sweep.json").read_text("utf-8"))["rows"]
    with (folders[0] / "sweep.csv").open(encoding="utf-8", newline="") as stream:
        texts = list(csv.DictReader(stream))
    table = parquet.read_table(folders[0] / "sweep.parquet").to_pylist()
    assert list(rows[0]) == list(texts[0]) == list(table[0]) == list(found.names)
    assert [row["error"] is None for row in rows] == [True, True, False, False] * 2
    for row, text, plain in zip(rows, texts, table, strict=True):
        assert plain == row
        assert text == {name: "" if value is None else str(value) for name, value in row.items()}


def test_the_scenario_in_the_folder_is_the_same_sweep(tmp_path: Path) -> None:
    path, out = write(tmp_path, RING.partition("\n")[2]), tmp_path / "out"
    whole = sweep(path, {"collective.size": {"range": "1 KiB..4 KiB", "points": 2}}, how="zip", out=out)
    again = sweep(out / "scenario.yaml", out=tmp_path / "again")
    assert again.name == "small"
    assert [row.fields for row in again.rows] == [row.fields for row in whole.rows]


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    with pytest.raises(OutputError, match="is not empty; --force"):
        check_sweep_folder(tmp_path, force=False)
    check_sweep_folder(tmp_path, force=True)
    (tmp_path / "sweep.sqlite").touch()
    check_sweep_folder(tmp_path, force=False)


def test_a_table_for_people() -> None:
    vary = {"collective.size": ["1 KiB"], "collective.algorithm": ["ring", "bruck"], "topology.ranks": [4]}
    found = sweep(loads(RING, "a.yaml"), vary)
    header, row = list(csv.reader(sheet_csv(sweep_sheet(found)).splitlines()))
    assert header[:4] == ["size", "algorithm", "ranks", "time"]
    assert row[:4] == ["1 KiB", "ring", "4", "6.024e-06"]
    failed, count = failed_lines(found)
    assert failed.startswith(
        "size 1 KiB, algorithm bruck, ranks 4: vary: collective.algorithm: the algorithm"
    )
    assert count == "1 of 2 points failed"


def test_a_line_for_each_combination_over_the_lowest_bound() -> None:
    found = sweep(
        loads(RING, "a.yaml"), {"collective.algorithm": ["ring", "direct"], "topology.ranks": [4, 8]}
    )
    axes = sweep_figure(found).axes[0]
    lines = {str(line.get_label()): line for line in axes.lines}
    assert list(lines) == ["ring", "direct"]
    assert list(lines["ring"].get_xdata()) == [4.0, 8.0]
    assert list(lines["ring"].get_ydata()) == [found.rows[0].fields["time"], found.rows[1].fields["time"]]
    (shaded,) = axes.collections
    top = {x: y for x, y in shaded.get_paths()[0].vertices.tolist() if y > 1e-7}
    assert top[8.0] == pytest.approx(found.rows[1].fields["bounds.best"])


def test_words_stand_evenly_and_seeds_are_one_line() -> None:
    scenario = loads(DRAWN, "a.yaml")
    found = sweep(scenario, {"network.routing": ["ecmp", "shortest", "valiant"]}, seeds=3)
    figure = sweep_figure(found)
    (line,) = figure.axes[0].lines
    times = [row.fields["time"] for row in found.rows]
    assert list(line.get_xdata()) == [1, 2, 3]
    assert list(line.get_ydata()) == [sorted(times[:3])[1], times[3], sorted(times[4:])[1]]
    assert "time, median of 3 seeds" in [text.get_text() for text in figure.texts]
    alone = sweep_figure(sweep(scenario, seeds=[4, 2]))
    assert [text.get_text() for text in alone.axes[0].get_xticklabels()] == ["4", "2"]
