"""The formats of schedules, by name, and which one a file is in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from algorithms.errors import ScheduleError
from algorithms.formats.forestcoll import read_forestcoll
from algorithms.formats.goal import read_goal
from algorithms.formats.goal_writer import write_goal
from algorithms.formats.msccl_writer import write_msccl_xml
from algorithms.formats.msccl_xml import read_msccl_xml
from algorithms.formats.mscclpp_json import read_mscclpp
from algorithms.formats.mscclpp_writer import write_mscclpp
from algorithms.formats.nccl_graph import read_nccl_ring, read_nccl_tree
from algorithms.formats.sccl import read_sccl
from algorithms.formats.teccl import read_teccl
from algorithms.formats.written import Written
from topologies.errors import FormatError
from topologies.formats.reading import MOST_BYTES

if TYPE_CHECKING:
    from algorithms.programs.program import Program


@dataclass(frozen=True, slots=True)
class Format:
    """A format of schedules.

    Attributes
    ----------
    about : str
        What it is, in a few words.
    endings : tuple of str
        How names of its files end.
    mark : bytes
        What stands in its files and not in others that end like them.
    read : callable
        (data, file) -> program.
    write : callable, optional
        A program, and the bytes of its full vector where they are known, to a file.
    """

    about: str
    endings: tuple[str, ...]
    mark: bytes
    read: Callable[[bytes, str], Program]
    write: Callable[[Program, int | None], Written] | None = None


FORMATS: Final[Mapping[str, Format]] = MappingProxyType(
    {
        "msccl": Format("MSCCL's XML", (".xml",), b"<algo", read_msccl_xml, write_msccl_xml),
        "mscclpp": Format("MSCCL++'s plans", (".json",), b'"threadblocks"', read_mscclpp, write_mscclpp),
        "te-ccl": Format("TE-CCL's schedules", (".json",), b'"7-Flows"', read_teccl),
        "sccl": Format("SCCL's and TACCL's algorithms", (".json",), b'ccl_type"', read_sccl),
        "forestcoll": Format("ForestColl's trees", (".xml",), b"<tree", read_forestcoll),
        "nccl-ring": Format("the rings of NCCL's graphs", (".xml",), b"<graphs", read_nccl_ring),
        "nccl-tree": Format("the trees of NCCL's graphs", (".xml",), b"<graphs", read_nccl_tree),
        "goal": Format("GOAL, of LogGOPSim", (".goal",), b"num_ranks", read_goal, write_goal),
    }
)

ENDINGS: Final = tuple(dict.fromkeys(ending for form in FORMATS.values() for ending in form.endings))

WRITTEN: Final = tuple(name for name, form in FORMATS.items() if form.write is not None)
"""Formats that are written."""


def write_schedule(program: Program, form: str, size: int | None = None) -> Written:
    """A program in a format, and what is lost: of what it was read from, and now.

    Parameters
    ----------
    program : Program
    form : str
        One of `WRITTEN`.
    size : int, optional
        Bytes of the full vector, where they are known.

    Raises
    ------
    ScheduleError
        If the format is not written, or cannot say it; says why.
    """
    write = FORMATS[form].write if form in FORMATS else None
    if write is None:
        raise ScheduleError(f'no format "{form}" is written; expected {", ".join(WRITTEN)}')
    written = write(program, size)
    return Written(written.data, (*program.unsaid, *written.lost))


def format_of(file: str, data: bytes) -> str:
    """The format of a file by its name's ending and its content.

    Raises
    ------
    FormatError
        If it is none that is known.

    Examples
    --------
    >>> format_of("ring.xml", b"<algo/>"), format_of("ring", b"num_ranks 2")
    ('msccl', 'goal')
    """
    ending = PurePath(file).suffix.lower()
    fits = [name for name, form in FORMATS.items() if ending in form.endings] or list(FORMATS)
    marked = [name for name in fits if FORMATS[name].mark in data]
    if marked or len(fits) == 1:
        return (marked or fits)[0]
    what = f"looks like none of {', '.join(fits)}" if data.strip() else "is empty"
    raise FormatError(f"no schedule that is known: it {what}", file, 1, 1)


def read_schedule(data: bytes, file: str, form: str | None = None) -> Program:
    """Program of a file.

    Parameters
    ----------
    data : bytes
    file : str
        Its name.
    form : str, optional
        One of `FORMATS`; by default the one that it looks like.

    Raises
    ------
    FormatError
        If it is too large, or cannot be read; names the place.
    """
    if form is not None and form not in FORMATS:
        raise FormatError(f'no format "{form}" is read; expected {", ".join(FORMATS)}', file, 1, 1)
    if len(data) > MOST_BYTES:
        raise FormatError(f"the file is larger than {MOST_BYTES >> 20} MiB", file, byte=MOST_BYTES)
    return FORMATS[form or format_of(file, data)].read(data, file)
