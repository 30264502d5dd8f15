"""The catalogue of algorithms on a terminal: a list, the steps of one, its sums, the counts of all."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from algorithms.algorithm import Algorithm
from algorithms.collective import EVERY
from algorithms.order import associations, keeps_order, text
from algorithms.registry import ALGORITHMS
from algorithms.trace import TracedStep, ranges_text, trace
from simulator.scenario.rows import Kind, Rows
from simulator.scenario.tables import new_table, share_text

if TYPE_CHECKING:
    from rich.table import Table

    from algorithms.schedule import Schedule
    from algorithms.steps import StepTable, Work

SHOWN = 16
"""Transfers of a step that a table names one by one."""

KEEPS = {
    "any root": "kept: operators need not commute",
    "root 0": "kept for root 0; for other roots, operators must commute",
    "no": "not kept: operators must commute",
}


def algorithms_table() -> Table:
    """The catalogue."""
    table = new_table("algorithm", "collectives", "formula", "keeps order", "source")
    for algorithm in ALGORITHMS.values():
        order = algorithm.keeps_order if algorithm.reduces else "-"
        collectives = ", ".join(algorithm.collectives)
        table.add_row(algorithm.name, collectives, algorithm.formula, order, algorithm.source)
    return table


def algorithm_facts(algorithm: Algorithm) -> dict[str, str]:
    """What the catalogue says of an algorithm."""
    return {
        "collectives": ", ".join(algorithm.collectives),
        "options": ", ".join(algorithm.options) or "none",
        "closed form": algorithm.formula,
        "exact on": algorithm.ideal or "no topology",
        "made for": algorithm.constraint,
        "rank order": KEEPS[algorithm.keeps_order] if algorithm.reduces else "nothing is combined",
        "source": algorithm.source,
    }


def algorithm_lines(algorithm: Algorithm) -> list[str]:
    """The same on a terminal, below what it is."""
    facts = algorithm_facts(algorithm)
    return [algorithm.summary, *(f"{name:<11}  {fact}" for name, fact in facts.items())]


def trace_table(schedule: Schedule) -> Table:
    """The schedule step by step; sizes in units of the full vector M."""
    size = schedule.collective.size
    title = f"{schedule.algorithm} {schedule.collective.kind}, N = {schedule.ranks}"
    table = new_table("step", "transfers", "message", "live / rank after", title=title)
    several = bool(schedule.channel.any())
    for step in trace(schedule):
        number = f"{step.step}" + (f" ({step.channel})" if several else "")
        table.add_row(number, _moves(step), _share(step.sent, size), _share(step.live, size))
    return table


def _moves(step: TracedStep) -> str:
    pairs = step.pairs()
    if pairs is not None:
        parts = [f"({a},{b})" for a, b in pairs]
    else:
        parts = [f"{move.src}->{move.dst}:{ranges_text(move.chunks, ',')}" for move in step.moves]
    more = f" ... {len(step.moves)} transfers" if len(parts) > SHOWN else ""
    return " ".join(parts[:SHOWN]) + more


def _share(span: tuple[int, int], size: int) -> str:
    """Bytes in units of M: M/4, or 3M/8 to M."""
    low, high = (share_text(Fraction(amount, size) if size else Fraction(0)) for amount in span)
    return low if low == high else f"{low} to {high}"


def order_lines(schedule: Schedule) -> Iterator[str]:
    """Who is combined with whom: a line a sum, for the chunks, and the ranks, that end with it."""
    yield f"{schedule.algorithm} {schedule.collective.kind}, N = {schedule.ranks}"
    if (schedule.collective.source != EVERY).all():
        yield "nothing is combined: every chunk is copied"
        return
    sums: dict[int, str] = {}
    chunks: dict[tuple[tuple[int, str], ...], list[int]] = {}
    for chunk, trees in enumerate(associations(schedule)):
        ranks: dict[int, list[int]] = {}
        for rank, tree in trees.items():
            ranks.setdefault(id(tree), []).append(rank)
            if id(tree) not in sums:
                sums[id(tree)] = text(tree)
        # where all ranks end with the same sum, it does not matter which they are
        where = [f", {_numbers('rank', members)}" if len(ranks) > 1 else "" for members in ranks.values()]
        chunks.setdefault(tuple(zip(ranks, where, strict=True)), []).append(chunk)
    for ends, members in chunks.items():
        for tree_id, where_text in ends:
            yield f"{_numbers('chunk', members)}{where_text}: {sums[tree_id]}"
    kept = keeps_order(schedule)
    yield f"rank order: {'kept; operators need not commute' if kept else 'not kept; operators must commute'}"


def _numbers(what: str, members: list[int]) -> str:
    """Chunk 3, or chunks 0-2 5.

    >>> _numbers("chunk", [3]), _numbers("rank", [0, 1, 2, 5])
    ('chunk 3', 'ranks 0-2 5')
    """
    return f"{what}{'s' if len(members) > 1 else ''} {ranges_text(tuple(members))}"


FIGURES: Mapping[str, Callable[[Work], int | Fraction]] = MappingProxyType(
    {
        "steps": lambda work: work.steps,
        "messages": lambda work: work.totals.messages,
        "bytes": lambda work: work.totals.sent,
        "reduced": lambda work: work.totals.reduced,
    }
)
"""What is counted of every schedule, bytes in units of M."""


def steps_tables(counted: StepTable, what: str) -> Iterator[Table]:
    """A table a collective: algorithms down, N across."""
    for kind, algorithms in counted.items():
        ranks = next(iter(algorithms.values()))
        table = new_table("algorithm", *(str(n) for n in ranks), title=f"{kind}, {what} by N")
        for name, by_ranks in algorithms.items():
            table.add_row(name, *(str(FIGURES[what](work)) for work in by_ranks.values()))
        yield table


def steps_rows(counted: StepTable) -> Rows:
    """A row for every collective, algorithm and N; shares of M, which may be fractions."""
    kinds: dict[str, Kind] = {"collective": str, "algorithm": str, "ranks": int, "steps": int}
    return Rows(kinds | {"messages": int, "bytes": _number, "reduced": _number}, partial(_steps, counted))


def _number(share: str) -> float:
    """A fraction, as a number."""
    return float(Fraction(share))


def _steps(counted: StepTable) -> Iterator[tuple[str | int, ...]]:
    for kind, algorithms in counted.items():
        for name, by_ranks in algorithms.items():
            for ranks, work in by_ranks.items():
                yield (kind, name, ranks, *(str(figure(work)) for figure in FIGURES.values()))


def steps_json(counted: StepTable) -> str:
    """By collective, algorithm and N; a line an algorithm, so that changes show line by line."""
    kinds = []
    for kind, algorithms in counted.items():
        lines = [f"{json.dumps(name)}: {json.dumps(_plain(by))}" for name, by in algorithms.items()]
        kinds.append(f"{json.dumps(kind)}: {{\n" + ",\n".join(lines) + "\n}")
    return "{" + ",\n".join(kinds) + "}\n"


def _plain(by_ranks: Mapping[int, Work]) -> dict[str, dict[str, int | float]]:
    return {
        str(ranks): {
            name: value if isinstance(value := figure(work), int) else float(value)
            for name, figure in FIGURES.items()
        }
        for ranks, work in by_ranks.items()
    }
