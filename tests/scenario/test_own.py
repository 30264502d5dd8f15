"""A person's own algorithm, as a function in a Python file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simulator.scenario.load import load
from simulator.scenario.run import run
from tests.cli.command import collsim, write
from tests.scenario.own_examples import TOPOLOGY, same

RING = """\
import numpy as np
from algorithms import COPY, REDUCE

def my_ring(ranks: int, first_chunk: int = -1):
    rank = np.arange(ranks)
    for step in range(ranks - 1):
        yield rank, (rank + 1) % ranks, (rank + first_chunk - step) % ranks, REDUCE
"""

OWN = "collective: {kind: reduce_scatter, size: 1 GiB, algorithm: {file: own.py, function: my_ring}}\n"


def own(folder: Path, code: str, collective: str = OWN, more: str = "") -> Path:
    """A scenario's file beside a Python file."""
    (folder / "own.py").write_text(code, "utf-8")
    return write(folder / "own.yaml", TOPOLOGY + collective + more)


def test_a_function_is_built_proven_and_timed_like_the_catalogues_own(tmp_path: Path) -> None:
    result = run(load(own(tmp_path, RING)), allow_code=True)
    built_in = TOPOLOGY + OWN.replace("{file: own.py, function: my_ring}", "ring")
    ring = run(load(write(tmp_path / "ring.yaml", built_in)))
    assert same(result.schedule, ring.schedule)
    assert (result.time, result.counts, result.verified) == (ring.time, ring.counts, "full")
    assert (result.schedule.algorithm, result.schedule.fallback) == ("my_ring", None)
    assert (result.analytic, result.dims) == (None, (4,))
    assert not (tmp_path / "__pycache__").exists()


def test_the_command_line_runs_it_only_when_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = own(tmp_path, RING + f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    refused = f'{file}:2:60: collective.algorithm: the code of "own.py" is run only with --allow-code\n'
    for command in ("run", "check"):
        assert collsim(command, file) == 2
        assert capsys.readouterr().err == refused
    assert collsim("topology", file) == 0
    assert not (tmp_path / "ran").exists()
    capsys.readouterr()
    assert collsim("run", file, "--allow-code", "--json") == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["algorithm"], result["analytic"], result["verified"]) == ("my_ring", None, "full")
    assert (tmp_path / "ran").exists()
    assert collsim("check", file, "--allow-code") == 0
    assert collsim("run", file, "--allow-code", "--out", tmp_path / "out") == 0


def test_what_it_prints_goes_beside_the_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = "print('read')\n" + RING.replace("    rank =", "    print('called')\n    rank =")
    assert collsim("run", own(tmp_path, code), "--allow-code", "--json") == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["verified"] == "full"
    assert printed.err == "read\ncalled\n"


def test_a_name_of_the_catalogue_is_only_a_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("hierarchical", "hybrid", "in_network"):
        file = own(tmp_path, RING.replace("my_ring", name), OWN.replace("my_ring", name))
        assert collsim("run", file, "--allow-code") == 0
        assert name in capsys.readouterr().out


def test_options_reach_the_function(tmp_path: Path) -> None:
    code = RING.replace(
        "def my_ring(ranks: int, first_chunk: int = -1):", "def my_ring(ranks, *, words, **more):"
    )
    code = code.replace(
        "rank = np", "assert (words, more) == (['a', 'b'], {'x': 1.5})\n    first_chunk = -1; rank = np"
    )
    written = "function: my_ring, options: {words: [a, b], x: 1.5}"
    assert run(load(own(tmp_path, code, OWN.replace("function: my_ring", written))), allow_code=True).time > 0


