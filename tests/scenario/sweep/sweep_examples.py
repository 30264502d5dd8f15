"""Sweeps of every kind of file, small."""

from __future__ import annotations

from pathlib import Path

RING = """\
name: A ring
topology: {kind: ring, ranks: 4, bandwidth: 64 GB/s, latency: 1 us}
collective: {kind: allreduce, algorithm: ring, size: 1 MiB}
"""

SWEEP = f"""\
{RING}sweep:
  vary:
    collective.size: 1KiB..4KiB
    topology.ranks: [4, 8]
    collective.algorithm: [ring, direct]
"""

TOGETHER = """\
topology: {kind: ring, ranks: 4, bandwidth: 50 GB/s, latency: 1 us}
collectives:
  - {name: first, kind: allreduce, algorithm: ring, size: 8 MB, ranks: [0, 2]}
  - {name: second, kind: allgather, algorithm: ring, size: 1 MB, ranks: [1, 3]}
background: [{src: 0, dst: 1, size: 1 MB}]
"""

PLAN = """\
model: {layers: 4, hidden: 64, heads: 4, vocab: 512, sequence: 128}
batch: {global: 4}
parallel: {dp: 4}
"""

STEP = f"""\
{PLAN}hardware: {{capacity: 12 MiB, compute: 1 TFLOP/s, memory_bandwidth: 100 GB/s}}
topology: {{kind: crossbar, ranks: 4, bandwidth: 1 GB/s, overhead: 1 us}}
"""

SERVE = f"{STEP}memory: {{phase: inference}}\nserve: {{prompt: 64, output: 8}}\n"

DRAWN = """\
topology: {kind: leaf_spine, leaves: 2, spines: 2, hosts: 2, bandwidth: 1 GB/s}
collective: {kind: all_to_all, algorithm: direct, size: 1 MB}
network: {model: cut_through, routing: ecmp}
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "small.yaml"
    path.write_text(text, encoding="utf-8")
    return path
