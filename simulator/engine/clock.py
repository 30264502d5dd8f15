"""Time inside the engines (moved)."""

from topologies.clock import FEMTOSECONDS, LONGEST, exact_seconds, femtoseconds, to_seconds

__all__ = ["FEMTOSECONDS", "LONGEST", "exact_seconds", "femtoseconds", "to_seconds"]
