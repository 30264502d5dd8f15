"""A calibration as tables and lines on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from simulator.scenario.calibration.fitted import FAR
from simulator.scenario.tables import NOTHING, new_table
from topologies.text import format_bandwidth, format_bytes, format_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from simulator.scenario.calibration.fitted import Calibration, Value
    from simulator.scenario.calibration.held import Held

VAGUE: Final = 10.0
"""Times larger or smaller that a value may be before it is said to be unknown."""


def calibration_tables(found: Calibration) -> Iterator[Table]:
    """Every size, what explains which, and the fitted values."""
    for index in range(len(found.series)):
        yield errors_table(found, index)
    yield parts_table(found)
    yield prices_table(found)


def parts_table(found: Calibration) -> Table:
    """Which algorithm by which protocol explains which sizes."""
    table = new_table("collectives", "from", "to", "algorithm", "protocol", title="what explains the times")
    for index, series in enumerate(found.series):
        for part in found.parts[index]:
            form = found.forms[index][part.form]
            ends = (format_bytes(series.points[end].size) for end in (part.first, part.last))
            as_good = [*form.same, *(found.forms[index][other].name for other in part.others)]
            name = form.name + (f"; as well: {', '.join(as_good)}" if as_good else "")
            table.add_row(series.name, *ends, name, str(part.protocol + 1))
    return table


def prices_table(found: Calibration) -> Table:
    """Alpha and beta of every protocol and level, with their 95 % intervals."""
    table = new_table("protocol", "level", "alpha", "95 %", "beta", "95 %", title="fitted")
    for number, one in enumerate(found.protocols, 1):
        for level, (alpha, beta) in enumerate(zip(one.alphas, one.betas, strict=True)):
            if alpha is not None or beta is not None:
                cells = (*_cells(alpha, format_time), *_cells(beta, format_bandwidth))
                table.add_row(str(number), str(level), *cells)
    return table


def _cells(value: Value | None, write: Callable[[float, int], str]) -> tuple[str, str]:
    if value is None:
        return NOTHING, NOTHING
    if not value.high < VAGUE * value.value:
        return "not told", NOTHING
    return write(value.value, 4), f"{write(value.low, 3)} to {write(value.high, 3)}"


def errors_table(found: Calibration, index: int) -> Table:
    """Measured and fitted times of a series, size by size."""
    series = found.series[index]
    title = f"{series.name}: {series.file}"
    table = new_table("size", "measured", "fitted", "error", "algorithm", title=title)
    part = iter(found.parts[index])
    here = next(part)
    for row, point in enumerate(series.points):
        if row > here.last:
            here = next(part)
        cells = (format_time(time, 5) for time in (point.time, float(found.predicted[index][row])))
        error = float(found.errors[index][row])
        name = found.forms[index][here.form].name
        table.add_row(format_bytes(point.size), *cells, f"{error:+.1%}", f"{name}, {here.protocol + 1}")
    return table


def calibration_lines(found: Calibration, held: Sequence[Held]) -> Iterator[str]:
    """What the logs cannot tell, what is not explained, and how well unseen sizes are told."""
    for name, value, write, why in (
        ("start-up", found.startup, format_time, "alpha; other numbers of ranks may"),
        ("gamma", found.gamma, format_bandwidth, "beta; collectives with and without sums may"),
    ):
        if value is None:
            yield f"{name}: these logs do not tell it from {why}"
        else:
            yield "{}: {} ({})".format(name, *_cells(value, write))
    for index, series in enumerate(found.series):
        errors = np.abs(found.errors[index])
        yield (
            f"{series.name}: median error {np.median(errors):.2%}, largest {errors.max():.2%} at "
            f"{format_bytes(series.points[int(errors.argmax())].size)}"
        )
        far = [format_bytes(series.points[row].size) for row in np.flatnonzero(errors > FAR).tolist()]
        if far:
            yield f"not explained to {FAR:.0%}: {', '.join(dict.fromkeys(far))}"
    for one in held:
        yield (
            f"held out, {one.series.name}: median error {one.median:.2%}, largest {one.largest:.2%} "
            f"at {len(one.errors)} sizes that were not fitted"
        )
