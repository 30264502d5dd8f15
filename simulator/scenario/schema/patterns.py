"""Texts that are quantities, numbers or transfers, as regular expressions of JSON Schema."""

from __future__ import annotations

import re
from typing import Final

from simulator.scenario.inline import MODES
from simulator.scenario.units import UNITS, Kind

_DIGITS: Final = r"([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"
_BLANK: Final = r"[ \t]*"

WHOLE: Final = r"^\+?[0-9]+$|^-0+$|^0x[0-9a-fA-F]+$|^0o[0-7]+$"
"""A whole number of zero or more as a key, which JSON takes for a text."""

LINE: Final = r"^(?=.*\S)[^\u0000-\u001f]*$"
"""One line that is not empty."""

PAIR: Final = r"^[ \t]*[0-9]{1,9} *-> *[0-9]{1,9}[ \t]*$"
"""The ranks of a transfer."""

_RUN: Final = r"[0-9]{1,9}(-[0-9]{1,9})?"
MOVED: Final = rf"^\s*({'|'.join(MODES)})\s+(all|nothing|{_RUN}(\s+{_RUN})*)\s*$"
"""What a transfer moves."""


def quantity(kind: Kind) -> str:
    """Pattern of a number with a unit: more than 0 of a rate, 0 or more of anything else.

    Examples
    --------
    >>> found = re.compile(quantity("time"))
    >>> [bool(found.search(text)) for text in ("8 us", "1e-3us", "0 s", "8", "-1 us", "8 GB")]
    [True, True, True, False, False, False]
    >>> bool(re.search(quantity("bandwidth"), "0 GB/s"))
    False
    """
    above = r"(?=[ \t]*\+?[0.]*[1-9])" if kind in ("bandwidth", "compute") else r"(?![ \t]*-[0.]*[1-9])"
    units = "|".join(re.escape(unit) for unit in UNITS[kind])
    return rf"^{above}{_BLANK}[+-]?{_DIGITS}{_BLANK}({units}){_BLANK}$"
