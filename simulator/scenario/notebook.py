"""Answers in a notebook: what is printed, as HTML, and the picture."""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Iterable
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

WIDE: Final = 140
"""Columns of a table that is not printed on a terminal."""

_AS_PRINTED: Final = "line-height: 1.2; font-family: monospace; white-space: pre; overflow-x: auto"


def page(printed: Iterable[Table | str], figure: Figure | None) -> str:
    """Lines and tables as they are printed, above a picture."""
    return _text(printed) + ("" if figure is None else _image(figure))


def _text(printed: Iterable[Table | str]) -> str:
    from rich.console import Console

    # neither colours nor links: a notebook is light or dark
    console = Console(file=io.StringIO(), width=WIDE, markup=False, highlight=False, color_system=None)
    with console.capture() as capture:
        for one in printed:
            console.print(one)
    return f'<pre style="{_AS_PRINTED}">{escape(capture.get())}</pre>'


def _image(figure: Figure) -> str:
    from plots.style import save

    with TemporaryDirectory() as folder:
        path = Path(folder) / "picture.png"
        save(figure, path)
        data = b64encode(path.read_bytes()).decode("ascii")
    return f'<img src="data:image/png;base64,{data}" style="max-width: 100%">'
