"""States, primitives and strategies for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from simulator.llm.confirm import confirm
from simulator.llm.errors import ModelError
from simulator.llm.mesh import HSDP_MESH, MeshFlow, hsdp, mesh_flows
from simulator.llm.notation import quotient
from simulator.llm.overlap import application_rows
from simulator.llm.seed_rules import (
    SeedTraffic,
    agreement,
    coefficients,
    exact_forward,
    exact_training,
    seed_forward,
    seed_stored,
    seed_traffic,
    seed_training,
    stored,
)
from simulator.llm.states import STATES, Partitioned, Primitive, State, primitive
from simulator.llm.strategies import SEED_ROWS, STRATEGIES, Strategy, flows, states
from simulator.llm.symbols import Expression
from simulator.scenario.memory_tables import gib
from simulator.scenario.sheets import NOTHING, Column, Sheet

Values = Mapping[str, int]
"""Numbers for symbols."""


def show(value: Expression | None, values: Values, element: int = 1) -> str:
    """An expression, or bytes where its symbols have values.

    >>> from simulator.llm.symbols import symbols
    >>> N, L = symbols("N", "L")
    >>> show((N - 1) * L, {}), show((N - 1) * L, {"N": 8, "L": 2**30}, 2), show(None, {})
    ('(N-1)L', '14.000 GiB', '-')
    """
    if value is None:
        return NOTHING
    if not values:
        return str(value)
    return gib(value.at(**values) * element)


def primitives_sheet(ranks: int) -> Sheet:
    """Every change of state that moves something, with its figures and the schedule that confirms them."""
    shown: list[State] = [*STATES, Partitioned("b")]
    changes = [primitive(source, target) for source in shown for target in shown]
    rows = [change for change in changes if change.source != change.target and _is_first(change)]
    seeds = [seed_traffic(change.source, change.target) for change in rows]
    checks = [confirm(change, ranks) if change.kind else None for change in rows]
    return Sheet(
        f"what turns one state into another; M bytes, confirmed by counting on {ranks} ranks",
        (
            Column("from", [str(change.source) for change in rows], words=True),
            Column("to", [str(change.target) for change in rows], words=True),
            Column("primitive", [change.name for change in rows], words=True),
            Column("order", [change.order for change in rows]),
            Column("seed", [None if seed is None else str(seed.exact) for seed in seeds], words=True),
            Column("N >> 1", _rounded(seeds), words=True),
            Column("exact, all ranks", [str(change.exact_total) for change in rows], words=True),
            Column("a rank sends", [str(change.exact_rank) for change in rows], words=True),
            Column("seed / exact", [_ratio(*pair) for pair in zip(seeds, rows, strict=True)], words=True),
            Column(
                "confirmed by",
                [None if check is None else check.algorithm or "no schedule" for check in checks],
                words=True,
            ),
        ),
    )


def _rounded(seeds: Iterable[SeedTraffic | None]) -> list[str | None]:
    return [None if seed is None else str(seed.rounded) for seed in seeds]


def _is_first(change: Primitive) -> bool:
    """Partitions of one dimension stand for those of all; of two, only their exchange is shown."""
    other = Partitioned("b")
    if other not in (change.source, change.target):
        return True
    return change.source == Partitioned() and change.target == other


def _ratio(seed: SeedTraffic | None, change: Primitive) -> str | None:
    if seed is None:
        return None
    return quotient(seed.exact, change.exact_total) if change.exact_total.terms else "moves nothing"


def strategies_sheet() -> Sheet:
    """States of all variables under every strategy, and what moves."""
    rows = list(STRATEGIES.values())
    columns = [
        Column("strategy", [row.name for row in rows], words=True),
        Column("split", [_split(row) for row in rows], words=True),
    ]
    columns += [
        Column(variable, [_arrows(states(row)[variable]) for row in rows], words=True)
        for variable in ("X", "W", "Y", "dY", "dX", "dW")
    ]
    columns.append(Column("forward", [_moves(row, "forward") for row in rows], words=True))
    columns.append(Column("backward, update", [_moves(row, "") for row in rows], words=True))
    return Sheet("states: P(dim) partitioned, R replicated, Σ partial sums", tuple(columns))


def _split(strategy: Strategy) -> str:
    return ", ".join(strategy.splits)


def _arrows(found: Iterable[State]) -> str:
    return " → ".join(map(str, found))


def _moves(strategy: Strategy, phase: str) -> str:
    """Primitives of the forward pass, or of all others."""
    found: dict[str, int] = {}
    for flow in flows(strategy):
        if (flow.phase == "forward") == (phase == "forward"):
            word = f"{flow.change.name}({flow.variable})"
            found[word] = found.get(word, 0) + 1
    return ", ".join(word if count == 1 else f"{count} {word}" for word, count in found.items()) or NOTHING


def storage_sheet(values: Values, element: int) -> Sheet:
    """What all ranks hold of X, W and Y, as the second seed counts and exactly."""
    rows = list(STRATEGIES.values())
    columns = [Column("strategy", [row.name for row in rows], words=True)]
    for variable in ("X", "W", "Y"):
        seeds = [seed_stored(row)[variable] if row.name in SEED_ROWS else None for row in rows]
        exact = [stored(row)[variable] for row in rows]
        columns.append(_expressions(f"{variable} seed", seeds, values, element))
        columns.append(_expressions(f"{variable} exact", exact, values, element))
    parts = [_coefficients(row) if row.name in SEED_ROWS else None for row in rows]
    columns.append(Column("seed's coefficients", parts, words=True))
    conditions = [_conditions(row) if row.name in SEED_ROWS else None for row in rows]
    columns.append(Column("seed holds for", conditions, words=True))
    return Sheet("stored in inference, all ranks; elements of X, W and Y", tuple(columns))


def _coefficients(strategy: Strategy) -> str:
    return ", ".join(map(str, coefficients(seed_stored(strategy)).values()))


def _conditions(strategy: Strategy) -> str:
    seed, exact = seed_stored(strategy), stored(strategy)
    words = {variable: agreement(seed[variable], exact[variable]) or "never" for variable in seed}
    if strategy.zero == 3:
        # gathered into a buffer of its own, see `stored`
        words["W"] += ", no layer gathered ahead"
    if len(set(words.values())) == 1:
        return words["X"]
    return "; ".join(f"{variable} {word}" for variable, word in words.items())


def traffic_sheet(values: Values, element: int) -> Sheet:
    """What all ranks send, forward and in training, as the second seed counts and exactly."""
    rows = list(STRATEGIES.values())
    forward = [seed_forward(row) if row.name in SEED_ROWS else None for row in rows]
    # it says of FSDP only what training moves
    training = [seed_training(row) if row.name in SEED_ROWS else None for row in rows]
    exact = [(exact_forward(row), exact_training(row)) for row in rows]
    return Sheet(
        "sent in a step, all ranks; elements",
        (
            Column("strategy", [row.name for row in rows], words=True),
            _expressions("forward, seed", forward, values, element),
            _expressions("forward, exact", [pair[0] for pair in exact], values, element),
            Column("forward holds for", _agree(forward, [pair[0] for pair in exact]), words=True),
            _expressions("training, seed", training, values, element),
            _expressions("training, exact", [pair[1] for pair in exact], values, element),
            Column("training holds for", _agree(training, [pair[1] for pair in exact]), words=True),
        ),
    )


def _agree(seeds: Sequence[Expression | None], exact: Sequence[Expression]) -> list[str | None]:
    pairs = zip(seeds, exact, strict=True)
    return [None if seed is None else agreement(seed, right) or "never" for seed, right in pairs]


def _expressions(header: str, found: Sequence[Expression | None], values: Values, element: int) -> Column:
    return Column(header, [show(value, values, element) for value in found], words=True)


def seed_sheets(ranks: int = 8, values: Values | None = None, element: int = 2) -> list[Sheet]:
    """The second seed's tables, beside what must be.

    Parameters
    ----------
    ranks : int
        On how many the figures of primitives are confirmed.
    values : mapping of str to int, optional
        Numbers for L, B, I, O, D, N and k; the tables then hold bytes.
    element : int
        Bytes of an element.
    """
    numbers = {} if not values else _complete(values)
    size = element if numbers else 1
    return [
        primitives_sheet(ranks),
        strategies_sheet(),
        storage_sheet(numbers, size),
        traffic_sheet(numbers, size),
        flow_sheet(
            mesh_flows(hsdp(), HSDP_MESH), "HSDP: FSDP in groups of F ranks, DP between G groups; elements"
        ),
        applications_sheet(),
    ]


def applications_sheet() -> Sheet:
    """The first seed document's table of uses: the message that it names, what a rank sends for it."""
    rows = list(application_rows(STRATEGIES))
    return Sheet(
        "what a layer sends under TP, SP and ZeRO-3; M is the message that the first seed document names",
        (
            Column("strategy", [row.strategy for row in rows], words=True),
            Column("phase", [row.phase for row in rows], words=True),
            Column("primitive", [row.primitive for row in rows], words=True),
            Column("M", [row.message for row in rows], words=True),
            Column("a rank sends", [str(row.rank) for row in rows], words=True),
            Column("may overlap", [row.overlap for row in rows], words=True),
        ),
    )


