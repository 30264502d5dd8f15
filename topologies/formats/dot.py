"""DOT, the language of Graphviz: to be drawn, not to be read back.

Source: https://graphviz.org/doc/info/lang.html.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from topologies.text import format_bandwidth, format_time

if TYPE_CHECKING:
    from topologies.topology import Topology


def write_dot(topology: Topology) -> str:
    """Write a topology as a directed graph; a label tells a link's bandwidth and latency.

    Examples
    --------
    >>> from topologies import ring
    >>> print(write_dot(ring(2, bandwidth=64e9, latency=1e-6)), end="")
    digraph "ring" {
      "0" [shape=circle];
      "1" [shape=circle];
      "0" -> "1" [label="64 GB/s, 1 us", class="ring"];
      "1" -> "0" [label="64 GB/s, 1 us", class="ring"];
    }
    """
    lines = [f"digraph {_quoted(topology.kind)} {{"]
    for number, name in enumerate(topology.nodes):
        lines.append(f"  {_quoted(name)} [shape={'circle' if number < topology.ranks else 'box'}];")
    links = topology.links
    for row in range(len(links)):
        src, dst = (_quoted(topology.nodes[int(end[row])]) for end in (links.src, links.dst))
        about = f"{format_bandwidth(links.bandwidth[row].item())}, {format_time(links.latency[row].item())}"
        level = topology.levels[int(links.level[row])]
        lines.append(f"  {src} -> {dst} [label={_quoted(about)}, class={_quoted(level)}];")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(name: object) -> str:
    return '"' + str(name).replace("\\", "\\\\").replace('"', '\\"') + '"'
