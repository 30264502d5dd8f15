"""What a plan serves, as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from simulator.scenario.folder import keep
from simulator.scenario.output import write_folder
from simulator.scenario.serve_tables import serve_json, serve_sheet
from simulator.scenario.sheets import sheet_csv

if TYPE_CHECKING:
    from simulator.scenario.serve_run import ServeResult


def write_serve(result: ServeResult, folder: Path, *, force: bool = False) -> list[Path]:
    """Write serve.json, serve.csv, and the plan.

    Parameters
    ----------
    result : ServeResult
    folder : Path
        New or empty, unless `force`.
    force : bool
        Overwrite what is there.

    Raises
    ------
    OutputError
        If the folder is in use or cannot be written.
    """

    def fill(home: Path) -> None:
        (home / "serve.json").write_text(serve_json(result), encoding="utf-8")
        (home / "serve.csv").write_text(sheet_csv(serve_sheet(result)), encoding="utf-8", newline="")
        keep(result.scenario, home, folder)

    return write_folder(folder, fill, force=force)
