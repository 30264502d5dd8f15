"""GraphML: a graph in XML, as networkx, Gephi, yEd and the Internet Topology Zoo write it.

Source: the GraphML specification, http://graphml.graphdrawing.org/specification.html.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final
from xml.sax.saxutils import escape, quoteattr

from topologies.formats.attributed import EDGE_KEYS, Edge, Graph, Node, to_topology
from topologies.formats.reading import Beside
from topologies.formats.tags import Tag, parse_tags
from topologies.text import printable

if TYPE_CHECKING:
    from topologies.topology import Topology

_TYPES: Final = {
    **{("edge", name): "double" for name in ("bandwidth", "latency", "overhead")},
    **{("edge", "level"): "string", ("edge", "cost"): "long"},
    **{("node", "kind"): "string", ("node", "reduces"): "boolean"},
    **{("graph", name): "string" for name in ("kind", "dims", "levels", "spread")},
}


def read_graphml(data: bytes, file: str, beside: Beside) -> Topology:
    """Read a graph as a topology, see `topologies.formats.attributed`.

    Raises
    ------
    FormatError
    """
    root = parse_tags(data, file)
    if root.name != "graphml":
        raise root.error(f"found <{printable(root.name)}>, expected <graphml>")
    graphs = list(root.all("graph"))
    if len(graphs) != 1:
        raise root.error(f"a file holds one <graph>, found {len(graphs)}")
    names = _keys(root)
    graph = graphs[0]
    both = _both(graph, graph.get("edgedefault"), "edgedefault")
    nodes = [Node(tag.get("id"), _data(tag, names["node"]), tag) for tag in graph.all("node")]
    edges = [
        Edge(tag.get("source"), tag.get("target"), _data(tag, names["edge"]), _edge_both(tag, both), tag)
        for tag in graph.all("edge")
    ]
    told = Graph(_data(graph, names["graph"]), nodes, edges, graph, lambda message, tag: tag.error(message))
    return to_topology(told, beside, "graphml")


def _keys(root: Tag) -> Mapping[str, Mapping[str, str]]:
    """Names of attributes by what they are of, under their ids; yEd's drawings have no name."""
    found: dict[str, dict[str, str]] = {"node": {}, "edge": {}, "graph": {}}
    for key in root.all("key"):
        domain = key.attributes.get("for", "all")
        for of in found if domain == "all" else [domain] if domain in found else []:
            found[of][key.get("id")] = key.attributes.get("attr.name", key.get("id"))
    return found


def _data(tag: Tag, names: Mapping[str, str]) -> dict[str, Any]:
    found = {}
    for data in tag.all("data"):
        key = data.get("key")
        if key not in names:
            raise data.error(f'there is no <key id="{printable(key)}"> of this kind')
        found[names[key]] = data.text
    return found


def _edge_both(tag: Tag, default: bool) -> bool:
    directed = tag.attributes.get("directed")
    if directed is None:
        return default
    return _both(tag, {"true": "directed", "false": "undirected"}.get(directed, directed), "directed")


def _both(tag: Tag, word: str, name: str) -> bool:
    if word not in ("directed", "undirected"):
        raise tag.error(f'{name} is "{printable(word)}", expected directed or undirected')
    return word == "undirected"


def write_graphml(topology: Topology) -> str:
    """Write a topology, so that `read_graphml` gives the same one back.

    Examples
    --------
    >>> from topologies import ring
    >>> text = write_graphml(ring(2, bandwidth=64e9))
    >>> read_graphml(text.encode(), "ring.graphml", Beside()).links.bandwidth.tolist()
    [64000000000.0, 64000000000.0]
    """
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
    ]
    lines += [
        f'  <key id="{_id(of, name)}" for="{of}" attr.name="{name}" attr.type="{kind}"/>'
        for (of, name), kind in _TYPES.items()
    ]
    lines.append('  <graph edgedefault="directed">')
    whole = {
        "kind": topology.kind,
        "dims": " ".join(map(str, topology.dims)),
        "levels": " ".join(topology.levels) if all(map(_is_word, topology.levels)) else "",
        "spread": topology.spread,
    }
    lines += _written("graph", whole, "    ")
    for number, name in enumerate(topology.nodes):
        about: dict[str, Any] = {"kind": "rank" if number < topology.ranks else "switch"}
        if number in topology.reduces:
            about["reduces"] = "true"
        lines.append(f"    <node id={quoteattr(str(name))}>")
        lines += [*_written("node", about, "      "), "    </node>"]
    links = topology.links
    for row in range(len(links)):
        src, dst = (quoteattr(str(topology.nodes[int(end[row])])) for end in (links.src, links.dst))
        about = {
            name: topology.levels[int(links.level[row])]
            if name == "level"
            else getattr(links, name)[row].item()
            for name in EDGE_KEYS
        }
        lines.append(f"    <edge source={src} target={dst}>")
        lines += [*_written("edge", about, "      "), "    </edge>"]
    return "\n".join([*lines, "  </graph>", "</graphml>"]) + "\n"


def _is_word(name: str) -> bool:
    return len(name.split()) == 1


def _written(of: str, values: Mapping[str, Any], indent: str) -> Iterable[str]:
    return [
        f'{indent}<data key="{_id(of, name)}">{escape(str(value))}</data>'
        for name, value in values.items()
        if value != ""
    ]


def _id(of: str, name: str) -> str:
    return f"{of}-{name}"
