"""How many steps algorithms take, against the number of ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from plots.lines import Curve, begin, draw_curves, draw_names
from plots.style import GRID, INK, colour, label, look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_NAMES: Final = 27
"""Characters of the names of algorithms that take the same steps."""

_FOOT: Final = "with default options; circled: the scenario's own"


def counts_figure(
    ranks: Sequence[int],
    steps: Mapping[str, Sequence[int]],
    own: tuple[str, int, int] | None = None,
    *,
    title: str = "",
    subtitle: str = "",
) -> Figure:
    """Draw steps against ranks, on logarithmic axes; algorithms that take the same steps share a line.

    Parameters
    ----------
    ranks : sequence of int
        Rising, from 2 on.
    steps : mapping of str to sequence of int
        Of each algorithm at these ranks.
    own : (str, int, int), optional
        An algorithm, ranks and steps that are marked.
    title, subtitle : str

    Examples
    --------
    >>> figure = counts_figure([2, 4, 8], {"ring": [1, 3, 7], "chain": [1, 3, 7], "halving": [1, 2, 3]})
    >>> [line.get_label() for line in figure.axes[0].lines]
    ['ring, chain', 'halving']
    """
    same: dict[tuple[int, ...], list[str]] = {}
    for name, counts in steps.items():
        same.setdefault(tuple(counts), []).append(name)
    # the line of the own one, then those of most algorithms, have the first colours
    lines = sorted(
        ((_first(names, own), counts) for counts, names in same.items()),
        key=lambda line: own is None or line[0][0] != own[0],
    )
    named = {_said(names): counts for names, counts in lines}
    curves = [Curve(name, counts) for name, counts in named.items()]
    tints = {name: number for number, name in enumerate(named)}
    with look():
        figure, axes = begin(title, subtitle)
        draw_curves(axes, ranks, curves, tints)
        _scales(axes, ranks, max(map(max, named.values()), default=1))
        if own is not None:
            _mark(axes, own, colour(0) if own[0] in steps else INK)
        draw_names(axes, figure, ranks, curves, tints, _FOOT, _NAMES)
        return figure


def _said(names: Sequence[str]) -> str:
    """Some names in words: as many as there is room for.

    >>> _said(["ring", "chain"]), _said(["double_binary_tree"] * 4)
    ('ring, chain', 'double_binary_tree and 3 more')
    """
    for count in range(len(names), 1, -1):
        more = f" and {len(names) - count} more" if count < len(names) else ""
        text = ", ".join(names[:count]) + more
        if len(text) <= _NAMES:
            return text
    return names[0] + (f" and {len(names) - 1} more" if len(names) > 1 else "")


def _first(names: Sequence[str], own: tuple[str, int, int] | None) -> list[str]:
    """Names of a line, that of the own algorithm first."""
    return sorted(names, key=lambda name: own is None or name != own[0])


def _scales(axes: Axes, ranks: Sequence[int], most: int) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xlim(min(ranks) / 1.05, max(ranks) * 1.05)
    axes.set_ylim(0.85, 1.3 * most)
    for axis, end in ((axes.xaxis, max(ranks)), (axes.yaxis, most)):
        axis.set_major_locator(FixedLocator([2**power for power in range(end.bit_length())]))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.set_xlabel("ranks", fontsize=8.5)
    axes.set_ylabel("steps", fontsize=8.5)
    axes.tick_params(labelsize=8)
    axes.set_axisbelow(True)
    axes.grid(color=GRID, lw=0.6)


def _mark(axes: Axes, own: tuple[str, int, int], tint: str) -> None:
    """Ring the own algorithm's steps at its ranks, and say them."""
    name, ranks, steps = own
    axes.plot([ranks], [steps], marker="o", ms=11, mfc="none", mec=tint, mew=2, ls="", zorder=5, label="_own")
    right = ranks > axes.get_xlim()[1] / 4
    axes.annotate(
        f"{label(name)}: {steps:,} step{'' if steps == 1 else 's'} at {ranks:,} ranks",
        (ranks, steps),
        (-9 if right else 9, 9),
        textcoords="offset points",
        ha="right" if right else "left",
        fontsize=8.5,
        color=tint,
        bbox={"boxstyle": "square,pad=0.2", "fc": "white", "ec": "none", "alpha": 0.85},
        zorder=6,
    )
