"""A calibration as a scenario, as JSON, and as a picture."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from algorithms.registry import build
from simulator.scenario.output import save_figures, write_folder
from simulator.scenario.parse import parse
from simulator.scenario.rows import Kind, Rows
from simulator.scenario.units import MAX_BANDWIDTH, MIN_BANDWIDTH, MIN_TIME
from simulator.scenario.written import to_yaml
from topologies.errors import CollsimError
from topologies.text import format_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from simulator.scenario.calibration.explain import Part
    from simulator.scenario.calibration.fitted import Calibration, Value
    from simulator.scenario.calibration.held import Held
    from simulator.scenario.calibration.result import CalibrationResult
    from simulator.scenario.calibration.target import Target

POINT: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        **{"log": str, "collective": str, "ranks": int, "size": int},
        **{"measured": float, "fitted": float, "error": float, "algorithm": str, "protocol": int},
    }
)
"""What is said of a size."""


def platform_yaml(found: Calibration, target: Target, size: int | None = None) -> str:
    """A scenario that takes as long as the fit says: of the first log of as many ranks as the topology has.

    Parameters
    ----------
    found : Calibration
    target : Target
    size : int, optional
        M in bytes, which says by which protocol and algorithm; by default the log's largest.

    Raises
    ------
    CollsimError
        If no log is of so many ranks.
    """
    index = _written_series(found, target)
    series = found.series[index]
    size = series.points[-1].size if size is None else size
    part = part_at(found, index, size)
    form, protocol = found.forms[index][part.form], found.protocols[part.protocol]
    prices = [_price(alpha, beta) for alpha, beta in zip(protocol.alphas, protocol.betas, strict=True)]
    sent = partial(build, form.name, series.kind, series.ranks, size, **form.options)
    collective = {"kind": series.kind, "algorithm": form.name, "size": f"{size} B", **_plain(form.options)}
    tree: dict[str, Any] = {
        "name": f"{series.kind} as measured",
        "topology": target.with_prices(prices, series.ranks, sent),
        "collective": collective,
        "network": {"model": "cut_through"},
    }
    if found.gamma is not None:
        tree["reduction"] = {"bandwidth": f"{_rate(found.gamma)!r} B/s"}
    if found.startup is not None:
        late = f"{found.startup.value!r} s"
        tree["delay"] = dict.fromkeys(range(series.ranks), late)
    source, _ = parse(json.dumps(tree), "platform.yaml")
    return "".join(f"# {line}\n" for line in _heading(found, index, part)) + to_yaml(source.root)


def _written_series(found: Calibration, target: Target) -> int:
    ranks = None if target.topology is None else target.topology.ranks
    for index, one in enumerate(found.series):
        if ranks in (None, one.ranks):
            return index
    raise CollsimError(f"no log is of the topology's {ranks} ranks, so that no scenario of it can be written")


def _price(alpha: Value | None, beta: Value | None) -> tuple[float, float] | None:
    """Alpha and beta of a level; where only one of them is told, the other costs nothing."""
    if alpha is None and beta is None:
        return None
    seconds = 0.0 if alpha is None or alpha.value < MIN_TIME else alpha.value
    return seconds, float(MAX_BANDWIDTH) if beta is None else _rate(beta)


def _rate(value: Value) -> float:
    """bytes/s as a scenario may have them."""
    return min(max(value.value, float(MIN_BANDWIDTH)), float(MAX_BANDWIDTH))


def _plain(options: Any) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in options.items()}


def _heading(found: Calibration, index: int, part: Part) -> list[str]:
    names = dict.fromkeys(f"{one.kind} of {one.ranks} ranks" for one in found.series)
    lines = [f"Fitted by collsim calibrate to times of {', '.join(names)}."]
    lines += [
        f"{part_text(found, index, each)}{', which is written here' if each == part else ''}"
        for each in found.parts[index]
    ]
    return lines


def part_text(found: Calibration, index: int, part: Part) -> str:
    """Sizes of a part, and what explains them."""
    series = found.series[index]
    low, high = (format_bytes(series.points[end].size) for end in (part.first, part.last))
    return f"{low} to {high}: {found.forms[index][part.form].name}, protocol {part.protocol + 1}"


def part_at(found: Calibration, index: int, size: int) -> Part:
    """The part of a series that holds at a size: between two, the nearer one."""
    points = found.series[index].points
    for part in found.parts[index][:-1]:
        if size <= np.sqrt(float(points[part.last].size) * points[part.last + 1].size):
            return part
    return found.parts[index][-1]


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
