"""The base of every error that collsim raises on purpose, and this room's own."""

from __future__ import annotations


class CollsimError(Exception):
    """Something a person can mend: wrong input, or a request that makes no sense.

    Parameters
    ----------
    message : str
        One line: what was found and what was expected.
    at : tuple of str or int
        Path of the offending parameter inside the thing that was asked for,
        e.g. ``("levels", 1, "size")`` inside a topology. Empty when there is none.
    """

    def __init__(self, message: str, at: tuple[str | int, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.at = at


class TopologyError(CollsimError):
    """A topology that cannot be built, or a route that does not exist."""
