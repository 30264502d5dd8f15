"""The text of a new scenario of every kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Final

from pydantic_core import CoreSchema

from algorithms.collective import KINDS
from algorithms.registry import able
from simulator.engine.network import Network
from simulator.llm.plan import Parallel
from simulator.scenario.choice import Asked, collective_keys, options_of
from simulator.scenario.errors import ScenarioErrors, suggestion
from simulator.scenario.fields import Parameter, parameters_of
from simulator.scenario.load import loads, scenario_keys
from simulator.scenario.models import Expect, TopologyChoice
from simulator.scenario.new.layout import Entry, Given, entries, to_text
from simulator.scenario.new.starters import starter
from simulator.scenario.new.wishes import fitting
from simulator.scenario.plan_load import batch_keys, loads_any, plan_keys
from simulator.scenario.plan_models import PlanScenario
from simulator.scenario.plan_run import work_out
from simulator.scenario.presets import read_preset
from simulator.scenario.run import build_topology
from simulator.scenario.run_any import run_any
from simulator.scenario.source import Scalar
from simulator.scenario.sweep.models import SweepPlan
from simulator.scenario.together_load import together_keys
from simulator.scenario.together_models import ExpectTogether, Own
from topologies.errors import CollsimError
from topologies.registry import TOPOLOGIES
from topologies.text import printable
from topologies.topology import Topology

_ASKED: Final = Asked(None, "catalogue", needs_size=True)

MOST_RUN: Final = 128
"""Ranks up to which a new scenario is run before it is handed out."""

_HINT: Final = """\
# A key that begins with "# " is not given: beside it stands what holds then, or an example.
"""
_HEADS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "collective": "# One collective on a network: collsim run FILE.\n",
        "together": "# Several collectives on one network: collsim run FILE.\n",
        "plan": "# A model laid over ranks: collsim llm memory FILE, collsim llm step FILE.\n",
        "sweep": "# A collective, over values of what is varied: collsim sweep FILE.\n",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a new scenario should be.

    Attributes
    ----------
    topology : str
        A kind, or a preset.
    collective : str
    algorithm : str, optional
        By default the one that suits the collective and the topology.
    ranks : int, optional
        N; by default what suits the topology.
    size : str
        M, with its unit.
    model, hardware : str
        Presets, of a plan.
    """

    topology: str = "ring"
    collective: str = "allreduce"
    algorithm: str | None = None
    ranks: int | None = None
    size: str = "1 MiB"
    model: str = "llama3-8b"
    hardware: str = "h100-80g"

    @property
    def by(self) -> str:
        """The algorithm."""
        return self.algorithm or fitting(self.collective, self.topology)


def new_scenario(kind: str, wish: Wish) -> str:
    """Text of a scenario that runs.

    Parameters
    ----------
    kind : str
        One of `MAKERS`.
    wish : Wish

    Raises
    ------
    CollsimError
        If there is no such scenario: an algorithm does not do the collective, or not there.
    """
    if wish.algorithm is not None and wish.algorithm not in able(wish.collective):
        known = able(wish.collective)
        hint = suggestion(wish.algorithm, known)
        raise CollsimError(f'no algorithm "{printable(wish.algorithm)}" does {wish.collective}{hint}')
    text = f"{_HEADS[kind]}{_HINT}{to_text(MAKERS[kind](wish))}"
    try:
        _try(text, kind, wish)
    except ScenarioErrors as errors:
        # the place in a file that is not there would not help
        raise CollsimError(errors.errors[0].message, errors.errors[0].at) from None
    return text


def _try(text: str, kind: str, wish: Wish) -> None:
    """Run a scenario that takes no time; of a large one only see that it can be read."""
    if kind == "sweep":
        text = text[: text.index("\nsweep:")]
    scenario = loads_any(text, "new")
    if isinstance(scenario, PlanScenario):
        work_out(scenario)
    elif _is_small(wish):
        run_any(scenario)


def _is_small(wish: Wish) -> bool:
    return _built(wish).ranks <= MOST_RUN


def _collective(wish: Wish) -> list[Entry]:
    """A file of one collective."""
    keys, _ = collective_keys(replace(_ASKED, algorithm=wish.by))
    given: dict[str, Given] = {
        "name": _name(wish),
        "topology": _topology(wish),
        "collective": _choice(wish, keys, {}),
        **_expected(wish, Expect),
    }
    return _file(scenario_keys(None, _ASKED), given, wish)


def _sweep(wish: Wish) -> list[Entry]:
    """A collective, of which something is varied."""
    sized = wish.collective != "barrier"
    field, values = ("collective.size", "1KiB..256MiB") if sized else ("network.sync", "[step, dataflow]")
    vary = [Entry(field, values, "A range from .. to, or a list; every value is a run.")]
    block = entries(parameters_of(SweepPlan), {"vary": vary})
    # a sweep expects nothing
    kept = [entry for entry in _collective(wish) if entry.name != "expect"]
    return [*kept, Entry("sweep", block, "What is varied; collsim sweep runs it.")]


