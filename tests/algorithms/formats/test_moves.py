"""Formats that say, step by step, what goes where: TE-CCL, ForestColl, SCCL, TACCL, graphs of NCCL."""

from __future__ import annotations

import pytest

from algorithms.formats.registry import format_of, read_schedule
from algorithms.programs.errors import ProgramError
from algorithms.programs.proof import prove_program
from algorithms.programs.summary import Totals, totals_of
from tests.algorithms.formats.format_files import SHARED, text
from topologies.errors import FormatError

TECCL, FOREST = "line-of-three.te-ccl.json", "two-boxes.forestcoll.xml"
SCCL, TACCL, GRAPH = "star-allreduce.sccl.json", "pair-all-to-all.taccl.json", "three-gpus.nccl-graph.xml"

# (format, collective, chunks of the vector, and messages, chunks sent by all and by the busiest,
# chunks reduced, chain: counted by hand)
SMALL = {
    TECCL: ("te-ccl", "allgather", 3, Totals(6, 6, 4, 0, 2)),
    FOREST: ("forestcoll", "allgather", 6, Totals(12, 12, 5, 0, 2)),
    SCCL: ("sccl", "allreduce", 1, Totals(4, 4, 2, 2, 3)),
    TACCL: ("sccl", "all_to_all", 4, Totals(4, 4, 2, 0, 1)),
    GRAPH: ("nccl-ring", "allreduce", 6, Totals(24, 24, 8, 12, 4)),
}


@pytest.mark.parametrize("name", SMALL)
def test_small_files_are_right(name: str) -> None:
    form, kind, parts, totals = SMALL[name]
    data = text(name).encode()
    assert format_of(name, data) == form
    program = read_schedule(data, name)
    prove_program(program)
    assert (program.purpose.kind, program.purpose.parts) == (kind, parts)  # type: ignore[union-attr]
    found = totals_of(program)
    # chunks that lie side by side are one message
    assert found == Totals(found.messages, totals.sent, totals.sent_max, totals.reduced, totals.depth)
    assert found.messages <= totals.messages


def test_trees_of_nccl_are_chains() -> None:
    program = read_schedule(text(GRAPH).encode(), GRAPH, "nccl-tree")
    prove_program(program)
    # two links up and two down; the first GPU of the file, rank 1, has the sum first
    assert totals_of(program) == Totals(4, 4, 2, 2, 4)
    assert [int(program.rank[i]) for i, word in enumerate(program.word) if word == "rrc"] == [0, 1]


def test_what_is_not_said() -> None:
    said = {name: read_schedule(text(name).encode(), name).unsaid for name in (TECCL, FOREST)}
    assert said[TECCL][1:] == ("the switches that flows go by",)
    assert said[FOREST] == ("the switches that paths go by",)


def test_a_published_graph_is_right() -> None:
    file = SHARED / "nccl" / "ncv4-graph.xml"
    if not file.is_file():
        pytest.skip("the published files are not here")
    for form, depth in (("nccl-ring", 6), ("nccl-tree", 6)):
        program = read_schedule(file.read_bytes(), file.name, form)
        prove_program(program)
        assert totals_of(program).depth == depth


def test_a_flow_that_is_missing_is_missed() -> None:
    lost = text(TECCL).replace('    "Chunk 0 from 4 traveled over 4->2 in epoch 0 via switches 3",\n', "")
    with pytest.raises(ProgramError, match=r"rank 1, .* \(s\) reads o\[2\], which holds nothing"):
        prove_program(read_schedule(lost.encode(), TECCL))


# (file, what is replaced, by what, the line, what is said)
WRONG = [
    (TECCL, "traveled over 1->2", "went over 1->2", 4, 'found "Chunk 0 from 1 went over 1->2 in epoch 0"'),
    (TECCL, "over 1->2", "over 1->9", 4, "there is no GPU 9 among those of the demands"),
    (TECCL, "Chunk 0 from 1 tr", "Chunk 7 from 1 tr", 4, "there is no chunk 7; there are 1"),
    (TECCL, "over 1->2", "over 1->1", 1, "step 0: rank 0 sends to itself"),
    (
        TECCL,
        '"Demand at 2 for chunk 0 from 1',
        '"Demand at 2 for chunk 999999999 from 1',
        1,
        "at most 16,777,216 fit",
    ),
    (FOREST, 'nchunks="1"', 'nchunks="0"', 2, "nchunks is 0; expected 1 to"),
    (FOREST, 'nchunks="1"', 'nchunks="2"', 6, "the trees of one root carry more than its 2 chunks"),
    (
        FOREST,
        "<send src=\"(0, 'GPU', 0)\"",
        "<send src=\"(1, 'GPU', 0)\"",
        3,
        "its source has not been reached",
    ),
    (SCCL, "[0, 2, 1]", "[0, 2, 3]", 6, "there is no such address, or no such rank"),
    (SCCL, "[0, 2, 1]", "[0, 2]", 6, "expected an address and two ranks"),
    (SCCL, "[0, 0, 1]", "[0, 1, 0]", 8, "rank 0 would count a contribution twice"),
    (SCCL, '"nodes": 3', '"nodes": 4', 10, "a collective that is not known"),
    (TACCL, "[2, 1, 0, 0, 0]", "[2, 0, 1, 0, 0]", 6, "rank 0 does not have what it sends"),
    (GRAPH, '<gpu dev="a"/>', '<gpu dev="b"/>', 8, "expected the GPUs of the first channel, each once"),
    (GRAPH, '<gpu dev="a"/>', '<net dev="0"/>', 3, "it leaves the machine"),
    (GRAPH, '<gpu dev="a"/>', '<gpu dev="x"/>', 6, "dev is no hexadecimal number"),
    (GRAPH, '<graph id="0"', '<graph id="3"', 1, "there is no graph 0, of rings"),
]


@pytest.mark.parametrize(("name", "old", "new", "line", "said"), WRONG, ids=range(len(WRONG)))
def test_a_wrong_file_is_refused_with_its_line(name: str, old: str, new: str, line: int, said: str) -> None:
    assert old in text(name)
    with pytest.raises(FormatError) as caught:
        read_schedule(text(name).replace(old, new, 1).encode(), name)
    assert said in caught.value.message
    assert caught.value.line == line


@pytest.mark.parametrize("name", ["a.json", "a.xml", "a"])
@pytest.mark.parametrize("data", [b"", b"[]", b"<a/>", b"{}"])
def test_what_is_no_schedule_is_refused(name: str, data: bytes) -> None:
    with pytest.raises(FormatError, match="cannot tell the format of this schedule"):
        read_schedule(data, name)
