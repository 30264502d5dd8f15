"""The document's list of key points and its last table: the same statements again, in short."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Final

from simulator.seeds.page import Remark, Section, Verdict
from simulator.seeds.seed1.constraints import needs_power, not_on_a_ring
from simulator.seeds.seed1.halvings import both_bounds
from simulator.seeds.seed1.limits import bandwidth_bound, latency_bound
from simulator.seeds.seed1.rings import bandwidth_optimal, ending, latency_not
from simulator.seeds.seed1.semantics import blocks, decomposition, definition, half, reversal
from simulator.seeds.seed1.uses import half_saved, sequence_parallel, uses_names, zero_gradients, zero_memory

_WORST: Final[tuple[Verdict, ...]] = ("corrected", "not tested", "holds if", "holds")


def again(said: str, remarks: Iterable[Remark], found: str) -> Remark:
    """A statement that sums up others: it holds as the worst of them does."""
    return Remark(said, min((remark.verdict for remark in remarks), key=_WORST.index), found)


def _meaning(said: str) -> Remark:
    return again(said, (definition(), blocks()), "N divides M; else blocks differ by a byte.")


def _composition(said: str) -> Remark:
    return again(
        said,
        (decomposition(), half()),
        "the AllReduce is made of both. In a switch it sends M, by doubling M log2 N.",
    )


def _least_bytes(said: str) -> Remark:
    return again(
        said, (bandwidth_bound(),), "With d the links of a rank; a ring's algorithm uses one of two."
    )


def _least_latency(said: str) -> Remark:
    return again(
        said,
        (latency_bound(),),
        "a rank has one port and alpha holds it; else ceil(log_{d+1} N) alpha, and the way.",
    )


def _ring(said: str) -> Remark:
    return again(
        said, (bandwidth_optimal(), latency_not()), "d = 1 and N > 3; in both directions it is so for d = 2."
    )


def _halving(said: str) -> Remark:
    return again(
        said,
        (both_bounds(), needs_power(), not_on_a_ring()),
        "Both on one port. Any N has ceil(log2 N) steps and (N-1)M/N by the dual of Bruck's AllGather, and "
        "any machine with bandwidth enough between its halves will do.",
    )


def _users(said: str) -> Remark:
    return again(
        said,
        (sequence_parallel(), zero_gradients(), uses_names()),
        "a layer is attention or an MLP. Whatever sums over ranks reduces and scatters, alone or as half of "
        f"an AllReduce: {uses_names().found}.",
    )


@cache
def key_points_section() -> Section:
    """What it says first."""
    return Section(
        "Key points",
        (
            (
                _meaning("Every node has M before, and M/N, completely reduced, after."),
                _composition("AllReduce = ReduceScatter + AllGather; alone a ReduceScatter moves half."),
                _least_bytes("Bound on bandwidth (N-1)M/(N d beta)."),
                _least_latency("Bound on latency ceil(log2 N) alpha."),
                _ring("Ring: bandwidth optimal, latency not, O(N) alpha."),
                _halving("Recursive halving: both optimal, but N = 2^k and a hypercube are required."),
                _users("SP forward, ZeRO-3 backward and TP are its main users."),
            ),
        ),
    )


@cache
def takeaways_section() -> Section:
    """Its last table."""
    return Section(
        "Takeaways",
        (
            (
                _meaning("Semantics: reduce, then give out by parts; a node has M/N."),
                again(
                    "Duality: turn the data flow of AllGather round, and reduce.",
                    (reversal(),),
                    "each part's ways are a tree.",
                ),
                _composition("AllReduce: RS + AG; RS alone moves half."),
                _least_bytes("Bound on bandwidth: (N-1)M/(N d beta)."),
                _least_latency("Bound on latency: ceil(log2 N) alpha."),
                _ring("Ring: bandwidth optimal, latency O(N) alpha not."),
                _halving("Recursive halving: both optimal, needs N = 2^k and a hypercube."),
                _users("Users: SP forward, ZeRO-3 backward, TP."),
            ),
            "Not in its table, but corrected above: "
            + " ".join(
                f"“{one.said}”"
                for one in (ending(), half_saved(), zero_memory())
                if one.verdict == "corrected"
            ),
        ),
    )
