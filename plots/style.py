"""What all figures share: their look, their colours, and files that are the same bytes on every run."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from matplotlib import style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from plots.palette import COLOURS, FAINT, INK, colour, label
from topologies.errors import CollsimError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from matplotlib.axes import Axes

__all__ = [
    "CHARACTER",
    "COLOURS",
    "DIGITS",
    "FAINT",
    "GRID",
    "INK",
    "LONG",
    "RULE",
    "colour",
    "draft_of",
    "label",
    "look",
    "new_figure",
    "save",
    "show_spines",
    "titled_figure",
]

_METADATA: dict[str, dict[str, Any]] = {
    ".svg": {"Date": None},
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None},
}
# names are people's own: a dollar in them is no formula
_LOOK = {"svg.hashsalt": "collsim", "svg.fonttype": "none", "font.size": 9.0, "text.parse_math": False}

CHARACTER: Final = 0.068  # mean width at 8 points, inches
DIGITS: Final = 4  # of a quantity
LONG: Final = 80  # characters of a title
RULE: Final = "#bbbbbb"
GRID: Final = "#e4e4e4"


def look() -> AbstractContextManager[None]:
    """The look of every figure, whatever the user's own matplotlib settings are."""
    return style.context(["default", _LOOK])


def new_figure(width: float, height: float) -> Figure:
    """Figure of its own, in inches, that no global state of matplotlib knows."""
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def titled_figure(width: float, height: float, title: str, subtitle: str) -> Figure:
    """Figure of its own with two lines at its head, a title and what there is to say below it."""
    figure = new_figure(width, height)
    for text, below, size, tint in ((label(title, LONG), 0.1, 12, INK), (subtitle, 0.34, 9, FAINT)):
        figure.text(0.012, 1 - below / height, text, va="top", fontsize=size, color=tint)
    return figure


def show_spines(axes: Axes, *sides: str) -> None:
    """Leave some sides of axes, in the colour of rules."""
    for side, spine in axes.spines.items():
        spine.set_visible(side in sides)
        spine.set_color(RULE)


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as SVG, PNG or PDF, whole or not at all, and the same bytes on every run.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        What to write.
    path : path-like
        Where to; ends in ``.svg``, ``.png`` or ``.pdf``.

    Raises
    ------
    CollsimError
        If the name ends otherwise.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     save(new_figure(1, 1), Path(folder) / "empty.png")
    ...     [file.name for file in Path(folder).iterdir()]
    ['empty.png']
    """
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in _METADATA:
        raise CollsimError(f'a figure is written as .svg, .png or .pdf, found "{target.name}"')
    with draft_of(target) as draft, look(), _boxes_for_missing_glyphs():
        figure.savefig(draft, format=suffix[1:], metadata=_METADATA[suffix])


@contextmanager
def draft_of(target: Path) -> Iterator[Path]:
    """A file to write, which then takes the place of another, whole or not at all."""
    # a folder of its own goes away with the draft, whatever fails
    with TemporaryDirectory(prefix=".figure.", dir=target.parent) as folder:
        draft = Path(folder) / target.name
        yield draft
        draft.replace(target)


@contextmanager
def _boxes_for_missing_glyphs() -> Iterator[None]:
    """No word about characters that the font lacks: they are drawn as boxes."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph \d+ .*missing from", UserWarning)
        yield
