"""The first half: dimensions, states, primitives and their traffic."""

from __future__ import annotations

from collections.abc import Iterator

from simulator.llm.confirm import confirm
from simulator.llm.notation import parse, quotient
from simulator.llm.products import FORWARD, is_related
from simulator.llm.seed_rules import seed_traffic
from simulator.llm.states import (
    CENTRALIZED,
    PARTIAL,
    REPLICATED,
    Centralized,
    Partitioned,
    Primitive,
    State,
    primitive,
    storage,
)
from simulator.llm.strategies import STRATEGIES, flows, states
from simulator.llm.symbols import Expression
from simulator.seeds.page import Cell, Grid, Remark, Section, compared, judged
from simulator.seeds.seed2.claims import PRIMITIVES, RELATED, STORED, TRAFFIC

BY_LETTER: dict[str, State] = {"P": Partitioned(), "R": REPLICATED, "C": CENTRALIZED, "Σ": PARTIAL}
COUNTED_ON = 8
"""Ranks on which bytes are counted and times are simulated."""

SECOND_ORDER = ((Partitioned(), REPLICATED), (PARTIAL, Partitioned()), (PARTIAL, REPLICATED))


def dimensions_section() -> Section:
    """A layer's dimensions and variables."""
    rows: tuple[tuple[Cell | str, ...], ...] = tuple(
        (variable, *(_related(variable, dim, said) for dim, said in cells.items()))
        for variable, cells in RELATED.items()
    )
    counts = {dim: [is_related(variable, dim) for variable in RELATED].count(True) for dim in "LBOI"}
    three = [dim for dim, count in counts.items() if count == len(RELATED)]
    remarks = (
        Remark(
            "A linear layer has the dimensions B, I and O; with the layers L, along which a pipeline "
            "works, four.",
            "holds",
            f"Y = X W sums over {FORWARD.summed}; its backward products sum over "
            f"{' and '.join(product.summed for product in FORWARD.adjoints())}. Two more are needed for "
            "what the "
            "document leaves out: the sequence S inside B (SP, CP), and the experts E (EP).",
        ),
        Remark(
            "To split B, O or I finds two related variables and one unrelated; to split L, three related.",
            "holds" if three == ["L"] and set(counts.values()) == {2, 3} else "corrected",
            ", ".join(f"{dim}: {count} of 3" for dim, count in counts.items()) + ".",
        ),
    )
    return Section("Dimensions and variables", (Grid(("variable", "L", "B", "O", "I"), rows), remarks))


def _related(variable: str, dim: str, said: bool) -> Cell:
    word = "related" if said else "-"
    return compared(word, "related" if is_related(variable, dim) else "-")


def states_section() -> Section:
    """The states and what they take."""
    names = {"P": "partitioned", "R": "replicated", "C": "centralized"}
    rows = tuple((names[letter], judged(said, storage(BY_LETTER[letter]))) for letter, said in STORED.items())
    free = primitive(REPLICATED, Partitioned())
    paid = primitive(PARTIAL, Partitioned())
    remarks = (
        Remark(
            "There are more ways to lay a variable out; three are enough to talk about.",
            "holds",
            "collsim gives every variable a state on each axis of a mesh, as PyTorch's DTensor does; with "
            "one "
            "axis these are the document's.",
        ),
        Remark(
            "Partial sums differ from rank to rank, but can be counted as copies.",
            "corrected",
            f"They take as much ({storage(PARTIAL)}), but they are a state of their own, Σ. From copies to "
            "parts is "
            f"a {free.name} that moves {free.exact_total}; from partial sums to parts is a {paid.name} "
            "that moves "
            f"{paid.exact_total}. Where the document says R → P or R → C and names a primitive that "
            "reduces, read Σ.",
        ),
    )
    return Section("Three states", (Grid(("state", "stored in all"), rows), remarks))


def primitives_section() -> Section:
    """What turns one state into another."""
    letters = ("P", "R", "C")
    rows = tuple((source, *(_transition(source, target) for target in letters)) for source in letters)
    return Section(
        "Primitives",
        (
            "From row to column, with the order in brackets. Derived from who holds which share before and "
            "after.",
            Grid(("from", *letters), rows),
            tuple(_primitive_remarks()),
            _missing(),
        ),
    )


def _missing() -> str:
    exchange = primitive(Partitioned("a"), Partitioned("b"))
    return (
        "Not in the table: from parts along one dimension to parts along another is an "
        f"{exchange.name}, `{exchange.exact_total}`; {' and '.join(exchange.legs)} would move twice that. "
        "Experts "
        "and Ulysses are made of it."
    )


def _transition(source: str, target: str) -> Cell | str:
    if source == target:
        return "-"
    name, order = PRIMITIVES[source, target]
    said = f"{name} ({order})"
    found = primitive(BY_LETTER[source], BY_LETTER[target])
    if (found.name, found.order) == (name, order):
        return Cell(said, "holds")
    summed = primitive(PARTIAL, BY_LETTER[target])
    if source == "R" and (summed.name, summed.order) == (name, order):
        return Cell(said, "holds if", f"from Σ; from R a {found.name}, which moves nothing")
    return Cell(said, "corrected", f"{found.name} ({found.order})")


