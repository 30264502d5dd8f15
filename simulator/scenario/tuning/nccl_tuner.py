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

ALGORITHMS: Final[Mapping[str, str]] = MappingProxyType(
    {"ring": "ring", "chain": "ring", "double_binary_tree": "tree", "pat": "pat", "in_network": "nvls"}
)
"""NCCL's algorithms by those of the catalogue; its Broadcast and Reduce by a ring are pipelines along it."""

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
    rules = rules_of(comparison, ALGORITHMS, "NCCL")
    lines = ["# collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks"]
    for rule, after in pairwise([*rules, Rule(MOST + 1, "")]):
        sizes = f"{rule.since},{after.since - 1}"
        lines.append(f"{COLLECTIVES[kind]},{sizes},{ALGORITHMS[rule.name]},simple,-1,-1,{comparison.ranks}")
    return "\n".join(lines) + "\n"
