"""The formats of topologies, by name, and which one a file is in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from topologies.formats.format import Format, format_among, later

if TYPE_CHECKING:
    from topologies.formats.reading import Beside
    from topologies.topology import Topology

    Read: TypeAlias = Callable[[bytes, str, Beside], Topology]
    Write: TypeAlias = Callable[[Topology], str]

_HERE: Final = "topologies.formats"

FORMATS: Final[Mapping[str, Format[Read, Write]]] = MappingProxyType(
    {
        "nccl": Format((".xml",), b"<system", later(f"{_HERE}.nccl_system.read_nccl_system")),
        "graphml": Format(
            *((".graphml", ".xml"), b"<graphml"),
            *(later(f"{_HERE}.graphml.read_graphml"), later(f"{_HERE}.graphml.write_graphml")),
        ),
        "node-link": Format((".json",), b'"nodes"', later(f"{_HERE}.node_link.read_node_link")),
        "taccl": Format((".json",), b'"gpus_per_node"', later(f"{_HERE}.taccl.read_taccl")),
        "astra-sim": Format((".yml", ".yaml"), b"npus_count", write=later(f"{_HERE}.astra.write_astra")),
        "dot": Format((".dot", ".gv"), write=later(f"{_HERE}.dot.write_dot")),
    }
)
"""`read` is (data, file, beside) -> topology, and `write` topology -> text."""

YAML: Final = "astra-sim"
"""The format that `simulator.scenario.topology_file` reads: only scenarios know YAML."""

READ: Final = tuple(name for name, form in FORMATS.items() if form.read is not None or name == YAML)
"""Formats that are read."""


def format_of(file: str, data: bytes) -> str:
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
    return format_among({name: FORMATS[name] for name in READ}, file, data, "topology")
