"""The wire format of protocol buffers: a message as its fields, with the place of each, and back.

The encoding is that of https://protobuf.dev/programming-guides/encoding: a field is a tag (number and kind)
and a varint, four or eight bytes, or a length and so many bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from topologies.errors import FormatError

VARINT: Final = 0
FIXED64: Final = 1
BYTES: Final = 2
FIXED32: Final = 5
_WIDTH: Final = {FIXED64: 8, FIXED32: 4}

_LONGEST: Final = 10
"""Bytes of a varint of 64 bits."""


class Piece(NamedTuple):
    """A run of bytes of a file.

    Attributes
    ----------
    data : bytes
        Of the whole file.
    start, stop : int
    file : str
        Its name, for messages.
    """

    data: bytes
    start: int
    stop: int
    file: str

    def wrong(self, message: str, at: int | None = None) -> FormatError:
        """What to raise: by default what is wrong begins where the piece does."""
        return FormatError(message, self.file, byte=self.start if at is None else at)

    def text(self) -> str:
        """The piece as a text.

        Raises
        ------
        FormatError
            If it is not UTF-8.
        """
        try:
            return self.data[self.start : self.stop].decode("utf-8")
        except UnicodeDecodeError as error:
            raise self.wrong("found a text that is not UTF-8", self.start + error.start) from None

    def varint(self, at: int) -> tuple[int, int]:
        """A number, and where the next thing begins.

        Raises
        ------
        FormatError
            If it does not end in the piece, or has more than 64 bits.
        """
        value = 0
        for place in range(_LONGEST):
            if at + place >= self.stop:
                raise self.wrong("ends early, in a number", at)
            byte = self.data[at + place]
            value |= (byte & 0x7F) << (7 * place)
            if byte < 0x80:
                break
        else:
            raise self.wrong("found a number of more than 64 bits", at)
        if value >> 64:
            raise self.wrong("found a number of more than 64 bits", at)
        return value, at + place + 1

    def cut(self, at: int, what: str) -> Piece:
        """The piece whose length stands at a place, and that begins behind it.

        Raises
        ------
        FormatError
            If it is longer than what is left.
        """
        length, start = self.varint(at)
        if length > self.stop - start:
            raise self.wrong(
                f"ends early: {what} of {length:,} bytes, of which {self.stop - start:,} are there", at
            )
        return Piece(self.data, start, start + length, self.file)


class Field(NamedTuple):
    """A field of a message.

    Attributes
    ----------
    number : int
    kind : int
        VARINT, FIXED64, BYTES or FIXED32.
    value : int
        Of a number as it is written, without a sign; 0 of BYTES.
    piece : Piece
        The bytes of the value.
    """

    number: int
    kind: int
    value: int
    piece: Piece

    def need(self, kind: int, what: str) -> Field:
        """The field, if it is of a kind.

        Raises
        ------
        FormatError
        """
        if self.kind != kind:
            raise self.piece.wrong(f"{what} is of kind {self.kind}, expected kind {kind}")
        return self

    def numbers(self, what: str) -> Iterator[int]:
        """Numbers of a repeated field: one, or packed.

        Raises
        ------
        FormatError
        """
        if self.kind == VARINT:
            yield self.value
            return
        self.need(BYTES, what)
        at = self.piece.start
        while at < self.piece.stop:
            value, at = self.piece.varint(at)
            yield value


def fields(message: Piece) -> Iterator[Field]:
    """Fields of a message, as they come.

    Raises
    ------
    FormatError
        If the message ends inside a field, or has a kind of field that there is not.

    Examples
    --------
    >>> [(field.number, field.value) for field in fields(Piece(bytes([8, 150, 1]), 0, 3, "a"))]
    [(1, 150)]
    """
    at = message.start
    while at < message.stop:
        tag, start = message.varint(at)
        number, kind = tag >> 3, tag & 7
        value, piece = 0, message
        if kind == VARINT:
            value, stop = message.varint(start)
            piece = Piece(message.data, start, stop, message.file)
        elif kind == BYTES:
            piece = message.cut(start, f"field {number}")
        elif kind in _WIDTH:
            stop = start + _WIDTH[kind]
            if stop > message.stop:
                raise message.wrong(f"ends early, in field {number}", at)
            piece = Piece(message.data, start, stop, message.file)
            value = int.from_bytes(message.data[start:stop], "little")
        if not number or (kind not in _WIDTH and kind not in (VARINT, BYTES)):
            raise message.wrong(f"found field {number} of kind {kind}, which there is not", at)
        yield Field(number, kind, value, piece)
        at = piece.stop


def signed(value: int, bits: int = 64) -> int:
    """A number as it is written, as one in two's complement.

    >>> signed(2**64 - 1), signed(5), signed(2**32 - 2, 32)
    (-1, 5, -2)
    """
    return value - (1 << bits) if value >> (bits - 1) else value


def zigzag(value: int) -> int:
    """A number whose lowest bit is its sign.

    >>> [zigzag(value) for value in range(4)]
    [0, -1, 1, -2]
    """
    return (value >> 1) ^ -(value & 1)


def varint(value: int) -> bytes:
    """A number as a varint; a negative one as its two's complement of 64 bits.

    >>> list(varint(150)), len(varint(-1))
    ([150, 1], 10)
    """
    value &= (1 << 64) - 1
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)


def number_field(number: int, value: int) -> bytes:
    """A field that is a varint."""
    return varint(number << 3 | VARINT) + varint(value)


def bytes_field(number: int, value: bytes) -> bytes:
    """A field that is a text, a message, or packed numbers."""
    return varint(number << 3 | BYTES) + delimited(value)


def delimited(value: bytes) -> bytes:
    """Bytes after their length."""
    return varint(len(value)) + value
