"""Where ReduceScatter is used: sequence parallelism, ZeRO and tensor parallelism."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Final, Literal, TypeAlias

from simulator.llm.activations import layer_bytes
from simulator.llm.model import Model, transformer
from simulator.llm.notation import quotient
from simulator.llm.overlap import application_rows
from simulator.llm.parameters import held, state_bytes
from simulator.llm.plan import CONVENTIONS, Batch, MemoryPlan, Parallel
from simulator.llm.seed_rules import exact_forward, exact_training
from simulator.llm.states import PARTIAL, Partitioned, primitive, title
from simulator.llm.strategies import STRATEGIES, Habits, flows, states
from simulator.llm.traffic import Row, traffic
from simulator.seeds.page import Cell, Grid, Remark, Section, verdict
from simulator.seeds.seed1.claims import USES
from simulator.seeds.seed1.examples import RANKS, amount, proven, ring_of, seconds

PLAN: Final = MemoryPlan(convention=CONVENTIONS[16], count="matrices")
Zero: TypeAlias = Literal[0, 1, 2, 3]
STAGES: Final[tuple[Zero, ...]] = (0, 1, 2, 3)
PARALLEL: Final = {
    "tp": Parallel(tp=RANKS),
    "sp": Parallel(tp=RANKS, sp=True),
    "fsdp": Parallel(dp=RANKS, zero=3),
}


@cache
def _model() -> Model:
    """One layer of width 8192 over 4096 tokens."""
    return transformer(layers=1, hidden=8192, heads=64, vocab=32000, sequence=4096)


@cache
def _calls(strategy: str) -> tuple[Row, ...]:
    """What the layer sends in a training step with one sequence a replica."""
    parallel = PARALLEL[strategy]
    return traffic(_model(), parallel, Batch(total=parallel.dp), PLAN).rows()


def _message(strategy: str) -> int:
    """Bytes of bsh, or of a layer's parameters, at two each."""
    model = _model()
    return 2 * (
        held(model.layer_weights(0), Parallel(), PLAN).total.numerator
        if strategy == "fsdp"
        else 4096 * model.hidden
    )


def uses_section() -> Section:
    """Strategies, and the table of traffic."""
    rows = tuple(_use_rows())
    return Section(
        "Uses in large language models",
        (
            (sequence_parallel(), sequence_states(), half_saved(), trade()),
            (zero_gradients(), zero_memory()),
            "Bytes that a rank keeps of the layer's parameters and gradients, by ZeRO stage "
            f"({RANKS} ranks, {amount(_message('fsdp'))} of weights):",
            Grid(("", "DP", "ZeRO-1", "ZeRO-2", "ZeRO-3"), tuple(_zero_rows())),
            "Its table of traffic. It names the message; what a rank sends of it in a training step of one "
            f"transformer layer (h = {_model().hidden}, s = {_model().sequence}, b = 1, two bytes a number, "
            f"N = {RANKS}) is added:",
            Grid(
                (
                    "strategy",
                    "primitive",
                    "traffic of a layer",
                    "remark",
                    "calls",
                    "a rank sends",
                    "on a ring of 8",
                ),
                rows,
            ),
            "What may run beside each, from what neither feeds it nor waits for it (M is bsh or "
            "layer_params):",
            Grid(
                ("strategy", "phase", "primitive", "M", "a rank sends of each", "may overlap"),
                tuple(_overlap_rows()),
            ),
        ),
    )


@cache
def sequence_parallel() -> Remark:
    """A ReduceScatter after the layer."""
    scatters = [row for row in _calls("sp") if row.kind == "reduce_scatter" and row.phase == "forward"]
    times = sum(row.times for row in scatters)
    return Remark(
        "SP: after a Transformer layer its output is cut along the sequence by a ReduceScatter.",
        verdict([bool(scatters)], [times == 1]),
        f"a layer is attention or an MLP: forward a Transformer layer has {times} of them, after each of "
        "the two, and as many AllGathers before them.",
    )


