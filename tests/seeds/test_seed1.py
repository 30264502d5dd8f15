"""The page on the first seed document: up to date, complete, and right where a hand can count."""

from __future__ import annotations

import runpy
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from simulator.seeds.page import Cell, Grid, Remark, tally, verdict
from simulator.seeds.seed1 import constraints, derivations, halvings, levels, limits, rings, semantics, uses
from simulator.seeds.seed1.claims import Costs, halving_time, levels_time, ring_time, sent
from simulator.seeds.seed1.document import document, sections
from simulator.seeds.seed1.examples import (
    FULL,
    cube_of,
    line_of,
    mesh_of,
    one_port,
    proven,
    ring_of,
    same,
    share,
    torus_of,
)
from simulator.seeds.seed1.hierarchies import orders
from simulator.seeds.seed1.levels import COSTS, DIMS, VECTOR, placed
from simulator.seeds.seed1.takeaways import again

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explanation" / "seed1.md"
MAIN = ROOT / "simulator" / "seeds" / "seed1" / "__main__.py"
US, MB, GB = Fraction(1, 10**6), 10**6, 10**9


def test_the_page_is_what_the_code_says() -> None:
    """After a change: make seed1."""
    assert PAGE.read_text(encoding="utf-8") == document()


def test_the_page_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "page.md"
    monkeypatch.setattr(sys, "argv", ["seed1", str(file)])
    runpy.run_path(str(MAIN), run_name="__main__")
    assert file.read_text(encoding="utf-8") == document()


def statements() -> dict[str, Cell | Remark]:
    return {
        one.said: one
        for section in sections()
        for block in section.blocks
        if not isinstance(block, str)
        for one in (block.cells if isinstance(block, Grid) else block)
    }


def test_every_part_of_the_document_is_there_in_its_order() -> None:
    titles = [section.title for section in sections()]
    assert titles == [
        "Key points",
        "Semantics",
        "Lower bounds",
        "The derivation of the bounds (its section 4.2)",
        "Ring ReduceScatter",
        "Recursive halving ReduceScatter",
        "Where halving applies",
        "Comparison",
        "Levels, one after the other",
        "The hierarchical AllReduce (its section 4.8)",
        "Uses in large language models",
        "Takeaways",
    ]
    rows = {
        section.title: [
            len(block.rows if isinstance(block, Grid) else block)
            for block in section.blocks
            if not isinstance(block, str)
        ]
        for section in sections()
    }
    # its tables: 4 rows of duality, 3 of the ring, 3 of halving, 3 of volumes, 3 of traffic, 8 takeaways
    assert rows["Semantics"][1] == 4
    assert rows["Ring ReduceScatter"][0] == 3
    assert rows["Recursive halving ReduceScatter"][0] == 3
    assert rows["Levels, one after the other"][1] == 3
    assert rows["Uses in large language models"][3] == 3
    assert rows["Takeaways"] == [8]
    # six key points, the first of which has no number of its own there
    assert rows["Key points"] == [7]


def test_what_is_corrected() -> None:
    """Where chunk i ends, other N, the ring, half saved, ZeRO-2, messages for traffic; what sums those up."""
    assert [one.said.split(":")[0] for one in statements().values() if one.verdict == "corrected"] == [
        "Recursive halving",
        "So node i ends with B_i, its own chunk i (its definition, and the N = 4 trace).",
        "It needs N = 2^k; other N need padding or a hybrid algorithm.",
        "A ring cannot.",
        "hypercube, N = 2^k",
        "Compared with AllReduce half is saved",
        "Gradients from M to M/N are how ZeRO-3 saves memory.",
        "bsh",
        "layer_params",
        "Recursive halving",
    ]
    counts = tally(sections())
    assert f"Of {sum(counts.values())} statements {counts['holds']} hold" in document()
    assert counts["not tested"] == 0


def test_its_formulas_give_what_a_hand_counts() -> None:
    # 7 (1 us + 128 MiB / 64 GB/s + 128 MiB / 512 GB/s)
    assert ring_time(8, 2**30, FULL) == 7 * (US + Fraction(2**27, 64 * GB) + Fraction(2**27, 512 * GB))
    # 3 us + 7 MB / 64 GB/s + 7 MB / 512 GB/s
    assert halving_time(8, 8 * MB, FULL) == Fraction("126.046875") * US
    assert sent(8, 8 * MB) == 7 * MB
    # (0.3 + 375) + (0.6 + 125) + (0.6 + 125) + (3 + 160) us
    rates = (("0.1", "128"), ("0.6", "64"), ("0.6", "32"), ("3", "12.5"))
    four = [Costs(Fraction(alpha) * US, Fraction(beta) * GB) for alpha, beta in rates]
    assert levels_time((4, 2, 2, 2), 64 * MB, four) == Fraction("789.5") * US


