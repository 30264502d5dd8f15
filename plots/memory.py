"""Memory of a parallel plan: a bar a pipeline stage, and how much there is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from plots.stacks import Part, Stacks, stacks_figure
from plots.style import look

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

_TINTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "reserved": "#bdbdbd",
        "weights": "#0072B2",
        "gradients": "#56B4E9",
        "optimizer": "#009E73",
        "cache": "#CC79A7",
        "gathered": "#7f6fb0",
        "activations": "#E69F00",
        "working": "#D55E00",
    }
)
_OVER: Final = "#B3003C"
_UNITS: Final = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B"))


def memory_figure(
    stages: Sequence[str],
    parts: Mapping[str, NDArray[np.float64]],
    capacity: float | None,
    *,
    title: str,
    subtitle: str,
) -> Figure:
    """Draw what a rank of every stage holds; what does not fit lies past the line of the capacity.

    Parameters
    ----------
    stages : sequence of str
        Their names.
    parts : mapping of str to ndarray of float64, shape (stages,)
        Bytes of each part, in the order in which they fill the memory.
    capacity : float or None
        Bytes that there are; None where that is not said.
    title, subtitle : str

    Examples
    --------
    >>> held = {"weights": np.array([2.0**30, 2.0**31]), "optimizer": np.array([2.0**32, 2.0**32])}
    >>> figure = memory_figure(["stage 0", "stage 1"], held, 2.0**33, title="", subtitle="")
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['weights', 'optimizer']
    """
    size = np.stack([*parts.values()], axis=1)
    most = max(float(size.sum(axis=1).max(initial=0.0)), capacity or 0.0)
    scale, unit = next((one for one in _UNITS if most >= one[0]), _UNITS[-1])
    drawn = [Part(name, _TINTS.get(name, "#999999")) for name in parts]

    def text(value: float) -> str:
        return f"{value / scale:.3g}"

    totals = size.sum(axis=1)
    ends = [f"{text(total)} {unit}" + (f", {total / capacity:.0%}" if capacity else "") for total in totals]
    stacks = Stacks(stages, drawn, size, text, f"a rank holds, {unit}", ends)
    with look():
        figure, axes = stacks_figure(stacks, title=title, subtitle=subtitle, most=most)
        if capacity:
            axes.axvline(capacity, color=_OVER, lw=1.4, zorder=4, label="capacity")
            axes.annotate(
                f"capacity {text(capacity)} {unit}",
                (capacity, 1),
                (3 if capacity < 0.7 * most else -3, 2),
                xycoords=axes.get_xaxis_transform(),
                textcoords="offset points",
                ha="left" if capacity < 0.7 * most else "right",
                va="bottom",
                fontsize=8,
                color=_OVER,
                annotation_clip=False,
            )
            for row in np.flatnonzero(totals > capacity).tolist():
                axes.get_yticklabels()[row].set_color(_OVER)
        return figure
