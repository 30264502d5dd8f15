"""Node-link JSON: what networkx's `node_link_data` and d3 write.

Source: networkx, `networkx.readwrite.json_graph.node_link_data`; edges are under `links` or `edges`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from topologies.formats.attributed import Edge, Graph, Node, to_topology
from topologies.formats.json_text import JsonFile, Path, parse_json
from topologies.formats.reading import Beside, decode
from topologies.text import printable

if TYPE_CHECKING:
    from topologies.topology import Topology


def read_node_link(data: bytes, file: str, beside: Beside) -> Topology:
    """Read a graph as a topology, see `topologies.formats.attributed`.

    Raises
    ------
    FormatError
    """
    found = parse_json(decode(data, file), file)
    if not isinstance(found.value, Mapping):
        raise found.error('expected a mapping of "nodes" and "links"')
    name = "links" if "links" in found.value else "edges"
    both = not found.get(("directed",), bool, "true or false", default=False)
    nodes = [Node(_name(found, (*at, "id")), about, at) for at, about in _entries(found, "nodes")]
    edges = [
        Edge(_name(found, (*at, "source")), _name(found, (*at, "target")), _own(about), both, at)
        for at, about in _entries(found, name)
    ]
    whole = found.get(("graph",), dict, "a mapping", default={})
    told: Graph[Path] = Graph(
        whole, nodes, edges, (), lambda message, at: found.error(f"{_dotted(at)}{message}", *at)
    )
    return to_topology(told, beside, "node-link")


def _entries(found: JsonFile, name: str) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    for i in range(len(found.get((name,), list, "a list"))):
        yield (name, i), found.get((name, i), dict, "a mapping")


def _name(found: JsonFile, path: Path) -> Hashable:
    """A node's name: a text, or a number, which is as good as its text."""
    name = found.get(path, object, "a node's name")
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise found.error(f"found {printable(name)}, expected a node's name", *path)
    return str(name)


def _own(about: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in about.items() if name not in ("source", "target", "key")}


def _dotted(at: Path) -> str:
    return f"{at[0]}[{at[1]}]: " if len(at) > 1 else ""
