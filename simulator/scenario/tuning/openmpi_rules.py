"""Open MPI's classic file of dynamic rules, read as strictly as by Open MPI (coll_tuned_dynamic_file.c).

Whole numbers between spaces, comments from "#" to the line's end: how many collectives; of each its number,
how many sizes of communicators; of each the size and how many rows; of each row from which message size on,
the algorithm, the fan in or out, and the segment's size. A file that begins with "rule-file-version-2" has
a fifth number, requests. A block's first row must be of message size 0, else Open MPI takes none of the
file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from topologies.errors import FormatError
from topologies.text import printable

COLLECTIVES: Final = 22
"""Numbers from 0 on: allgather, allgatherv, allreduce, ..."""

MOST: Final = 100_000
"""Of anything."""

_VERSION_2: Final = "rule-file-version-2"
_TOKEN: Final = re.compile(r"[^\s#]+|#[^\n]*")


@dataclass(frozen=True, slots=True)
class Row:
    """From which message size on, bytes, which algorithm holds, 0 being Open MPI's own choice."""

    since: int
    algorithm: int
    fan: int
    segment: int
    requests: int = 0


@dataclass(frozen=True, slots=True)
class SizeRules:
    """Rows from a number of ranks on."""

    ranks: int
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules of collectives, by their numbers."""

    collectives: Mapping[int, tuple[SizeRules, ...]]


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    line: int
    column: int


def read_rules(text: str, file: str) -> Rules:
    """Read a file of rules.

    Raises
    ------
    FormatError
        With the line at which Open MPI would read something else than is meant, or give up.

    Examples
    --------
    >>> read_rules("1  2  1  8  2  0 3 0 0  4096 4 0 0", "a.conf").collectives[2][0].rows[1]
    Row(since=4096, algorithm=4, fan=0, segment=0, requests=0)
    """
    reader = _Reader(text, file)
    requests = reader.take_version()
    collectives: dict[int, tuple[SizeRules, ...]] = {}
    for _ in range(reader.number("a number of collectives", COLLECTIVES)):
        number = reader.number("a collective's number", COLLECTIVES - 1)
        if number in collectives:
            raise reader.error(f"collective {number} is given twice")
        blocks: list[SizeRules] = []
        for _ in range(reader.number("a number of communicator sizes", MOST)):
            ranks = reader.number("a communicator's size", 1 << 30)
            if blocks and ranks <= blocks[-1].ranks:
                raise reader.error(f"communicator sizes must rise, found {ranks} after {blocks[-1].ranks}")
            blocks.append(SizeRules(ranks, tuple(_rows(reader, requests))))
        collectives[number] = tuple(blocks)
    reader.end()
    return Rules(collectives)


def _rows(reader: _Reader, requests: bool) -> Iterator[Row]:
    last = -1
    for i in range(reader.number("a number of message sizes", MOST)):
        begins = reader.number("a message size", 1 << 62)
        if i == 0 and begins != 0:
            raise reader.error(f"the first message size of a block must be 0, found {begins}")
        if begins <= last:
            raise reader.error(f"message sizes must rise, found {begins} after {last}")
        last = begins
        names = ("an algorithm", "a fan in or out", "a segment's size", *(["requests"] if requests else []))
        yield Row(begins, *(reader.number(name, 1 << 31) for name in names))


class _Reader:
    """One number after the other."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.tokens = _tokens(text)
        self.last = _Token("", 1, 1)
        self.ahead: _Token | None = next(self.tokens, None)

    def error(self, message: str) -> FormatError:
        return FormatError(message, self.file, self.last.line, self.last.column)

    def take_version(self) -> bool:
        if self.ahead is not None and self.ahead.text == _VERSION_2:
            self.ahead = next(self.tokens, None)
            return True
        return False

    def number(self, what: str, most: int) -> int:
        token = self.ahead
        if token is None:
            raise self.error(f"the file ends where {what} should stand")
        self.last, self.ahead = token, next(self.tokens, None)
        if not token.text.isdecimal() or len(token.text) > 20 or int(token.text) > most:
            raise self.error(f'found "{printable(token.text)}", expected {what}')
        return int(token.text)

    def end(self) -> None:
        if self.ahead is not None:
            self.last = self.ahead
            raise self.error(f'found "{printable(self.ahead.text)}" after the last collective')


def _tokens(text: str) -> Iterator[_Token]:
    for number, line in enumerate(text.splitlines(), 1):
        for found in _TOKEN.finditer(line):
            if not found[0].startswith("#"):
                yield _Token(found[0], number, found.start() + 1)


def write_rules(rules: Rules) -> str:
    """Write rules, so that `read_rules`, and Open MPI, read them as they are."""
    lines = [f"{len(rules.collectives)}  # collectives"]
    for number, blocks in rules.collectives.items():
        lines += [f"{number}  # collective", f"{len(blocks)}  # communicator sizes"]
        for block in blocks:
            lines += [f"{block.ranks}  # ranks", f"{len(block.rows)}  # message sizes"]
            lines += [f"{row.since} {row.algorithm} {row.fan} {row.segment}" for row in block.rows]
    return "\n".join(lines) + "\n"
