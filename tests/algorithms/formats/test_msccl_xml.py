"""MSCCL XML: what is read, and how wrong files are refused."""

from __future__ import annotations

import pytest

from algorithms.formats.msccl_xml import read_msccl_xml
from algorithms.programs.errors import ProgramError
from algorithms.programs.proof import prove_program
from algorithms.programs.summary import Totals, totals_of
from tests.algorithms.formats.format_files import SHARED, text
from topologies.errors import FormatError

PAIR = "pair-allreduce.xml"

# messages, chunks sent by all and by the busiest, chunks reduced, chain: counted by hand
SMALL = {
    PAIR: Totals(2, 4, 2, 4, 1),
    "chain-allreduce.xml": Totals(4, 4, 2, 2, 4),
    "pair-all-to-all.xml": Totals(2, 2, 1, 0, 1),
}

# what a symbolic executor of others found in published files (microsoft/msccl and its users)
PUBLISHED = {
    "ag_hier_4_Simple.xml": Totals(48, 48, 12, 0, 2),
    "a2a2ll.xml": Totals(112, 112, 14, 0, 1),
    "ag-1k-512k.xml": Totals(112, 112, 14, 0, 1),
    "ap2ll.xml": Totals(224, 1792, 224, 896, 2),
    "ag_ring_simple_1_1.xml": Totals(56, 56, 7, 0, 7),
    "allreduce_binary_tree_Simple_gpu4_ins1.xml": Totals(12, 12, 4, 6, 4),
}


@pytest.mark.parametrize("name", SMALL)
def test_small_files_are_right(name: str) -> None:
    program = read_msccl_xml(text(name).encode(), "a.xml")
    prove_program(program)
    assert totals_of(program) == SMALL[name]


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_files_are_right(name: str) -> None:
    file = SHARED / "msccl" / name
    if not file.is_file():
        pytest.skip("the published files are not here")
    program = read_msccl_xml(file.read_bytes(), file.name)
    prove_program(program)
    assert totals_of(program) == PUBLISHED[name]


def test_a_broadcast_begins_where_nothing_is_received() -> None:
    step = 'srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"'
    program = read_msccl_xml(
        f"""<algo name="b" nchunksperloop="1" ngpus="2" coll="broadcast" inplace="1">
      <gpu id="1" i_chunks="1" o_chunks="0" s_chunks="0">
        <tb id="0" send="0" recv="-1" chan="0"><step s="0" type="s" {step}/></tb></gpu>
      <gpu id="0" i_chunks="1" o_chunks="0" s_chunks="0">
        <tb id="0" send="-1" recv="1" chan="0"><step s="0" type="r" {step}/></tb></gpu></algo>""".encode(),
        "a.xml",
    )
    assert program.purpose is not None
    assert program.purpose.root == 1
    prove_program(program)


