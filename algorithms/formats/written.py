"""A program in the bytes of a format, and what the format could not say."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Written:
    """A file, and what it does not hold.

    Attributes
    ----------
    data : bytes
    lost : tuple of str
        What of the program is not in the file, and what a runtime may refuse; a line each.
    """

    data: bytes
    lost: tuple[str, ...] = ()
