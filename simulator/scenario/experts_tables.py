"""A layer with experts under several degrees of expert parallelism, for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import ceil
from typing import TYPE_CHECKING, Any

from simulator.llm.fit import tokens_at_once
from simulator.scenario.memory_tables import assumed, degrees
from simulator.scenario.sheets import Column, Sheet
from topologies.clock import to_seconds

if TYPE_CHECKING:
    from simulator.llm.step.expert_sweep import ExpertLayer
    from simulator.scenario.experts_run import ExpertsResult


def experts_lines(result: ExpertsResult) -> Iterator[str]:
    """What was asked: the model, its experts, the tokens of a rank."""
    scenario = result.scenario
    model, experts, parallel = scenario.model, scenario.model.experts, scenario.parallel
    if experts is not None:
        shared = f" and {experts.shared} shared" if experts.shared else ""
        yield f"{model.name}: {experts.count} experts a layer, a token goes to {experts.active}{shared}"
    yield f"{parallel.ranks} ranks: {degrees(parallel)}"
    tokens = tokens_at_once(model, parallel, scenario.batch, scenario.memory)
    group = "a rank" if parallel.tp == 1 else f"a group of {parallel.tp} ranks"
    yield f"{float(tokens):,.0f} tokens of {group} in a micro-batch"
    yield assumed(scenario.efficiency)


def experts_sheet(result: ExpertsResult) -> Sheet:
    """A row a degree, limit and skew."""
    layers = result.layers
    limits, skews = ({getattr(layer, name) for layer in layers} for name in ("limit", "skew"))
    times = {
        "dispatch": "dispatch",
        "combine": "combine",
        "experts": "experts",
        "whole layer": "compute",
        "exposed": "exposed",
    }
    return Sheet(
        "a layer forward: MiB over the busiest link of each level, and us",
        (
            Column("ep", [layer.ep for layer in layers]),
            Column("machines", [layer.limit for layer in layers], shown=limits != {None}),
            Column("skew", [layer.skew for layer in layers], "{:g}".format, shown=skews != {1}),
            *(
                Column(name, [layer.carried[number] / 2**20 for layer in layers], _one)
                for number, name in enumerate(result.levels)
            ),
            *(
                Column(name, [1e6 * to_seconds(getattr(layer, key)) for layer in layers], _one)
                for name, key in times.items()
            ),
            Column("% of compute", [_share(layer) for layer in layers], "{:.0f}".format),
            Column("under", ["yes" if layer.under else "no" for layer in layers], words=True),
            Column("rank GiB", [float(layer.held / 2**30) for layer in layers], _one),
        ),
    )


def experts_verdict(result: ExpertsResult) -> Iterator[str]:
    """The largest degree that stays under compute, for each limit and skew; and what does not go."""
    layers = result.layers
    for limit, skew in dict.fromkeys((layer.limit, layer.skew) for layer in layers):
        here = [layer for layer in layers if (layer.limit, layer.skew) == (limit, skew)]
        under = [layer for layer in here if layer.under]
        most = f"at ep {_listed(under)}" if under else f"at none of ep {_listed(here)}"
        machines = "" if limit is None else f", at most {limit} machine{'' if limit == 1 else 's'}"
        yield f"skew {skew:g}{machines}: dispatch and combine stay under the layer's compute {most}"
    for what, reason in result.refused.items():
        yield f"{what} does not go: {reason}"


def experts_json(result: ExpertsResult) -> str:
    """One object; times in s, sizes in bytes."""
    written: dict[str, Any] = {
        "scenario": result.scenario.name,
        "model": result.scenario.model.name,
        "ranks": result.scenario.parallel.ranks,
        "layers": [_layer(layer, result.levels) for layer in result.layers],
        "refused": [{"what": what, "reason": reason} for what, reason in result.refused.items()],
    }
    return json.dumps(written, indent=2) + "\n"


def _layer(layer: ExpertLayer, levels: tuple[str, ...]) -> dict[str, Any]:
    return {
        "ep": layer.ep,
        "nodes_limit": layer.limit,
        "skew": layer.skew,
        "busiest_link": dict(zip(levels, layer.carried, strict=True)),
        "dispatch": to_seconds(layer.dispatch),
        "combine": to_seconds(layer.combine),
        "experts": to_seconds(layer.experts),
        "compute": to_seconds(layer.compute),
        "exposed": to_seconds(layer.exposed),
        "under": layer.under,
        "memory": ceil(layer.held),
    }


def _share(layer: ExpertLayer) -> float:
    return 100 * (layer.dispatch + layer.combine) / layer.compute


def _listed(layers: list[ExpertLayer]) -> str:
    return ", ".join(str(layer.ep) for layer in layers)


def _one(value: float) -> str:
    return f"{value:,.1f}"
