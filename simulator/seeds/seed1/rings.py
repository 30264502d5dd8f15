"""The ring: its steps, where a chunk ends, its cost, and whether reducing is hidden."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np

from algorithms.collective import make_collective
from algorithms.counts import count
from algorithms.duality import dual
from algorithms.errors import ProofError
from algorithms.latency_bound import ceil_log
from algorithms.proof import prove
from algorithms.registry import build
from algorithms.schedule import Schedule
from algorithms.trace import trace
from simulator.seeds.page import Grid, Remark, Section, verdict
from simulator.seeds.seed1.claims import RING_FIRST_CHUNK, Costs, ring_time, sent
from simulator.seeds.seed1.examples import (
    ALPHA,
    BETA,
    FULL,
    GAMMA,
    LADDER_RING,
    PLAIN,
    RANKS,
    SIZE,
    ladder,
    mesh_of,
    one_port,
    proven,
    ratio,
    ring_of,
    same,
    seconds,
    share,
)

FOUR = 4
VENDOR = 1 / (1 / Fraction(128) + 1 / Fraction(512) + 1 / Fraction(128)) * 10**9
"""What a message of SG2260 goes through at its receiver one after the other: DDR to L2, SUM, L2 to DDR, in
bytes/s (sophgo/torch-tpu, tpu.json: v_ddr2l2 128, v_SUM 512, v_l22ddr 128)."""


def ring_section() -> Section:
    """All of it."""
    return Section(
        "Ring ReduceScatter",
        (
            "Which chunk each node sends in its trace of N = 4, and what the receiver has added up then:",
            Grid(("step", *(f"node {i}" for i in range(FOUR)), "complete"), tuple(_trace_rows())),
            (dual_of_gather(), first_step(), forwarding(), last_step(), ending()),
            "Node i starts with chunk i + a and ends with the sum of (proven on data, N = 4):",
            Grid(
                ("a", "node 0", "node 1", "node 2", "node 3", "is B_i", "who starts so"),
                tuple(_ending_rows()),
            ),
            (steps(), full_cost()),
            "The full formula, (N-1)(alpha + M/N/beta + M/N/gamma), beside what is simulated, 1 GiB:",
            Grid(("machine", "N", "formula", "simulated"), tuple(_cost_rows())),
            (hidden(), bandwidth_optimal(), latency_not()),
            "1 GiB on a ring of 8 at beta = 64 GB/s, simulated, over the formula that leaves reducing out:",
            Grid(("gamma", "after arrival", "in 8 pieces", "streamed"), tuple(_hidden_rows())),
        ),
    )


@cache
def _of_four() -> Schedule:
    return proven("ring", "reduce_scatter", FOUR, 64, first_chunk=RING_FIRST_CHUNK)


def _sent(schedule: Schedule, step: int) -> list[int]:
    """The chunk that each rank sends."""
    return [move.chunks[0] for move in list(trace(schedule))[step].moves]


def _trace_rows() -> Iterator[tuple[str, ...]]:
    schedule = _of_four()
    for step in range(schedule.steps):
        sums = step + 2
        yield (
            str(step + 1),
            *map(str, _sent(schedule, step)),
            "yes" if sums == FOUR else f"{sums} of {FOUR}",
        )


@cache
def dual_of_gather() -> Remark:
    """The AllGather of a ring, backwards."""
    gather = proven("ring", "allgather", RANKS, SIZE)
    turned = dual(gather, make_collective("reduce_scatter", RANKS, SIZE))
    prove(turned)
    left = bool((turned.dst == (turned.src - 1) % RANKS).all())
    one, other = count(turned), count(proven("ring", "reduce_scatter", RANKS, SIZE))
    return Remark(
        "It is the dual of the ring's AllGather: in each step a piece goes downstream and one comes from "
        "upstream.",
        verdict([one == other], [not left]),
        "downstream is the other way: an AllGather to the right, turned round, is a ReduceScatter to the "
        f"left, with the same {one.steps} steps and {share(one.bytes_sent_max, SIZE)} a node.",
    )


@cache
def first_step() -> Remark:
    """Chunk i+1 to the right."""
    schedule, node = _of_four(), np.arange(FOUR)
    said = _sent(schedule, 0) == ((node + RING_FIRST_CHUNK) % FOUR).tolist()
    right = bool((schedule.dst == (schedule.src + 1) % FOUR).all())
    return Remark(
        "Step 1: node i sends chunk (i+1) mod N to the right; the receiver adds its own.",
        verdict([said, right]),
        "As a ring it runs; `first_chunk: 1` is this trace. It does not end as the definition demands, see "
        "below.",
    )


@cache
def forwarding() -> Remark:
    """What came in goes on."""
    schedule = _of_four()
    goes_on = [
        _sent(schedule, step + 1) == np.roll(_sent(schedule, step), 1).tolist()
        for step in range(schedule.steps - 1)
    ]
    return Remark(
        "Step 2: node i sends on the chunk that it has just added to.",
        verdict(goes_on),
        "In every step after the first the chunk is the one that came in the step before.",
    )


@cache
def last_step() -> Remark:
    """N-1 steps, then one complete chunk."""
    schedule = _of_four()
    complete = len(set(schedule.collective.target.tolist())) == FOUR
    return Remark(
        "Step 3, the last: every node has one chunk that is complete.",
        verdict([schedule.steps == FOUR - 1, complete]),
        f"{schedule.steps} = N-1 steps, and {FOUR} nodes have {FOUR} different chunks.",
    )


def _is_the_collective(first: int) -> tuple[bool, list[int]]:
    """Whether a ring is the ReduceScatter of the definition; the chunk that each rank ends with."""
    schedule = build("ring", "reduce_scatter", FOUR, 64, first_chunk=first)
    prove(schedule)
    ends = np.argsort(schedule.collective.target).tolist()
    try:
        prove(replace(schedule, collective=make_collective("reduce_scatter", FOUR, 64)))
    except ProofError:
        return False, ends
    return True, ends


@cache
def ending() -> Remark:
    """Node i ends with chunk i."""
    fits, ends = _is_the_collective(RING_FIRST_CHUNK)
    needed = next(a for a in range(FOUR) if _is_the_collective(a)[0])
    return Remark(
        "So node i ends with B_i, its own chunk i (its definition, and the N = 4 trace).",
        verdict([fits]),
        f"The trace ends with chunk i + {ends[0]} at node i: a ring that starts with i + a ends with i + a "
        f"+ 1. For B_i node i must start with chunk i - {FOUR - needed}.",
    )


def _ending_rows() -> Iterator[tuple[str, ...]]:
    users = {FOUR - 1: "NCCL, MPICH", 0: "Open MPI's AllReduce", RING_FIRST_CHUNK: "the document"}
    for first in range(FOUR):
        fits, ends = _is_the_collective(first)
        yield (str(first), *map(str, ends), "yes" if fits else "no", users.get(first, ""))


@cache
def steps() -> Remark:
    """N-1 steps of M/N."""
    counts = {ranks: count(build("ring", "reduce_scatter", ranks, SIZE)) for ranks in (2, 4, 8, 16, 64)}
    return Remark(
        "N-1 steps; in each a node sends and receives M/N.",
        verdict(
            c.steps == n - 1 and c.bytes_sent_max == c.bytes_reduced_max == sent(n, SIZE)
            for n, c in counts.items()
        ),
        "Steps, and bytes of a node: "
        + ", ".join(f"{c.steps} and {share(c.bytes_sent_max, SIZE)} for N = {n}" for n, c in counts.items())
        + ".",
    )


@cache
def _costs(*, crowded: bool) -> tuple[tuple[str, int, Fraction, Fraction], ...]:
    """Machine, N, formula, simulated time; where neighbours in the ring share links, and where not."""
    own_links = (ring_of(4), ring_of(8), ring_of(16), one_port(8), mesh_of(8), ladder(LADDER_RING))
    found = []
    for machine in (ladder(),) if crowded else own_links:
        ranks = machine.topology.ranks
        schedule = proven("ring", "reduce_scatter", ranks, SIZE)
        found.append((machine.name, ranks, ring_time(ranks, SIZE, FULL), machine.time(schedule, GAMMA)))
    return tuple(found)


@cache
def full_cost() -> Remark:
    """The formula is what happens."""
    meant, beyond = (
        [same(formula, time) for *_, formula, time in _costs(crowded=crowded)] for crowded in (False, True)
    )
    uneven = ring_of(RANKS).time(proven("ring", "reduce_scatter", RANKS, 1001), GAMMA)
    return Remark(
        "T = (N-1)(alpha + M/N/beta + M/N/gamma).",
        verdict(meant, [*beyond, same(uneven, ring_time(RANKS, 1001, FULL))]),
        "each node reaches the next over links of their own, each message is reduced after it has arrived, "
        "and N divides M. Then it is exact. The box of eight SG2260 needs the right order of its chips for "
        "that.",
    )


def _cost_rows() -> Iterator[tuple[str, ...]]:
    for name, ranks, formula, time in (*_costs(crowded=False), *_costs(crowded=True)):
        off = "" if same(formula, time) else f", {ratio(time, formula)} times"
        yield (name, str(ranks), seconds(formula), seconds(time) + off)


@cache
def _reduced(gamma: Fraction, streamed: bool = False, pieces: int = 1) -> Fraction:
    """Time on a ring of 8 links of 64 GB/s, alpha = 1 us."""
    schedule = proven("ring", "reduce_scatter", RANKS, SIZE)
    return ring_of(RANKS).time(schedule, gamma, streamed=streamed, pieces=pieces)


@cache
def hidden() -> Remark:
    """Gamma >> beta: reducing is hidden."""
    plain = ring_time(RANKS, SIZE, PLAIN)
    free = Costs(Fraction(0), BETA, GAMMA)
    excess = ring_time(RANKS, SIZE, free) / ring_time(RANKS, SIZE, Costs(Fraction(0), BETA)) - 1
    vendor = 1 + Fraction(32 * 10**9) / VENDOR
    return Remark(
        "gamma >> beta (SUM 512 against CDMA 64 GB/s), so reducing is hidden: T = (N-1) alpha + (N-1)M/(N "
        "beta).",
        verdict(
            [_reduced(gamma, streamed=True) == plain for gamma in (BETA, GAMMA)],
            [same(_reduced(GAMMA), plain)],
        ),
        "a message is reduced as it comes (`streamed`) and gamma >= beta; then it is hidden to the "
        "femtosecond, and gamma = beta would do. The document's own formula adds the terms: "
        f"+{float(excess) * 100:g} % at 512 against 64, and that is what `after` takes, "
        f"{seconds(_reduced(GAMMA))} for {seconds(plain)}. In 8 pieces, each reduced while the next comes, "
        f"it is {seconds(_reduced(GAMMA, pieces=8))}. With the vendor's legs to and from DDR, one after "
        f"the other on a link of 32 GB/s, it is +{float(vendor - 1) * 100:g} %.",
    )


def _hidden_rows() -> Iterator[tuple[str, ...]]:
    plain = ring_time(RANKS, SIZE, PLAIN)
    for part in (Fraction(1, 2), Fraction(1), Fraction(2), Fraction(8), Fraction(64)):
        gamma = part * BETA
        times = (_reduced(gamma), _reduced(gamma, pieces=8), _reduced(gamma, streamed=True))
        yield (f"{float(gamma) / 1e9:g} GB/s", *(ratio(time, plain) for time in times))


@cache
def bandwidth_optimal() -> Remark:
    """Its bandwidth term is the bound."""
    free = ring_of(RANKS).time(proven("ring", "reduce_scatter", RANKS, SIZE)) - (RANKS - 1) * ALPHA
    bound_of_one = sent(RANKS, SIZE) / BETA
    bound_here = ring_of(RANKS).bounds("reduce_scatter", SIZE).bandwidth
    both = ring_of(RANKS).time(proven("bidirectional_ring", "reduce_scatter", RANKS, SIZE))
    return Remark(
        "Its bandwidth term reaches the bound.",
        verdict([same(free, bound_of_one)], [same(free, bound_here)]),
        f"d = 1. A ring has two links a node, so that the bound is half, {seconds(bound_here)} instead of "
        f"{seconds(bound_of_one)}; `bidirectional_ring` takes {seconds(both)}.",
    )


@cache
def latency_not() -> Remark:
    """Its latency term is far above the bound."""
    above = {n: (n - 1) > ceil_log(n, 2) for n in range(2, 65)}
    equal = [n for n, more in above.items() if not more]
    here = ring_of(64).bounds("reduce_scatter", 0).latency
    time = ring_of(64).time(proven("ring", "reduce_scatter", 64, 0))
    return Remark(
        "Its latency term, O(N) alpha, is far above the bound.",
        verdict([above[64], same(time, 63 * ALPHA)], above.values()),
        f"N > {max(equal)}: for N = {' and '.join(map(str, equal))} N-1 is ceil(log2 N). For 64 it is "
        f"{ratio(63, ceil_log(64, 2))} times, {seconds(time)} for {seconds(ceil_log(64, 2) * ALPHA)}. On a "
        f"ring the farthest node is {seconds(here)} away, so that nothing takes less than "
        f"{ratio(here, time)} of it there.",
    )