def _together(wish: Wish) -> list[Entry]:
    """Two collectives at once, one on each half of the ranks."""
    ranks = _built(wish).ranks
    if ranks < 2:
        raise CollsimError("several collectives need 2 ranks or more", ("ranks",))
    keys, _ = collective_keys(replace(_ASKED, algorithm=wish.by))
    half = ranks // 2
    groups = {"first": (0, half - 1), "second": (half, ranks - 1)}
    own: dict[str, Parameter | CoreSchema] = {**parameters_of(Own), **keys}
    members = [
        _choice(wish, own, {"name": name, "ranks": f"{{first: {low}, last: {high}}}"})
        for name, (low, high) in groups.items()
    ]
    given: dict[str, Given] = {
        "name": f"Two of {_name(wish)}",
        "topology": _topology(wish),
        # what may be written is told once
        "collectives": [members[0], [entry for entry in members[1] if not entry.off]],
        **_expected(wish, ExpectTogether),
    }
    return _file(together_keys(None), given, wish)


def _plan(wish: Wish) -> list[Entry]:
    """A model on a cluster: tensors over up to eight neighbours, the rest copies of it."""
    ranks = _built(wish).ranks
    width = next(size for size in (8, 4, 2, 1) if ranks % size == 0)
    parallel: dict[str, Given] = {
        "tp": str(width),
        "sp": "true" if width > 1 else "false",
        "dp": str(ranks // width),
    }
    given: dict[str, Given] = {
        "name": f"{wish.model} on {ranks} x {wish.hardware}",
        "model": wish.model,
        "hardware": wish.hardware,
        "topology": _topology(wish),
        "parallel": entries(parameters_of(Parallel), parallel),
        "batch": entries(_known(batch_keys()), {"global": str(4 * ranks // width)}),
    }
    return _file(plan_keys(None), given, wish)


def _file(keys: Mapping[str, Parameter | CoreSchema], given: dict[str, Given], wish: Wish) -> list[Entry]:
    """Entries of a file; the network of switches is timed as such are."""
    if _is_switched(wish):
        placed = () if "symmetry" in keys else ("placement",)
        network = entries(parameters_of(Network), {"model": "cut_through"}, without=placed)
        last = {"expect": given.pop("expect")} if "expect" in given else {}
        given = {**given, "network": network, **last}
    return entries(_known(keys), given)


def _known(keys: Mapping[str, Parameter | CoreSchema]) -> dict[str, Parameter]:
    """Keys of which something is known."""
    return {name: key for name, key in keys.items() if isinstance(key, Parameter)}


def _expected(wish: Wish, block: type) -> dict[str, Given]:
    """That the schedule is proven, where it is small enough to know."""
    return {"expect": entries(parameters_of(block), {"verified": "full"})} if _is_small(wish) else {}


def _topology(wish: Wish) -> list[Entry]:
    """The block `topology`: a kind with what it takes, or a preset of as many ranks."""
    known = parameters_of(TopologyChoice)
    if wish.topology in TOPOLOGIES:
        keys = {
            "kind": known["kind"],
            **parameters_of(TOPOLOGIES[wish.topology]),
            "overrides": known["overrides"],
        }
        return entries(keys, {"kind": wish.topology, **starter(wish.topology, wish.ranks)})
    keys = {"preset": known["preset"], "overrides": known["overrides"]}
    return entries(keys, {"preset": wish.topology, **_resized(wish)})


def _resized(wish: Wish) -> dict[str, Given]:
    """What makes a preset one of N ranks: its nodes, where it has any."""
    inside = read_preset(wish.topology).entries.get("ranks_per_node")
    if wish.ranks is None or inside is None or not isinstance(inside[1], Scalar):
        return {}
    return {"nodes": str(wish.ranks // int(inside[1].text) or 1)}


@cache
def _built(wish: Wish) -> Topology:
    """The topology.

    Raises
    ------
    CollsimError
        If it has another number of ranks than wished for.
    """
    barrier = "collective: {kind: barrier, algorithm: dissemination}\n"
    topology = build_topology(loads(to_text([Entry("topology", _topology(wish))]) + barrier))
    if wish.ranks not in (None, topology.ranks):
        message = f"{wish.topology} has {topology.ranks} ranks here, not {wish.ranks}"
        raise CollsimError(message, ("ranks",))
    return topology


def usual_ranks(wish: Wish) -> int:
    """How many ranks there are where a person does not say."""
    return _built(replace(wish, ranks=None)).ranks


def _is_switched(wish: Wish) -> bool:
    return len(_built(wish).nodes) > _built(wish).ranks


def _choice(wish: Wish, keys: Mapping[str, Parameter | CoreSchema], more: dict[str, Given]) -> list[Entry]:
    """The block `collective`, or an entry of several: with the options of the algorithm, and no others."""
    shape = KINDS[wish.collective]
    has = {
        "root": shape.rooted,
        "peer": shape.target == "peer",
        "segments": wish.collective != "barrier",
        # a size is given
        "sizes": False,
    }
    options = (*options_of(wish.by), *(name for name in has if has[name]))
    wanted = (*more, "kind", "algorithm", "size", *options, *(parameters_of(Own) if more else ()))
    known = _known({name: keys[name] for name in wanted})
    given = {**more, "kind": wish.collective, "algorithm": wish.by}
    if wish.collective != "barrier":
        given["size"] = wish.size
    return entries(known, given, without=("size",))


def _name(wish: Wish) -> str:
    return f"{wish.collective} by {wish.by} on {wish.topology}"


MAKERS: Final[Mapping[str, Callable[[Wish], list[Entry]]]] = MappingProxyType(
    {"collective": _collective, "together": _together, "plan": _plan, "sweep": _sweep}
)
"""The kinds of files."""
