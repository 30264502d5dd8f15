"""What a page shows of a run: words, tables, bars, and charts in columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Chart: TypeAlias = Mapping[str, Any]
"""What the page's code draws: names, numbers and packed columns, as JSON."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A line of the summary.

    Attributes
    ----------
    label, text : str
    headline : bool
        Whether it stands above the others, in large letters.
    """

    label: str
    text: str
    headline: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes
    ----------
    title : str
    headers : sequence of str
    rows : sequence of sequence of str
    """

    title: str
    headers: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Stacks:
    """Bars of parts that lie one behind the other.

    Attributes
    ----------
    title : str
    parts : sequence of str
        Names, in order.
    bars : sequence of (str, sequence of int)
        Name of each bar, and fs of each part.
    """

    title: str
    parts: Sequence[str]
    bars: Sequence[tuple[str, Sequence[int]]]


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """A run as a page shows it.

    Attributes
    ----------
    name : str
    sentence : str
        What holds it back.
    time : int
        fs that it took.
    facts : sequence of Fact
    warnings : sequence of str
    stacks : sequence of Stacks
        What the time went into; of the first one the first bar sums to the time.
    tables : sequence of Table
    timeline : Chart
        As `spans.timeline_chart` or `tasks.tasks_chart` makes it.
    place : Chart or None
        As `place.place_chart` makes it: the topology.
    """

    name: str
    sentence: str
    time: int
    facts: Sequence[Fact]
    warnings: Sequence[str]
    stacks: Sequence[Stacks]
    tables: Sequence[Table]
    timeline: Chart
    place: Chart | None = None