@cache
def sequence_states() -> Remark:
    """B s h at every node, then b (s/N) h."""
    found = states(STRATEGIES["sp"])["Y"]
    change = primitive(PARTIAL, Partitioned("S"))
    return Remark(
        "Input: every node has the whole sequence, b x s x h; output: a part reduced, b x (s/N) x h.",
        verdict([found == (PARTIAL,)], [state != PARTIAL for state in found]),
        f"what every node has are partial sums ({' '.join(map(str, found))}), of that size. Their sum is "
        f"what is cut: {change.name}. Of whole copies a slice would do, which moves nothing.",
    )


@cache
def half_saved() -> Remark:
    """Half of an AllReduce."""
    tp, sp = (exact_forward(STRATEGIES[name]) for name in ("tp", "sp"))
    step = exact_training(STRATEGIES["tp"])
    kept, again = (
        quotient(exact_training(STRATEGIES["sp"], Habits(regather=more)), step) for more in (False, True)
    )
    return Remark(
        "Compared with AllReduce half is saved: nothing is broadcast back.",
        verdict([2 * sp == tp]),
        "It comes back by the AllGather before the next product, which needs whole rows. Forward all ranks "
        f"send `{tp}` under TP and `{sp}` under SP (L matrices in turn by columns and rows, BD numbers a "
        f"message): the same bytes. In training SP to TP is as {kept} to 1, or {again} where inputs "
        "are gathered again for dW.",
    )


def _kept(name: str) -> Fraction:
    plan = MemoryPlan(recompute="selective")
    return layer_bytes(_model(), 0, PARALLEL[name], plan, micro=1, sequence=4096)


@cache
def trade() -> Remark:
    """Memory against traffic."""
    tp, sp = _kept("tp"), _kept("sp")
    like = exact_training(STRATEGIES["zero-2"]) == exact_training(STRATEGIES["dp"])
    more = quotient(exact_training(STRATEGIES["fsdp"]), exact_training(STRATEGIES["dp"]))
    less = exact_training(STRATEGIES["sp"]) != exact_training(STRATEGIES["tp"])
    return Remark(
        "SP and ZeRO use that a ReduceScatter alone moves half, for memory and traffic.",
        verdict([sp < tp, like], [less]),
        f"it is memory. Of activations a rank keeps {amount(sp)} of the layer instead of {amount(tp)} under "
        "SP (Korthikanti et al. 2022, selective recomputation), for the bytes of TP. ZeRO-2 sends what DP "
        f"sends, ZeRO-3 {more} of it.",
    )


@cache
def zero_gradients() -> Remark:
    """Gradients are reduced and cut."""
    change = [flow.change for flow in flows(STRATEGIES["fsdp"]) if flow.variable == "dW"]
    return Remark(
        "ZeRO-3, backward: every node has a whole gradient of M, gets 1/N of the sum by ReduceScatter, and "
        "updates that part.",
        verdict(one.kind == "reduce_scatter" and one.source == PARTIAL for one in change),
        f"{change[0].source} → P, {change[0].name}: `{change[0].exact_rank}` a rank. Whole it is there for "
        "one layer at a time. For the same step the layer's weights are gathered, forward and again "
        "backward.",
    )


@cache
def uses_names() -> Remark:
    """Who reduces and scatters."""
    named = {"tp", "sp", "fsdp"}
    users = [
        name
        for name in STRATEGIES
        if any(flow.change.kind in ("reduce_scatter", "allreduce") for flow in flows(STRATEGIES[name]))
    ]
    return Remark(
        "Its users are SP forward, ZeRO-3 backward and TP.",
        verdict([named <= set(users)]),
        ", ".join(users),
    )


@cache
def _gradients(stage: Zero) -> tuple[Fraction, Fraction]:
    """Bytes of weights and of gradients that a rank keeps under a stage of ZeRO."""
    owned = held(_model().layer_weights(0), Parallel(), PLAN)
    found = state_bytes(owned, CONVENTIONS[16], Parallel(dp=RANKS, zero=stage))
    return found.weights, found.gradients


def _zero_rows() -> Iterator[tuple[str, ...]]:
    for at, name in enumerate(("weights", "gradients")):
        yield (name, *(amount(_gradients(stage)[at]) for stage in STAGES))


