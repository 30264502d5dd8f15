"""XML as a tree of tags that know their line and column; what could be a bomb is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from topologies.errors import FormatError
from topologies.formats.reading import check_length
from topologies.text import printable

MOST_DEPTH: Final = 200
"""Tags inside each other."""


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag of an XML file.

    Attributes
    ----------
    name : str
        Without its namespace.
    attributes : mapping of str to str
    children : tuple of Tag
    text : str
        What stands directly in it, without space around it.
    file : str
    line, column : int
        From 1.
    """

    name: str
    attributes: Mapping[str, str]
    children: tuple[Tag, ...]
    text: str
    file: str
    line: int
    column: int

    def error(self, message: str) -> FormatError:
        """Something that is wrong with this tag."""
        return FormatError(message, self.file, self.line, self.column)

    def all(self, *names: str) -> Iterator[Tag]:
        """The children of these names."""
        return (child for child in self.children if child.name in names)

    def get(self, name: str) -> str:
        """An attribute that must be there.

        Raises
        ------
        FormatError
        """
        if name not in self.attributes:
            raise self.error(f'<{printable(self.name)}> has no "{name}"')
        return self.attributes[name]

    def whole(self, name: str, default: int | None = None) -> int:
        """An attribute that is a whole number, in decimal or as 0x1f; one with a default may be missing.

        Raises
        ------
        FormatError
        """
        if default is not None and not self.attributes.get(name, "").strip():
            return default
        text = self.get(name)
        try:
            # far longer ones are nothing that a file means
            return int(text[:40], 0)
        except ValueError:
            what = f'<{printable(self.name)}> has {name}="{printable(text)}"; expected a whole number'
            raise self.error(what) from None


def parse_tags(data: bytes, file: str) -> Tag:
    """Read XML.

    Parameters
    ----------
    data : bytes
    file : str
        Its name, for messages.

    Returns
    -------
    Tag
        The outermost.

    Raises
    ------
    FormatError
        If it is no XML, nests too deeply, or declares a document type or an entity.

    Examples
    --------
    >>> root = parse_tags(b"<a><b n='1'/></a>", "a.xml")
    >>> root.children[0].whole("n"), root.children[0].column
    (1, 4)
    >>> parse_tags(b"<!DOCTYPE a []><a/>", "a.xml")
    Traceback (most recent call last):
        ...
    topologies.errors.FormatError: a.xml:1:1: a document type (<!DOCTYPE ...>) is refused; it may hold a bomb
    """
    tree = _Tree(file)
    take_tags(data, file, tree)
    assert tree.root is not None
    return tree.root


class Taker(Protocol):
    """What takes the tags of a file as they come; `expat` knows the place."""

    expat: Any

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Take a tag that opens."""

    def end(self, name: str) -> None:
        """Take one that closes."""


def take_tags(data: bytes, file: str, taker: Taker) -> None:
    """Hand the tags of XML to who takes them.

    Raises
    ------
    FormatError
        If it is no XML, or declares a document type or an entity.
    """
    from xml.etree.ElementTree import ParseError

    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import XMLParser

    check_length(data, file)
    parser = XMLParser(target=taker, forbid_dtd=True)
    taker.expat = parser.parser
    try:
        parser.feed(data)
        parser.close()
    except ParseError as error:
        line, column = error.position
        problem = str(error).partition(": line ")[0]
        raise FormatError(f"not XML: {printable(problem)}", file, line, column + 1) from None
    except DefusedXmlException:
        message = "a document type (<!DOCTYPE ...>) is refused; it may hold a bomb"
        raise FormatError(message, file, taker.expat.CurrentLineNumber, 1) from None
    except (ValueError, LookupError) as error:
        raise FormatError(f"not XML: {printable(error)}", file, 1, 1) from None


class _Tree:
    """What expat tells, put together; the tags that are still open are on a stack."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.expat: Any = None
        self.open: list[tuple[str, dict[str, str], list[Tag], list[str], int, int]] = []
        self.root: Tag | None = None

    def start(self, name: str, attributes: dict[str, str]) -> None:
        line, column = self.expat.CurrentLineNumber, self.expat.CurrentColumnNumber + 1
        if len(self.open) == MOST_DEPTH:
            raise FormatError(f"tags are nested more than {MOST_DEPTH} deep", self.file, line, column)
        self.open.append((name.rpartition("}")[2], dict(attributes), [], [], line, column))

    def data(self, text: str) -> None:
        if self.open:
            self.open[-1][3].append(text)

    def end(self, _name: str) -> None:
        name, attributes, children, texts, line, column = self.open.pop()
        tag = Tag(name, attributes, tuple(children), "".join(texts).strip(), self.file, line, column)
        if self.open:
            self.open[-1][2].append(tag)
        else:
            self.root = tag
