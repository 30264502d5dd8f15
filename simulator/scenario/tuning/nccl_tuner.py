"""The configuration of NCCL's example tuner plugin (NVIDIA/nccl, plugins/tuner/example).

A row is `collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks`, -1 being any; the
first that fits is taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from simulator.scenario.tuning.rules import Rule, rules_of
from topologies.errors import CollsimError

if TYPE_CHECKING:
    from simulator.scenario.compare import Comparison

_PIPELINE: Final = MappingProxyType({"chain": "ring"})
_GATHER: Final = MappingProxyType({"ring": "ring", "pat": "pat"})
ALGORITHMS: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        **{"broadcast": _PIPELINE, "reduce": _PIPELINE, "allgather": _GATHER, "reduce_scatter": _GATHER},
        "allreduce": {"ring": "ring", "double_binary_tree": "tree", "in_network": "nvls"},
    }
)
"""What NCCL has for a collective (src/graph/tuning.cc) by the catalogue's names; it passes over others.

Its Broadcast and Reduce by a ring are pipelines along it.
"""

COLLECTIVES: Final[Mapping[str, str]] = MappingProxyType(
    {
        **{"broadcast": "broadcast", "reduce": "reduce", "allgather": "allgather"},
        **{"reduce_scatter": "reducescatter", "allreduce": "allreduce"},
    }
)
MOST: Final = 2**64 - 1
"""Bytes."""

NOTE: Final = "protocols are not simulated: every row says simple"


def nccl_tuner_csv(comparison: Comparison) -> str:
    """Winners as rows, from the smallest sizes on.

    Raises
    ------
    CollsimError
        If NCCL's tuner has no such collective, or none of the algorithms.
    """
    kind = comparison.scenario.collective.kind
    if kind not in COLLECTIVES:
        raise CollsimError(f"NCCL's tuner chooses nothing for {kind}; expected {', '.join(COLLECTIVES)}")
    able = ALGORITHMS[kind]
    rules = rules_of(comparison, able, "NCCL")
    lines = ["# collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks"]
    for rule, after in pairwise([*rules, Rule(MOST + 1, "")]):
        sizes = f"{rule.since},{after.since - 1}"
        lines.append(f"{COLLECTIVES[kind]},{sizes},{able[rule.name]},simple,-1,-1,{comparison.ranks}")
    return "\n".join(lines) + "\n"
