"""Chakra execution traces: read from bytes written by hand, refused, and written."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from algorithms.errors import ScheduleError
from algorithms.formats.chakra import (
    COMM_COLL,
    COMM_RECV,
    COMM_SEND,
    COMP,
    METADATA,
    Node,
    Trace,
    read_chakra,
    write_chakra,
)
from algorithms.formats.chakra_schedule import to_chakra
from algorithms.formats.wire import bytes_field, delimited, number_field, varint
from algorithms.registry import build
from tests.damage import damaged
from topologies.errors import FormatError

# by hand, from the schema: version "1" in a metadata of three bytes; then a node of 23 bytes with id 1, name
# "a", type 7 (COMM_COLL) and an attribute of 14 bytes: its name, comm_size, and 300 as an int64
BY_HAND = b"\x03\x0a\x011\x17\x08\x01\x12\x01a\x18\x07\x52\x0e\x0a\x09comm_size\x48\xac\x02"
DATA = Path(__file__).parents[3].parent / "shared" / "data" / "chakra"


def attribute(name: str, value: bytes) -> bytes:
    return bytes_field(10, bytes_field(1, name.encode()) + value)


def trace_of(*nodes: bytes) -> bytes:
    return b"".join(delimited(message) for message in (bytes_field(1, b"0.0.4"), *nodes))


def test_bytes_by_hand() -> None:
    trace = read_chakra(BY_HAND, "a.0.et")
    assert trace.version == "1"
    assert trace.nodes == (Node(1, "a", COMM_COLL, attributes={"comm_size": 300}),)
    assert trace.nodes[0].at == 5
    assert write_chakra(trace) == BY_HAND


def test_what_is_zero_is_left_out() -> None:
    # proto3 writes no zero: this is node 0 of no type
    assert read_chakra(bytes([0, 0]), "a").nodes == (Node(0, "", 0),)


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (number_field(7, -5), -5),
        (number_field(9, 1 << 40), 1 << 40),
        (number_field(13, (1 << 64) - 1), (1 << 64) - 1),
        (number_field(17, 3), -2),
        (varint(19 << 3 | 5) + struct.pack("<I", 9), 9),
        (varint(25 << 3 | 1) + struct.pack("<q", -9), -9),
        (varint(3 << 3 | 1) + struct.pack("<d", 0.5), 0.5),
        (varint(5 << 3 | 5) + struct.pack("<f", 0.25), 0.25),
        (number_field(27, 1), 1),
        (bytes_field(29, b"7"), "7"),
        (bytes_field(28, bytes_field(1, bytes([1, 0, 1]))), (1, 0, 1)),
        (bytes_field(28, number_field(1, 1) + number_field(1, 0)), (1, 0)),
        (bytes_field(8, bytes_field(1, varint(-1))), (-1,)),
        # what comes last counts, and lists of numbers that no attribute here has are passed over
        (number_field(9, 4) + number_field(7, 5) + bytes_field(4, b"12345678"), 5),
    ],
)
def test_attributes_of_every_type(value: bytes, read: object) -> None:
    node = read_chakra(trace_of(number_field(1, 3) + attribute("x", value)), "a").nodes[0]
    assert dict(node.attributes) == {"x": read}


def test_dependencies_of_both_kinds_packed_or_not() -> None:
    first, second = number_field(1, 1), number_field(1, 2)
    third = number_field(1, 3) + bytes_field(5, bytes([2, 1])) + number_field(4, 1) + number_field(4, 9)
    data = trace_of(third, first, second)
    node = read_chakra(data, "a").nodes[0]
    # who has called it may be no part of the trace
    assert (node.after, node.control) == ((2, 1), (1, 9))
    assert read_chakra(write_chakra(Trace((node, Node(1, "", 0), Node(2, "", 0)))), "a").nodes[0] == node


def test_inputs_of_metadata_nodes() -> None:
    node = Node(4, "groups", METADATA, inputs="['[]']")
    assert read_chakra(write_chakra(Trace((node,))), "a").nodes == (node,)
    # of others they are passed over
    other = number_field(3, COMP) + bytes_field(8, bytes_field(1, b"[1]"))
    assert read_chakra(trace_of(other), "a").nodes[0].inputs == ""


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "a.et: byte 0: is empty; expected a Chakra execution trace"),
        (b"\x89PNG\r\n\x1a\n", "a.et: byte 0: ends early: a message of 10,249 bytes, of which 6 are there"),
        (b"\xff" * 12, "a.et: byte 0: found a number of more than 64 bits"),
        (trace_of()[:-1], "a.et: byte 0: ends early: a message of 7 bytes, of which 6 are there"),
        (trace_of() + b"\x80", "a.et: byte 8: ends early, in a number"),
        (trace_of(b"\x0b"), "a.et: byte 9: found field 1 of kind 3, which there is not"),
        (trace_of(number_field(3, 9)), "a.et: byte 9: node 0 is of type 9; types are 0 to 7"),
        (trace_of(bytes_field(1, b"ab")), "a.et: byte 11: a number of a node is of kind 2, expected kind 0"),
        (trace_of(bytes_field(2, b"\xff")), "a.et: byte 11: found a text that is not UTF-8"),
        (trace_of(number_field(1, 5), number_field(1, 5)), "a.et: byte 12: there is a node 5 already"),
        (trace_of(number_field(5, 4)), "a.et: byte 9: node 0 waits for node 4, which there is not"),
        (trace_of(b"\x2d\x00"), "a.et: byte 9: ends early, in field 5"),
    ],
)
def test_what_is_no_trace(data: bytes, message: str) -> None:
    with pytest.raises(FormatError) as error:
        read_chakra(data, "a.et")
    assert str(error.value) == message


def test_every_beginning_of_a_file_is_refused_or_shorter() -> None:
    whole = to_chakra(build("ring", "allreduce", 3, 12)).data[0]
    nodes = {len(read_chakra(whole[:stop], "a").nodes) for stop in _ends(whole)}
    assert nodes == {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
    for stop in set(range(len(whole))) - set(_ends(whole)):
        with pytest.raises(FormatError):
            read_chakra(whole[:stop], "a")


def _ends(data: bytes) -> list[int]:
    """Where messages end; all here are shorter than 128 bytes, so that their length is one byte."""
    ends, at = [], 0
    while at < len(data):
        assert data[at] < 128
        at += 1 + data[at]
        ends.append(at)
    return ends


def test_damaged_traces_are_refused_or_read() -> None:
    whole = to_chakra(build("ring", "allreduce", 3, 12)).data[0]
    refusals = []
    for data in damaged(whole):
        try:
            read_chakra(data, "a.et")
        except FormatError as error:
            refusals.append(str(error))
    assert len(refusals) > 100
    assert all(refusal.startswith("a.et: byte ") and "\n" not in refusal for refusal in refusals)


@pytest.mark.skipif(not DATA.is_dir(), reason="real files are not here")
def test_real_files() -> None:
    for rank in (0, 1):
        trace = read_chakra((DATA / f"all_reduce.{rank}.et").read_bytes(), "all_reduce")
        said = {"is_cpu_op": 0, "comm_type": 0, "comm_size": 1 << 20}
        assert trace == Trace((Node(rank, "all_reduce_8npus_1MB", COMM_COLL, attributes=said),))


def test_nodes_of_a_ring() -> None:
    # 3 ranks, 4 steps: rank 0 sends to 1 and receives from 2 in each; it adds in the first two
    nodes = read_chakra(to_chakra(build("ring", "allreduce", 3, 12)).data[0], "a").nodes
    assert [node.type for node in nodes].count(COMM_SEND) == 4
    assert [node.type for node in nodes].count(COMM_RECV) == 4
    first, receive, reduce, second = nodes[:4]
    assert dict(first.attributes) == {
        **{"is_cpu_op": 0, "comm_size": 4},
        **{"comm_src": 0, "comm_dst": 1, "comm_tag": 0},
    }
    assert (receive.type, receive.attributes["comm_src"], receive.after) == (COMM_RECV, 2, ())
    assert (reduce.type, reduce.after, dict(reduce.attributes)) == (
        COMP,
        (receive.id,),
        {"is_cpu_op": 0, "num_ops": 1, "tensor_size": 4},
    )
    assert second.type == COMM_SEND
    assert second.after == (first.id, reduce.id)
    assert second.attributes["comm_tag"] == 1


def test_what_a_sender_waits_for_under_dataflow() -> None:
    nodes = read_chakra(to_chakra(build("ring", "allreduce", 3, 12), "dataflow").data[0], "a").nodes
    receives = [node for node in nodes if node.type == COMM_RECV]
    assert all(not node.after for node in receives)
    second = [node for node in nodes if node.type == COMM_SEND][1]
    assert second.after == (next(node for node in nodes if node.type == COMP).id,)


def test_names_and_losses() -> None:
    files = to_chakra(build("ring", "reduce_scatter", 3, 12))
    assert files.names("a/rs") == ("a/rs.0.et", "a/rs.1.et", "a/rs.2.et")
    assert [line.partition(":")[0] for line in files.lost] == [
        "that it does reduce_scatter, and which chunks each message holds",
        "how long a reduction takes",
        "that a message waits until its receiver is ready",
    ]
    gathers = to_chakra(build("ring", "allgather", 3, 12), "dataflow")
    assert len(gathers.lost) == 1


def test_switches_have_no_traces() -> None:
    tree = [4, 4, 4, 4, -1]
    with pytest.raises(ScheduleError, match="in_network works in switches"):
        to_chakra(build("in_network", "allreduce", 4, 8, tree=tree))
