"""Lower bounds: what the document says of them, and the derivation that it leaves to its section 4.2."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from algorithms.counts import count
from algorithms.errors import ScheduleError
from algorithms.latency_bound import ceil_log
from algorithms.registry import able, build
from simulator.seeds.page import Grid, Remark, Section, verdict
from simulator.seeds.seed1.claims import sent
from simulator.seeds.seed1.examples import (
    ALPHA,
    BETA,
    GAMMA,
    RANKS,
    SIZE,
    Machine,
    cube_of,
    fastest,
    line_of,
    mesh_of,
    one_port,
    pipelined_port,
    proven,
    ratio,
    ring_of,
    seconds,
    share,
    torus_of,
)

if TYPE_CHECKING:
    from fractions import Fraction


@cache
def machines() -> tuple[Machine, ...]:
    """Those on which bounds are held against what is fastest."""
    return (
        one_port(RANKS),
        pipelined_port(RANKS),
        ring_of(RANKS),
        line_of(RANKS),
        torus_of(3, 3),
        cube_of(3),
        mesh_of(RANKS),
    )


@cache
def fastest_on(place: int, size: int) -> tuple[Fraction, str]:
    """Least time of a ReduceScatter on one of the machines, and the algorithm."""
    return fastest(machines()[place], "reduce_scatter", size)


def limits_section() -> Section:
    """Both bounds, machine by machine."""
    latency = Grid(
        (
            "machine",
            "d",
            "ceil(log2 N) alpha",
            "ceil(log_{d+1} N) alpha",
            "bound of this graph",
            "fastest, no bytes",
        ),
        tuple(_latency_rows()),
    )
    bandwidth = Grid(
        ("machine", "d", "(N-1)M/(N d beta)", "bound of this graph", "fastest, 1 GiB", "over that bound"),
        tuple(_bandwidth_rows()),
    )
    return Section(
        "Lower bounds",
        (
            (latency_bound(), same_for_the_dual()),
            "The least time of a ReduceScatter of no bytes, by the fastest algorithm of the catalogue:",
            latency,
            (send_budget(), bandwidth_bound(), letter_d()),
            "The same of 1 GiB; d is the number of links of the rank that has fewest:",
            bandwidth,
        ),
    )


def _latency_rows() -> Iterator[tuple[str, ...]]:
    for place, machine in enumerate(machines()):
        ranks = machine.topology.ranks
        time, name = fastest_on(place, 0)
        yield (
            machine.name,
            str(machine.ports),
            seconds(ceil_log(ranks, 2) * ALPHA),
            seconds(ceil_log(ranks, machine.ports + 1) * ALPHA),
            seconds(machine.bounds("reduce_scatter", 0).latency),
            f"{seconds(time)}, `{name}`",
        )


@cache
def latency_bound() -> Remark:
    """ceil(log2 N) alpha."""
    meant = [fastest_on(0, 0)[0] >= ceil_log(RANKS, 2) * ALPHA]
    every = [
        fastest_on(place, 0)[0] >= ceil_log(machine.topology.ranks, 2) * ALPHA
        for place, machine in enumerate(machines())
    ]
    with_ports = ceil_log(RANKS, machines()[-1].ports + 1)
    return Remark(
        "T_alpha,min = ceil(log2 N) alpha.",
        verdict(meant, every),
        "a rank has one port (d = 1), and alpha holds it. With d ports it is ceil(log_{d+1} N) alpha: d is "
        f"missing, though the bound on bandwidth has it; on a {machines()[-1].name} {with_ports} alpha is "
        "enough. Where alpha is the way and the port is free meanwhile, messages follow each other and only "
        "the farthest pair counts, as it does on every graph: a ring of N needs floor(N/2) alpha.",
    )


@cache
def same_for_the_dual() -> Remark:
    """As for the AllGather."""
    kinds = ("allgather", "reduce_scatter")
    bounds = [[machine.bounds(kind, size) for kind in kinds] for machine in machines() for size in (0, SIZE)]
    alike = [(one.latency, one.bandwidth) == (other.latency, other.bandwidth) for one, other in bounds]
    reduced = sent(RANKS, SIZE) / GAMMA
    return Remark(
        "The bounds are those of the AllGather.",
        verdict(alike, [reduced == 0]),
        "reducing is free. A rank must also reduce (N-1)M/N bytes on average, in at least (N-1)M/(N gamma): "
        f"{seconds(reduced)} for 1 GiB on {RANKS} ranks at 512 GB/s; an AllGather has no such bound. Both "
        "hold on one machine if each link has one back: a dual runs over the links the other way round.",
    )


@cache
def _most_sent() -> dict[str, int]:
    """Bytes of the busiest rank by algorithm."""
    found = {}
    for name in able("reduce_scatter"):
        try:
            found[name] = count(build(name, "reduce_scatter", RANKS, SIZE)).bytes_sent_max
        except ScheduleError:
            # made for other numbers of ranks
            continue
    return found


@cache
def send_budget() -> Remark:
    """(N-1) M / N must be sent."""
    budget, found = sent(RANKS, SIZE), _most_sent()
    more = {name: size for name, size in found.items() if size > budget}
    return Remark(
        "Node i keeps its own part, M/N, and must send the rest: S_i = (N-1)M/N.",
        verdict([min(found.values()) == budget], [size >= budget for size in found.values()]),
        f"Of {len(found)} ReduceScatters on {RANKS} ranks {len(found) - len(more)} send just that, and none "
        "sends less; " + ", ".join(f"`{name}` {share(size, SIZE)}" for name, size in more.items()) + ".",
    )


def _bandwidth_rows() -> Iterator[tuple[str, ...]]:
    for place, machine in enumerate(machines()):
        ranks, bounds = machine.topology.ranks, machine.bounds("reduce_scatter", SIZE)
        time, name = fastest_on(place, SIZE)
        yield (
            machine.name,
            str(machine.ports),
            seconds(_bound(ranks, machine.ports)),
            f"{seconds(bounds.bandwidth)}, {bounds.how}",
            f"{seconds(time)}, `{name}`",
            ratio(time, bounds.bandwidth),
        )


def _bound(ranks: int, ports: int) -> Fraction:
    return sent(ranks, SIZE) / (ports * BETA)


@cache
def bandwidth_bound() -> Remark:
    """(N-1) M / (N d beta)."""
    ring, cube = ring_of(RANKS), cube_of(3)
    one_way = ring.time(proven("ring", "reduce_scatter", RANKS, SIZE))
    halving = cube.time(proven("recursive_halving", "reduce_scatter", RANKS, SIZE))
    never_beaten = [
        machine.bounds("reduce_scatter", SIZE).bandwidth <= fastest_on(place, SIZE)[0]
        and _bound(machine.topology.ranks, machine.ports) <= fastest_on(place, SIZE)[0]
        for place, machine in enumerate(machines())
    ]
    return Remark(
        "T_beta,min = (N-1)M/(N d beta).",
        verdict(never_beaten),
        "d is the number of links of a rank. Nothing is faster on any machine of the table. But not every "
        f"algorithm uses d links: the ring uses one of two, {ratio(one_way, _bound(RANKS, 2))} times the "
        f"bound of d = 2 on a ring; halving uses one of three at a time, {ratio(halving, _bound(RANKS, 3))} "
        "times on a hypercube. The document's 64 GB/s of a chip fit two links of 32 GB/s (sophgo/torch-tpu, "
        "tpu.json: v_CDMA 32), which only a ring in both directions fills.",
    )


@cache
def letter_d() -> Remark:
    """D is used for two things."""
    machine = cube_of(3)
    ports, dims = machine.ports, len(machine.topology.dims)
    torus = torus_of(4, 4)
    return Remark(
        "d is the number of ports here, and of dimensions where levels are reduced one after the other.",
        verdict([ports == dims], [torus.ports == len(torus.topology.dims)]),
        f"they are the same number on a hypercube ({ports} and {dims}); a torus of two dimensions has "
        f"{torus.ports} links a rank, a switch of any size 1. Here d is always the former.",
    )
