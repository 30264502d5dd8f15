"""A sweep as JSON, CSV and Parquet, and as files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulator.scenario.folder import keep
from simulator.scenario.output import check_folder, save_figures, write_folder
from simulator.scenario.rows import Rows
from simulator.scenario.sweep.store import STORE

if TYPE_CHECKING:
    from simulator.scenario.sweep.result import Sweep


def sweep_json(sweep: Sweep) -> str:
    """One object, with a line's end; the same bytes on every run."""
    whole = {"scenario": sweep.name, "varied": list(sweep.varied), "rows": list(sweep.records())}
    return json.dumps(whole, indent=2, allow_nan=False) + "\n"


def sweep_csv(sweep: Sweep) -> str:
    """A row a point, under the names of its columns; nothing where there is nothing."""
    cells = ([_csv_cell(value) for value in row.values()] for row in sweep.records())
    return Rows(dict.fromkeys(sweep.names, str), lambda: cells).csv()


def _csv_cell(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def check_sweep_folder(folder: Path, *, force: bool) -> None:
    """Refuse a folder that holds something and no sweep.

    Raises
    ------
    OutputError
        With what is in the way.
    """
    if not (folder / STORE).is_file():
        check_folder(folder, force=force)


def write_sweep(sweep: Sweep, folder: Path) -> list[Path]:
    """Write sweep.csv, .json, .png and .svg, .parquet where pyarrow is, and the scenario.

    Raises
    ------
    OutputError
        If the folder cannot be written.
    """
    from simulator.scenario.sweep.figure import sweep_figure

    figure = sweep_figure(sweep)

    def fill(draft: Path) -> None:
        (draft / "sweep.csv").write_text(sweep_csv(sweep), encoding="utf-8", newline="")
        (draft / "sweep.json").write_text(sweep_json(sweep), encoding="utf-8")
        _write_parquet(sweep, draft / "sweep.parquet")
        save_figures({"sweep": figure}, draft)
        keep(sweep.scenario, draft, folder)

    return write_folder(folder, fill, force=True)


def has_parquet() -> bool:
    """Whether pyarrow is installed."""
    from importlib.util import find_spec

    return find_spec("pyarrow") is not None


def _write_parquet(sweep: Sweep, path: Path) -> None:
    """Write the columns as Parquet, where pyarrow is installed: what mixes numbers and words is words."""
    if not has_parquet():
        return
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.table(Rows.of(sweep.values()).values()), path)
