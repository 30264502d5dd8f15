"""The topology that logs are of: what it allows at most, and how fitted values are written into it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from simulator.scenario.calibration.link_prices import of_levels, of_one_level
from simulator.scenario.errors import did_you_mean, one_of
from topologies.errors import CollsimError
from topologies.text import format_bandwidth, format_time, printable

if TYPE_CHECKING:
    from algorithms.schedule import Schedule
    from simulator.scenario.calibration.link_prices import Price
    from topologies.topology import Topology

DIGITS: Final = 12
"""Of a fitted value in a scenario: the time is that of the fit, and a quantity fits its line."""

PLAIN: Final = ("crossbar", "ring", "full_mesh")
"""Kinds that stand for a machine of which nothing else is known."""


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """Where fitted values go.

    Attributes
    ----------
    written : dict
        The block `topology` as a scenario has it, without what is fitted.
    dims : tuple of int
        Ranks along every level, innermost first.
    limits : tuple of (float or None)
        Most bytes/s that rank 0 sends at each level, where it is known.
    topology : Topology or None
        None of a kind of which only the name is given.
    """

    written: dict[str, Any]
    dims: tuple[int, ...]
    limits: tuple[float | None, ...]
    topology: Topology | None = None

    def with_prices(
        self, prices: Sequence[Price | None], ranks: int, sent: Callable[[], Schedule]
    ) -> dict[str, Any]:
        """The block `topology` with alpha and beta of each level's messages; None leaves one as it is.

        `sent` gives the schedule whose messages these are, which only a topology of several levels asks for.
        """
        if self.topology is None:
            alpha, beta = prices[0] or (0.0, 1.0)
            # of a crossbar the overhead is alpha: a rank sends one message at a time
            name = "overhead" if self.written["kind"] == "crossbar" else "latency"
            return {**self.written, "ranks": ranks, **_written(alpha, beta, name)}
        several = len(prices) > 1
        links = (
            of_levels(self.topology, prices, sent()) if several else of_one_level(self.topology, prices[0])
        )
        changes = [
            {"level": level, **_written(alpha, beta, "latency"), "overhead": "0 s"}
            for level, (alpha, beta) in links.items()
        ]
        return {**self.written, "overrides": [*self.written.get("overrides", ()), *changes]}


def _written(alpha: float, beta: float, name: str) -> dict[str, str]:
    """Alpha (s), under a name, and beta (bytes/s) as a scenario has them."""
    return {"bandwidth": format_bandwidth(beta, DIGITS), name: format_time(alpha, DIGITS)}


def target_of(text: str | None, ranks: int, beside: Path) -> Target:
    """The topology that a person names.

    Parameters
    ----------
    text : str, optional
        A kind of `PLAIN`, a preset, a scenario or another program's file; by default a crossbar.
    ranks : int
        Most ranks of any log.
    beside : pathlib.Path
        The folder in which the fitted scenario will be.

    Raises
    ------
    CollsimError
        If it is none of these, or cannot be read.
    """
    if text is None or text in PLAIN:
        return Target({"kind": text or PLAIN[0]}, (ranks,), (None,))
    from simulator.scenario.presets import preset_names

    if text in preset_names():
        return _built({"preset": text}, _of_preset(text))
    path = Path(text)
    if not path.is_file():
        words = (*PLAIN, *preset_names())
        hint = did_you_mean(text, words) or f"; expected a file, a preset, {one_of(PLAIN)}"
        raise CollsimError(f'there is no topology "{printable(text)}"{hint}')
    return _of_file(path, beside)


def _of_preset(name: str) -> Topology:
    from simulator.scenario.load import loads
    from simulator.scenario.run import build_topology

    rest = "collective: {kind: barrier, algorithm: dissemination, size: 0 B}"
    return build_topology(loads(f"topology: {{preset: {name}}}\n{rest}", name))


def _of_file(path: Path, beside: Path) -> Target:
    import os

    from simulator.scenario.run import build_topology
    from simulator.scenario.run_any import load_scenario
    from simulator.scenario.source import plain
    from simulator.scenario.topology_file import foreign_topology

    built = foreign_topology(path)
    if built is not None:
        return _built({"file": os.path.relpath(path, beside)}, built)
    scenario = load_scenario(path)
    written = plain(scenario.source.written)["topology"]
    if "file" in written:
        written["file"] = os.path.relpath(path.parent / written["file"], beside)
    return _built(written, build_topology(scenario))


def _built(written: dict[str, Any], topology: Topology) -> Target:
    """A topology with its levels, where it has one a dimension; else its links are one level."""
    links = topology.links
    out = links.src == 0
    rates = [
        float(links.bandwidth[out & (links.level == i)].sum()) or None for i in range(len(topology.levels))
    ]
    if topology.kind == "multilevel" and len(topology.dims) == len(topology.levels):
        return Target(written, topology.dims, tuple(rates), topology)
    return Target(written, (topology.ranks,), (float(links.bandwidth[out].sum()) or None,), topology)
