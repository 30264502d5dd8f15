"""What came of a point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a point.

    Attributes
    ----------
    fields : dict of str to int, float, str, bool or None
        The result, flat; empty where there is none.
    warnings : tuple of str
        What a person should know about the scenario.
    error : str
        In one line; empty where there is none.
    """

    fields: dict[str, Any]
    warnings: tuple[str, ...] = ()
    error: str = ""
