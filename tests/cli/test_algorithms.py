"""`collsim algorithms`: the list, sums by ranks and chunks, and the table of steps."""

from __future__ import annotations

import csv
import io
import json
from fractions import Fraction

import pytest

from algorithms import ALGORITHMS
from algorithms.collective import KINDS
from tests.cli.command import collsim


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert collsim("algorithms", *arguments) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def test_order_prints_a_sum_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    # Open MPI 5.0.11's recursive doubling on five ranks
    lines = printed(capsys, "recursive_doubling", "--collective", "allreduce", "--ranks", 5, "--order")
    assert lines.splitlines() == [
        "recursive_doubling allreduce, N = 5",
        "chunk 0: (((0 1) 2) (3 4))",
        "rank order: kept; operators need not commute",
    ]


def test_chunks_that_are_summed_alike_share_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "rabenseifner", "--ranks", 4, "--order", "--set", "order=near").splitlines()
    assert lines[1:-1] == ["chunks 0-3: ((0 1) (2 3))"]
    lines = printed(capsys, "ring", "--ranks", 3, "--order", "--set", "first_chunk=0").splitlines()
    assert lines[1:-1] == ["chunk 0: ((0 1) 2)", "chunk 1: (0 (1 2))", "chunk 2: ((0 2) 1)"]
    assert lines[-1] == "rank order: not kept; operators must commute"


def test_ranks_that_end_with_other_sums_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    # one step: each rank adds what comes from its left first, to the right last
    lines = printed(capsys, "direct", "--collective", "allreduce", "--ranks", 3, "--order").splitlines()
    assert lines[1:-1] == [
        "chunk 0, rank 0: ((0 2) 1)",
        "chunk 0, rank 1: ((0 1) 2)",
        "chunk 0, rank 2: (0 (1 2))",
    ]


def test_copies_combine_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert "nothing is combined" in printed(capsys, "ring", "--collective", "allgather", "--order")


def test_the_list_and_the_trace_say_whether_operators_must_commute(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "keeps order" in printed(capsys)
    assert "rank order   not kept: operators must commute" in printed(capsys, "ring")
    assert "rank order   kept: operators need not commute" in printed(capsys, "recursive_doubling")


def test_a_trace_says_where_the_closed_form_is_exact_or_that_it_is_nowhere(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "exact on     ring" in printed(capsys, "ring")
    assert "exact on     no topology" in printed(capsys, "themis")


def test_without_dims_there_is_one_dimension(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "hierarchical", "--ranks", 4)
    assert lines == printed(capsys, "hierarchical", "--ranks", 4, "--set", "dims=4")


def test_table_counts_every_algorithm(capsys: pytest.CaptureFixture[str]) -> None:
    counted = json.loads(printed(capsys, "--table", "--ranks", "2..4", "--format", "json"))
    assert {(kind, name) for kind, names in counted.items() for name in names} == {
        (kind, name) for name, algorithm in ALGORITHMS.items() for kind in algorithm.collectives
    }
    assert list(counted) == [kind for kind in KINDS if kind in counted]
    # a ring AllReduce: 2 (N - 1) steps of N messages of M/N, half of them reduced
    ring = {"steps": 6, "messages": 24, "bytes": 6.0, "reduced": 3.0}
    assert counted["allreduce"]["ring"]["4"] == ring
    assert list(counted["allreduce"]["ring"]) == ["2", "3", "4"]


def test_table_as_csv_has_exact_shares(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "recursive_halving", "--table", "--ranks", "5", "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(text))
    # folded: M in, 4 ranks halve with 3 M in all and one block more, M/5 back; N - 1 vectors are added up
    assert (row["collective"], row["ranks"], row["steps"]) == ("reduce_scatter", "5", "4")
    assert Fraction(row["bytes"]) == 1 + Fraction(4, 5) + Fraction(8, 5) + Fraction(4, 5)
    assert Fraction(row["reduced"]) == 4


def test_table_as_text_has_a_row_an_algorithm(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [line.split() for line in printed(capsys, "ring", "--table").splitlines()]
    assert ["algorithm", *map(str, range(2, 17))] in lines
    assert ["ring", *map(str, range(1, 16))] in lines
    lines = [
        line.split()
        for line in printed(
            capsys, "--table", "--ranks", "4", "--what", "bytes", "--collective", "allreduce"
        ).splitlines()
    ]
    assert ["direct", "12"] in lines
    assert not any("allgather" in line for line in lines)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--order",), "--order needs the name of an algorithm"),
        (("ring", "--ranks", "2..4"), "several numbers of ranks are for --table"),
        (("--table", "--ranks", "4..2"), "expected a number of ranks from 1 on, or several as 2..16"),
        (("--table", "--ranks", "2.."), "expected a number of ranks from 1 on"),
        (("--table", "--ranks", "many"), "expected a number of ranks from 1 on"),
        (("--table", "--collective", "allreduc"), 'did you mean "allreduce"'),
        (("rng", "--table"), 'did you mean "ring"'),
        (("ring", "--root", "1"), "reduce_scatter has no root"),
    ],
)
def test_refuses(arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("algorithms", *arguments) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
