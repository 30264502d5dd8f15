"""What a ReduceScatter is: its result, its dual, and its part of an AllReduce."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from algorithms.collective import make_collective
from algorithms.compose import then
from algorithms.counts import count
from algorithms.duality import dual
from algorithms.errors import ScheduleError
from algorithms.order import keeps_order
from algorithms.proof import prove
from algorithms.registry import able, build
from algorithms.schedule import REDUCE
from simulator.seeds.page import Cell, Grid, Remark, Section, compared, verdict
from simulator.seeds.seed1.claims import DUALITY, sent
from simulator.seeds.seed1.examples import RANKS, SIZE, proven, ratio, ring_of, same, seconds, share

if TYPE_CHECKING:
    from algorithms.schedule import Schedule

TRIED = (2, 3, 4, 5, 8, 9)
"""Numbers of ranks on which schedules are proven."""


def semantics_section() -> Section:
    """The definition, the duality and the decomposition."""
    rows: tuple[tuple[Cell | str, ...], ...] = tuple(
        (what, *(compared(said, found) for said, found in zip(cells, _side(what), strict=True)))
        for what, cells in DUALITY.items()
    )
    return Section(
        "Semantics",
        (
            (definition(), blocks(), order()),
            "AllGather and ReduceScatter, as their schedules have it (the ring's, N = 8):",
            Grid(("", "AllGather", "ReduceScatter"), rows),
            (reversal(), decomposition(), half()),
            "What a rank sends, in units of M, and the part of it that a ReduceScatter sends (ring):",
            Grid(_HALF_HEADERS, tuple(_half_rows())),
        ),
    )


@cache
def definition() -> Remark:
    """Rank i ends with the sum of all ranks' parts i."""
    proofs: list[bool] = []
    for name in able("reduce_scatter"):
        for ranks in TRIED:
            try:
                schedule = build(name, "reduce_scatter", ranks, 64 * ranks)
            except ScheduleError:
                # made for other numbers of ranks
                continue
            prove(schedule)
            targets = schedule.collective.target.reshape(ranks, -1)
            proofs.append(bool((targets == np.arange(ranks)[:, None]).all()))
    return Remark(
        "Of A_i = [A_i^(0) ... A_i^(N-1)] node i ends with B_i = ⊕ over j of A_j^(i).",
        verdict(proofs),
        f"Run on random integers, {len(proofs)} schedules end so: all {len(able('reduce_scatter'))} "
        f"algorithms of the catalogue, on {', '.join(map(str, TRIED))} ranks where they are made for so "
        "many.",
    )


@cache
def blocks() -> Remark:
    """M / N bytes each."""
    even = make_collective("reduce_scatter", RANKS, SIZE).sizes
    uneven = make_collective("reduce_scatter", RANKS, 1001).sizes
    return Remark(
        "B_i has M/N bytes.",
        verdict([bool((even * RANKS == SIZE).all())], [len(set(uneven.tolist())) == 1]),
        f"N divides M. 1001 bytes on {RANKS} ranks are blocks of {uneven.max()} and {uneven.min()}: every "
        "step of a ring then waits for the larger ones.",
    )


@cache
def order() -> Remark:
    """The sum runs from j = 0 to N - 1."""
    names = able("reduce_scatter")
    ring = build("ring", "reduce_scatter", RANKS, RANKS)
    first = int(ring.src[(ring.step == 0) & (ring.first == 0)][0])
    keeping = [name for name in names if keeps_order(build(name, "reduce_scatter", RANKS, RANKS))]
    return Remark(
        "⊕ runs over j = 0 ... N-1, any reduction.",
        verdict([bool(keeping)], [name in keeping for name in names]),
        "⊕ commutes and associates. In the order of the ranks, as written, only "
        f"{', '.join(f'`{name}`' for name in keeping)} add; a ring begins the sum of part i at node "
        f"i+{first}.",
    )


def _side(what: str) -> tuple[str, str]:
    """What the schedules of both collectives have."""
    gather, scatter = (build("ring", kind, RANKS, RANKS) for kind in ("allgather", "reduce_scatter"))
    found = {
        "input of a node": _held_at_start,
        "output of a node": _held_at_end,
        "flow": _flow,
        "operation": _operation,
    }[what]
    return found(gather), found(scatter)


def _part(cells: tuple[np.ndarray, np.ndarray], schedule: Schedule) -> str:
    """What a node has of M."""
    rank, chunk = cells
    held = np.zeros(RANKS, dtype=np.int64)
    np.add.at(held, rank, schedule.collective.sizes[chunk])
    return share(int(held.max()), RANKS).replace(str(RANKS), "N")


def _held_at_start(schedule: Schedule) -> str:
    return _part(schedule.collective.initial(), schedule)


