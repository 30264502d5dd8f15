"""The whole page: docs/explanation/seed2.md."""

from __future__ import annotations

from functools import cache

from simulator.seeds.page import Section, markdown, tally
from simulator.seeds.seed2.basics import (
    dimensions_section,
    primitives_section,
    states_section,
    traffic_section,
)
from simulator.seeds.seed2.extras import (
    beyond_section,
    experts_section,
    machines_section,
    mnemonic_section,
)
from simulator.seeds.seed2.strategy_pages import storage_section, strategies_section, summary_section
from simulator.seeds.seed2.strategy_pages import traffic_section as strategy_traffic_section

HEAD = """# The second seed document, statement by statement

Two documents began this project. The second one describes parallel strategies by the states of variables
and the primitives that change them. Here is every table, formula and remark of it, in its order and in our
words, with what collsim derives: from who holds which share before and after, and from the dimension along
which a matrix product is cut. This page is generated (`make seed2`), and a test holds it against the code.

A cell that stands by itself holds. *if ...* names the condition, **→** what is so instead. L layers, B
tokens, I and O widths in and out (D where both are the same), N ranks, M the size of a variable; P(d)
partitioned along d, R replicated, C centralized, Σ partial sums.
"""


@cache
def sections() -> tuple[Section, ...]:
    """All parts, in the order of the document."""
    return (
        dimensions_section(),
        states_section(),
        primitives_section(),
        mnemonic_section(),
        machines_section(),
        traffic_section(),
        strategies_section(),
        storage_section(),
        strategy_traffic_section(),
        summary_section(),
        experts_section(),
        beyond_section(),
    )


def document() -> str:
    """The page as Markdown."""
    parts = sections()
    counts = tally(parts)
    said = (
        f"Of {sum(counts.values())} statements {counts['holds']} hold, {counts['holds if']} hold under a "
        "condition, "
        f"and {counts['corrected']} are corrected."
    )
    return f"{HEAD}\n{said}\n\n{markdown(parts)}".rstrip() + "\n"
