"""A fitted machine as a scenario."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from algorithms.registry import build
from simulator.scenario.calibration.target import DIGITS
from simulator.scenario.parse import parse
from simulator.scenario.units import MAX_BANDWIDTH, MIN_BANDWIDTH, MIN_TIME
from simulator.scenario.written import to_yaml
from topologies.errors import CollsimError
from topologies.text import format_bandwidth, format_bytes, format_time

if TYPE_CHECKING:
    from simulator.scenario.calibration.explain import Part
    from simulator.scenario.calibration.fitted import Calibration, Value
    from simulator.scenario.calibration.target import Target


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
        tree["reduction"] = {"bandwidth": format_bandwidth(_rate(found.gamma), DIGITS)}
    if found.startup is not None:
        late = format_time(found.startup.value, DIGITS)
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
