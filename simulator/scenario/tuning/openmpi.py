"""What Open MPI's coll/tuned chooses its algorithms by, and which of the catalogue's these are.

Numbers are those of `coll_tuned_<collective>_algorithm` in 5.0 (coll_tuned_<collective>_decision.c). Message
sizes are the full vector's, M (coll_tuned_decision_dynamic.c).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from algorithms.compose import is_power_of_two
from simulator.scenario.tuning.openmpi_rules import Row, Rules, SizeRules, read_rules, write_rules
from simulator.scenario.tuning.rules import Rule, rules_of
from topologies.errors import CollsimError

if TYPE_CHECKING:
    from simulator.scenario.compare import Comparison
    from simulator.scenario.models import CollectiveChoice

JSON_VERSION: Final = 3


@dataclass(frozen=True, slots=True)
class _Collective:
    """A collective of Open MPI: its number, its name in JSON, and its algorithms by ours."""

    number: int
    name: str
    algorithms: Mapping[str, int]


_TABLES: Final[Mapping[str, tuple[_Collective, ...]]] = MappingProxyType(
    {
        "allgather": (
            _Collective(
                *(0, "allgather"),
                {"bruck": 2, "recursive_doubling": 3, "ring": 4, "neighbor_exchange": 5, "sparbit": 7},
            ),
        ),
        "allreduce": (_Collective(2, "allreduce", {"recursive_doubling": 3, "ring": 4, "rabenseifner": 6}),),
        "all_to_all": (_Collective(3, "alltoall", {"direct": 1, "pairwise": 2, "bruck": 3}),),
        "broadcast": (
            _Collective(
                *(7, "bcast"),
                {
                    **{"linear": 1, "chain": 3, "split_binary_tree": 4, "binary_tree": 5, "binomial": 6},
                    # with recursive doubling, not a ring, the latter is 8
                    **{"knomial": 7, "scatter_allgather": 9},
                },
            ),
        ),
        "reduce": (
            _Collective(
                *(11, "reduce"),
                {
                    **{"linear": 1, "chain": 3, "binary_tree": 4, "binomial": 5, "in_order_binary_tree": 6},
                    "reduce_scatter_gather": 7,
                },
            ),
        ),
        "reduce_scatter": (
            _Collective(12, "reducescatter", {"recursive_halving": 2, "ring": 3, "butterfly": 4}),
            _Collective(
                *(13, "reducescatterblock"),
                {"recursive_doubling": 2, "recursive_halving": 3, "butterfly": 4},
            ),
        ),
    }
)
_FITS: Final[Mapping[tuple[str, str], Callable[[int], bool]]] = MappingProxyType(
    {
        # elsewhere Open MPI takes another: Bruck, and the ring
        ("allgather", "recursive_doubling"): is_power_of_two,
        ("allgather", "neighbor_exchange"): lambda ranks: ranks % 2 == 0,
    }
)


def able_of(comparison: Comparison) -> Mapping[str, int]:
    """Algorithms of the catalogue that Open MPI has for a comparison's collective and N."""
    return _able(_collectives(comparison)[0], comparison)


def _able(collective: _Collective, comparison: Comparison) -> Mapping[str, int]:
    choice, ranks = comparison.scenario.collective, comparison.ranks
    others = {
        # its pipeline is one chain, whatever the fan out
        "chain": choice.options.get("fanout", 1) > 1,
        "scatter_allgather": choice.options.get("allgather", "ring") != "ring",
    }
    return {
        name: number - 1 if others.get(name) else number
        for name, number in collective.algorithms.items()
        if (choice.kind, name) not in _FITS or _FITS[choice.kind, name](ranks)
    }


def _collectives(comparison: Comparison) -> tuple[_Collective, ...]:
    choice = comparison.scenario.collective
    if choice.kind not in _TABLES:
        known = ", ".join(_TABLES)
        raise CollsimError(f"Open MPI's rules know no sizes of {choice.kind}; expected {known}")
    if choice.options.get("segments", 1) > 1:
        raise CollsimError("Open MPI's segments are of a size, not so many; compare without segments")
    return _TABLES[choice.kind]


def _chosen(comparison: Comparison) -> list[tuple[_Collective, tuple[Rule, ...]]]:
    """Rules of every collective of Open MPI that a comparison's is; one of two may have none."""
    found: list[tuple[_Collective, tuple[Rule, ...]]] = []
    refused: CollsimError | None = None
    for collective in _collectives(comparison):
        try:
            found.append((collective, rules_of(comparison, _able(collective, comparison), "Open MPI")))
        except CollsimError as error:
            refused = error
    if not found and refused is not None:
        raise refused
    return found


def openmpi_rules(comparison: Comparison) -> str:
    """Winners as the classic file of `coll_tuned_dynamic_rules_filename`.

    Raises
    ------
    CollsimError
        If Open MPI has no rules for the collective, or none of the algorithms.
    """
    fan = _fan(comparison.scenario.collective)
    tables = {}
    for collective, rules in _chosen(comparison):
        able = _able(collective, comparison)
        rows = tuple(Row(rule.since, able[rule.name], fan.get(rule.name, 0), 0) for rule in rules)
        tables[collective.number] = (SizeRules(comparison.ranks, rows),)
    text = write_rules(Rules(tables))
    # Open MPI takes nothing of a file that it cannot read, and says nothing
    read_rules(text, "rules")
    return text


def openmpi_json(comparison: Comparison) -> str:
    """Winners as the JSON of Open MPI 6 (docs/tuning-apps/tuned_dynamic_file_schema.json).

    Raises
    ------
    CollsimError
        As `openmpi_rules`.
    """
    fan = _fan(comparison.scenario.collective)
    collectives = {}
    for collective, rules in _chosen(comparison):
        able, rows = _able(collective, comparison), list[dict[str, Any]]()
        for rule, after in pairwise([*rules, Rule(-1, "")]):
            last = "inf" if after.since < 0 else after.since - 1
            row = {"msg_size_min": rule.since, "msg_size_max": last, "alg": able[rule.name]}
            rows.append(row | ({"faninout": fan[rule.name]} if rule.name in fan else {}))
        about = {"comm_size_min": comparison.ranks, "comm_size_max": comparison.ranks}
        collectives[collective.name] = [{**about, "rules": rows}]
    tree = {"rule_file_version": JSON_VERSION, "module": "tuned", "collectives": collectives}
    return json.dumps(tree, indent=2) + "\n"


def _fan(choice: CollectiveChoice) -> Mapping[str, int]:
    """How many a node of a tree sends to, of algorithms that take it."""
    return {"chain": choice.options.get("fanout", 1)}


def notes_of(comparison: Comparison) -> list[str]:
    """What rules cannot say."""
    radix = comparison.scenario.collective.options.get("radix", 2)
    won = any(rule.name == "knomial" for _, rules in _chosen(comparison) for rule in rules)
    return [f"knomial's radix is in no rule: set coll_tuned_bcast_knomial_radix to {radix}"] if won else []
