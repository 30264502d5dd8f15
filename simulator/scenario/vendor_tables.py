"""The vendor's AllReduce beside the simulated one, for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from simulator.llm.vendor import VARIANTS, simulated_allreduce, vendor_allreduce
from simulator.scenario.answer import Answer
from simulator.scenario.ranges import parse_sizes
from simulator.scenario.sheets import Column, Sheet
from topologies.text import format_bytes

MICROSECOND = Fraction(1, 10**6)


@dataclass(frozen=True, slots=True)
class VendorRow:
    """Times of an AllReduce of one size, in s.

    Attributes
    ----------
    variant : str
    ranks, size : int
        N, and M in bytes.
    formula : Fraction
        The vendor's.
    serial, overlapped : Fraction
        Simulated, with the legs of a message one after the other, and at once.
    """

    variant: str
    ranks: int
    size: int
    formula: Fraction
    serial: Fraction
    overlapped: Fraction

    @property
    def saved(self) -> float | None:
        """Part of the serial time that overlapping saves; None where there is none."""
        return float(1 - self.overlapped / self.serial) if self.serial else None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class VendorTimes(Answer):
    """The vendor's AllReduce over sizes.

    Attributes
    ----------
    rows : tuple of VendorRow
    """

    rows: tuple[VendorRow, ...]

    @property
    def headline(self) -> str:
        """What it is of."""
        return f"AllReduce of {self.rows[0].ranks} SG2260" if self.rows else "nothing"


def vendor_times(
    sizes: Sequence[int] | str, ranks: int = 8, *, element: int = 2, variants: Sequence[str] = ()
) -> VendorTimes:
    """SG2260's AllReduce as its vendor prices it, and simulated.

    Parameters
    ----------
    sizes : sequence of int, or str
        M in bytes; or a range as ``"64KiB..64MiB"``, by doubling.
    ranks : int
        N, even or one.
    element : int
        Bytes.
    variants : sequence of {'tpu.json', 'newer'}
        Versions of the planner; all where there are none.

    Raises
    ------
    ModelError
        If N is odd.
    """
    known = parse_sizes(sizes) if isinstance(sizes, str) else sizes
    return VendorTimes(tuple(vendor_rows(variants, ranks, known, element)))


def vendor_rows(variants: Sequence[str], ranks: int, sizes: Sequence[int], element: int) -> list[VendorRow]:
    """A row for each variant and size.

    Raises
    ------
    ModelError
        If N is odd.
    """
    return [
        VendorRow(
            variant,
            ranks,
            size,
            vendor_allreduce(variant, ranks, size, element),
            simulated_allreduce(variant, ranks, size, element),
            simulated_allreduce(variant, ranks, size, element, "overlapped"),
        )
        for variant in variants or VARIANTS
        for size in sizes
    ]


def vendor_sheets(rows: Sequence[VendorRow]) -> list[Sheet]:
    """A table for each variant, in us."""
    names = dict.fromkeys(row.variant for row in rows)
    return [_sheet(name, [row for row in rows if row.variant == name]) for name in names]


def _sheet(variant: str, rows: Sequence[VendorRow]) -> Sheet:
    def us(header: str, times: Sequence[Fraction]) -> Column:
        return Column(header, [float(time / MICROSECOND) for time in times], "{:.3f}".format)

    return Sheet(
        f"AllReduce of {rows[0].ranks} SG2260 as SOPHGO's planner prices it ({variant}), us",
        (
            Column("variant", [variant] * len(rows), shown=False),
            Column("ranks", [row.ranks for row in rows], shown=False),
            Column("M", [row.size for row in rows], lambda size: format_bytes(size, 4)),
            us("formula", [row.formula for row in rows]),
            us("simulated", [row.serial for row in rows]),
            us("overlapped", [row.overlapped for row in rows]),
            Column("saved", [row.saved for row in rows], "{:.1%}".format),
        ),
    )


def vendor_json(rows: Sequence[VendorRow]) -> str:
    """All rows, times in s."""
    said = [
        {
            "variant": row.variant,
            "ranks": row.ranks,
            "size": row.size,
            "formula": float(row.formula),
            "simulated": float(row.serial),
            "overlapped": float(row.overlapped),
        }
        for row in rows
    ]
    return json.dumps(said, indent=2) + "\n"