def _complete(values: Values) -> dict[str, int]:
    """I, O and k where they are not given: as wide as D, and one expert a token."""
    width = values.get("D", values.get("I", values.get("O", 1)))
    numbers = {"I": width, "O": width, "D": width, "k": 1, **values}
    missing = [name for name in ("L", "B", "N") if name not in numbers]
    if missing:
        raise ModelError(f"no value for {', '.join(missing)}", (missing[0],))
    return numbers


def flow_sheet(rows: Sequence[MeshFlow], title: str) -> Sheet:
    """A row for everything that moves along an axis."""
    seeds = [seed_traffic(row.flow.change.source, row.flow.change.target) for row in rows]
    return Sheet(
        title,
        (
            Column("axis", [row.move.axis for row in rows], words=True),
            Column("phase", [row.flow.phase for row in rows], words=True),
            Column("variable", [row.flow.variable for row in rows], words=True),
            Column("from", [str(row.flow.change.source) for row in rows], words=True),
            Column("to", [str(row.flow.change.target) for row in rows], words=True),
            Column("primitive", [row.flow.change.name for row in rows], words=True),
            Column("order", [row.flow.change.order for row in rows]),
            Column("seed, N >> 1", _rounded(seeds), words=True),
            Column("exact, all ranks", [str(row.total) for row in rows], words=True),
            Column("a rank sends", [str(row.rank) for row in rows], words=True),
        ),
    )


def sheets_json(sheets: Sequence[Sheet]) -> str:
    """Tables as JSON: a title and a list of rows each."""
    written = [
        {
            "title": sheet.title,
            "rows": [
                {
                    column.header.strip(): _plain(value)
                    for column, value in zip(sheet.columns, row, strict=True)
                }
                for row in zip(*(column.values for column in sheet.columns), strict=True)
            ],
        }
        for sheet in sheets
    ]
    return json.dumps(written, indent=2, ensure_ascii=False) + "\n"


def _plain(value: object) -> object:
    return float(value) if isinstance(value, Fraction) else value