def _primitive_remarks() -> Iterator[Remark]:
    gather = primitive(Partitioned(), REPLICATED)
    reduced, gathered = primitive(PARTIAL, Partitioned()), gather
    both = reduced.exact_total + gathered.exact_total
    whole = primitive(PARTIAL, REPLICATED)
    yield Remark(
        "Only the centralized state changes into any other directly; the others go through it.",
        "corrected",
        "As a way to count the order it works. But no schedule needs the step: "
        f"{', '.join(_direct(primitive(*pair)) for pair in SECOND_ORDER)}.",
    )
    yield Remark(
        "Second order is a way to remember: the middle step is not there in practice.",
        "holds",
        f"The two steps of {gather.name} are {' and '.join(gather.legs)}. Taken for real, they cost what "
        "the next "
        "table says.",
    )
    yield Remark(
        "All-Reduce is Reduce-Scatter and All-Gather: from partial sums to the output.",
        "holds" if both == whole.exact_total else "corrected",
        f"Σ → P → R moves {reduced.exact_total} and {gathered.exact_total}; Σ → R at least "
        f"{whole.exact_total}.",
    )
    yield _equality()
    yield _most_used()


def _direct(change: Primitive) -> str:
    found = confirm(change, COUNTED_ON)
    return f"{change.name} by `{found.algorithm}`"


def _equality() -> Remark:
    centralized = [
        name
        for name, strategy in STRATEGIES.items()
        if any(isinstance(state, Centralized) for found in states(strategy).values() for state in found)
    ]
    busiest = primitive(CENTRALIZED, REPLICATED).exact_rank, primitive(Partitioned(), REPLICATED).exact_rank
    return Remark(
        "One rank that holds everything makes ranks unequal, so strategies rarely leave a variable "
        "centralized.",
        "corrected" if centralized else "holds",
        f"No strategy does. Its rank must send {busiest[0]} to all; in an All-Gather every rank sends "
        f"{busiest[1]}.",
    )


def _most_used() -> Remark:
    counts: dict[str, int] = {}
    for strategy in STRATEGIES.values():
        for name in {flow.change.name for flow in flows(strategy)}:
            counts[name] = counts.get(name, 0) + 1
    most = sorted(counts, key=lambda name: (-counts[name], name))
    return Remark(
        "All-Gather and Reduce-Scatter are what is mostly used.",
        "holds" if set(most[:2]) == {"All-Gather", "Reduce-Scatter"} else "corrected",
        f"Of {len(STRATEGIES)} strategies, in a training step: "
        + ", ".join(f"{name} in {counts[name]}" for name in most)
        + ".",
    )


def traffic_section() -> Section:
    """Traffic of the primitives."""
    rows = []
    for name, (exact, rounded) in TRAFFIC.items():
        source, target = next(pair for pair, (said, _) in PRIMITIVES.items() if said == name)
        change = primitive(PARTIAL if source == "R" else BY_LETTER[source], BY_LETTER[target])
        found = confirm(change, COUNTED_ON)
        rows.append(
            (
                name,
                judged(exact, change.exact_total),
                _rounded(source, target, rounded),
                f"`{change.exact_rank}`",
                f"`{found.algorithm}`" if found.holds else "no schedule",
            )
        )
    headers = ("primitive", "exactly", "for N >> 1", "a rank sends", f"confirmed on {COUNTED_ON} ranks by")
    return Section(
        "Traffic of the primitives",
        (
            "System totals, beside the least that must leave all ranks, and the least that the busiest "
            "must send. "
            "A schedule of the catalogue sends exactly both.",
            Grid(headers, tuple(rows)),
            "How far the second-order figures are above the least, as they are added up and rounded:",
            _ratios(),
            tuple(_traffic_remarks()),
            "The first seed document counts a rank of a ReduceScatter, (N-1)M/N. N ranks then send "
            "`(N-1)M`, the "
            "least; the two documents differ by (N+1)/N, or by N/(N-1) when rounded.",
        ),
    )


def _rounded(source: str, target: str, said: str) -> Cell:
    found = seed_traffic(BY_LETTER[source], BY_LETTER[target])
    assert found is not None
    return Cell(f"`{said}`", "holds") if parse(said) == found.rounded else judged(said, found.rounded)


def _ratios() -> Grid:
    sizes = (2, 4, 8, 16, 64, 512)
    found, least = seed_traffic(Partitioned(), REPLICATED), primitive(Partitioned(), REPLICATED).exact_total
    assert found is not None
    rows = tuple(
        (f"{word}, `{quotient(value, least)}`", *(f"{_at(value, n) / _at(least, n):.4f}" for n in sizes))
        for word, value in (("added up", found.exact), ("rounded", found.rounded))
    )
    return Grid(("N", *map(str, sizes)), rows)


def _at(value: Expression, ranks: int) -> float:
    return float(value.at(N=ranks, M=1))


def _traffic_remarks() -> Iterator[Remark]:
    yield Remark(
        "For N >> 1 the sum of both steps is about NM.",
        "holds",
        "The sum is `(N-1)(N+1)M/N`, which is near NM at any N; the least, `(N-1)M`, is not at small ones.",
    )
