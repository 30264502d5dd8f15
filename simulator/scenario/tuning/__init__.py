"""Simulated winners as tables that communication libraries choose their algorithms by."""

from typing import Final

TABLES: Final = ("nccl-tuner", "openmpi", "openmpi-json")
"""Names of the tables."""
