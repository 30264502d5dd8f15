"""Errors of files."""

from __future__ import annotations

from topologies.errors import CollsimError


class FormatError(CollsimError):
    """A file of another tool that cannot be read, or a schedule that a format cannot say.

    Parameters
    ----------
    message : str
        One line.
    line : int, optional
        From 1; 0 where the file as a whole is wrong.
    column : int, optional
        From 1; 0 where it is not known.
    """

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.line = line
        self.column = column
