"""The second half: strategies, what they store and send, the summary and the closing remark."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from simulator.llm.notation import quotient
from simulator.llm.seed_rules import (
    coefficients,
    exact_forward,
    exact_training,
    seed_forward,
    seed_training,
    stored,
)
from simulator.llm.states import PARTIAL, Partitioned, State
from simulator.llm.strategies import STRATEGIES, Habits, Strategy, flows, states
from simulator.llm.symbols import Expression, expression, symbol, total
from simulator.seeds.page import Cell, Grid, Remark, Section, compared, judged
from simulator.seeds.seed2.claims import ROWS

VARIABLES = ("X", "W", "Y")
WORKED = {"L": 80, "B": 4096, "I": 8192, "O": 8192, "D": 8192, "N": 8, "k": 1}
"""The worked example: 80 layers, 4096 tokens, widths of 8192, 8 ranks, 2 bytes an element."""


def strategies_section() -> Section:
    """States of X, W and Y."""
    rows: tuple[tuple[Cell | str, ...], ...] = tuple(
        (
            row.split,
            row.name,
            *(
                _state(said, states(STRATEGIES[name])[variable])
                for variable, said in zip(VARIABLES, row.states, strict=True)
            ),
        )
        for name, row in ROWS.items()
    )
    return Section(
        "Strategies by the dimension that they split",
        (Grid(("split", "strategy", *VARIABLES), rows), tuple(_strategy_remarks()), _in_turn()),
    )


def _state(said: str, found: tuple[State, ...]) -> Cell:
    letters = ["P" if isinstance(state, Partitioned) else str(state) for state in found]
    if said == "R" and found == (PARTIAL,):
        return Cell(said, "corrected", "Σ")
    return compared(said, " → ".join(letters))


def _strategy_remarks() -> Iterator[Remark]:
    column = STRATEGIES["tp-column"]
    yield Remark(
        "A split along a dimension that a variable has makes it partitioned, along another one replicated.",
        "holds if",
        "it is an operand. A result that has not the dimension was summed over it: Σ. That is Y of TP row, "
        f"and in the backward pass dX of TP column ({states(column)['dX'][0]}) and dW of DP "
        f"({states(STRATEGIES['dp'])['dW'][0]}).",
    )
    yield Remark(
        "There are four strategies that split one dimension.",
        "holds",
        "L, B, O and I are PP, DP, TP column and TP row. S and E give two more (CP, EP).",
    )
    fsdp, dp = stored(STRATEGIES["fsdp"]), stored(STRATEGIES["dp"])
    yield Remark(
        "FSDP splits along several dimensions; what does not fit memory becomes traffic.",
        "holds",
        f"Of W a rank holds {coefficients(dp)['W']} under DP and {coefficients(fsdp)['W']} under FSDP; "
        "forward it "
        f"sends {exact_forward(STRATEGIES['dp'])} and {exact_forward(STRATEGIES['fsdp'])} with all others.",
    )


def _in_turn() -> str:
    column, row = STRATEGIES["tp-column"], STRATEGIES["tp-row"]
    pair = total(flow.total for flow in flows(STRATEGIES["tp"]) if flow.phase == "forward")
    assert pair == exact_forward(column) == exact_forward(row)
    return (
        "Column and row in turn, as Megatron has them, are not in the table: the column's Y is the row's X "
        "as it is, "
        f"so nothing moves between them, and after the row Σ → R. That is `{pair}` in L layers, as much as "
        "either "
        f"alone while all widths are D. With an inner width of 4D the pair still sends `{pair}`; columns "
        "alone would "
        f"send {quotient(_wide_columns(), pair)} of that."
    )


def _wide_columns() -> Expression:
    """Column-parallel layers whose widths are D and 4D in turn: half of them gather four times as much."""
    one = exact_forward(STRATEGIES["tp-column"])
    return one / 2 + 4 * one / 2


def storage_section() -> Section:
    """What all ranks store in inference."""
    rows: list[tuple[Cell | str, ...]] = []
    for name, row in ROWS.items():
        exact = stored(STRATEGIES[name])
        cells = [judged(said, exact[v]) for v, said in zip(VARIABLES, row.stored, strict=True)]
        rows.append((row.name, *cells, judged(row.total, total(exact.values()))))
    return Section(
        "Storage",
        (
            "Elements of X, W and Y in the whole system, at the peak of inference.",
            Grid(("strategy", *VARIABLES, "total"), tuple(rows)),
            tuple(_storage_remarks()),
        ),
    )


def _storage_remarks() -> Iterator[Remark]:
    fsdp = STRATEGIES["fsdp"]
    yield Remark(
        "W is there for all layers at once; X and Y only for the layer that computes, but in PP for all.",
        "holds if",
        "N = L and B are the tokens of the micro-batch in each stage. In general N stages hold N "
        "micro-batches: "
        f"{stored(STRATEGIES['pp'])['X']} of X. Training keeps more: under 1F1B stage i of p has p - i "
        "micro-batches "
        "under way, (p+1)/2 times all layers' activations together.",
    )
    yield Remark(
        "FSDP has all weights in shards, and one layer whole on every rank.",
        "holds if",
        "the layer is gathered into a buffer of its own and none ahead: "
        f"`{stored(fsdp)['W']}`. In the shard's place it is `{stored(fsdp, in_place=True)['W']}`; with one "
        "layer "
        f"gathered ahead `{stored(fsdp, prefetch=1)['W']}`.",
    )
    yield Remark(
        "Gradients and the optimizer's state are not counted.",
        "holds",
        "They are most of training's memory: 16 to 20 bytes a parameter. `collsim llm memory` counts them.",
    )


def traffic_section() -> Section:
    """What all ranks send."""
    rows: list[tuple[Cell | str, ...]] = []
    for name, row in ROWS.items():
        strategy = STRATEGIES[name]
        rows.append(
            (
                row.name,
                f"{row.between[0]} / {row.between[1]}",
                compared(row.primitive, _primitives(strategy)),
                judged(row.forward, exact_forward(strategy)),
                judged(row.training, exact_training(strategy)) if row.training else "not said",
                f"`{exact_training(strategy)}`",
            )
        )
    headers = ("strategy", "Y / next X", "primitive", "forward", "training", "training, exactly")
    return Section(
        "Traffic",
        (
            "Elements in the whole system, widths I = O = D.",
            Grid(headers, tuple(rows)),
            tuple(_traffic_remarks()),
            "The document has one column of traffic; only FSDP's says what training adds. Worked through "
            "for "
            "L = 80, B = 4096, D = 8192, N = 8 at 2 bytes an element, in GiB:",
            _worked(),
        ),
    )


def _primitives(strategy: Strategy) -> str:
    """Primitives as the document names them: of activations forward, of weights also in training."""
    found = flows(strategy)
    names = [flow.change.name for flow in found if flow.phase == "forward"]
    if strategy.is_pipeline or not names:
        return "-"
    if strategy.zero != 3:
        return ", ".join(names)
    return "All-Gather(W); 2 All-Gather(W), Reduce-Scatter(dW)" if len(found) == 3 else ""


def _traffic_remarks() -> Iterator[Remark]:
    fsdp, dp, pp = (STRATEGIES[name] for name in ("fsdp", "dp", "pp"))
    kept, chunks = Habits(reshard=False), Habits(chunks=symbol("v"))
    yield Remark(
        "In inference states change from a layer's Y to the next one's X only.",
        "holds if",
        "weights are not sharded (FSDP, as it says) and attention and experts are left out: CP changes K "
        "and V "
        "(ring) or Q, K, V and the result (Ulysses), EP the tokens.",
    )
    yield Remark(
        "The same state on another rank costs the size of the data (PP), on the same rank nothing (DP).",
        "corrected",
        f"PP has N - 1 boundaries, not L: `{exact_forward(pp)}`; v chunks a stage make it "
        f"`{exact_forward(pp, chunks)}`. "
        f"At L = 80 and N = 8 LBD is {float(_times(pp)):.1f} times too much.",
    )
    yield Remark(
        "DP sends nothing.",
        "holds if",
        f"it is inference. Training adds up gradients: `{exact_training(dp)}`. Like for like FSDP is to DP "
        "as "
        f"{quotient(exact_training(fsdp), exact_training(dp))}, not as 3NLOI to 0.",
    )
    yield Remark(
        "TP sends NLBD, column by All-Gather, row by Reduce-Scatter.",
        "holds if",
        "N >> 1 and forward. Backward has the duals: Reduce-Scatter of dX, All-Gather of dY, "
        f"`{exact_training(STRATEGIES['tp-column'])}` in all; "
        f"`{exact_training(STRATEGIES['tp-column'], Habits(regather=True))}` where the column's input is "
        "kept in "
        "parts and gathered again for dW.",
    )
    yield Remark(
        "FSDP gathers W forward, again backward where it was dropped, and reduce-scatters dW.",
        "holds",
        f"`{exact_training(fsdp)}`; without dropping `{exact_training(fsdp, kept)}`. With m micro-batches "
        "before "
        f"an update `{exact_training(fsdp, Habits(microbatches=symbol('m')))}`. In bytes it is 2 + 2 + 4 a "
        "parameter "
        "where gradients are added up in 32 bits.",
    )


def _times(pipeline: Strategy) -> Fraction:
    return seed_forward(pipeline).at(**WORKED) / exact_forward(pipeline).at(**WORKED)


def _worked() -> Grid:
    """The worked example, as the document counts and exactly."""
    rows: list[tuple[Cell | str, ...]] = []
    for name, row in ROWS.items():
        strategy = STRATEGIES[name]
        forward, training = seed_forward(strategy), seed_training(strategy)
        rows.append(
            (
                row.name,
                _gib(forward),
                _gib(exact_forward(strategy)),
                _gib(training) if training is not None else f"({_gib(forward)})",
                _gib(exact_training(strategy)),
            )
        )
    kept = exact_training(STRATEGIES["fsdp"], Habits(reshard=False))
    rows.append(("FSDP, not dropped", "", "", f"({_gib(seed_training(STRATEGIES['fsdp']))})", _gib(kept)))
    return Grid(("strategy", "forward, said", "exactly", "training, said", "exactly"), tuple(rows))


def _gib(elements: Expression | None) -> str:
    value = expression(0) if elements is None else elements
    return f"{float(2 * value.at(**WORKED) / 2**30):.4f}".rstrip("0").rstrip(".")


def summary_section() -> Section:
    """The table at the end."""
    rows: list[tuple[Cell | str, ...]] = []
    for name, row in ROWS.items():
        strategy = STRATEGIES[name]
        exact = stored(strategy)
        parts = coefficients(exact)
        training = judged(row.training, exact_training(strategy)) if row.training else "not said"
        rows.append(
            (
                row.name,
                judged(row.total, total(exact.values())),
                *(judged(said, parts[v]) for v, said in zip(VARIABLES, row.coefficients, strict=True)),
                judged(row.forward, exact_forward(strategy)),
                training,
            )
        )
    headers = ("strategy", "stored", "X", "W", "Y", "forward", "training")
    return Section(
        "Summary",
        (
            "Storage and traffic again, and which part of LBI, LOI and LBO a rank holds: N times a "
            "coefficient, times "
            "the size, is the storage.",
            Grid(headers, tuple(rows)),
        ),
    )
