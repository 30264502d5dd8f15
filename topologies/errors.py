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


class FormatError(CollsimError):
    """A file that is not what its format says; its text is ``file:line:column: message``.

    Parameters
    ----------
    message : str
        One line: what was found and what was expected.
    file : str
        Name of the file, as it was given.
    line, column : int, optional
        Place in a text, from 1.
    byte : int, optional
        Or in what is no text, from 0.

    Examples
    --------
    >>> print(FormatError("there is no rank 9", "a.xml", 3, 5), FormatError("ends early", "a.et", byte=17))
    a.xml:3:5: there is no rank 9 a.et: byte 17: ends early
    """

    def __init__(
        self,
        message: str,
        file: str,
        line: int | None = None,
        column: int | None = None,
        *,
        byte: int | None = None,
    ) -> None:
        super().__init__(message)
        self.file = file
        self.line = line
        self.column = column
        self.byte = byte

    def __str__(self) -> str:
        places = "".join(f":{place}" for place in (self.line, self.column) if place is not None)
        return f"{self.file}{places}: {'' if self.byte is None else f'byte {self.byte}: '}{self.message}"

    def __reduce__(self) -> tuple[object, ...]:
        return _format_error, (self.message, self.file, self.line, self.column, self.byte)


def _format_error(
    message: str, file: str, line: int | None, column: int | None, byte: int | None
) -> FormatError:
    return FormatError(message, file, line, column, byte=byte)
