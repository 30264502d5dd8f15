"""The formats of schedules; a file's is told by what it begins with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from algorithms.formats.errors import FormatError
from algorithms.formats.goal import read_goal
from algorithms.formats.goal_writer import write_goal
from algorithms.formats.msccl_writer import write_msccl_xml
from algorithms.formats.msccl_xml import read_msccl_xml
from algorithms.formats.written import Written
from algorithms.programs.program import Program

MOST_BYTES: Final = 1 << 26
"""Of a file that is read."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format of schedules.

    Attributes
    ----------
    name : str
        What a person calls it.
    about : str
        What it is, in a few words.
    suffixes : tuple of str
        How its files' names end.
    begins : tuple of bytes
        How its files begin, after blanks.
    read : callable
        Bytes to a program.
    write : callable
        A program, and the bytes of its full vector where they are known, to a file.
    """

    name: str
    about: str
    suffixes: tuple[str, ...]
    begins: tuple[bytes, ...]
    read: Callable[[bytes], Program]
    write: Callable[[Program, int | None], Written]


FORMATS: Final[Mapping[str, Format]] = MappingProxyType(
    {
        form.name: form
        for form in (
            Format(
                "msccl", "MSCCL's XML of thread blocks", (".xml",), (b"<",), read_msccl_xml, write_msccl_xml
            ),
            Format(
                "goal",
                "LogGOPSim's messages and waits",
                (".goal",),
                (b"num_ranks", b"//", b"/*"),
                read_goal,
                write_goal,
            ),
        )
    }
)

SUFFIXES: Final = tuple(suffix for form in FORMATS.values() for suffix in form.suffixes)


def format_of(data: bytes) -> Format:
    """The format of a file.

    Raises
    ------
    FormatError
        If it looks like none.
    """
    start = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    for form in FORMATS.values():
        if start.startswith(form.begins):
            return form
    raise FormatError("is empty" if not data.strip() else "looks like no schedule that is known")


def read_schedule(data: bytes, form: str | None = None) -> Program:
    """Program of a file.

    Parameters
    ----------
    data : bytes
    form : str, optional
        One of `FORMATS`; by default the one that it looks like.

    Raises
    ------
    FormatError
        If it is too large, or cannot be read; names the line.
    """
    if len(data) > MOST_BYTES:
        raise FormatError(f"is larger than {MOST_BYTES >> 20} MiB")
    return (format_of(data) if form is None else FORMATS[form]).read(data)
