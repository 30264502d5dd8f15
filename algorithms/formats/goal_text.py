"""The text of a GOAL file as operations, with the line of each.

The grammar is that of LogGOPSim (spcl/LogGOPSim, src/LogGOPSim/txt2bin.re).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NoReturn

from topologies.errors import FormatError
from topologies.text import printable

_TOKEN: Final = re.compile(
    r"(?P<skip>[ \t\r\f]+|//[^\n]*)|(?P<line>\n)|(?P<comment>/\*.*?\*/)"
    r"|(?P<bytes>[0-9]+b\b)|(?P<number>[0-9]+\b)|(?P<word>[A-Za-z][A-Za-z0-9_]*)|(?P<mark>[{}:])|(?P<wrong>.)",
    re.DOTALL,
)
_MOST_DIGITS: Final = 15

WORDS: Final = ("send", "recv", "calc")
"""Operations."""

_TAILS: Final = {"send": ("tag", "cpu", "nic"), "recv": ("tag", "cpu", "nic"), "calc": ("cpu",)}
_END: Final = ("end", "", 0)


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation of a rank.

    Attributes
    ----------
    word : str
        send, recv or calc.
    amount : int
        Bytes, or ns of a calc.
    peer, tag : int
        0 of a calc.
    cpu : int
        Of its rank.
    line : int
    """

    word: str
    amount: int
    peer: int
    tag: int
    cpu: int
    line: int


@dataclass(slots=True)
class Rank:
    """What a rank does.

    Attributes
    ----------
    operations : list of Operation
    after, with_ : list of tuple of int
        (waiter, awaited) of operations that begin after others have finished, or after they have begun.
    cards : bool
        Whether it names another network card than the first.
    """

    operations: list[Operation] = field(default_factory=list)
    after: list[tuple[int, int]] = field(default_factory=list)
    with_: list[tuple[int, int]] = field(default_factory=list)
    cards: bool = False


def ranks_of(text: str, file: str) -> list[Rank]:
    """What every rank does.

    Raises
    ------
    FormatError
        If it is no GOAL file; names the line.
    """
    return _Parser(_tokens(text, file), file).ranks()


def _tokens(text: str, file: str) -> Iterator[tuple[str, str, int]]:
    """(kind, text, line) of every token."""
    line = 1
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind == "wrong":
            raise FormatError(f'found "{printable(match[0])}", which no GOAL file has', file, line, 1)
        if kind in ("line", "comment"):
            line += match[0].count("\n")
        elif kind is not None and kind != "skip":
            yield kind, match[0], line
    yield ("end", "the end", line)


class _Parser:
    """Reads tokens, one ahead."""

    def __init__(self, tokens: Iterator[tuple[str, str, int]], file: str) -> None:
        self._file = file
        self._tokens = tokens
        self._next = next(tokens)

    @property
    def line(self) -> int:
        return self._next[2]

    def ranks(self) -> list[Rank]:
        """num_ranks N, and every rank once."""
        self._word("num_ranks")
        line, count = self.line, self._number("number")
        ranks: dict[int, Rank] = {}
        while self._next[0] != "end":
            self._word("rank")
            at, number = self.line, self._number("number")
            if number >= count or number in ranks:
                there = "is there twice" if number in ranks else f"is not among {count}"
                raise self._error(f"rank {number} {there}", at)
            ranks[number] = self._rank()
        if len(ranks) < count:
            missing = next(rank for rank in range(count) if rank not in ranks)
            raise self._error(f"rank {missing} is missing", line)
        if not count:
            raise self._error("there are no ranks", line)
        return [ranks[number] for number in range(count)]

    def _rank(self) -> Rank:
        rank, labels = Rank(), dict[str, int]()
        waits: list[tuple[str, str, str, int]] = []
        self._take("mark", "{")
        while self._next[:2] != ("mark", "}"):
            name, line = self._take("word", "an operation"), self.line
            if self._next[:2] == ("mark", ":"):
                self._take("mark", ":")
                if name in labels:
                    raise self._error(f"the label {name[:40]} is there twice", line)
                labels[name] = len(rank.operations)
                name, line = self._take("word", "send, recv or calc"), self.line
            elif self._next[1] in ("requires", "irequires"):
                kind = self._take("word", "requires")
                waits.append((name, kind, self._take("word", "a label"), line))
                continue
            rank.operations.append(self._operation(rank, name, line))
        self._take("mark", "}")
        for waiter, kind, awaited, line in waits:
            for label in (waiter, awaited):
                if label not in labels:
                    raise self._error(f"there is no label {label[:40]} at this rank", line)
            pairs = rank.after if kind == "requires" else rank.with_
            pairs.append((labels[waiter], labels[awaited]))
        return rank

    def _operation(self, rank: Rank, word: str, line: int) -> Operation:
        if word not in _TAILS:
            raise self._error(f"found {word[:40]}, expected send, recv or calc", line)
        amount, peer = self._number("number" if word == "calc" else "bytes"), 0
        if word != "calc":
            self._word("to" if word == "send" else "from")
            peer = self._number("number")
        said: dict[str, int] = {}
        while self._next[0] == "word" and self._next[1] in _TAILS[word]:
            key = self._take("word", "tag")
            if key in said:
                raise self._error(f"{key} is there twice", self.line)
            said[key] = self._number("number")
            rank.cards |= key == "nic" and said[key] > 0
        return Operation(word, amount, peer, said.get("tag", 0), said.get("cpu", 0), line)

    def _word(self, word: str) -> None:
        if self._next[:2] != ("word", word):
            self._refuse(word)
        self._advance()

    def _number(self, kind: str) -> int:
        text = self._take(kind, "a number of bytes, as 8b" if kind == "bytes" else "a number").removesuffix(
            "b"
        )
        if len(text) > _MOST_DIGITS:
            raise self._error(f"{text[:40]} is too large", self.line)
        return int(text)

    def _take(self, kind: str, expected: str) -> str:
        if self._next[0] != kind or (kind == "mark" and self._next[1] != expected):
            self._refuse(expected)
        text = self._next[1]
        self._advance()
        return text

    def _advance(self) -> None:
        if self._next[0] != "end":
            self._next = next(self._tokens)

    def _refuse(self, expected: str) -> NoReturn:
        raise self._error(f"found {self._next[1][:40]}, expected {expected}", self.line)

    def _error(self, message: str, line: int) -> FormatError:
        return FormatError(message, self._file, line, 1)
