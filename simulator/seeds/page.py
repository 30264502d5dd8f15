"""Pages of findings: tables whose cells are statements with verdicts, written as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from simulator.llm.notation import parse
from simulator.llm.seed_rules import agreement
from simulator.llm.symbols import Expression

Verdict: TypeAlias = Literal["holds", "holds if", "corrected", "not tested"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One statement of the document.

    Attributes
    ----------
    said : str
        What it says there.
    verdict : {'holds', 'holds if', 'corrected', 'not tested'}
    found : str
        The condition, or what is so instead.
    """

    said: str
    verdict: Verdict
    found: str = ""

    def __str__(self) -> str:
        match self.verdict:
            case "holds":
                return self.said
            case "holds if":
                return f"{self.said} *if {self.found}*"
            case "corrected":
                return f"{self.said} **→ {self.found}**"
        return f"{self.said} (not tested)"


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence of the document, in our words, with a verdict and what was found."""

    said: str
    verdict: Verdict
    found: str


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of the document; a cell that is a text says nothing."""

    headers: tuple[str, ...]
    rows: tuple[tuple[Cell | str, ...], ...]

    @property
    def cells(self) -> Iterator[Cell]:
        """Its statements."""
        return (cell for row in self.rows for cell in row if isinstance(cell, Cell))


Block: TypeAlias = str | Grid | tuple[Remark, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page: paragraphs, tables and remarks."""

    title: str
    blocks: tuple[Block, ...]

    @property
    def verdicts(self) -> Iterator[Verdict]:
        """Of every statement."""
        for block in self.blocks:
            if isinstance(block, Grid):
                yield from (cell.verdict for cell in block.cells)
            elif isinstance(block, tuple):
                yield from (remark.verdict for remark in block)


def judged(said: str, exact: Expression) -> Cell:
    """An expression of the document beside what must be.

    Examples
    --------
    >>> print(judged("NLBD", parse("(N-1)LBD")))
    `NLBD` *if N >> 1; else `(N-1)LBD`*
    """
    when = agreement(parse(said), exact)
    if when == "always":
        return Cell(f"`{said}`", "holds")
    if when is None:
        return Cell(f"`{said}`", "corrected", f"`{exact}`")
    return Cell(f"`{said}`", "holds if", f"{when}; else `{exact}`")


def compared(said: str, found: str) -> Cell:
    """A word of the document beside what was derived."""
    return Cell(said, "holds") if said == found else Cell(said, "corrected", found)


def markdown(sections: Sequence[Section]) -> str:
    """All sections, one after the other."""
    return "\n".join(line for section in sections for line in _lines(section))


def _lines(section: Section) -> Iterator[str]:
    yield f"## {section.title}\n"
    for block in section.blocks:
        if isinstance(block, str):
            yield f"{block}\n"
        elif isinstance(block, Grid):
            yield from table(block.headers, ([str(cell) for cell in row] for row in block.rows))
        else:
            rows = ([remark.said, remark.verdict, remark.found] for remark in block)
            yield from table(("it says", "verdict", "collsim finds"), rows)


def table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Lines of a Markdown table, and an empty one."""
    yield f"| {' | '.join(headers)} |"
    yield "|" + "|".join("---" for _ in headers) + "|"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
    yield ""


def tally(sections: Iterable[Section]) -> dict[Verdict, int]:
    """How many statements have each verdict."""
    counts: dict[Verdict, int] = {"holds": 0, "holds if": 0, "corrected": 0, "not tested": 0}
    for section in sections:
        for verdict in section.verdicts:
            counts[verdict] += 1
    return counts


def verdict(within: Iterable[bool], beyond: Iterable[bool] = ()) -> Verdict:
    """Verdict on a statement from where it is true.

    Parameters
    ----------
    within : iterable of bool
        Whether it is true of each case that the document means.
    beyond : iterable of bool
        Of cases that its words allow and its author may not have meant.

    Examples
    --------
    >>> verdict([True, True]), verdict([True], [True, False]), verdict([True, False])
    ('holds', 'holds if', 'corrected')
    """
    if not all(within):
        return "corrected"
    return "holds" if all(beyond) else "holds if"
