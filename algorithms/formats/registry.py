"""The formats of schedules, by name, and which one a file is in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from algorithms.errors import ScheduleError
from algorithms.formats.written import Written
from topologies.errors import FormatError
from topologies.formats.format import Format, format_among, later
from topologies.formats.reading import check_length

if TYPE_CHECKING:
    from algorithms.programs.program import Program

    Read: TypeAlias = Callable[[bytes, str], Program]
    Write: TypeAlias = Callable[[Program, int | None], Written]

_HERE: Final = "algorithms.formats"

FORMATS: Final[Mapping[str, Format[Read, Write]]] = MappingProxyType(
    {
        "msccl": Format(
            *((".xml",), b"<algo"),
            *(later(f"{_HERE}.msccl_xml.read_msccl_xml"), later(f"{_HERE}.msccl_writer.write_msccl_xml")),
        ),
        "mscclpp": Format(
            *((".json",), b'"threadblocks"'),
            *(later(f"{_HERE}.mscclpp_json.read_mscclpp"), later(f"{_HERE}.mscclpp_writer.write_mscclpp")),
        ),
        "te-ccl": Format((".json",), b'"7-Flows"', later(f"{_HERE}.teccl.read_teccl")),
        "sccl": Format((".json",), b'ccl_type"', later(f"{_HERE}.sccl.read_sccl")),
        "forestcoll": Format((".xml",), b"<tree", later(f"{_HERE}.forestcoll.read_forestcoll")),
        "nccl-ring": Format((".xml",), b"<graphs", later(f"{_HERE}.nccl_graph.read_nccl_ring")),
        "nccl-tree": Format((".xml",), b"<graphs", later(f"{_HERE}.nccl_graph.read_nccl_tree")),
        "goal": Format(
            *((".goal",), b"num_ranks"),
            *(later(f"{_HERE}.goal.read_goal"), later(f"{_HERE}.goal_writer.write_goal")),
        ),
    }
)
"""`read` is (data, file) -> program, `write` (program, bytes of its full vector or None) -> file."""

_ENDINGS: Final = frozenset(ending for form in FORMATS.values() for ending in form.endings)

WRITTEN: Final = tuple(name for name, form in FORMATS.items() if form.write is not None)
"""Formats that are written."""


def is_schedule(file: str) -> bool:
    """Whether a file is, by its name, a schedule of another tool."""
    return PurePath(file).suffix.lower() in _ENDINGS


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
    return format_among(FORMATS, file, data, "schedule")


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
    check_length(data, file)
    read = FORMATS[form or format_of(file, data)].read
    assert read is not None
    return read(data, file)
