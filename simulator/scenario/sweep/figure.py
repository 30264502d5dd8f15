"""The picture of a sweep: its measure against the first field that has numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Final

from simulator.scenario.sweep.measures import measure_of, short_names

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from plots.lines import Floor
    from simulator.scenario.sweep.result import Row, Sweep
    from simulator.scenario.sweep.values import Cell

_SAY_THEMSELVES: Final = ("algorithm", "kind", "preset", "routing", "model", "topology", "network")
"""Fields whose words need no name."""

_BOUNDS: Final = ("bounds.latency", "bounds.bandwidth", "bounds.reduction")


@dataclass(frozen=True, slots=True)
class _Across:
    """The field along which lines run.

    Attributes
    ----------
    axis : int
        Its number; the sweep has none where only seeds are varied.
    texts : tuple of str
        Its values, in the order of the picture.
    places : tuple of float, or None
        As numbers of more than 0; None for words.
    """

    axis: int
    texts: tuple[str, ...]
    places: tuple[float, ...] | None


def sweep_figure(sweep: Sweep) -> Figure:
    """A line for each combination of the other fields; of several seeds the median."""
    from plots.curves import curves_figure
    from plots.lines import Curve

    measure, across, names = measure_of(sweep), _across(sweep), short_names(sweep)
    lines: dict[str, list[list[float]]] = {}
    for row in sweep.rows:
        value = row.fields.get(measure.name)
        if value is not None:
            at = lines.setdefault(_line(row, across, names), [[] for _ in across.texts])
            at[_spot(row, across)].append(value)
    curves = [
        Curve(name or measure.title, [median(values) if values else None for values in at])
        for name, at in lines.items()
    ]
    of_several = f", median of {len(sweep.scenario.seeds)} seeds" if sweep.scenario.seeds else ""
    return curves_figure(
        across.places,
        across.texts,
        curves,
        _floor(sweep.rows, across, names) if measure.bounded else (),
        across=sweep.varied[across.axis] if sweep.scenario.axes else "seed",
        form=measure.form,
        title=f"{measure.title}{of_several}",
        subtitle=sweep.name,
    )


def _across(sweep: Sweep) -> _Across:
    """The first field of numbers, or the first at all."""
    axes = sweep.scenario.axes
    if not axes:
        return _Across(0, tuple(map(str, sweep.scenario.seeds or ())), None)
    for position, axis in enumerate(axes):
        cells = {number: one.text for one in axis.values if (number := _positive(one.cell))}
        if len(cells) == len({one.text for one in axis.values}) > 1:
            places = tuple(sorted(cells))
            return _Across(position, tuple(cells[place] for place in places), places)
    return _Across(0, tuple(dict.fromkeys(one.text for one in axes[0].values)), None)


def _positive(cell: Cell) -> float:
    """A number of more than 0, or 0 where it is none."""
    return float(cell) if type(cell) in (int, float) and isinstance(cell, int | float) and cell > 0 else 0.0


def _spot(row: Row, across: _Across) -> int:
    """Where along the axis a row stands."""
    text = row.point.chosen[across.axis].text if row.point.chosen else str(row.point.seed)
    return across.texts.index(text)


def _line(row: Row, across: _Across, names: Sequence[str]) -> str:
    """The line on which a row stands: its other values, by name where they do not say what they are."""
    others = [
        one.text if name in _SAY_THEMSELVES else f"{name} {one.text}"
        for number, (name, one) in enumerate(zip(names, row.point.chosen, strict=False))
        if number != across.axis
    ]
    return ", ".join(others)


def _floor(rows: Sequence[Row], across: _Across, names: Sequence[str]) -> list[Floor | None]:
    """The lower bound at every place: of several lines the lowest, beneath which none can be."""
    from plots.lines import Floor

    found: list[Floor | None] = [None] * len(across.texts)
    in_size = len(names) > across.axis and names[across.axis] == "size"
    for row in rows:
        bounds = [row.fields.get(name) for name in _BOUNDS]
        if any(bound is None for bound in bounds):
            continue
        latency, *bytes_ = [float(bound or 0) for bound in bounds]
        here, spot = Floor(latency, max(bytes_)), _spot(row, across)
        if not in_size:
            # only against a size is it known how the floor runs between places
            here = Floor(0.0, here.best)
        before = found[spot]
        found[spot] = here if before is None or here.best < before.best else before
    return found
