"""Algorithms beside each other: crossovers against formulas worked out by hand."""

from __future__ import annotations

import pytest

from algorithms.errors import ScheduleError
from algorithms.registry import ALGORITHMS, build, rounds
from simulator.scenario.compare import Comparison, compare
from simulator.scenario.compare_output import comparison_json, comparison_rows
from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.load import loads
from simulator.scenario.ranges import parse_sizes
from simulator.scenario.resize import evenly_resized
from simulator.scenario.run import run
from topologies.errors import CollsimError

CUBE = """\
topology: {{kind: hypercube, dimension: 3, bandwidth: {bandwidth}, latency: {latency}}}
collective: {{kind: {kind}, algorithm: ring, size: 1 MiB}}
network: {{placement: {placement}}}
"""
PORTS = """\
topology: {{kind: crossbar, ranks: {ranks}, bandwidth: {bandwidth}, overhead: {overhead}}}
collective: {{kind: reduce_scatter, algorithm: ring, size: 1 MiB}}
network: {{model: cut_through}}
"""
PRICES = (("1 us", "64 GB/s", 64_000), ("5 us", "100 GB/s", 500_000), ("200 ns", "10 GB/s", 2_000))
"""alpha, beta, and their product in bytes."""

GRAY = "[0, 1, 3, 2, 6, 7, 5, 4]"


def compared(text: str, sizes: str, *algorithms: str) -> Comparison:
    return compare(loads(text, "here.yaml"), parse_sizes(sizes), algorithms=algorithms or None)


def test_halving_and_a_gray_ring_on_a_hypercube_cross_where_the_hops_say() -> None:
    # a Gray code puts neighbours of the ring one hop apart: 7 (alpha + M/8/beta). Partners 4 and 2 apart in
    # rank are then 2 hops apart, those 1 apart 1 hop, and no link is used twice at a time, so that halving
    # takes 2 (alpha + M/2/beta) + 2 (alpha + M/4/beta) + alpha + M/8/beta. They meet at 8/3 alpha beta.
    for alpha, beta, product in PRICES:
        text = CUBE.format(bandwidth=beta, latency=alpha, kind="reduce_scatter", placement=GRAY)
        found = compared(text, "64 B, 64 MiB", "ring", "recursive_halving")
        ((one, _),) = found.crossovers
        assert (one.before, one.after) == ("recursive_halving", "ring")
        assert one.size - one.within - 8 <= 8 / 3 * product <= one.size + 8


def test_folded_halving_and_ring_on_a_crossbar_cross_where_the_formulas_do() -> None:
    # N = 6: two ranks send all of M away first and get M/6 back last; in between 4/6 and 2/6 of M are
    # exchanged: 4 alpha + 13/6 M/beta. The ring: 5 alpha + 5/6 M/beta. They meet at 3/4 alpha beta.
    for alpha, beta, product in PRICES:
        text = PORTS.format(ranks=6, bandwidth=beta, overhead=alpha)
        found = compared(text, "64 B, 64 MiB", "ring", "recursive_halving")
        ((one, met),) = found.crossovers
        assert (one.before, one.after) == ("recursive_halving", "ring")
        assert one.size - one.within - 6 <= 3 / 4 * product <= one.size + 6
        assert met == pytest.approx(3 / 4 * product)


def test_halving_is_never_overtaken_where_nothing_is_in_its_way() -> None:
    # 3 alpha + 7/8 M/beta against 7 alpha + 7/8 M/beta
    for alpha, beta, _ in PRICES[:2]:
        crossbar = PORTS.format(ranks=8, bandwidth=beta, overhead=alpha)
        natural = CUBE.format(bandwidth=beta, latency=alpha, kind="reduce_scatter", placement="auto")
        for text in (crossbar, natural.replace("network: {placement: auto}", "")):
            found = compared(text, "64 B,64 KiB,64 MiB", "ring", "recursive_halving")
            assert found.crossovers == ()
            assert {here.names for here in found.winners} == {("recursive_halving",)}


