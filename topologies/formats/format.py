"""What a format of files is, and which one a file is in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import PurePath
from typing import Any, Generic, TypeVar

from topologies.errors import FormatError

Read = TypeVar("Read", bound=Callable[..., Any])
Write = TypeVar("Write", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Format(Generic[Read, Write]):
    """A format of files.

    Attributes
    ----------
    endings : tuple of str
        How names of its files end.
    mark : bytes
        What stands in its files and not in others that end like them; nothing where the name is enough.
    read, write : callable, optional
        From a file's bytes to a thing, and from a thing to a file; None where there is no such way.
    """

    endings: tuple[str, ...]
    mark: bytes = b""
    read: Read | None = None
    write: Write | None = None


def later(function: str) -> Callable[..., Any]:
    """A function by its module and name, which is loaded when it is first called.

    Examples
    --------
    >>> later("math.hypot")(3, 4)
    5.0
    """
    module, _, name = function.rpartition(".")

    def call(*args: Any) -> Any:
        return getattr(import_module(module), name)(*args)

    return call


def format_among(formats: Mapping[str, Format[Any, Any]], file: str, data: bytes, what: str) -> str:
    """Name of the format of a file, by its name's ending and its content.

    Parameters
    ----------
    formats : mapping of str to Format
        Those that are read.
    file : str
        Its name; with an ending of no format it may be of any that has a mark.
    data : bytes
    what : str
        What is in such files, for messages.

    Raises
    ------
    FormatError
        If it is none of them.
    """
    ending = PurePath(file).suffix.lower()
    fits = [name for name, form in formats.items() if ending in form.endings]
    asked = fits or [name for name, form in formats.items() if form.mark]
    marked = [name for name in asked if formats[name].mark in data]
    if marked or len(fits) == 1:
        return (marked or fits)[0]
    found = f"it looks like none of {', '.join(asked)}" if data.strip() else "it is empty"
    raise FormatError(f"cannot tell the format of this {what}: {found}", file, 1, 1)