def test_a_wrong_option_of_a_ring_fails_the_proof(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = own(tmp_path, RING, OWN.replace("my_ring}", "my_ring, options: {first_chunk: 0}}"))
    assert collsim("run", file, "--allow-code") == 1
    assert capsys.readouterr().err.startswith(f"{file}: the proof failed: ")


BROADCAST = """\
from algorithms import COPY

def chain(ranks, {takes}):
    for i in range(ranks - 1):
        yield {rank} % ranks, {after} % ranks, {chunks}, COPY
"""


@pytest.mark.parametrize(
    ("takes", "rank", "chunks", "keys"),
    [
        ("_=0", "i", "[[0]]", "blocks: 1, root: 3"),
        ("_=0", "i", "[range(4)]", "root: 3"),
        ("root", "root + i", "[[0]]", "blocks: 1, root: 3"),
        ("blocks", "i", "[range(blocks)]", "blocks: 7, root: 3"),
        ("_=0", "i", "[[0]]", "blocks: 1, segments: 3"),
        ("segments", "i", "[range(segments)]", "blocks: 1, segments: 3"),
        ("kind, root, blocks", "root + i", "[range(blocks)] if kind == 'broadcast' else None", "root: 2"),
    ],
)
def test_what_the_function_takes_is_its_business_and_the_rest_is_done_for_it(
    takes: str, rank: str, chunks: str, keys: str, tmp_path: Path
) -> None:
    code = BROADCAST.format(takes=takes, rank=f"({rank})", after=f"({rank} + 1)", chunks=chunks)
    algorithm = "algorithm: {file: own.py, function: chain}"
    collective = f"collective: {{kind: broadcast, size: 1 MiB, {algorithm}, {keys}}}\n"
    result = run(load(own(tmp_path, code, collective)), allow_code=True)
    assert result.verified == "full"
    assert result.schedule.collective.size == 2**20
    root = int(keys.partition("root: ")[2] or 0)
    assert result.schedule.collective.source.tolist() == [root] * result.schedule.collective.chunks
    # a function that knows of segments says itself what follows what; otherwise they are a pipeline
    assert (result.schedule.steps > 3) == ("segments" in keys and takes != "segments")


def test_sizes_and_peers(tmp_path: Path) -> None:
    sizes = OWN.replace("size: 1 GiB", "sizes: [1 B, 0 B, 3 B, 5 B]")
    assert run(load(own(tmp_path, RING, sizes)), allow_code=True).counts.bytes_sent_max == 9
    code = "def send(ranks, peer):\n    yield [0], [peer], [0], 0\n"
    for root, peer in ((0, 2), (3, 1)):
        collective = (
            "collective: {kind: send_recv, size: 1 MiB, algorithm: {file: own.py, function: send},"
            f" root: {root}, peer: {peer}}}\n"
        )
        schedule = run(load(own(tmp_path, code, collective)), allow_code=True).schedule
        assert (schedule.src.tolist(), schedule.dst.tolist()) == ([root], [peer])


def in_function(body: str) -> str:
    return "import numpy as np\ndef my_ring(ranks):\n" + "".join(f"    {line}\n" for line in body.split("\n"))


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("def my_ring(ranks):\n    yield (\n", "2:11: not Python: '(' was never closed"),
        ("x = 1\0", "1:1: not Python: source code string cannot contain null bytes"),
        ("import no_such_module\n", "1:1: ModuleNotFoundError: No module named 'no_such_module'"),
        ("x = 1\n\nraise ValueError('two\\nlines')\n", "3:1: ValueError: two lines"),
        ("import sys\nsys.exit('bye')\n", "2:1: SystemExit: bye"),
        ("def my_rng(ranks): yield\n", '1:1: there is no function "my_ring"; did you mean "my_rng"?'),
        ("def other(ranks): yield\n", '1:1: there is no function "my_ring"; it has other'),
        ("", '1:1: there is no function "my_ring"'),
        ("my_ring = 3\n", '1:1: "my_ring" is an int, expected a function'),
        (
            "x = 1\ndef my_ring():\n    yield\n",
            "2:1: my_ring must take the number of ranks as its first argument",
        ),
        (
            "def my_ring(*, ranks):\n    yield\n",
            "1:1: my_ring must take the number of ranks as its first argument",
        ),
        (
            "def my_ring(ranks):\n    pass\n",
            "1:1: my_ring returns None, expected a generator that yields steps",
        ),
        ("def my_ring(ranks):\n    return [1]\n", "1:1: my_ring returns a list, expected a generator"),
        (in_function("yield [0], [1], [0], 1\nyield [0], [1], 1 // 0, 1"), "4:21: ZeroDivisionError: "),
        (in_function("import sys\nsys.exit()\nyield"), "4:5: SystemExit"),
        (
            in_function("yield [0], [1], [0]"),
            "3:5: step 0: found 3 values, expected (src, dst, chunks, mode)",
        ),
        (in_function("yield 7"), "3:5: step 0: found an int, expected (src, dst, chunks, mode)"),
        (in_function("yield"), "3:5: step 0: found a NoneType, expected (src, dst, chunks, mode)"),
        (in_function("yield [0, 1], [1], [0], 1"), "3:5: step 0: found 2 src, 1 dst, chunks of 1 transfers"),
        (in_function("yield [0], [1], [0, 1], 1"), "3:5: step 0: found 1 src, 1 dst, chunks of 2 transfers"),
        (
            in_function("yield [0], [1], [0], 'reduce'"),
            "3:5: step 0: mode: found 'reduce', expected COPY or REDUCE",
        ),
        (in_function("yield [0], [1], [0], 2"), "3:5: step 0: mode: found 2, expected COPY or REDUCE"),
        (in_function("yield [0.5], [1], [0], 1"), "3:5: step 0: src: found [0.5], expected whole numbers"),
        (in_function("yield [0], ['a'], [0], 1"), "3:5: step 0: dst: found ['a'], expected whole numbers"),
        (
            in_function("yield [0, 1], [1, 2], [[0], [0, 1]], 1"),
            "3:5: step 0: chunks: found rows of unequal length",
        ),
        (in_function("yield [0], [1], [[[0]]], 1"), "3:5: step 0: chunks: found 3 dimensions, expected 2"),
        (in_function("yield [0], [2**40], [0], 1"), "3:5: step 0: dst: found a number past 2^31"),
        (
            in_function("yield [0], [1], [0], 1\nyield [0], [9], [0], 1"),
            "4:5: step 1: there is no rank 9 to receive",
        ),
        (
            in_function("yield [0], [1], [0], 1\nyield [2], [2], [0], 1"),
            "4:5: step 1: rank 2 sends to itself",
        ),
        (in_function("for c in (0, 4):\n    yield [0], [1], [c], 1"), "4:9: step 1: there is no chunk 4"),
        (
            in_function("yield [([0], [1], [0], 0), ([2], [1], [0], 1)]"),
            "3:5: step 0: chunk 0 at rank 1 is both copied and reduced into",
        ),
        (
            "from algorithms import Lists\n"
            "def my_ring(ranks):\n    yield [0], [1], Lists(offsets=[0, 2], index=[0]), 1\n",
            "3:5: step 0: chunks: found Lists whose offsets do not rise",
        ),
        (
            "from algorithms import Ranges\n"
            "def my_ring(ranks):\n    yield [0], [1], Ranges(first=[0], count=[-1]), 1\n",
            "3:5: step 0: chunks: found Ranges",
        ),
        (
            "import numpy as np\ndef help(ranks):\n    return np.zeros(-ranks)\n"
            "def my_ring(ranks):\n    yield help(ranks)\n",
            "3:12: ValueError: negative dimensions are not allowed",
        ),
        (in_function("return my_ring(ranks)"), "3:12: RecursionError: maximum recursion depth exceeded"),
    ],
)
def test_what_is_wrong_in_a_persons_code_is_one_line_with_its_place(
    code: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = own(tmp_path, code)
    for command in ("run", "check"):
        assert collsim(command, file, "--allow-code") == 2
        said = capsys.readouterr().err
        assert said.startswith(f"{tmp_path / 'own.py'}:{message}"), said
        assert said.count("\n") == 1


def test_an_algorithm_that_never_ends_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("simulator.scenario.code.MOST_STEPS", 100)
    file = own(tmp_path, in_function("while True:\n    yield []"))
    assert collsim("run", file, "--allow-code") == 2
    assert capsys.readouterr().err == f"{tmp_path / 'own.py'}:2:1: my_ring yields more than 100 steps\n"


def test_a_file_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = own(tmp_path, RING, OWN.replace("own.py", "owm.py"))
    assert collsim("run", file, "--allow-code") == 2
    said = 'collective.algorithm.file: there is no file "owm.py" beside the scenario'
    assert capsys.readouterr().err.endswith(f"{said}\n")
    assert collsim("run", own(tmp_path, RING, OWN.replace("own.py", ".")), "--allow-code") == 2


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "    yield [0], [1], Ranges(np.array([0]), np.array([10**9])), COPY",
            "there is no chunk",
        ),
        ("    yield [0], [9], [0], COPY", "there is no rank 9 to receive"),
        ("    raise GeneratorExit\n    yield", "GeneratorExit"),
        ("    raise BaseException('no')\n    yield", "BaseException: no"),
        ("    yield [0], [1], Odd(), COPY", "an Odd"),
        ("    raise Mute\n    yield", "Mute"),
    ],
)
def test_whatever_a_persons_code_does_it_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], body: str, said: str
) -> None:
    code = (
        "import numpy as np\nfrom algorithms import COPY, Lists, Ranges\n"
        "class Odd:\n    def __array__(self, *_, **__):\n        raise RuntimeError\n"
        "class Mute(Exception):\n    def __str__(self):\n        raise RuntimeError\n"
        f"def mine(ranks):\n{body}\n"
    )
    assert collsim("run", own(tmp_path, code, OWN.replace("my_ring", "mine")), "--allow-code") == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert said in errors