# (what is replaced, by what, the line, what is said of it)
WRONG = [
    ('send="1" recv="-1"', 'send="2" recv="-1"', 4, "thread block 0 of gpu 0 sends to rank 2"),
    ('send="1" recv="-1"', 'send="0" recv="-1"', 4, "thread block 0 of gpu 0 sends to itself"),
    ('send="1" recv="-1"', 'send="-1" recv="-1"', 5, "a step s in a thread block without a peer for it"),
    ('cnt="2" depid="-1" deps="-1" hasdep="1"/>', 'cnt="1"', 6, "not XML: not well-formed (invalid token)"),
    ('type="s"', 'type="x"', 5, 'type is "x"; expected s, r,'),
    (
        'type="s" srcbuf="i" srcoff="0"',
        'type="s" srcbuf="i" srcoff="1"',
        5,
        "srcoff is 1 and cnt is 2",
    ),
    ('srcoff="0"', 'srcoff="-1"', 5, "srcoff is -1 and cnt is 2; buffer i has"),
    ('srcoff="0"', 'srcoff="1e3"', 5, 'srcoff is "1e3"; expected a whole number from -1 on'),
    ('srcoff="0"', 'srcoff="99999999999999999999"', 5, 'srcoff is "99999999999999999999"; expected a whole'),
    ('depid="0" deps="0"', 'depid="0" deps="1"', 9, "waits for step 1 of thread block 0; gpu 0 has none"),
    ('depid="0" deps="0"', 'depid="7" deps="0"', 9, "waits for step 0 of thread block 7; gpu 0 has none"),
    (
        '<tb id="1" send="-1" recv="1"',
        '<tb id="2" send="-1" recv="1"',
        7,
        "thread block 2 of gpu 0:",
    ),
    ('s="2" type="re"', 's="3" type="re"', 10, "s is 3; expected 2"),
    ('<gpu id="1"', '<gpu id="0"', 13, "gpu 0 is there twice"),
    ('<gpu id="1"', '<gpu id="2"', 13, "gpu 2 is not among 2"),
    ('ngpus="2"', 'ngpus="3"', 2, "gpu 2 is missing"),
    ('ngpus="2"', 'ngpus="9999999"', 2, "gpu 2 is missing"),
    ('ngpus="2"', "", 2, 'missing attribute "ngpus" in <algo>'),
    ('coll="allreduce"', 'coll="custom"', 2, 'coll is "custom"; expected allreduce, allgather'),
    ('coll="allreduce"', 'coll="allgather"', 3, "i_chunks is 2; nchunksperloop makes it 1"),
    ('nchunksperloop="2"', 'nchunksperloop="0"', 2, 'nchunksperloop is "0"; expected'),
    ('nchunksperloop="2"', 'nchunksperloop="999999999"', 3, "i_chunks is 2; nchunksperloop makes"),
    ('s_chunks="2"', 's_chunks="999999999"', 2, "the buffers would hold 1,000,000,005 chunks"),
    ('chan="0"', 'chan="99999"', 4, "chan is 99999; expected 0 to 32767"),
    (
        'dstbuf="s" dstoff="0" cnt="2"',
        'dstbuf="s" dstoff="0" cnt="1"',
        18,
        "receives 2 chunks",
    ),
    ('recv="-1" chan="0"', 'recv="-1" chan="1"', 5, "rank 0 sends to rank 1 by channel 1, which never"),
    ("<gpu", "<tb", 3, "found <tb> in <algo>"),
    ("<algo", "<!DOCTYPE algo [<!ENTITY a 'b'>]><algo", 2, "a document type (<!DOCTYPE ...>) is refused"),
]


@pytest.mark.parametrize(("old", "new", "line", "said"), WRONG, ids=range(len(WRONG)))
def test_a_wrong_file_is_refused_with_its_line(old: str, new: str, line: int, said: str) -> None:
    assert old in text(PAIR)
    with pytest.raises(FormatError) as caught:
        read_msccl_xml(text(PAIR).replace(old, new, 1).encode(), "a.xml")
    assert (caught.value.line, caught.value.message[: len(said)]) == (line, said)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "not XML: no element found"),
        (b"\x00\x01", "not XML: "),
        (b"<algo", "not XML: unclosed token"),
        (text(PAIR).encode()[:900], "not XML: "),
        (b"<system/>", "found <system> at the beginning"),
        (b'<?xml version="1.0" encoding="nowhere"?><algo/>', "not XML: unknown encoding"),
        (b"<algo><gpu><tb><step/></tb></gpu></algo>", 'missing attribute "id" in <gpu>'),
    ],
)
def test_what_is_no_such_file_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(FormatError, match=said):
        read_msccl_xml(data, "a.xml")


def step_of_none(kind: str, number: int) -> str:
    """A step of no chunks."""
    places = 'srcbuf="i" srcoff="-1" dstbuf="o" dstoff="-1" cnt="0"'
    return f'<step s="{number}" type="{kind}" {places} depid="-1" deps="-1" hasdep="0"/>'


def test_a_message_of_no_chunks_only_has_its_receiver_wait() -> None:
    blocks = text(PAIR).split("</tb>")
    # the sender of rank 0, and the receiver of rank 1
    blocks[0] += step_of_none("s", 1)
    blocks[3] += step_of_none("r", 2)
    program = read_msccl_xml("</tb>".join(blocks).encode(), "a.xml")
    prove_program(program)
    assert totals_of(program) == SMALL[PAIR]
    lost = read_msccl_xml(text(PAIR).replace('cnt="2"', 'cnt="0"').encode(), "a.xml")
    with pytest.raises(ProgramError, match="rank 0 ends without the contribution of rank 1 to chunk 0"):
        prove_program(lost)


def test_a_thread_block_that_only_copies_needs_no_channel() -> None:
    # 98304 = 3 * 32768: were it a channel, that of another thread block
    alone = f'<tb id="2" send="-1" recv="-1" chan="98304">{step_of_none("nop", 0)}</tb>'
    program = read_msccl_xml(text(PAIR).replace("  </gpu>", f"{alone}</gpu>", 1).encode(), "a.xml")
    prove_program(program)
    assert int(program.channel.max()) == 0
