"""The whole page: docs/explanation/seed1.md."""

from __future__ import annotations

from functools import cache

from simulator.seeds.page import Section, markdown, tally
from simulator.seeds.seed1.constraints import comparison_section, constraints_section
from simulator.seeds.seed1.derivations import derivation_section
from simulator.seeds.seed1.halvings import halving_section
from simulator.seeds.seed1.hierarchies import allreduce_section
from simulator.seeds.seed1.levels import levels_section
from simulator.seeds.seed1.limits import limits_section
from simulator.seeds.seed1.rings import ring_section
from simulator.seeds.seed1.semantics import semantics_section
from simulator.seeds.seed1.takeaways import key_points_section, takeaways_section
from simulator.seeds.seed1.uses import uses_section

HEAD = """# The first seed document, statement by statement

Two documents began this project. The first one describes ReduceScatter: what it is, its lower bounds,
three algorithms, and its uses in the training of large language models. Here is every formula, table and
claim of it, in its order and in our words, with what collsim computes: schedules are built, proven on data,
counted, and simulated. The two derivations that it refers to but does not contain are written out. This page
is generated (`make seed1`), and a test holds it against the code.

A cell that stands by itself holds. *if ...* names the condition, **→** what is so instead. N ranks (nodes), M
the bytes that each has before a ReduceScatter, alpha the start of a message, beta the bandwidth of a link,
gamma that of a reducer; p_i the size of level i, P_i = p_0 ... p_i. Where nothing else is said M is 1 GiB,
alpha 1 us, beta 64 GB/s and gamma 512 GB/s; beta and gamma are the document's.
"""


@cache
def sections() -> tuple[Section, ...]:
    """All parts, in the order of the document; a derivation follows the place that refers to it."""
    return (
        key_points_section(),
        semantics_section(),
        limits_section(),
        derivation_section(),
        ring_section(),
        halving_section(),
        constraints_section(),
        comparison_section(),
        levels_section(),
        allreduce_section(),
        uses_section(),
        takeaways_section(),
    )


def document() -> str:
    """The page as Markdown."""
    parts = sections()
    counts = tally(parts)
    said = (
        f"Of {sum(counts.values())} statements {counts['holds']} hold, {counts['holds if']} hold under a "
        f"condition, and {counts['corrected']} are corrected."
    )
    return f"{HEAD}\n{said}\n\n{markdown(parts)}".rstrip() + "\n"
