"""The formats of topologies, by name, and which one a file is in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING

from topologies.errors import FormatError
from topologies.formats.astra import write_astra
from topologies.formats.dot import write_dot
from topologies.formats.graphml import read_graphml, write_graphml
from topologies.formats.nccl_system import read_nccl_system
from topologies.formats.node_link import read_node_link
from topologies.formats.reading import Beside
from topologies.formats.taccl import read_taccl

if TYPE_CHECKING:
    from topologies.topology import Topology


@dataclass(frozen=True, slots=True)
class Format:
    """A format of topologies.

    Attributes
    ----------
    endings : tuple of str
        How names of its files end.
    mark : bytes
        What stands in its files and not in others that end like them; nothing where the name is enough.
    read : callable, optional
        (data, file, beside) -> topology. That of YAML is `simulator.scenario.topology_file`'s.
    write : callable, optional
        topology -> text.
    """

    endings: tuple[str, ...]
    mark: bytes = b""
    read: Callable[[bytes, str, Beside], Topology] | None = None
    write: Callable[[Topology], str] | None = None


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "nccl": Format((".xml",), b"<system", read_nccl_system),
        "graphml": Format((".graphml", ".xml"), b"<graphml", read_graphml, write_graphml),
        "node-link": Format((".json",), b'"nodes"', read_node_link),
        "taccl": Format((".json",), b'"gpus_per_node"', read_taccl),
        "astra-sim": Format((".yml", ".yaml"), b"npus_count", None, write_astra),
        "dot": Format((".dot", ".gv"), write=write_dot),
    }
)

READ: tuple[str, ...] = tuple(name for name in FORMATS if name != "dot")
"""Formats that are read."""


def format_of(name: str, data: bytes) -> str:
    """The format of a file by its name's ending and its content.

    Raises
    ------
    FormatError
        If it is none that is read.

    Examples
    --------
    >>> format_of("a100.xml", b"<system version='1'/>"), format_of("zoo.graphml", b"<graphml/>")
    ('nccl', 'graphml')
    """
    ending = PurePath(name).suffix.lower()
    fits = [one for one in READ if ending in FORMATS[one].endings]
    marked = [one for one in fits if FORMATS[one].mark in data]
    if fits and (marked or len(fits) == 1):
        return (marked or fits)[0]
    what = f"none of {', '.join(READ)}" if not fits else f"it looks like neither {' nor '.join(fits)}"
    raise FormatError(f"cannot tell the format of this topology: {what}; say it with format", name, 1, 1)
