"""A comparison as JSON, as CSV, and as files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from simulator.scenario.crossings import leaders
from simulator.scenario.folder import keep
from simulator.scenario.output import save_figures, write_folder
from simulator.scenario.result_parts import bounds_object
from simulator.scenario.rows import Kind, Rows
from topologies.clock import exact_seconds, to_seconds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from simulator.scenario.compare import Comparison, Contender
    from simulator.scenario.crossings import Crossover, Winners
    from simulator.scenario.terms import Terms

TIMED: Final[Mapping[str, Kind]] = MappingProxyType(
    {"algorithm": str, "size": int, "time": float, "bound": float, "fastest": str}
)
"""What is said of an algorithm at a size."""


def comparison_json(comparison: Comparison) -> str:
    """One object, with a line's end; the same bytes on every run."""
    fields = comparison_object(comparison)
    if comparison.measured is not None:
        fields["measured"] = comparison.measured.as_object()
    return json.dumps(fields, indent=2, allow_nan=False) + "\n"


def comparison_object(comparison: Comparison) -> dict[str, Any]:
    """A comparison's fields: times in s, sizes in bytes, None for what there is none of."""
    scenario = comparison.scenario
    return {
        "scenario": scenario.name,
        "topology": scenario.topology.kind,
        "model": scenario.network.model,
        "sync": scenario.network.sync,
        "ranks": comparison.ranks,
        "collective": scenario.collective.kind,
        "size": comparison.size,
        "algorithms": [_contender(one) for one in comparison.contenders],
        "not_applicable": [
            {"algorithm": name, "reason": reason} for name, reason in comparison.refused.items()
        ],
        "sizes": list(comparison.sizes),
        "times": {name: list(map(_seconds, times)) for name, times in comparison.times.items()},
        "stopped": [{"algorithm": name, "reason": reason} for name, reason in comparison.stopped.items()],
        "bounds": list(comparison.floor),
        "winners": [_winners(here) for here in comparison.winners],
        "crossovers": [_crossover(one, met) for one, met in comparison.crossovers],
    }


def _seconds(time: int | None) -> float | None:
    return None if time is None else to_seconds(time)


def _contender(one: Contender) -> dict[str, Any]:
    best = one.bounds.best
    return {
        "algorithm": one.name,
        "fallback": one.fallback,
        "steps": one.steps,
        **_terms(one.terms),
        "suits": one.ideal or None,
        "peers": one.peers,
        "hops": one.hops,
        "time": to_seconds(one.time),
        "bounds": bounds_object(one.bounds),
        "gap": to_seconds(one.time) / best if best > 0 else None,
        "verified": one.verified,
    }


def _terms(terms: Terms | None) -> dict[str, Any]:
    if terms is None:
        return {"latency_term": None, "bandwidth_term": None, "reduction_term": None, "optimal": None}
    return {
        "latency_term": {"alphas": _by_level(terms.alphas), "time": terms.latency},
        "bandwidth_term": {"shares": _by_level(terms.shares), "time": terms.bandwidth},
        "reduction_term": {"time": terms.reduction},
        "optimal": terms.optimal,
    }


def _by_level(values: Mapping[int, object]) -> dict[str, str]:
    return {str(level): str(value) for level, value in sorted(values.items())}


def _winners(here: Winners) -> dict[str, Any]:
    return {
        "size": here.size,
        "algorithms": list(here.names),
        "time": _seconds(here.time),
        "runner_up": _seconds(here.runner_up),
    }


def _crossover(one: Crossover, met: float | None) -> dict[str, Any]:
    return {
        "before": one.before,
        "after": one.after,
        "size": one.size,
        "within": one.within,
        "closed_form": met,
    }


def comparison_rows(comparison: Comparison) -> Rows:
    """A row for every algorithm and size; times in s, exact to the femtosecond."""
    return Rows(TIMED, partial(_timed, comparison))


def _timed(comparison: Comparison) -> Iterator[tuple[Any, ...]]:
    for name, times in comparison.times.items():
        rows = zip(comparison.sizes, times, comparison.floor, comparison.winners, strict=True)
        for size, time, bound, here in rows:
            yield (
                name,
                size,
                "" if time is None else exact_seconds(time),
                "" if bound is None else repr(bound),
                "yes" if name in here.names else "no",
            )


def write_comparison(comparison: Comparison, folder: Path, *, force: bool = False) -> list[Path]:
    """Write compare.json, compare.csv, compare.png and .svg, and the scenario; with measured times, if given.

    Raises
    ------
    OutputError
        If the folder is in use or cannot be written.
    """
    figure = comparison_figure(comparison)

    def fill(target: Path) -> None:
        (target / "compare.json").write_text(comparison_json(comparison), encoding="utf-8")
        comparison_rows(comparison).save(target / "compare.csv")
        save_figures({"compare": figure}, target)
        keep(comparison.scenario, target, folder)

    return write_folder(folder, fill, force=force)


def comparison_figure(comparison: Comparison) -> Figure:
    """Time against size, at the crossovers, too, and what was measured as circles."""
    from plots.lines import Curve, Floor
    from plots.sizes import Leader, sizes_figure

    scenario = comparison.scenario
    crossing = [one.size for one, _ in comparison.crossovers]
    sizes = sorted({*comparison.sizes, *crossing})
    bounds = dict(zip(comparison.sizes, comparison.bounds, strict=True))
    curves = []
    for name, times in comparison.times.items():
        at = dict(zip(comparison.sizes, times, strict=True))
        at |= zip(crossing, comparison.crossing[name], strict=True)
        curves.append(Curve(name, [_seconds(at[size]) for size in sizes]))
    first = next((name for name in leaders(comparison.winners) if name is not None), None)
    named = [] if first is None else [Leader(first, comparison.sizes[0])]
    return sizes_figure(
        sizes,
        curves,
        [
            None if known is None else Floor(known.latency, max(known.bandwidth, known.reduction))
            for known in map(bounds.get, sizes)
        ],
        [*named, *(Leader(one.after, one.size) for one, _ in comparison.crossovers)],
        title=f"{scenario.collective.kind} on {comparison.ranks} ranks, {scenario.topology.kind}",
        subtitle=scenario.name,
        measured={} if comparison.measured is None else dict(comparison.measured.times),
    )
