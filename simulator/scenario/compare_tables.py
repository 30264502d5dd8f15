"""A comparison for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from simulator.scenario.crossings import leaders
from simulator.scenario.tables import NOTHING, ROOMY, new_table, number_text
from topologies.clock import to_seconds
from topologies.text import format_bytes, format_time

if TYPE_CHECKING:
    from rich.table import Table

    from simulator.scenario.compare import Comparison, Contender
    from simulator.scenario.crossings import Winners

DIGITS: Final = 4
FEW: Final = 6
"""Algorithms whose times stand beside each other at every size."""

TERMS: Final = (
    "algorithm",
    "steps",
    "latency term",
    "bandwidth term",
    "optimal",
    "exact on",
    "peers",
    "hops",
)
TIMES: Final = (
    "algorithm",
    "latency",
    "bandwidth",
    "reduction",
    "closed form",
    "time",
    "bound",
    "binds",
    "gap",
)


def contenders_tables(comparison: Comparison, width: int) -> Iterator[Table]:
    """The algorithms at the scenario's own size, the fastest first: their terms, and their times."""
    kind = comparison.scenario.collective.kind
    title = f"{kind} of {format_bytes(comparison.size)} by {comparison.ranks} ranks"
    ranked = sorted(comparison.contenders, key=lambda one: one.time)
    roomy = width >= ROOMY
    yield _table(title, TERMS, TERMS if roomy else TERMS[:5], map(_terms_row, ranked))
    yield _table(None, TIMES, TIMES if roomy else ("algorithm", *TIMES[4:7], "gap"), map(_times_row, ranked))


def _table(
    title: str | None, headers: Sequence[str], shown: Sequence[str], rows: Iterable[Sequence[str]]
) -> Table:
    table = new_table(*shown, title=title)
    for row in rows:
        cells = dict(zip(headers, row, strict=True))
        table.add_row(*(cells[header] for header in shown))
    return table


def _terms_row(one: Contender) -> tuple[str, ...]:
    terms = one.terms
    return (
        one.name + (f" ({one.fallback})" if one.fallback else ""),
        str(one.steps),
        NOTHING if terms is None else sum_text(terms.alphas, "alpha"),
        NOTHING if terms is None else sum_text(terms.shares, "M/beta"),
        NOTHING if terms is None else terms.optimal,
        one.ideal or NOTHING,
        str(one.peers),
        str(one.hops),
    )


def _times_row(one: Contender) -> tuple[str, ...]:
    parts = (None,) * 3 if one.terms is None else one.terms.parts
    whole = None if None in parts else sum(part or 0 for part in parts)
    time, best = to_seconds(one.time), one.bounds.best
    return (
        one.name,
        *map(_time_text, (*parts, whole)),
        _time_text(time),
        _time_text(best),
        one.bounds.binds if best > 0 else NOTHING,
        number_text(time / best if best > 0 else None, "{:.3f}"),
    )


def _time_text(seconds: float | None) -> str:
    return NOTHING if seconds is None else format_time(seconds, DIGITS)


def sum_text(terms: Mapping[int, int | Fraction], unit: str) -> str:
    """So many units, level by level from the innermost.

    >>> sum_text({0: Fraction(3, 4), 1: Fraction(1)}, "M/beta"), sum_text({0: 0, 1: 3}, "alpha")
    ('3/4 + 1 M/beta', '3 alpha')
    """
    some = [str(value) for _, value in sorted(terms.items()) if value]
    return f"{' + '.join(some) or 0} {unit}"


def winners_table(comparison: Comparison) -> Table:
    """A row a size: who is fastest, and how far from the bound."""
    table = new_table("size", "algorithm", "time", "bound", "gap", "next after", title="fastest by size")
    rows = zip(comparison.winners, leaders(comparison.winners), comparison.floor, strict=True)
    for here, leader, bound in rows:
        table.add_row(format_bytes(here.size), *_fastest(here, leader, bound))
    return table


def _fastest(here: Winners, leader: str | None, bound: float | None) -> tuple[str, ...]:
    if leader is None or here.time is None or bound is None:
        return ("none can run", *(NOTHING,) * 4)
    time = to_seconds(here.time)
    others = [name for name in here.names if name != leader]
    ahead = None if here.runner_up is None or not here.time else here.runner_up / here.time
    return (
        leader + (f" = {' = '.join(others)}" if others else ""),
        format_time(time, DIGITS),
        format_time(bound, DIGITS),
        number_text(time / bound if bound > 0 else None, "{:.3f}"),
        number_text(ahead, "x {:.3f}"),
    )


def sizes_table(comparison: Comparison) -> Table:
    """A row a size: every algorithm's time, and how near the fastest is to the bound."""
    names = list(comparison.times)
    table = new_table("size", *names, "bound", "% of bound", title="time by size")
    for number, (here, bound) in enumerate(zip(comparison.winners, comparison.floor, strict=True)):
        times = [comparison.times[name][number] for name in names]
        best = None if here.time is None else to_seconds(here.time)
        near = None if bound is None or not best else 100 * bound / best
        table.add_row(
            format_bytes(here.size),
            *(_time_text(None if time is None else to_seconds(time)) for time in times),
            _time_text(bound),
            number_text(near, "{:.1f}"),
        )
    return table


def crossover_lines(comparison: Comparison) -> Iterator[str]:
    """Where another becomes the fastest, a line each."""
    if len(comparison.sizes) < 2:
        return
    if not comparison.crossovers:
        yield "no crossover: the fastest stays the fastest"
    for one, met in comparison.crossovers:
        beside = "" if met is None else f"; their closed forms meet at {_about(round(met))}"
        yield f"{one.before} -> {one.after} from {_about(one.size)} on, found to {one.within} B{beside}"


def _about(size: int) -> str:
    """A size to three digits and to the byte.

    >>> _about(153600), _about(999)
    ('154 kB (153600 B)', '999 B')
    """
    short, whole = format_bytes(size, 3), f"{size} B"
    return whole if short == whole else f"{short} ({whole})"


def refused_lines(comparison: Comparison) -> Iterator[str]:
    """Why other algorithms were not compared, or not at every size; those with one reason in one line."""
    for name, reason in comparison.stopped.items():
        yield f"not at every size: {name}: {reason}"
    by_reason: dict[str, list[str]] = {}
    for name, reason in comparison.refused.items():
        by_reason.setdefault(reason, []).append(name)
    for reason, names in by_reason.items():
        yield f"not compared: {', '.join(names)}: {reason}"
