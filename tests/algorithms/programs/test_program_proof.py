"""The proof of a program says what is wrong first: a deadlock, a race, a step, or what a rank lacks."""

from __future__ import annotations

import numpy as np
import pytest

from algorithms.formats.msccl_xml import read_msccl_xml
from algorithms.programs.errors import ProgramError
from algorithms.programs.matching import matched
from algorithms.programs.proof import prove_program
from tests.algorithms.formats.format_files import text

PAIR, SWAP = "pair-allreduce.xml", "pair-all-to-all.xml"
LAST = (
    '<step s="1" type="re" srcbuf="s" srcoff="0" dstbuf="i" dstoff="0" '
    'cnt="2" depid="0" deps="0" hasdep="0"/>'
)

# (file, what is replaced, by what, the line, what is said)
WRONG = {
    "race": (
        PAIR,
        'depid="0" deps="0"',
        'depid="-1" deps="-1"',
        10,
        "data race on i[0] of rank 0: rank 0, thread block 1, step 2 (re) writes it, rank 0, thread block 0, "
        "step 0 (s) of line 5 reads it, and neither waits for the other",
    ),
    "deadlock": (
        PAIR,
        'depid="-1" deps="-1" hasdep="1"',
        'depid="1" deps="2" hasdep="1"',
        5,
        "deadlock: rank 0, thread block 0, step 0 (s) waits for rank 0, thread block 1, step 2 (re) waits "
        "for rank 0, thread block 1, step 1 (nop), which waits for the first of them",
    ),
    "counted twice": (
        PAIR,
        'type="re" srcbuf="s" srcoff="0"',
        'type="re" srcbuf="o" srcoff="0"',
        10,
        "rank 0, thread block 1, step 2 (re) counts the contribution of rank 0 to chunk 0 twice",
    ),
    "a race of scratch": (
        PAIR,
        'type="s" srcbuf="i" srcoff="0"',
        'type="s" srcbuf="s" srcoff="0"',
        8,
        "data race on s[0] of rank 0",
    ),
    "reads nothing": (
        SWAP,
        'type="s" srcbuf="i" srcoff="1"',
        'type="s" srcbuf="o" srcoff="1"',
        4,
        "rank 0, thread block 0, step 0 (s) reads o[1], which holds nothing",
    ),
    "adds another chunk": (
        PAIR,
        'type="re" srcbuf="s" srcoff="0" dstbuf="i" dstoff="0" cnt="2"',
        'type="re" srcbuf="s" srcoff="0" dstbuf="i" dstoff="1" cnt="1"',
        10,
        "rank 0, thread block 1, step 2 (re) adds chunk 1, in i[1], to chunk 0",
    ),
    "incomplete": (
        PAIR,
        LAST,
        "",
        0,
        "rank 1 ends without the contribution of rank 0 to chunk 0 in i[0]; nothing was ever written there; "
        "chunks that are wrong at the end: rank 1: 0-1",
    ),
    "wrong chunk": (
        SWAP,
        'type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="1"',
        'type="r" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0"',
        0,
        "rank 0 ends without chunk 2 in o[1]: nothing was ever written there; "
        "chunks that are wrong at the end: rank 0: 2",
    ),
    "wrong order": (
        SWAP,
        'type="s" srcbuf="i" srcoff="0"',
        'type="s" srcbuf="i" srcoff="1"',
        5,
        "rank 0 ends with chunk 3 in o[1] instead of chunk 2; the last write there was by rank 0, thread "
        "block 0, step 1 (r); chunks that are wrong at the end: rank 0: 2",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_first_is_named(case: str) -> None:
    file, old, new, line, said = WRONG[case]
    assert old in text(file)
    program = read_msccl_xml(text(file).replace(old, new, 1).encode(), "a.xml")
    with pytest.raises(ProgramError) as caught:
        prove_program(program)
    assert caught.value.message[: len(said)] == said
    assert caught.value.line == line


@pytest.mark.parametrize("case", WRONG)
def test_of_many_chunks_the_first_wrong_one_is_followed(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("algorithms.programs.proof._MOST_FOLLOWED", 0)
    test_what_is_wrong_first_is_named(case)


def test_a_file_of_many_chunks_is_diagnosed_at_once() -> None:
    # a small file, of a million chunks, all of which are lost
    data = """<algo name="x" nchunksperloop="1000000" ngpus="1" coll="allreduce" inplace="0">
      <gpu id="0" i_chunks="0" o_chunks="0" s_chunks="0"/></algo>"""
    with pytest.raises(ProgramError, match=r"rank 0: 0-999999$"):
        prove_program(read_msccl_xml(data.encode(), "a.xml"))


def test_queues_of_many_ranks_stay_apart() -> None:
    # numbers that are the same in their last 38 bits
    queues = np.array([0, 1 << 38]), np.array([1 << 38, 0])
    assert [partner.tolist() for partner in matched(*queues)] == [[1, 0], [1, 0]]
