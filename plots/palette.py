"""Colours and names of all figures and pages; nothing here loads matplotlib."""

from __future__ import annotations

import re
from typing import Final

# Okabe and Ito's palette, told apart by the colour-blind too; its yellow is too pale for a line
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
# control characters, ends of lines, and what XML has no place for
_UNDRAWABLE = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u2028\\u2029\\ud800-\\udfff\\ufffe\\uffff]")

COLOURS: Final = len(_COLOURS)  # that are told apart
INK: Final = "#222222"
FAINT: Final = "#666666"


def colour(index: int) -> str:
    """Colour of the index-th thing of a figure; after the last the first comes again.

    Examples
    --------
    >>> colour(0), colour(6) == colour(0)
    ('#0072B2', True)
    """
    return _COLOURS[index % len(_COLOURS)]


def label(name: object, most: int = 24) -> str:
    r"""A person's own name as a figure writes it: one line of drawable characters, cut in the middle if long.

    Parameters
    ----------
    name : object
        Name of a node, a level, a scenario.
    most : int
        Most characters, at least 1.

    Examples
    --------
    >>> label("spine"), label("a switch that tells its whole story", most=15), label("tab\there")
    ('spine', 'a switc…e story', 'tab�here')
    """
    text = _UNDRAWABLE.sub("\ufffd", str(name)).strip()
    if len(text) <= most:
        return text
    head, tail = most // 2, (most - 1) // 2
    return f"{text[:head]}\u2026{text[len(text) - tail :]}"
