"""The memory of a plan for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

from simulator.llm.fit import sequence_of
from simulator.llm.memory import PARTS
from simulator.llm.plan import Parallel
from simulator.scenario.sheets import Column, Sheet
from topologies.text import format_bytes

if TYPE_CHECKING:
    from simulator.llm.memory import Memory, StageMemory
    from simulator.llm.step.roofline import Efficiency
    from simulator.scenario.plan_run import PlanResult

UNITS = (("TiB", 2**40), ("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10), ("B", 1))


def plan_lines(result: PlanResult) -> Iterator[str]:
    """What was counted: the model, the ranks, the step, the conventions."""
    found, scenario = result.memory, result.scenario
    model, plan = found.model, found.plan
    active = model.active_parameters()
    some = "" if active == model.parameters() else f", {_billions(active)} of them active"
    yield f"{model.name}: {_billions(model.parameters())} parameters{some}"
    yield f"{found.parallel.ranks} ranks: {degrees(found.parallel)}"
    tokens = sequence_of(model, found.batch)
    if plan.phase == "training":
        many = f"{found.microbatches} micro-batch{'' if found.microbatches == 1 else 'es'}"
        yield f"{many} of {found.batch.micro} x {tokens} tokens a replica"
        yield f"training, {plan.convention.name or 'own bytes a parameter'}; recompute {plan.recompute}"
    else:
        yield f"inference, {found.batch.total} sequences of {tokens} tokens"
        yield f"KV cache: {ceil(found.cache_per_token)} B a token over all layers"
    if scenario.hardware is not None:
        yield f"on {scenario.hardware.name}"


def assumed(efficiency: Efficiency) -> str:
    """What of its peaks a machine is taken to attain.

    >>> from simulator.llm.step.roofline import Efficiency
    >>> assumed(Efficiency(matmul=0.6, memory=0.9))
    'assumed efficiency: matmul 0.6, attention 1, memory 0.9 of the peaks'
    """
    parts = ("matmul", "attention", "memory")
    said = ", ".join(f"{part} {getattr(efficiency, part):g}" for part in parts)
    return f"assumed efficiency: {said} of the peaks"


def degrees(parallel: Parallel) -> str:
    """The degrees that are not 1.

    >>> degrees(Parallel(tp=8, sp=True, dp=4, ep=2, zero=3))
    'tp 8 with sp, dp 4, ep 2 of dp, zero 3'
    """
    words = {
        "tp": f"tp {parallel.tp}" + (" with sp" if parallel.sp else ""),
        "cp": f"cp {parallel.cp} ({parallel.cp_kind})",
        "pp": f"pp {parallel.pp} ({parallel.schedule})",
        "interleave": f"{parallel.interleave} chunks a stage",
        "dp": f"dp {parallel.dp}",
        "ep": f"ep {parallel.ep} of dp",
    }
    said = [word for name, word in words.items() if getattr(parallel, name) > 1]
    if parallel.zero:
        shard = "" if parallel.shard is None else f" over {parallel.shard}"
        said.append(f"zero {parallel.zero}{shard}")
    return ", ".join(said) or "one of everything"


def verdict(found: Memory) -> str:
    """Whether it fits, and what does not."""
    capacity, peak = found.plan.capacity, found.peak
    most = f"stage {peak.stage} takes most, {gib(peak.total)}"
    if capacity is None:
        return f"{most}; no capacity is given"
    overflow = found.overflow
    if overflow is None:
        return f"fits {format_bytes(capacity)}: {most}, {gib(capacity - peak.total)} are left"
    over = f"stage {overflow.stage} overflows at {overflow.part}, by {gib(overflow.excess)} in all"
    return f"does not fit {format_bytes(capacity)}: {over}; {most}"


def gib(size: Fraction | int) -> str:
    """A size in the binary unit in which it is 1 or more.

    >>> gib(3 * 2**29), gib(0)
    ('1.500 GiB', '0.000 B')
    """
    unit, scale = next(((unit, scale) for unit, scale in UNITS if size >= scale), UNITS[-1])
    return f"{float(Fraction(size) / scale):.3f} {unit}"


def memory_sheet(found: Memory) -> Sheet:
    """A row a stage; bytes in CSV, and for people in one binary unit."""
    unit, scale = next((u, s) for u, s in UNITS if found.peak.total >= s or s == 1)
    stages = found.stages

    def sizes(header: str, values: list[Fraction], *, shown: bool) -> Column:
        return Column(
            header,
            [ceil(v) for v in values],
            lambda size: f"{float(Fraction(size) / scale):.3f}",
            shown=shown,
        )

    columns = [
        Column("stage", [stage.stage for stage in stages]),
        Column("layers", [stage.layers for stage in stages]),
        Column("parameters", [ceil(stage.parameters) for stage in stages], _billions),
        Column(
            "in flight",
            [float(stage.in_flight) for stage in stages],
            "{:.4g}".format,
            shown=found.plan.phase == "training",
        ),
    ]
    for part in PARTS:
        values = [stage.parts[part] for stage in stages]
        columns.append(sizes(part, values, shown=any(values)))
    columns.append(sizes("total", [stage.total for stage in stages], shown=True))
    host = [sum(stage.host.values(), Fraction(0)) for stage in stages]
    columns.append(sizes("host", host, shown=any(host)))
    capacity = found.plan.capacity
    if capacity is not None:
        shares = [float(stage.total / capacity) for stage in stages]
        over = [stage.overflow(capacity) for stage in stages]
        columns.append(Column("of capacity", shares, "{:.1%}".format))
        columns.append(Column("overflows at", over, words=True, shown=any(over)))
    return Sheet(f"memory of a rank, {unit}", tuple(columns))


def memory_json(result: PlanResult) -> str:
    """One object, as `memory_object` makes it."""
    return json.dumps(memory_object(result), indent=2) + "\n"


def memory_object(result: PlanResult) -> dict[str, Any]:
    """A plan's memory: bytes, a part of a byte counted as one."""
    found = result.memory
    overflow = found.overflow
    return {
        "scenario": result.scenario.name,
        "model": found.model.name,
        "parameters": found.model.parameters(),
        "active_parameters": found.model.active_parameters(),
        "ranks": found.parallel.ranks,
        "mesh": found.parallel.mesh,
        "phase": found.plan.phase,
        "convention": found.plan.convention.name or None,
        "microbatches": found.microbatches,
        "cache_per_token": ceil(found.cache_per_token),
        "capacity": found.plan.capacity,
        "fits": found.fits,
        "overflow": overflow
        and {"stage": overflow.stage, "part": overflow.part, "excess": ceil(overflow.excess)},
        "peak": {"stage": found.peak.stage, "total": ceil(found.peak.total)},
        "stages": [_stage(stage) for stage in found.stages],
    }


def _stage(stage: StageMemory) -> dict[str, Any]:
    return {
        "stage": stage.stage,
        "layers": stage.layers,
        "parameters": ceil(stage.parameters),
        "in_flight": float(stage.in_flight),
        **{part: ceil(size) for part, size in stage.parts.items()},
        "total": ceil(stage.total),
        "host": {part: ceil(size) for part, size in stage.host.items()},
    }


def _billions(count: int) -> str:
    """A number of parameters.

    >>> _billions(405_853_388_800), _billions(8_030_261_248), _billions(1_234_567)
    ('405.85 B', '8.03 B', '1.23 M')
    """
    scale, unit = (10**9, "B") if count >= 10**8 else (10**6, "M")
    return f"{count / scale:.2f} {unit}"
