"""Steps that a scenario writes out itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from algorithms import build
from simulator.scenario.load import load
from simulator.scenario.run import run
from tests.cli.command import collsim, write
from tests.scenario.own_examples import TOPOLOGY, same

DOUBLING = """\
collective:
  kind: allreduce
  size: 1 MiB
  blocks: 1
  steps:
    - {0 -> 1: reduce 0, 1 -> 0: reduce 0, 2->3: reduce 0, 3->2: reduce 0}
    - [0 -> 2: reduce all, 1 -> 3: reduce all, 2 -> 0: reduce all, 3 -> 1: reduce all]
"""


def inline(folder: Path, steps: str, about: str = "kind: allreduce, size: 1 MiB") -> Path:
    return write(folder / "inline.yaml", TOPOLOGY + f"collective: {{{about}, steps: {steps}}}\n")


def test_steps_are_proven_counted_and_timed_like_an_algorithm(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path / "doubling.yaml", TOPOLOGY + DOUBLING)
    result = run(load(file))
    assert same(result.schedule, build("recursive_doubling", "allreduce", 4, 2**20, order="near"))
    assert (result.verified, result.analytic, result.dims) == ("full", None, (4,))
    assert collsim("run", file, "--json") == 0
    fields: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (fields["algorithm"], fields["steps"], fields["transfers"]) == ("inline", 2, 8)


def test_forms_of_a_step_and_of_chunks(tmp_path: Path) -> None:
    about = "kind: broadcast, size: 1 MiB, blocks: 6, root: 2"
    steps = (
        "[{2 -> 0: copy 0-2 5 4, 2 -> 1: copy nothing}, [2 -> 0: copy 3, 2 -> 1: copy 0 1, 2 -> 1: copy 2-5],"
        " {0 -> 3: copy all}, {}]"
    )
    schedule = run(load(inline(tmp_path, steps, about))).schedule
    assert [schedule.chunks(i).tolist() for i in range(len(schedule))] == [
        [0, 1, 2, 5, 4],
        [],
        [3],
        [0, 1],
        [2, 3, 4, 5],
        [0, 1, 2, 3, 4, 5],
    ]
    assert schedule.step.tolist() == [0, 0, 1, 1, 1, 2]
    assert schedule.collective.source.tolist() == [2] * 6


def test_steps_in_segments_and_sizes(tmp_path: Path) -> None:
    chain = "[{0 -> 1: copy 0}, {1 -> 2: copy 0}, {2 -> 3: copy 0}]"
    about = "kind: broadcast, size: 1 MiB, blocks: 1, segments: 4"
    # a pipelined chain: N - 2 + S steps
    assert run(load(inline(tmp_path, chain, about))).counts.steps == 6
    scatter = "[{0 -> 1: copy 1, 0 -> 2: copy 2, 0 -> 3: copy 3}]"
    about = "kind: scatter, sizes: [1 B, 2 B, 3 B, 4 B]"
    assert run(load(inline(tmp_path, scatter, about))).counts.bytes_sent_max == 9


def test_no_steps_do_for_one_rank(tmp_path: Path) -> None:
    file = inline(tmp_path, "[]")
    write(file, file.read_text("utf-8").replace("ranks: 4", "ranks: 1"))
    assert run(load(file)).counts.transfers == 0


def test_steps_that_compute_something_else_fail_the_proof(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = inline(tmp_path, "[{0 -> 1: reduce 0-3}]")
    assert collsim("run", file) == 1
    assert "rank 0 ends without the contribution of ranks 1, 2, 3 to chunk 0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("marked", "message"),
    [
        ("@3", "found the number 3, expected a list of steps"),
        ("@{0 -> 1: copy 0}", "found a mapping, expected a list of steps"),
        ("[@copy]", 'steps[0]: found the text "copy", expected transfers, e.g. "0 -> 1: reduce 3"'),
        ("[[@copy]]", 'steps[0][0]: found the text "copy", expected transfers'),
        ("[{@0: copy 0}]", "found the number 0 as ranks"),
        ("[{@0 1: copy 0}]", 'found the text "0 1" as ranks'),
        ("[{@-1 -> 1: copy 0}]", "as ranks"),
        ("[{0 -> 1: @3}]", "found the number 3, expected e.g."),
        ("[{0 -> 1: @3 reduce}]", 'found "3", expected e.g. "0 -> 1: reduce 3"'),
        ("[{0 -> 1: @redce 3}]", 'found "redce"; did you mean "reduce"?'),
        ("[{0 -> 1: @copy}]", 'found "copy" without chunks'),
        ("[{0 -> 1: @copy x}]", 'found "x", expected chunks such as 3 or 0-2'),
        ("[{0 -> 1: @copy 3-1}]", 'found the chunks "3-1", expected the lower one first'),
        ("[{0 -> 1: @copy 0-999999999}]", "expected at most 1,048,576 of them"),
        ("[{0 -> 1: @[copy 0]}]", "found a list, expected e.g."),
        ("[{0 -> 1: copy 0, @0 -> 1: copy 1}]", 'the key "0 -> 1" is given twice'),
        ("[{}, {@0 -> 4: copy 0}]", "there is no rank 4 among 4"),
        ("[{@1 -> 1: copy 0}]", "rank 1 sends to itself"),
        ("[{@0 -> 1: copy 0 4 1}]", "there is no chunk 4 among 4"),
        ("[{}, @{0 -> 1: copy 0, 2 -> 1: reduce 0}]", "step 1: chunk 0 at rank 1 is both copied and reduced"),
    ],
)
def test_wrong_steps_are_named_by_line_and_column(
    marked: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = inline(tmp_path, marked.replace("@", ""))
    text = file.read_text("utf-8").splitlines()[1]
    column = text.index("steps: ") + len("steps: ") + marked.index("@") + 1
    assert collsim("run", file) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"{file}:2:{column}: "), said
    assert message in said
    assert said.count("\n") == 1


def test_everything_that_is_wrong_is_said_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("run", inline(tmp_path, "[{0 -> 1: cpy 0}, 7]", "kind: allreduc, size: 1")) == 2
    assert capsys.readouterr().err.count("\n") == 4
    assert collsim("run", inline(tmp_path, "[{0 -> 9: copy 0}, {3 -> 3: copy 0}]")) == 2
    assert capsys.readouterr().err.count("\n") == 2


def test_neither_algorithm_nor_steps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "none.yaml", TOPOLOGY + "collective: {kind: allgather, size: 1 B}\n")
    assert collsim("run", file) == 2
    assert 'missing key "algorithm", or "steps", in collective' in capsys.readouterr().err
