"""What all figures share: their look, their colours, and files that are the same bytes on every run."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any

from matplotlib import style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from topologies.errors import CollsimError

if TYPE_CHECKING:
    import os

# Okabe and Ito's palette, told apart by the colour-blind too; its yellow is too pale for a line
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_METADATA: dict[str, dict[str, Any]] = {".svg": {"Date": None}, ".png": {"Software": None}}
_LOOK = {"svg.hashsalt": "collsim", "svg.fonttype": "none", "font.size": 9.0}


def look() -> AbstractContextManager[None]:
    """The look of every figure, whatever the user's own matplotlib settings are."""
    return style.context(["default", _LOOK])


def new_figure(width: float, height: float) -> Figure:
    """Figure of its own, in inches, that no global state of matplotlib knows."""
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    return figure


def colour(index: int) -> str:
    """Colour of the index-th thing of a figure; after the last the first comes again.

    Examples
    --------
    >>> colour(0), colour(6) == colour(0)
    ('#0072B2', True)
    """
    return _COLOURS[index % len(_COLOURS)]


def bandwidth_text(bandwidth: float) -> str:
    """Bytes/s for people.

    Examples
    --------
    >>> bandwidth_text(64e9), bandwidth_text(12.5e6)
    ('64 GB/s', '12.5 MB/s')
    """
    for unit, size in (("TB/s", 1e12), ("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3)):
        if bandwidth >= size:
            return f"{bandwidth / size:.4g} {unit}"
    return f"{bandwidth:.4g} B/s"


def time_text(time: float) -> str:
    """Seconds for people.

    Examples
    --------
    >>> time_text(1e-6), time_text(0.0), time_text(0.0125)
    ('1 us', '0 s', '12.5 ms')
    """
    if time == 0:
        return "0 s"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)):
        if time >= size * (1 - 1e-9):
            return f"{time / size:.4g} {unit}"
    return f"{time / 1e-12:.4g} ps"


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as SVG or PNG, whole or not at all, and the same bytes on every run.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        What to write.
    path : path-like
        Where to; ends in ``.svg`` or ``.png``.

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
        raise CollsimError(f'a figure is written as .svg or .png, found "{target.name}"')
    with NamedTemporaryFile(dir=target.parent, suffix=suffix, delete=False) as file:
        draft = Path(file.name)
        try:
            with look():
                figure.savefig(file, format=suffix[1:], metadata=_METADATA[suffix])
        except BaseException:
            draft.unlink()
            raise
    draft.chmod(0o644)
    draft.replace(target)
