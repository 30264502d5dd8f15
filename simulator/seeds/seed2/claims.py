"""The second seed document's tables, cell by cell, as they stand there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

RELATED: Final[Mapping[str, Mapping[str, bool]]] = MappingProxyType(
    {
        "X": {"L": True, "B": True, "O": False, "I": True},
        "W": {"L": True, "B": False, "O": True, "I": True},
        "Y": {"L": True, "B": True, "O": True, "I": False},
    }
)
"""Which variable has which dimension."""

STORED: Final[Mapping[str, str]] = MappingProxyType({"P": "M", "R": "NM", "C": "M"})
"""What a state takes in the whole system."""

PRIMITIVES: Final[Mapping[tuple[str, str], tuple[str, int]]] = MappingProxyType(
    {
        ("P", "R"): ("All-Gather", 2),
        ("P", "C"): ("Gather", 1),
        ("R", "P"): ("Reduce-Scatter", 2),
        ("R", "C"): ("Reduce", 1),
        ("C", "P"): ("Scatter", 1),
        ("C", "R"): ("Broadcast", 1),
    }
)
"""What turns one state into another, and of which order it is."""

TRAFFIC: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "Gather": ("(N-1)M/N", "M"),
        "Scatter": ("(N-1)M/N", "M"),
        "Broadcast": ("(N-1)M", "NM"),
        "Reduce": ("(N-1)M", "NM"),
        "All-Gather": ("(N-1)M/N + (N-1)M", "NM"),
        "Reduce-Scatter": ("(N-1)M/N + (N-1)M", "NM"),
    }
)
"""Of each primitive, exactly and for N >> 1."""


@dataclass(frozen=True, slots=True)
class Row:
    """A strategy's cells in all tables.

    Attributes
    ----------
    split : str
        The dimension that it divides.
    name : str
    states, stored, coefficients : tuple of str
        Of X, W and Y.
    total : str
        Stored in all.
    between : tuple of str
        States of Y and of the next X.
    primitive, forward, training : str
        What moves, and how much; training is said of FSDP only.
    """

    split: str
    name: str
    states: tuple[str, str, str]
    stored: tuple[str, str, str]
    total: str
    coefficients: tuple[str, str, str]
    between: tuple[str, str]
    primitive: str
    forward: str
    training: str = ""


ROWS: Final[Mapping[str, Row]] = MappingProxyType(
    {
        "pp": Row(
            "Layer",
            "PP",
            ("P", "P", "P"),
            ("LBI", "LOI", "LBO"),
            "LBI + LOI + LBO",
            ("1/N", "1/N", "1/N"),
            ("P", "P"),
            "-",
            "LBD",
        ),
        "dp": Row(
            "Batch",
            "DP",
            ("P", "R", "P"),
            ("BI", "NLOI", "BO"),
            "BI + NLOI + BO",
            ("1/LN", "1", "1/LN"),
            ("P", "P"),
            "-",
            "0",
        ),
        "tp-column": Row(
            "Output",
            "TP column",
            ("R", "P", "P"),
            ("NBI", "LOI", "BO"),
            "NBI + LOI + BO",
            ("1/L", "1/N", "1/LN"),
            ("P", "R"),
            "All-Gather",
            "NLBD",
        ),
        "tp-row": Row(
            "Input",
            "TP row",
            ("P", "P", "R"),
            ("BI", "LOI", "NBO"),
            "BI + LOI + NBO",
            ("1/LN", "1/N", "1/L"),
            ("R", "P"),
            "Reduce-Scatter",
            "NLBD",
        ),
        "fsdp": Row(
            "Batch + one of W's",
            "FSDP",
            ("P", "P → R → P", "P"),
            ("BI", "LOI + NOI", "BO"),
            "BI + LOI + NOI + BO",
            ("1/LN", "1/N + 1/L", "1/LN"),
            ("P", "P"),
            "All-Gather(W); 2 All-Gather(W), Reduce-Scatter(dW)",
            "NLOI",
            "3NLOI",
        ),
    }
)
"""The strategies, in its order."""