@cache
def zero_memory() -> Remark:
    """Gradients from M to M/N."""
    shrinks = next(stage for stage in STAGES if _gradients(stage)[1] * RANKS == _gradients(0)[1])
    weights = next(stage for stage in STAGES if _gradients(stage)[0] * RANKS == _gradients(0)[0])
    return Remark(
        "Gradients from M to M/N are how ZeRO-3 saves memory.",
        verdict([shrinks == 3]),
        f"That is ZeRO-{shrinks} (Rajbhandari et al. 2020); ZeRO-{weights} adds the same for weights, which "
        "are then gathered.",
    )


def _use_rows() -> Iterator[tuple[Cell | str, ...]]:
    for strategy, name, said, message, remark in USES:
        rows = _calls(strategy)
        yield (
            name,
            _primitive_cell(strategy, said),
            _traffic_cell(strategy, message, name),
            _remark_cell(strategy, remark),
            "; ".join(f"{row.phase} {row.times} {title(row.kind)} ({row.what})" for row in rows),
            f"{amount(sum((row.rank for row in rows), Fraction(0)))} = {_factor(strategy, rows)}",
            seconds(sum((row.times * _ring_time(row.kind, int(row.size)) for row in rows), Fraction(0))),
        )


@cache
def _ring_time(kind: str, size: int) -> Fraction:
    return ring_of(RANKS).time(proven("ring", kind, RANKS, size))


def _factor(strategy: str, rows: tuple[Row, ...]) -> str:
    """What a rank sends as a multiple of (N-1)/N of the message."""
    times = sum((row.rank for row in rows), Fraction(0)) / _message(strategy) * RANKS / (RANKS - 1)
    unit = "layer_params" if strategy == "fsdp" else "bsh"
    return f"{'' if times == 1 else times}(N-1)/N {unit}"


def _meant(strategy: str) -> tuple[Row, ...]:
    """The calls that the row names: forward, or of ZeRO-3 those of the backward pass."""
    phase = "backward" if strategy == "fsdp" else "forward"
    return tuple(row for row in _calls(strategy) if row.phase == phase)


def _primitive_cell(strategy: str, said: str) -> Cell:
    short = {"allreduce": "AllReduce", "reduce_scatter": "RS", "allgather": "AG"}
    kinds = {short[row.kind] for row in _meant(strategy)}
    named = {"ReduceScatter": {"RS"}}.get(said, set(said.split(" + ")))
    others = sorted(kinds - named)
    return Cell(
        said, verdict([named <= kinds], [not others]), f"of gradients; of weights {', '.join(others)}"
    )


def _traffic_cell(strategy: str, said: str, name: str) -> Cell:
    sent = sum((row.rank for row in _meant(strategy)), Fraction(0))
    when = "backward" if "backward" in name else "forward"
    return Cell(
        said, verdict([sent == _message(strategy)]), f"{_factor(strategy, _meant(strategy))} a rank, {when}"
    )


def _remark_cell(strategy: str, said: str) -> Cell:
    if strategy == "tp":
        both = (
            primitive(PARTIAL, Partitioned()).exact_total
            + primitive(Partitioned(), STRATEGIES["tp"].boundary or PARTIAL).exact_total
        )
        return Cell(said, verdict([both == flows(STRATEGIES["tp"])[0].change.exact_total]))
    if strategy == "fsdp":
        return Cell(
            said,
            verdict(
                [
                    any(
                        row.size == _message(strategy)
                        for row in _meant(strategy)
                        if row.kind == "reduce_scatter"
                    )
                ]
            ),
        )
    waiting = {
        row.phase: row.overlap != "nothing"
        for row in application_rows({k: STRATEGIES[k] for k in PARALLEL})
        if row.strategy == "sp"
    }
    halves = len({row.rank for row in _meant("sp")}) == 1
    return Cell(
        said,
        verdict([halves, waiting["backward"]], [waiting["forward"]]),
        "it is backward; forward products must be cut into pieces",
    )


def _overlap_rows() -> Iterator[tuple[str, ...]]:
    for row in application_rows({name: STRATEGIES[name] for name in PARALLEL}):
        yield (row.strategy, row.phase, row.primitive, row.message, f"`{row.rank}`", row.overlap)