def test_lists_of_plain_numbers(tmp_path: Path) -> None:
    chunks = "(rank + first_chunk - step) % ranks"
    listed = f"Lists(list(range(ranks + 1)), ({chunks}).tolist())"
    code = RING.replace(chunks, listed).replace("import COPY", "import COPY, Lists")
    assert code.count("Lists") == 2
    assert run(load(own(tmp_path, code)), allow_code=True).counts.steps == 3


def test_a_dataclass_in_a_persons_file(tmp_path: Path) -> None:
    head = "from __future__ import annotations\nfrom dataclasses import dataclass\n"
    code = head + "@dataclass\nclass Note:\n    text: str\n" + RING
    assert run(load(own(tmp_path, code)), allow_code=True).counts.steps == 3


@pytest.mark.parametrize(
    ("marked", "message"),
    [
        (
            "{file: own.py, function: my_ring, options: {@first: 1}}",
            'my_ring takes no option "first"; did you',
        ),
        ("{file: own.py, function: my_ring, options: {@x: 1}}", "; it takes first_chunk"),
        ("{file: own.py, function: my_ring, options: {@root: 1}}", '"root" is the collective\'s'),
        ("{file: own.py, @functon: my_ring}", 'unknown key "functon" in collective.algorithm'),
        ("{file: own.py, function: @3}", "expected text"),
        ("{file: own.py, function: my_ring, options: @3}", "found the number 3, expected a mapping"),
        ("{file: own.py, function: my_ring}, @order: near", 'unknown key "order" in collective'),
        ("{file: own.py, function: my_ring}, @blocks: 4", "reduce_scatter has a block for each rank"),
        ("{file: own.py, function: my_ring}, root: @0", "reduce_scatter has no root"),
        ("{file: own.py, function: my_ring}, segments: @0", "expected 1 or more"),
        ("{file: own.py, function: my_ring}, @steps: []", 'found both "algorithm" and "steps"'),
        ("ring, @steps: []", 'found both "algorithm" and "steps"'),
        ("ring, @blocks: 2", 'unknown key "blocks" in collective'),
        ("@3", "found the number 3, expected ring"),
    ],
)
def test_what_does_not_fit_is_named_by_line_and_column(
    marked: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    collective = OWN.replace("{file: own.py, function: my_ring}", marked)
    file = own(tmp_path, RING, collective.replace("@", ""))
    assert collsim("run", file, "--allow-code") == 2
    said = capsys.readouterr().err
    assert any(
        line.startswith(f"{file}:2:{collective.index('@') + 1}: ") and message in line
        for line in said.splitlines()
    ), said


def test_a_function_that_needs_an_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = own(tmp_path, RING.replace("first_chunk: int = -1", "first_chunk"))
    assert collsim("run", file, "--allow-code") == 2
    assert 'my_ring needs the option "first_chunk"' in capsys.readouterr().err