def _held_at_end(schedule: Schedule) -> str:
    return _part(schedule.collective.final(), schedule)


def _flow(schedule: Schedule) -> str:
    """Whether a chunk is on one node and comes to all, or the other way round."""
    before, after = (
        "gathered" if len(cells[0]) == RANKS * RANKS else "scattered"
        for cells in (schedule.collective.initial(), schedule.collective.final())
    )
    return f"{before} → {after}"


def _operation(schedule: Schedule) -> str:
    return "reduce, keep a part" if (schedule.mode == REDUCE).all() else "concatenate"


@cache
def reversal() -> Remark:
    """An AllGather backwards is a ReduceScatter."""
    names = able("allgather")
    without = [
        name for name in names if (schedule := build(name, "allgather", RANKS, SIZE)) and not _turns(schedule)
    ]
    trees = [name for name in names if name not in without]
    reason = _refusal(build(without[0], "allgather", RANKS, SIZE)) if without else ""
    return Remark(
        "To turn the data flow of an AllGather round and to reduce gives a ReduceScatter.",
        verdict([len(trees) > 1], [not without]),
        "every node is sent each part once, and its own never: then a part's ways are a tree, and backwards "
        f"they add everything up. So it is with {len(trees)} of {len(names)} AllGathers of the catalogue on "
        f"{RANKS} ranks: turned round, all are proven ReduceScatters, with the same steps and the same "
        f"bytes of all ranks. `{without[0] if without else ''}` is no tree "
        f"({reason.removeprefix('no dual: ')}).",
    )


def _turns(gather: Schedule) -> bool:
    """Whether the dual is there, is a ReduceScatter, and costs the same."""
    ranks, collective = gather.ranks, gather.collective
    target = make_collective("reduce_scatter", ranks, collective.size, segments=collective.chunks // ranks)
    try:
        turned = dual(gather, target)
    except ScheduleError:
        return False
    prove(turned)
    one, other = count(gather), count(turned)
    return (one.steps, one.bytes_sent_total) == (other.steps, other.bytes_sent_total)


def _refusal(gather: Schedule) -> str:
    try:
        dual(gather, make_collective("reduce_scatter", gather.ranks, gather.collective.size))
    except ScheduleError as error:
        return error.message
    return ""


@cache
def decomposition() -> Remark:
    """AllReduce = ReduceScatter + AllGather."""
    machine = ring_of(RANKS)
    halves = [proven("ring", kind, RANKS, SIZE) for kind in ("reduce_scatter", "allgather")]
    both = then(halves, make_collective("allreduce", RANKS, SIZE))
    prove(both)
    times = [machine.time(schedule) for schedule in (*halves, both)]
    return Remark(
        "AllReduce = ReduceScatter + AllGather.",
        verdict([same(times[0] + times[1], times[2])]),
        f"One after the other they are proven to be an AllReduce; on a {machine.name} {seconds(times[0])} + "
        f"{seconds(times[1])} = {seconds(times[2])} for 1 GiB. It is one way to do it, not the only one: "
        "see the next statement.",
    )


_HALF_HEADERS = (
    "N",
    "ReduceScatter",
    "AllReduce, ring",
    "part",
    "AllReduce, doubling",
    "part",
    "in a switch",
    "part",
)
_OTHERS = ("recursive_doubling", "in_network")


@cache
def _busiest(name: str, kind: str, ranks: int) -> int:
    return count(build(name, kind, ranks, SIZE)).bytes_sent_max


def _half_rows() -> Iterator[tuple[str, ...]]:
    for ranks in (2, 4, 8, 64):
        alone = _busiest("ring", "reduce_scatter", ranks)
        others = [_busiest(name, "allreduce", ranks) for name in ("ring", *_OTHERS)]
        yield (
            str(ranks),
            share(alone, SIZE),
            *(word for one in others for word in (share(one, SIZE), ratio(alone, one))),
        )


@cache
def half() -> Remark:
    """A ReduceScatter alone moves half of an AllReduce."""
    counts = {ranks: _busiest("ring", "reduce_scatter", ranks) for ranks in (2, 4, 8, 64)}
    halves = [2 * alone == _busiest("ring", "allreduce", ranks) for ranks, alone in counts.items()]
    others = [
        2 * alone == _busiest(name, "allreduce", ranks) for ranks, alone in counts.items() for name in _OTHERS
    ]
    return Remark(
        "A ReduceScatter alone moves half of an AllReduce.",
        verdict([*halves, *(alone == sent(ranks, SIZE) for ranks, alone in counts.items())], others),
        "the AllReduce is both halves, on any N > 1: (N-1)M/N of 2(N-1)M/N a rank. Recursive doubling sends "
        "M log2 N, of which it is less than half from N = 4 on; where switches add up, an AllReduce sends "
        "M, and a ReduceScatter nearly as much.",
    )
