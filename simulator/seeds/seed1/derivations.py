"""The derivation of the bounds that the document leaves to its section 4.2."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from algorithms.counts import count
from simulator.seeds.page import Grid, Section
from simulator.seeds.seed1.claims import sent
from simulator.seeds.seed1.examples import (
    ALPHA,
    GAMMA,
    RANKS,
    SIZE,
    one_port,
    proven,
    ratio,
    reducing_switch,
    ring_of,
    seconds,
    share,
)

if TYPE_CHECKING:
    from algorithms.schedule import Schedule


def derivation_section() -> Section:
    """What section 4.2 would have to say."""
    return Section(
        "The derivation of the bounds (its section 4.2)",
        (
            "The document refers to a section that it does not contain. The argument is short.",
            _latency_argument(),
            Grid(("round", "one port", "two ports"), tuple(_growth_rows())),
            _bandwidth_argument(),
            _reduction_argument(),
            _allreduce_argument(),
        ),
    )


def _latency_argument() -> str:
    ring = ring_of(RANKS)
    return (
        "**Latency.** Part i must be made of a contribution of every rank, so every contribution must get "
        "to rank i. Let K(t) be the ranks whose state may depend on rank j's contribution after t rounds; "
        "K(0) = 1. In one round each of them sends at most d messages, to at most d ranks: K(t+1) <= (d+1) "
        "K(t). All N ranks must be reached, since each must end with a part to which j contributes: (d+1)^t "
        ">= N, t >= ceil(log_{d+1} N). A round takes alpha if alpha holds the port. On a graph a "
        "contribution also needs the shortest way to the farthest rank, "
        f"{seconds(ring.bounds('reduce_scatter', 0).latency)} on a {ring.name} with 1 us a link. The growth "
        "in two AllReduces, ranks that rank 0's contribution has reached: recursive doubling of 8, and "
        "recursive multiplying of 9, where each rank sends two messages a round."
    )


def _growth_rows() -> Iterator[tuple[str, ...]]:
    one = reached(proven("recursive_doubling", "allreduce", 8, 8))
    two = reached(proven("recursive_multiplying", "allreduce", 9, 9, radix=3))
    for at in range(max(len(one), len(two))):
        yield (str(at), *(str(reached[at]) if at < len(reached) else "" for reached in (one, two)))


def reached(schedule: Schedule) -> list[int]:
    """Ranks whose state depends on rank 0's contribution, after every step of whole vectors."""
    reached, found = {0}, [1]
    for start, stop in schedule.step_bounds():
        ends = zip(schedule.src[start:stop].tolist(), schedule.dst[start:stop].tolist(), strict=True)
        reached = reached | {dst for src, dst in ends if src in reached}
        found.append(len(reached))
    return found


def _bandwidth_argument() -> str:
    machine = one_port(RANKS)
    bound = machine.bounds("reduce_scatter", SIZE).bandwidth
    halving = one_port(RANKS, ALPHA * 0).time(proven("recursive_halving", "reduce_scatter", RANKS, SIZE))
    return (
        "**Bandwidth.** Cut the machine around rank i. The other N-1 parts, (N-1)M/N bytes, depend on its "
        "contribution; contributions are arbitrary, so as many bytes must leave it, over d links of beta: "
        "(N-1)M/(N d beta). What comes in may be as little as M/N, if others have summed it before. Of each "
        "part every rank but its owner must send something: (N-1)M bytes in all. Around a set S of ranks: "
        "each part of a rank outside needs what is inside, so M/N bytes for each rank outside must cross, "
        "over the bandwidth of the links that leave S; the largest such quotient is the bound of a graph. "
        f"With alpha = 0 halving takes {seconds(halving)} for 1 GiB on one port, and the bound is "
        f"{seconds(bound)}."
    )


def _reduction_argument() -> str:
    schedule = count(proven("ring", "reduce_scatter", RANKS, SIZE))
    bound = sent(RANKS, SIZE) / GAMMA
    return (
        "**Reduction.** To add N contributions takes N-1 additions, whoever makes them: (N-1)M bytes in all "
        "are added to something. N ranks with reducers of gamma need (N-1)M/(N gamma) at least, and an "
        f"AllReduce as long. A ring's ranks reduce {share(schedule.bytes_reduced_max, SIZE)} each on "
        f"{RANKS}, {share(schedule.bytes_reduced_total, SIZE)} in all: {seconds(bound)} for 1 GiB at 512 "
        "GB/s. Where switches reduce, ranks need not, and the bound is void."
    )


def _allreduce_argument() -> str:
    ring = count(proven("ring", "allreduce", RANKS, SIZE))
    tree, reducing = proven("in_network", "allreduce", RANKS, SIZE), reducing_switch(RANKS)
    switch = count(tree)
    return (
        "**AllReduce.** Take one byte of the vector, and let ranks send contributions or sums of them. Up "
        "to the moment at which a first rank has the full sum, each of the N-1 others must have sent "
        "something: N-1 messages have arrived. At that moment each of the N-1 others still lacks it, and "
        "something must arrive at each: N-1 more. So 2(N-1)M bytes are sent in all, 2(N-1)M/N by the rank "
        "that sends most, in no less than 2(N-1)M/(N beta) on one port. A ring sends just that, "
        f"{share(ring.bytes_sent_max, SIZE)} a rank on {RANKS}. The count rests on sums being made by "
        "ranks, which must send them on. A switch that reduces and copies takes one message from each rank "
        f"and gives one back: {share(switch.bytes_sent_max, SIZE)} a rank, "
        f"{ratio(ring.bytes_sent_max, switch.bytes_sent_max)} times less. There the bound is M/beta, "
        f"{seconds(reducing.bounds('allreduce', SIZE).bandwidth)} for 1 GiB, and the simulation takes "
        f"{seconds(reducing.time(tree, pieces=16))} in 16 pieces; on a switch that only forwards it is "
        f"{seconds(one_port(RANKS).bounds('allreduce', SIZE).bandwidth)}."
    )