def test_doubling_and_rabenseifner_cross_where_their_closed_forms_meet() -> None:
    # 3 alpha + 3 M/beta = 6 alpha + 7/4 M/beta at M = 12/5 alpha beta
    text = CUBE.format(bandwidth="64 GB/s", latency="1 us", kind="allreduce", placement="auto")
    text = text.replace("network: {placement: auto}", "")
    found = compared(text, "1 KiB..1 MiB", "recursive_doubling", "rabenseifner")
    ((one, met),) = found.crossovers
    assert met == pytest.approx(153_600)
    assert one.size - one.within <= 153_600 + 8
    assert one.size >= 153_600 - 8


def test_terms_are_the_textbooks() -> None:
    # the first seed's comparison of a ReduceScatter by 8 ranks
    found = compared(PORTS.format(ranks=8, bandwidth="64 GB/s", overhead="1 us"), "1 MiB")
    terms = {one.name: one.terms for one in found.contenders if one.terms is not None}
    shown = {
        name: (
            dict(terms[name].alphas),
            {k: str(v) for k, v in terms[name].shares.items()},
            terms[name].optimal,
        )
        for name in ("ring", "recursive_halving", "direct", "recursive_doubling")
    }
    assert shown == {
        "ring": ({0: 7}, {0: "7/8"}, "bandwidth"),
        "recursive_halving": ({0: 3}, {0: "7/8"}, "both"),
        # one message to each neighbour at once, over as many ports
        "direct": ({0: 1}, {0: "1/8"}, "both"),
        # 7/8 + 6/8 + 4/8
        "recursive_doubling": ({0: 3}, {0: "17/8"}, "latency"),
    }
    assert terms["ring"].latency == pytest.approx(7e-6)
    assert terms["ring"].bandwidth == pytest.approx(7 * 2**17 / 64e9)
    assert terms["ring"].reduction == 0


def test_a_closed_form_of_one_byte_is_that_of_many_in_units_of_m() -> None:
    for name, algorithm in ALGORITHMS.items():
        for kind in algorithm.collectives:
            for ranks in (4, 8):
                one, many = (rounds(name, kind, ranks, size) for size in (1, 1000))
                assert (one is None) == (many is None)
                for few, all_of in zip(one or (), many or (), strict=True):
                    assert (few.times, few.sent * 1000) == (all_of.times, all_of.sent)


def test_a_schedule_of_another_size_is_the_one_that_would_be_built() -> None:
    for name, algorithm in ALGORITHMS.items():
        for kind in algorithm.collectives:
            for ranks, options in ((4, {}), (6, {"segments": 2})):
                try:
                    small, large = (build(name, kind, ranks, size, **options) for size in (2880, 28800))
                except ScheduleError:
                    # in_network needs a tree, others no segments
                    continue
                found = evenly_resized(small, 28800)
                assert found is None if kind == "barrier" else found is not None
                if found is None:
                    continue
                assert found.collective.size == large.collective.size == 28800
                assert (found.collective.sizes == large.collective.sizes).all()
                columns = ("step", "channel", "src", "dst", "first", "count", "mode")
                assert all((getattr(found, one) == getattr(large, one)).all() for one in columns)


def test_every_time_is_that_of_a_run_of_its_own() -> None:
    scenario = loads(
        CUBE.format(bandwidth="1 GB/s", latency="1 us", kind="allgather", placement=GRAY), "here.yaml"
    )
    found = compare(scenario, (1000, 2**20))
    assert len(found.contenders) > 10
    for one in found.contenders:
        result = run(one.scenario)
        assert (one.time, one.verified, one.steps) == (result.timeline.time, "full", result.counts.steps)
        assert one.bounds.best == pytest.approx(result.bounds.best, rel=1e-12)
        assert found.times[one.name][1] == one.time
        assert all(
            time is not None and time * 1e-15 >= (bound or 0)
            for time, bound in zip(found.times[one.name], found.floor, strict=True)
        )
    two = (compare(scenario, (1000, 2**20), algorithms=("ring", "bruck")) for _ in range(2))
    assert len({comparison_json(one) for one in two}) == 1
    assert len(comparison_rows(found).csv().splitlines()) == 1 + 2 * len(found.contenders)


