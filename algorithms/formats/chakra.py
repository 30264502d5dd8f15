"""Chakra execution traces: what a rank computes, sends and takes part in, and after what; read and written.

The messages are those of mlcommons/chakra, schema/protobuf/et_def.proto: a file is a GlobalMetadata and then
Nodes, each behind its length. What attributes are called, and of which type they are, is what the reader of
ASTRA-sim asks for (astra-sim/chakra, src/feeder).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, TypeAlias

from algorithms.formats.wire import (
    BYTES,
    FIXED32,
    FIXED64,
    VARINT,
    Field,
    Piece,
    bytes_field,
    delimited,
    fields,
    number_field,
    signed,
    varint,
    zigzag,
)
from topologies.text import quoted

Value: TypeAlias = "int | float | str | tuple[int, ...]"

VERSION: Final = "0.0.4"
"""Of the schema, as the examples of ASTRA-sim have it."""

INVALID, METADATA, MEM_LOAD, MEM_STORE, COMP, COMM_SEND, COMM_RECV, COMM_COLL = range(8)
"""Types of nodes."""

COLLECTIVES: Final = (
    *("allreduce", "reduce", "allgather", "gather", "scatter", "broadcast"),
    *("all_to_all", "reduce_scatter", "reduce_scatter", "barrier"),
)
"""Kind of each comm_type; a REDUCE_SCATTER_BLOCK is a ReduceScatter of equal blocks, as all are."""

_SIGNED, _FLAG, _TEXT, _FLAGS = 7, 27, 29, 28
_WRITTEN: Final[Mapping[str, int]] = MappingProxyType(
    {
        "is_cpu_op": _FLAG,
        "comm_type": 9,
        "comm_size": 9,
        "comm_src": _SIGNED,
        "comm_dst": _SIGNED,
        "comm_tag": _SIGNED,
        "comm_priority": _SIGNED,
        "num_ops": 9,
        "tensor_size": 13,
        "pg_name": _TEXT,
        "involved_dim": _FLAGS,
    }
)
"""Field of AttributeProto in which each attribute is written."""


@dataclass(frozen=True, slots=True)
class Node:
    """Something that a rank does.

    Attributes
    ----------
    id : int
    name : str
    type : int
        One of the types.
    after : tuple of int
        Nodes of the rank whose data it needs.
    micros : int
        How long it takes, us; 0 where it does not say.
    attributes : mapping of str to int, float, str or tuple of int
    control : tuple of int
        Nodes that it comes after for other reasons, as the one that has called it; some may be absent.
    inputs : str
        Values of its inputs, of a metadata node.
    at : int
        Byte of the file where it stands; not compared.
    """

    id: int
    name: str
    type: int
    after: tuple[int, ...] = ()
    micros: int = 0
    attributes: Mapping[str, Value] = field(default_factory=dict)
    control: tuple[int, ...] = ()
    inputs: str = ""
    at: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Trace:
    """What a rank does.

    Attributes
    ----------
    nodes : tuple of Node
        In the order of the file.
    version : str
        Of the schema.
    file : str
        Where it was read from, for messages; not compared.
    """

    nodes: tuple[Node, ...]
    version: str = VERSION
    file: str = field(default="", compare=False)


def read_chakra(data: bytes, file: str) -> Trace:
    """Trace of a rank.

    Parameters
    ----------
    data : bytes
    file : str
        Its name, for messages.

    Raises
    ------
    FormatError
        If it is no trace, ends early, or has a node twice or one that waits for none of its nodes; names
        the byte.
    """
    whole = Piece(data, 0, len(data), file)
    if not data:
        raise whole.wrong("is empty; expected a Chakra execution trace")
    metadata = whole.cut(0, "a message")
    version = _version(metadata)
    nodes: dict[int, Node] = {}
    # most attributes are those of many nodes, byte for byte
    known: dict[bytes, dict[str, Value]] = {}
    at = metadata.stop
    while at < len(data):
        message = whole.cut(at, "a node")
        node = _node(message, known)
        if node.id in nodes:
            raise message.wrong(f"there is a node {node.id} already")
        nodes[node.id] = node
        at = message.stop
    for node in nodes.values():
        absent = next((other for other in node.after if other not in nodes), None)
        if absent is not None:
            raise whole.wrong(f"node {node.id} waits for node {absent}, which there is not", node.at)
    return Trace(tuple(nodes.values()), version, file)


def write_chakra(trace: Trace) -> bytes:
    """The file of a trace.

    Raises
    ------
    KeyError
        If a node has an attribute whose type nobody knows.

    Examples
    --------
    >>> trace = Trace((Node(0, "all", COMM_COLL, attributes={"comm_type": 0, "comm_size": 8}),))
    >>> read_chakra(write_chakra(trace), "a.0.et") == trace
    True
    """
    messages = [bytes_field(1, trace.version.encode()), *(_node_bytes(node) for node in trace.nodes)]
    return b"".join(delimited(message) for message in messages)


def _version(metadata: Piece) -> str:
    version = ""
    for part in fields(metadata):
        if part.number == 1:
            version = part.need(BYTES, "the version").piece.text()
        elif part.number == 2:
            part.need(BYTES, "an attribute")
    return version


def _node(message: Piece, known: dict[bytes, dict[str, Value]]) -> Node:
    numbers = {1: 0, 3: INVALID, 7: 0}
    name, inputs = "", message
    after: dict[int, dict[int, None]] = {4: {}, 5: {}}
    attributes: dict[str, Value] = {}
    for part in fields(message):
        match part.number:
            case 1 | 3 | 7:
                numbers[part.number] = part.need(VARINT, "a number of a node").value
            case 2:
                name = part.need(BYTES, "the name of a node").piece.text()
            case 4 | 5:
                after[part.number] |= dict.fromkeys(part.numbers("a dependency"))
            case 8:
                inputs = part.need(BYTES, "the inputs of a node").piece
            case 10:
                piece = part.need(BYTES, "an attribute").piece
                written = piece.data[piece.start : piece.stop]
                if written not in known:
                    known[written] = _attribute(piece)
                attributes |= known[written]
    if numbers[3] > COMM_COLL:
        raise message.wrong(f"node {numbers[1]} is of type {numbers[3]}; types are 0 to {COMM_COLL}")
    values = _values(inputs) if numbers[3] == METADATA and inputs is not message else ""
    data, control = tuple(after[5]), tuple(after[4])
    return Node(numbers[1], name, numbers[3], data, numbers[7], attributes, control, values, message.start)


def _values(inputs: Piece) -> str:
    """Values of the inputs of a node."""
    found = [part.need(BYTES, "values").piece.text() for part in fields(inputs) if part.number == 1]
    return found[-1] if found else ""


_KINDS: Final[Mapping[int, int]] = MappingProxyType(
    {
        **dict.fromkeys((7, 9, 11, 13, 15, 17, _FLAG), VARINT),
        **dict.fromkeys((5, 19, 23), FIXED32),
        **dict.fromkeys((3, 21, 25), FIXED64),
        **dict.fromkeys((8, 10, 12, 14, 16, 18, _FLAGS, _TEXT), BYTES),
    }
)
"""Kind of each field of a value that is read; lists of others, and bytes, are passed over."""

_TWOS: Final = (7, 8, 9, 10, 25)
_ZIGZAG: Final = (15, 16, 17, 18)


def _attribute(message: Piece) -> dict[str, Value]:
    """An attribute under its name; nothing where its value is of a type that no attribute here has."""
    name, value = "", None
    for part in fields(message):
        if part.number == 1:
            name = part.need(BYTES, "the name of an attribute").piece.text()
        elif part.number in _KINDS:
            value = _value(part.need(_KINDS[part.number], f"the value of attribute {quoted(name)}"))
    return {} if value is None else {name: value}


def _value(part: Field) -> Value:
    if part.number == _TEXT:
        return part.piece.text()
    if part.number == 3:
        return float(struct.unpack("<d", part.value.to_bytes(8, "little"))[0])
    if part.number == 5:
        return float(struct.unpack("<f", part.value.to_bytes(4, "little"))[0])
    if part.kind != BYTES:
        return _whole(part.number, part.value)
    lists = (values.numbers("a list") for values in fields(part.piece) if values.number == 1)
    return tuple(_whole(part.number, value) for numbers in lists for value in numbers)


def _whole(number: int, value: int) -> int:
    """What a number as it is written stands for, in a field of that number."""
    if number == 23:
        return signed(value, 32)
    return signed(value) if number in _TWOS else zigzag(value) if number in _ZIGZAG else value


def _node_bytes(node: Node) -> bytes:
    parts: list[bytes] = []
    # as proto3 has it, what is zero is left out
    for number, value in ((1, node.id), (3, node.type), (7, node.micros)):
        if number == 3 and node.name:
            parts.append(bytes_field(2, node.name.encode()))
        if number == 7:
            waits = ((4, node.control), (5, node.after))
            parts += [bytes_field(field, b"".join(_numbers(some))) for field, some in waits if some]
        if value:
            parts.append(number_field(number, value))
    if node.inputs:
        parts.append(bytes_field(8, bytes_field(1, node.inputs.encode())))
    parts += [bytes_field(10, _attribute_bytes(name, value)) for name, value in node.attributes.items()]
    return b"".join(parts)


def _numbers(values: Iterable[int]) -> Iterator[bytes]:
    return map(varint, values)


def _attribute_bytes(name: str, value: Value) -> bytes:
    number = _WRITTEN[name]
    if isinstance(value, str):
        written = bytes_field(number, value.encode())
    elif isinstance(value, tuple):
        written = bytes_field(number, bytes_field(1, b"".join(_numbers(value))))
    else:
        written = number_field(number, int(value))
    return bytes_field(1, name.encode()) + written