def test_ports_are_the_links_of_the_rank_that_has_fewest() -> None:
    machines = (one_port(8), ring_of(8), line_of(8), torus_of(4, 4), cube_of(3), mesh_of(8))
    assert [machine.ports for machine in machines] == [1, 2, 1, 4, 3, 7]


def test_figures_that_follow_from_the_document() -> None:
    found = {said: one.found for said, one in statements().items()}
    hidden = next(text for said, text in found.items() if said.startswith("gamma >> beta"))
    # 64/512; 32 (1/128 + 1/512 + 1/128)
    assert "+12.5 %" in hidden
    assert "+56.25 %" in hidden
    # rings: chunk i + a + 1 with a = 1
    assert "chunk i + 2 at node i" in rings.ending().found
    # 13/8 against 7/8
    assert "1.857 times" in constraints.not_on_a_ring().found
    # Korthikanti: 34 sbh/t against (10 + 24/t) sbh, without the masks of dropout 32 and 8 + 24/t
    assert "128 MiB of the layer instead of 352 MiB" in uses.trade().found
    assert 32 * 4096 * 8192 // 8 == 128 * 2**20
    assert (8 + 24 // 8) * 4096 * 8192 == 352 * 2**20
    assert "ZeRO-2" in uses.zero_memory().found


def test_nothing_is_faster_than_a_bound() -> None:
    for place, machine in enumerate(limits.machines()):
        for size in (0, 2**30):
            bounds = machine.bounds("reduce_scatter", size)
            assert float(limits.fastest_on(place, size)[0]) >= bounds.best * (1 - 1e-9)
    assert [halvings.both(place) for place in range(5)] == [True, False, True, False, True]


def test_a_contribution_reaches_two_or_three_times_as_many() -> None:
    one = proven("recursive_doubling", "allreduce", 16, 16)
    assert derivations.reached(one) == [1, 2, 4, 8, 16]
    three = proven("recursive_multiplying", "allreduce", 27, 27, radix=3)
    assert derivations.reached(three) == [1, 3, 9, 27]


def test_the_fastest_level_goes_first() -> None:
    assert orders()[0][0] == (0, 1, 2)
    for order, formula, time in orders():
        assert same(formula, time)
        for i in range(len(order) - 1):
            a, b = order[i], order[i + 1]
            swapped = (*order[:i], b, a, *order[i + 2 :])
            other = next(formula for one, formula, _ in orders() if one == swapped)
            # twice (1 - 1/p_a)(1 - 1/p_b) V (1/beta_a - 1/beta_b)
            volume = Fraction(VECTOR)
            for level in order[:i]:
                volume /= DIMS[level]
            factor = (1 - Fraction(1, DIMS[a])) * (1 - Fraction(1, DIMS[b])) * volume
            assert formula - other == 2 * factor * (1 / COSTS[a].beta - 1 / COSTS[b].beta)


def test_a_grid_in_another_order_has_the_same_ranks() -> None:
    dims, place = placed((2, 1, 0))
    assert dims == (4, 2, 4)
    assert sorted(place) == list(range(32))
    # its neighbours along the first dimension are machines, eight cores apart
    assert place[:4] == (0, 8, 16, 24)
    assert placed((0, 1, 2))[1] == tuple(range(32))


def test_outer_links_carry_what_is_left() -> None:
    """(p - 1) M in all of the last level with 4 groups, and 8 times that if it goes first."""
    own, outward, flat, shared, *_ = levels.crossings()
    assert own.by_level[-1] == 3 * VECTOR == outward.by_level[-1] // 8
    # 31 steps of M/32 over each of 4 links
    assert flat.by_level[-1] == 31 * VECTOR // 8
    assert shared.busiest == 3 * VECTOR // 4


def test_verdicts() -> None:
    assert verdict([True], [False]) == "holds if"
    assert verdict([True]) == "holds"
    assert verdict([False], [True]) == "corrected"
    parts = (Remark("a", "holds", ""), Remark("b", "corrected", ""), Remark("c", "holds if", ""))
    assert again("x", parts, "").verdict == "corrected"
    assert again("x", parts[::2], "").verdict == "holds if"
    assert semantics.half().verdict == "holds if"
    assert share(Fraction(7, 8) * 64, 64) == "7M/8"
    assert share(8, 64) == "M/8"
