"""A calibration as JSON, as rows and as a picture."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.scenario.calibration.platform import part_text
from simulator.scenario.output import save_figures, write_folder
from simulator.scenario.rows import Kind, Rows

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from simulator.scenario.calibration.fitted import Calibration, Value
    from simulator.scenario.calibration.held import Held
    from simulator.scenario.calibration.result import CalibrationResult

POINT: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        **{"log": str, "collective": str, "ranks": int, "size": int},
        **{"measured": float, "fitted": float, "error": float, "algorithm": str, "protocol": int},
    }
)
"""What is said of a size."""


def calibration_object(found: Calibration, held: Sequence[Held]) -> dict[str, Any]:
    """A calibration's fields: times in s, sizes in bytes, rates in bytes/s, None for what is not known."""
    return {
        "dims": list(found.dims),
        "startup": _value(found.startup),
        "gamma": _value(found.gamma),
        "protocols": [
            {"alpha": [_value(each) for each in one.alphas], "beta": [_value(each) for each in one.betas]}
            for one in found.protocols
        ],
        "series": [_series(found, index) for index in range(len(found.series))],
        "held_out": [
            {
                "file": one.series.file,
                "collective": one.series.kind,
                "sizes": len(one.errors),
                "median": one.median,
                "largest": one.largest,
            }
            for one in held
        ],
    }


def _value(found: Value | None) -> dict[str, Any] | None:
    if found is None:
        return None
    high = found.high if np.isfinite(found.high) else None
    return {"value": found.value, "low": found.low, "high": high}


def _series(found: Calibration, index: int) -> dict[str, Any]:
    series, forms = found.series[index], found.forms[index]
    rows = zip(series.points, found.predicted[index].tolist(), found.errors[index].tolist(), strict=True)
    return {
        "file": series.file,
        "collective": series.kind,
        "ranks": series.ranks,
        "in_place": series.in_place,
        "parts": [
            {
                "from": series.points[part.first].size,
                "to": series.points[part.last].size,
                "algorithm": forms[part.form].name,
                "same_form": list(forms[part.form].same),
                "as_good": [forms[other].name for other in part.others],
                "protocol": part.protocol + 1,
            }
            for part in found.parts[index]
        ],
        "points": [
            {"size": point.size, "measured": point.time, "fitted": fitted, "error": error}
            for point, fitted, error in rows
        ],
    }


def calibration_json(result: CalibrationResult) -> str:
    """One object, with a line's end; the same bytes on every run."""
    return json.dumps(calibration_object(result.fit, result.held_out), indent=2, allow_nan=False) + "\n"


def calibration_rows(found: Calibration) -> Rows:
    """A row a size of each series: measured and fitted times in s."""
    return Rows(POINT, partial(_points, found))


def _points(found: Calibration) -> Iterator[tuple[Any, ...]]:
    for index, series in enumerate(found.series):
        rows = zip(series.points, found.predicted[index].tolist(), found.errors[index].tolist(), strict=True)
        for number, (point, fitted, error) in enumerate(rows):
            part = next(part for part in found.parts[index] if number <= part.last)
            times = (point.size, repr(point.time), repr(fitted), repr(error))
            about = (found.forms[index][part.form].name, part.protocol + 1)
            yield (series.file, series.kind, series.ranks, *times, *about)


def write_calibration(result: CalibrationResult, folder: Path, *, force: bool = False) -> list[Path]:
    """Write calibration.json and .csv, the machine as platform.yaml, and calibration.png and .svg.

    Raises
    ------
    OutputError
        If the folder is in use or cannot be written.
    """

    def fill(home: Path) -> None:
        (home / "calibration.json").write_text(calibration_json(result), encoding="utf-8")
        (home / "platform.yaml").write_text(result.platform(), encoding="utf-8")
        calibration_rows(result.fit).save(home / "calibration.csv")
        save_figures({"calibration": calibration_figure(result.fit)}, home)

    return write_folder(folder, fill, force=force)


def calibration_figure(found: Calibration) -> Figure:
    """Measured, fitted and residual."""
    from plots.calibration import FittedSeries
    from plots.calibration import calibration_figure as draw

    shown = []
    for index, series in enumerate(found.series):
        ends = [part.last for part in found.parts[index][:-1]]
        sizes, times = ([getattr(point, what) for point in series.points] for what in ("size", "time"))
        shown.append(FittedSeries(series.name, sizes, times, found.predicted[index].tolist(), ends))
    subtitle = "; ".join(part_text(found, 0, part) for part in found.parts[0])
    return draw(shown, title="Measured and fitted", subtitle=subtitle)
