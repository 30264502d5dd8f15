"""What the time of a critical path can go into."""

from __future__ import annotations

from typing import Final

PARTS: Final = ("latency", "overhead", "serialization", "queueing", "reduction", "compute", "waiting")
"""By name: `waiting` is for a rank, or a collective, that begins late."""

LATENCY, OVERHEAD, SERIALIZATION, QUEUEING, REDUCTION, COMPUTE, WAITING = range(len(PARTS))
