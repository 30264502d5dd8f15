"""Figures one after the other, as an animated GIF."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from plots.style import draft_of, look
from topologies.errors import CollsimError

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure
    from PIL.Image import Image

_COLOURS: Final = 256
"""All that a GIF can have: with fewer, those of small things would change."""

_LONGEST: Final = 20_000
"""ms that all but the ends take at most."""

_SHOWN: Final = 900
"""ms for which a figure is seen where they are few."""

_LAST: Final = 2_500
"""ms for which the last stays."""


def save_animation(figures: Sequence[Figure], path: str | os.PathLike[str]) -> None:
    """Write figures of one size as an animated GIF that begins again: whole or not at all, the same bytes.

    Parameters
    ----------
    figures : sequence of matplotlib.figure.Figure
        At least one.
    path : path-like
        Where to; ends in ``.gif``.

    Raises
    ------
    CollsimError
        If the name ends otherwise, or there is no figure.
    OSError
        If the file cannot be written.
    """
    target = Path(path)
    if target.suffix.lower() != ".gif":
        raise CollsimError(f'an animation is written as .gif, found "{target.name}"')
    if not figures:
        raise CollsimError("an animation has at least one figure")
    with look():
        frames = [_pixels(figure) for figure in figures]
    shown = max(100, min(_SHOWN, _LONGEST // len(frames)))
    with draft_of(target) as draft:
        frames[0].save(
            draft,
            save_all=True,
            append_images=frames[1:],
            duration=[*(shown for _ in frames[1:]), _LAST],
            loop=0,
            optimize=False,
        )


def _pixels(figure: Figure) -> Image:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    width, height = FigureCanvasAgg(figure).get_width_height()
    pixels = io.BytesIO()
    figure.savefig(pixels, format="rgba", dpi=figure.dpi)
    image = Image.frombuffer("RGBA", (width, height), pixels.getvalue()).convert("RGB")
    return image.quantize(_COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
