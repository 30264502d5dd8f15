"""The algebra of states: the table of transitions, its figures, and schedules that confirm them."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest

from algorithms import ALGORITHMS, build, count, prove
from algorithms.collective import KINDS
from simulator.engine.network import Network
from simulator.llm.calls import primitive_of
from simulator.llm.confirm import by_way_of_one_rank, confirm, detour, legs
from simulator.llm.errors import ModelError
from simulator.llm.layouts import held_share, move, redistribute, storage_factor
from simulator.llm.notation import parse, quotient
from simulator.llm.seed_rules import seed_traffic
from simulator.llm.states import (
    CENTRALIZED,
    PARTIAL,
    REPLICATED,
    STATES,
    Centralized,
    Partitioned,
    State,
    primitive,
    shares,
    storage,
)
from simulator.llm.symbols import expression, symbols
from topologies import crossbar, ring

P, R, C, S = Partitioned("a"), REPLICATED, CENTRALIZED, PARTIAL
P2 = Partitioned("b")
C1 = Centralized(1)

# what must leave all ranks, and the busiest: textbook costs (Chan, Heimlich, Purkayastha and van de Geijn
# 2007, table 1, whose bandwidth terms are per rank), and for All-to-All each rank's (N-1)/N of its M/N
TRANSITIONS = {
    (P, C): ("Gather", 1, ("Gather",), "(N-1)M/N", "M/N"),
    (C, P): ("Scatter", 1, ("Scatter",), "(N-1)M/N", "(N-1)M/N"),
    (C, R): ("Broadcast", 1, ("Broadcast",), "(N-1)M", "M"),
    (S, C): ("Reduce", 1, ("Reduce",), "(N-1)M", "M"),
    (P, R): ("All-Gather", 2, ("Gather", "Broadcast"), "(N-1)M", "(N-1)M/N"),
    (S, P): ("Reduce-Scatter", 2, ("Reduce", "Scatter"), "(N-1)M", "(N-1)M/N"),
    (S, R): ("All-Reduce", 2, ("Reduce", "Broadcast"), "2(N-1)M", "2(N-1)M/N"),
    (P, P2): ("All-to-All", 2, ("Gather", "Scatter"), "(N-1)M/N", "(N-1)M/NN"),
    (C, C1): ("Send/Recv", 1, ("Send/Recv",), "M", "M"),
    (R, P): ("slice", 0, (), "0", "0"),
    (R, C): ("drop", 0, (), "0", "0"),
    (R, S): ("scale", 0, (), "0", "0"),
    (C, S): ("zero-pad", 0, (), "0", "0"),
    (P, S): ("zero-pad", 0, (), "0", "0"),
}
MOVING = [pair for pair, row in TRANSITIONS.items() if row[1]]


@pytest.mark.parametrize(("pair", "row"), TRANSITIONS.items(), ids=lambda item: str(item[0]))
def test_transitions(pair: tuple[State, State], row: tuple[str, int, tuple[str, ...], str, str]) -> None:
    found = primitive(*pair)
    name, order, legs_, total, rank = row
    assert (found.name, found.order, found.legs) == (name, order, legs_)
    assert found.exact_total == parse(total)
    assert found.exact_rank == parse(rank)


@pytest.mark.parametrize("state", [*STATES, P2], ids=str)
def test_no_change_moves_nothing(state: State) -> None:
    assert primitive(state, state).kind is None
    assert primitive(state, state).exact_total == expression(0)


@pytest.mark.parametrize(("state", "times"), [(P, "M"), (R, "NM"), (C, "M"), (S, "NM")], ids=str)
def test_storage(state: State, times: str) -> None:
    assert storage(state) == parse(times)


@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
def test_shares_hold_the_whole_variable(ranks: int) -> None:
    for state in STATES:
        assert len(frozenset().union(*shares(state, ranks))) == ranks * ranks


@pytest.mark.parametrize("ranks", [2, 3, 4, 5, 7, 8, 12, 16])
@pytest.mark.parametrize("pair", MOVING, ids=lambda pair: f"{pair[0]}-{pair[1]}")
def test_a_schedule_sends_exactly_that(pair: tuple[State, State], ranks: int) -> None:
    """Both figures, and what the busiest receives, counted in one schedule that is proven on data."""
    found = confirm(primitive(*pair), ranks, proven=True)
    assert found.holds
    assert (found.total, found.busiest, found.received) == (
        found.least_total,
        found.least_busiest,
        found.least_received,
    )


@pytest.mark.parametrize("ranks", [2, 5, 8])
@pytest.mark.parametrize(
    "kind", ["allgather", "reduce_scatter", "allreduce", "broadcast", "reduce", "gather"]
)
def test_no_algorithm_sends_less(kind: str, ranks: int) -> None:
    """The figures are least ones: no schedule of the catalogue is below them."""
    least = primitive_of(kind)
    size = 64 * ranks * ranks
    for algorithm in ALGORITHMS.values():
        if kind not in algorithm.collectives or {"dims", "tree"} & set(algorithm.options):
            continue
        counts = count(build(algorithm.name, kind, ranks, size))
        assert counts.bytes_sent_total >= least.exact_total.at(N=ranks, M=size)
        assert counts.bytes_sent_max >= least.exact_rank.at(N=ranks, M=size)


def test_primitives_that_mirror_each_other_move_as_much() -> None:
    for kind, shape in KINDS.items():
        if shape.dual is None or kind == "barrier":
            continue
        one, other = primitive_of(kind), primitive_of(shape.dual)
        assert one.exact_total == other.exact_total
        assert one.exact_rank == other.exact_received


def test_one_rank_alone_has_no_states() -> None:
    with pytest.raises(ModelError, match="2 ranks or more"):
        confirm(primitive(P, R), 1)


# the second seed's figures, and how far they are from what must be


@pytest.mark.parametrize(
    ("pair", "name", "exact", "rounded"),
    [
        ((P, C), "Gather", "(N-1)M/N", "M"),
        ((C, P), "Scatter", "(N-1)M/N", "M"),
        ((C, R), "Broadcast", "(N-1)M", "NM"),
        ((R, C), "Reduce", "(N-1)M", "NM"),
        ((P, R), "All-Gather", "(N-1)M/N + (N-1)M", "NM"),
        ((R, P), "Reduce-Scatter", "(N-1)M/N + (N-1)M", "NM"),
    ],
)
def test_the_seeds_figures(pair: tuple[State, State], name: str, exact: str, rounded: Any) -> None:
    found = seed_traffic(*pair)
    assert found.name == name
    assert found.exact == parse(exact)
    assert found.rounded == parse(rounded)


def test_the_seed_says_nothing_of_partial_sums_made_or_dimensions_changed() -> None:
    assert seed_traffic(P, S) is None
    assert seed_traffic(P, P2) is None
    assert seed_traffic(R, R) is None
    assert seed_traffic(S, R).rounded == parse("2NM")


@pytest.mark.parametrize(
    ("ranks", "added_up", "rounded"),
    [
        (2, 1.5, 2),
        (4, 1.25, 1.3333),
        (8, 1.125, 1.1429),
        (16, 1.0625, 1.0667),
        (64, 1.0156, 1.0159),
        (512, 1.0020, 1.0020),
    ],
)
def test_ratios_of_the_seeds_second_order(ranks: int, added_up: float, rounded: Any) -> None:
    for pair in ((P, R), (S, P)):
        seed, exact = seed_traffic(*pair), primitive(*pair).exact_total.at(N=ranks, M=1)
        assert float(seed.exact.at(N=ranks, M=1) / exact) == pytest.approx(added_up, abs=5e-5)
        assert float(seed.rounded.at(N=ranks, M=1) / exact) == pytest.approx(rounded, abs=5e-5)
    assert quotient(seed.exact, primitive(S, P).exact_total) == "(N+1)/N"
    assert quotient(seed.rounded, primitive(S, P).exact_total) == "N/(N-1)"


# by way of one rank


@pytest.mark.parametrize("ranks", [2, 3, 6, 8])
@pytest.mark.parametrize("pair", [(P, R), (S, P), (S, R), (P, P2)], ids=lambda pair: f"{pair[0]}-{pair[1]}")
def test_two_steps_do_the_same_and_send_what_the_seed_adds_up(pair: tuple[State, State], ranks: int) -> None:
    change = primitive(*pair)
    size = 4 * ranks * ranks
    schedule = by_way_of_one_rank(change.kind, ranks, size)
    prove(schedule)
    first = primitive(pair[0], C).exact_total + primitive(C, pair[1]).exact_total
    assert count(schedule).bytes_sent_total == first.at(N=ranks, M=size)
    if pair in ((P, R), (S, P)):
        assert first == seed_traffic(*pair).exact


def test_first_order_has_no_two_steps() -> None:
    with pytest.raises(ModelError, match="first order"):
        legs("gather", 8, 64)
    with pytest.raises(ModelError, match="not of second order"):
        detour(primitive(P, C), 64, ring(4, bandwidth=1e9))


@pytest.mark.parametrize(("pair", "ratio"), [((P, R), 1.125), ((S, P), 1.125), ((S, R), 1), ((P, P2), 2)])
def test_what_the_mnemonic_costs(pair: tuple[State, State], ratio: float) -> None:
    """Bytes (N+1)/N, 1 or 2 times; time more than that, since one rank sends and receives it all."""
    size = 8 * 8 * 2**20
    even = crossbar(8, bandwidth=64e9, latency=1e-6)
    for topology, network in ((even, Network(model="cut_through")), (ring(8, bandwidth=64e9), Network())):
        found = detour(primitive(*pair), size, topology, network)
        assert found.detour_bytes == ratio * found.direct_bytes
        assert found.detour_time > 1.2 * found.direct_time


def test_gather_then_broadcast_on_a_crossbar_by_hand() -> None:
    """The root receives 7 blocks, then sends all of M: in 64 pieces along 7 links, 70/64 of M / beta."""
    beta, size = 64e9, 2**26
    found = detour(primitive(P, R), size, crossbar(8, bandwidth=beta), Network(model="cut_through"))
    assert found.direct_time == pytest.approx(7 / 8 * size / beta)
    assert found.detour_time == pytest.approx((7 / 8 + 70 / 64) * size / beta)


# on a mesh


def test_layouts_on_a_mesh() -> None:
    mesh = {"tp": 8, "dp": 4}
    assert storage_factor({"tp": P}, mesh) == expression(4)
    assert held_share({"tp": P, "dp": P2}, mesh) == expression(1) / 32
    found = redistribute({"tp": S, "dp": P2}, {"tp": P, "dp": P2}, mesh)
    assert [(one.axis, one.primitive.name) for one in found] == [("tp", "Reduce-Scatter")]
    # four groups of 8, each on a quarter
    assert found[0].total(1) == expression(7)
    assert found[0].rank(1) == expression(7) / 32


def test_no_order_of_the_axes_moves_less() -> None:
    """The order that is taken is held against all others."""
    mesh, states = {"x": 2, "y": 3}, [P, R, S, P2]
    for before_x in states:
        for before_y in states:
            for after_x in (P, R, P2):
                for after_y in (P, R, P2):
                    before = {"x": before_x, "y": before_y}
                    after = {"x": after_x, "y": after_y}
                    taken = sum(one.total(1).at() for one in redistribute(before, after, mesh))
                    assert taken == min(_moved(before, after, mesh, order) for order in permutations(mesh))


def _moved(
    before: dict[str, State], after: dict[str, State], mesh: dict[str, int], order: tuple[str, ...]
) -> Fraction:
    now, moved = dict(before), Fraction(0)
    for axis in order:
        change = primitive(now[axis], after[axis])
        moved += move(axis, change, now, mesh).total(1).at()
        now[axis] = after[axis]
    return moved


def test_an_axis_that_is_not_there() -> None:
    with pytest.raises(ModelError, match="no axis"):
        redistribute({"pp": P}, {}, {"tp": 8})


def test_moves_with_symbols() -> None:
    n, m = symbols("n_tp", "n_dp")
    found = redistribute({"tp": P, "dp": P2}, {"dp": P2}, {"tp": n, "dp": m})
    assert found[0].total(1) == n - 1
    assert found[0].rank(1) == (n - 1) / n / m