def test_those_that_do_not_fit_say_why() -> None:
    text = CUBE.format(bandwidth="1 GB/s", latency="1 us", kind="reduce_scatter", placement="auto")
    found = compared(
        text.replace("placement: auto", "direct_links_only: true").replace("ring", "recursive_halving"),
        "1 KiB",
    )
    assert found.refused["rabenseifner"] == "does no reduce_scatter"
    assert "direct_links_only forbids it" in found.refused["ring"]
    assert {one.name for one in found.contenders} | set(found.refused) == set(ALGORITHMS)
    with pytest.raises(ScenarioErrors, match=r"no algorithm fits: ring: .* direct_links_only forbids it"):
        compared(
            text.replace("placement: auto", "direct_links_only: true").replace("ring", "recursive_halving"),
            "1 KiB",
            "ring",
        )


def test_the_scenarios_own_mistakes_are_errors() -> None:
    text = CUBE.format(bandwidth="1 GB/s", latency="1 us", kind="reduce_scatter", placement="[0, 1]")
    with pytest.raises(ScenarioErrors, match=r"here.yaml:3:"):
        compared(text, "1 KiB", "ring")
    # which algorithm does not fit is no mistake of the others
    direct = text.replace("placement: [0, 1]", "direct_links_only: true")
    assert "direct_links_only forbids it" in compared(direct, "1 KiB").refused["ring"]
    with pytest.raises(ScenarioErrors, match=r"here.yaml:3:\d+: .*direct_links_only"):
        compared(direct, "1 KiB", "ring")
    large = text.replace("network: {placement: [0, 1]}", "").replace("dimension: 3", "dimension: 60")
    with pytest.raises(ScenarioErrors, match="dimension"):
        compared(large, "1 KiB", "direct")


def test_one_rank_and_no_bytes() -> None:
    alone = PORTS.format(ranks=1, bandwidth="1 GB/s", overhead="1 us")
    found = compared(alone, "1 KiB,1 MiB")
    assert {here.time for here in found.winners} == {0}
    assert found.crossovers == ()
    nothing = compared(
        PORTS.format(ranks=8, bandwidth="1 GB/s", overhead="1 us"), "0 B,1 MiB", "ring", "recursive_halving"
    )
    # 3 alpha and 7 alpha
    assert [nothing.times[name][0] for name in ("ring", "recursive_halving")] == [7 * 10**9, 3 * 10**9]


def test_sizes_that_cannot_vary_do_not() -> None:
    barrier = (
        "topology: {kind: crossbar, ranks: 4, bandwidth: 1 GB/s, overhead: 1 us}\n"
        "collective: {kind: barrier, algorithm: ring}\n"
    )
    found = compare(loads(barrier, "here.yaml"), ())
    assert found.sizes == (0,)
    # no bytes: ceil(log2 N) rounds are as good as can be
    (best,) = (one for one in found.contenders if one.name == "dissemination")
    assert best.terms is not None
    assert (dict(best.terms.shares), best.terms.optimal) == ({0: 0}, "both")
    with pytest.raises(ScenarioErrors, match="a barrier has no size"):
        compared(barrier, "1 KiB")
    gather = (
        "topology: {kind: crossbar, ranks: 2, bandwidth: 1 GB/s}\n"
        "collective: {kind: gather, algorithm: linear, sizes: [1 B, 2 B]}\n"
    )
    with pytest.raises(ScenarioErrors, match="its blocks have sizes of their own"):
        compared(gather, "1 KiB")
    found = compare(loads(gather, "here.yaml"), ())
    assert len(found.contenders) > 2
    # M is what the blocks sum to
    assert (found.size, found.sizes, found.winners[0].size) == (3, (3,), 3)
    assert compare(loads(gather, "here.yaml"), (3,)).sizes == (3,)


