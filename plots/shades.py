"""Scales of colours at the foot of a timeline's figure, and a figure that has nothing to show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.ticker import FixedLocator, MaxNLocator

from plots.frame import Frame
from plots.gantt import step_colours
from plots.style import FAINT

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

    from plots.tints import Tints

PERCENT: Final = [0, 0.5, 1], ["0 %", "50 %", "100 %"]
"""Ticks of a scale from nothing to all, and what they are called."""

_MOST_NAMED: Final = 16


def draw_busy(figure: Figure, page: Frame, image: AxesImage) -> None:
    """Draw the colours of an image at the foot."""
    axes = page.scale(figure, "busy", 2.4)
    bar = figure.colorbar(image, cax=axes, orientation="horizontal")
    bar.set_ticks(PERCENT[0], labels=PERCENT[1], fontsize=7.5)
    bar.outline.set_linewidth(0.4)
    axes.tick_params(length=2, pad=2)


def nothing(title: str, facts: str) -> Figure:
    """Figure of an empty timeline."""
    page = Frame(0.3, 0.3, 0.55, 0.1, 0.6, 0.0, 0.0, ())
    figure = page.figure(title, facts)
    axes = page.axes(figure, page.bottom, page.body)
    axes.set_axis_off()
    axes.text(0.5, 0.5, "nothing moves", ha="center", va="center", fontsize=12, color=FAINT)
    return figure


def draw_tints(figure: Figure, page: Frame, tints: Tints) -> None:
    """Draw the tints at the foot, each with its name or its number unless they are many."""
    count, few = tints.count, tints.count <= _MOST_NAMED
    axes = page.scale(figure, tints.title, min(tints.width * count, 4.2 if tints.names else 3.8))
    colours = step_colours(count)
    bar = figure.colorbar(
        ScalarMappable(
            BoundaryNorm(np.arange(count + 1) - 0.5, max(count, 2)),
            ListedColormap(colours.repeat(2 if count == 1 else 1, axis=0)),
        ),
        cax=axes,
        orientation="horizontal",
        drawedges=few,
    )
    bar.set_ticks(FixedLocator(range(count)) if few else MaxNLocator(8, integer=True))
    if few and tints.names:
        bar.set_ticklabels(tints.names)
    bar.minorticks_off()
    bar.outline.set_linewidth(0.4)
    axes.tick_params(labelsize=7.5, length=0 if few else 2, pad=2)
