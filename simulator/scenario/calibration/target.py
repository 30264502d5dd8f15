"""The topology that logs are of: what it allows at most, and how fitted values are written into it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.scenario.errors import did_you_mean, one_of, printable
from topologies.errors import CollsimError
from topologies.routing import routes

if TYPE_CHECKING:
    from topologies.topology import Topology

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

    def with_prices(self, prices: Sequence[tuple[float, float] | None], ranks: int) -> dict[str, Any]:
        """The block `topology` with alpha (s) and beta (bytes/s) of each level; None leaves one as it is."""
        if self.topology is None:
            alpha, beta = prices[0] or (0.0, 1.0)
            # of a crossbar the overhead is alpha: a rank sends one message at a time
            name = "overhead" if self.written["kind"] == "crossbar" else "latency"
            return {**self.written, "ranks": ranks, "bandwidth": f"{beta!r} B/s", name: f"{alpha!r} s"}
        changes = []
        for i, price in enumerate(prices):
            for level, hops in self._walked(i).items() if price is not None else ():
                alpha, beta = price or (0.0, 1.0)
                share = {"bandwidth": f"{beta!r} B/s", "latency": f"{alpha / hops!r} s", "overhead": "0 s"}
                changes.append({"level": level, **share})
        return {**self.written, "overrides": [*self.written.get("overrides", ()), *changes]}

    def _walked(self, i: int) -> dict[str, int]:
        """Levels that a message from rank 0 to its nearest along a level takes, and all its hops."""
        built = self.topology
        if built is None or self.dims[i] < 2:
            return {}
        others = prod(self.dims[:i]) * np.arange(1, self.dims[i])
        ways = routes(built, np.zeros(len(others), dtype=np.int64), others)
        shortest = int(np.argmin(ways.hops()))
        walked = ways.links[ways.offsets[shortest] : ways.offsets[shortest + 1]]
        names = dict.fromkeys(built.levels[int(level)] for level in built.links.level[walked])
        return dict.fromkeys(names, len(walked))


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