def test_own_steps_are_compared_with_the_catalogue() -> None:
    text = (
        "topology: {kind: crossbar, ranks: 2, bandwidth: 1 GB/s, overhead: 1 us}\n"
        "network: {model: cut_through}\n"
        "collective:\n  kind: allgather\n  size: 1 KiB\n  steps:\n"
        "    - {0 -> 1: copy 0}\n    - {1 -> 0: copy 1}\n"
    )
    found = compared(text, "1 KiB")
    times = {one.name: one.time for one in found.contenders}
    own = next(iter(times))
    # one after the other: 2 (alpha + M/2/beta); both at once: alpha + M/2/beta
    assert (own, times[own], times["ring"]) == (
        found.scenario.collective.algorithm,
        2 * 1_512_000_000,
        1_512_000_000,
    )


def test_every_algorithm_is_timed_at_the_crossovers() -> None:
    text = CUBE.format(bandwidth="64 GB/s", latency="1 us", kind="allreduce", placement=GRAY)
    found = compared(text, "1 KiB,1 MiB", "recursive_doubling", "rabenseifner", "direct")
    sizes = tuple(one.size for one, _ in found.crossovers)
    again = compare(found.scenario, sizes, algorithms=tuple(found.times))
    assert sizes
    assert again.times == found.crossing


def test_options_go_to_the_algorithms_that_have_them() -> None:
    text = (
        "topology: {kind: full_mesh, ranks: 8, bandwidth: 1 GB/s}\n"
        "collective: {kind: reduce_scatter, algorithm: hierarchical, size: 1 KiB,"
        " dims: [4, 2], segments: 2}\n"
    )
    found = compared(text, "1 KiB", "hierarchical", "bucket", "ring")
    given = {one.name: dict(one.scenario.collective.options) for one in found.contenders}
    assert given == {
        "hierarchical": {"dims": (4, 2), "segments": 2},
        "bucket": {"dims": (4, 2), "segments": 2},
        "ring": {"segments": 2},
    }


def test_a_large_symmetric_scenario_is_run_by_rank_0() -> None:
    # 2046 x 1024 transfers are past a million
    text = (
        "topology: {kind: ring, ranks: 1024, bandwidth: 64 GB/s, latency: 1 us}\n"
        "collective: {kind: allreduce, algorithm: ring, size: 1 GiB}\n"
    )
    found = compared(text, "1 MiB,1 GiB", "ring")
    (one,) = found.contenders
    assert one.verified == "symmetry"
    # 2046 (alpha + M/1024/beta)
    assert found.times["ring"][1] == 2046 * (10**9 + 2**20 * 10**15 // (64 * 10**9))


def test_one_that_cannot_run_at_some_size_is_compared_at_the_others() -> None:
    # the clock holds 9000 s: 2 M/beta in doubling are 10000 s, 2 (3/4) M/beta in the ring 7500 s
    text = (
        "topology: {kind: full_mesh, ranks: 4, bandwidth: 1 GB/s}\n"
        "collective: {kind: allreduce, algorithm: ring, size: 1 MiB}\n"
    )
    found = compared(text, "1 MB, 5 TB", "ring", "recursive_doubling")
    assert [found.times[name][1] is None for name in ("ring", "recursive_doubling")] == [False, True]
    assert found.stopped["recursive_doubling"].startswith("at 5 TB: ")
    assert found.winners[1].names == ("ring",)
    assert found.winners[1].runner_up is None


def test_sizes_are_read_or_refused() -> None:
    assert parse_sizes("1KiB..1GiB") == tuple(2**power for power in range(10, 31))
    assert parse_sizes("1 MiB, 1 KiB, 1 MiB") == (2**10, 2**20)
    assert len(parse_sizes("1 B..4 B", points=100)) == 4
    for text, points, message in (
        ("1", None, "needs a unit"),
        ("2 B..1 B", None, "a range goes from"),
        ("0 B..1 B", None, "a range goes from"),
        ("1 B..1 MB", 1, "2 to 200"),
        ("1 B", 3, "points are of a range"),
        (",".join(f"{i} B" for i in range(201)), None, "at most 200"),
    ):
        with pytest.raises(CollsimError, match=message):
            parse_sizes(text, points)
