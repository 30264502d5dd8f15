"""Several collectives on a ring of four."""

from __future__ import annotations

from simulator.scenario.together_load import loads_together
from simulator.scenario.together_result import TogetherResult
from simulator.scenario.together_run import run_together

RING = "topology: {kind: ring, ranks: 4, bandwidth: 1 GB/s, latency: 1 us}\n"
GATHER = "{kind: allgather, algorithm: ring, size: 4 MB}"
"""Three steps of 1 us + 1 MB at 1 GB/s, 1 ms."""


def ring(*entries: str, more: str = "") -> str:
    """A ring of four with a collective a line, the first in line 3."""
    return RING + "collectives:\n" + "".join(f"  - {entry}\n" for entry in entries) + more


def gather(more: str) -> str:
    return GATHER.replace("}", f", {more}}}")


def result_of(*entries: str, more: str = "") -> TogetherResult:
    return run_together(loads_together(ring(*entries, more=more), "a.yaml"))
