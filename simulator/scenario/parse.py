"""Reading YAML into a tree of values that know their line and column.

PyYAML splits the text into events; the tree is built from them here, by the YAML 1.2
core rules, so that bombs, tags and merge keys are refused before they cost anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import yaml

from simulator.scenario.errors import ScenarioError, ScenarioErrors
from simulator.scenario.source import Block, Items, Node, Scalar, Source, Value, describe, step_of
from topologies.text import printable

MAX_BYTES = 1_000_000
MAX_VALUES = 50_000
MAX_DEPTH = 30
MAX_ALIASES = 20
MAX_EXPANDED = 10_000
MAX_DIGITS = 400

_WORDS: Mapping[str, Value] = MappingProxyType(
    {"": None, "~": None}
    | dict.fromkeys(("null", "Null", "NULL"))
    | dict.fromkeys(("true", "True", "TRUE"), True)
    | dict.fromkeys(("false", "False", "FALSE"), False)
)
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")

# PyYAML's words for what a person sees
_PLAINER = (
    (
        "mapping values are not allowed here",
        'found ":" where no key can stand; check the indent, or quote the text',
    ),
    ("'<stream end>'", "the end of the file"),
    ("end of stream", "end of the file"),
    ("<block end>", "the end of the block"),
    ("'<scalar>'", "a value"),
    ("block mapping", "mapping"),
    ("flow mapping", 'mapping in "{}"'),
    ("block collection", "list"),
    ("flow sequence", 'list in "[]"'),
)


def decode(data: bytes, file: str) -> str:
    """Turn the bytes of a file into text, with or without a byte order mark.

    Raises
    ------
    ScenarioErrors
        If there are more than `MAX_BYTES`, or they are not UTF-8.
    """
    if len(data) > MAX_BYTES:
        raise _too_large(file)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode("utf-8", "replace")
        message = f"not UTF-8 text: found the byte 0x{error.object[error.start]:02x}"
        raise ScenarioErrors([_error_after(before, message, file)]) from None


def parse(text: str, file: str) -> tuple[Source, tuple[ScenarioError, ...]]:
    """Read YAML into a tree.

    Parameters
    ----------
    text : str
        The whole file.
    file : str
        Its name, for messages.

    Returns
    -------
    source : Source
        The tree, without the entries and values that were refused.
    errors : tuple of ScenarioError
        What was refused but did not keep the rest from being read.

    Raises
    ------
    ScenarioErrors
        If the text is not YAML, or is large, nested or repeated past the limits.
    """
    if len(text) > MAX_BYTES:
        raise _too_large(file)
    text = text.removeprefix("\ufeff")
    place = _find_unwanted(text)
    if place is not None:
        message = f"the character U+{ord(text[place]):04X} is not allowed in a scenario"
        raise ScenarioErrors([_error_after(text[:place], message, file)])
    loader = yaml.SafeLoader(text)
    composer = _Composer(loader, file)
    try:
        root = composer.document()
    except yaml.MarkedYAMLError as error:
        raise ScenarioErrors([_syntax_error(error, file)]) from None
    except (ValueError, OverflowError):
        # PyYAML passes the number of an escape such as "\U00110000" to chr() unchecked
        message = "an escape or a version in the YAML text is out of range"
        raise ScenarioErrors([composer.error(message, loader.get_mark())]) from None
    return Source(file, root, root), tuple(composer.errors)


def resolve(text: str) -> Value:
    """Read a plain scalar by the YAML 1.2 core rules.

    Raises
    ------
    ValueError
        If it is infinite, not a number, or too long a number.

    Examples
    --------
    >>> [resolve(word) for word in ("true", "yes", "1e3", "010", "0o10", "12:30:00", "~")]
    [True, 'yes', 1000.0, 10, 8, '12:30:00', None]
    """
    if text in _WORDS:
        return _WORDS[text]
    if _NOT_FINITE.fullmatch(text):
        raise ValueError("a finite number")
    if not (_INTEGER.fullmatch(text) or _FLOAT.fullmatch(text)):
        return text
    if len(text) > MAX_DIGITS:
        raise ValueError(f"a number of at most {MAX_DIGITS} digits")
    if not _INTEGER.fullmatch(text):
        if float(text) in (float("inf"), float("-inf")):
            raise ValueError("a number below 1.8e308")
        return float(text)
    return int(text, {"0x": 16, "0o": 8}.get(text[:2], 10))


class _Composer:
    """Builds the tree of one document from PyYAML's events, whose stubs leave them untyped."""

    def __init__(self, loader: Any, file: str) -> None:
        self.loader = loader
        self.file = file
        self.errors: list[ScenarioError] = []
        self.anchors: dict[str, tuple[Node, int] | None] = {}
        self.aliases = 0
        self.nodes = 0
        self.expanded = 0

    def error(self, message: str, mark: yaml.Mark) -> ScenarioError:
        return ScenarioError(message, self.file, mark.line + 1, mark.column + 1)

    def document(self) -> Node:
        self.loader.get_event()
        if self.loader.check_event(yaml.StreamEndEvent):
            raise ScenarioErrors([ScenarioError("the file is empty; expected a scenario", self.file, 1, 1)])
        self.loader.get_event()
        root = self.node(1)
        self.loader.get_event()
        if not self.loader.check_event(yaml.StreamEndEvent):
            mark = self.loader.peek_event().start_mark
            raise ScenarioErrors([self.error("a second document begins; expected one scenario a file", mark)])
        return root

    def node(self, depth: int) -> Node:
        event = self.loader.get_event()
        mark = event.start_mark
        if isinstance(event, yaml.AliasEvent):
            return self.alias(event)
        if depth > MAX_DEPTH:
            raise ScenarioErrors([self.error(f"nested more than {MAX_DEPTH} levels deep", mark)])
        if event.tag is not None:
            tag = printable(event.tag.replace("tag:yaml.org,2002:", "!!"))
            self.errors.append(
                self.error(f'found the tag "{tag}"; tags are not allowed, write the plain value', mark)
            )
        if event.anchor is not None:
            self.anchors[event.anchor] = None
        before = self.nodes + self.expanded
        self.nodes += 1
        if self.nodes > MAX_VALUES:
            raise ScenarioErrors([self.error(f"more than {MAX_VALUES} values in one scenario", mark)])
        node: Node
        if isinstance(event, yaml.ScalarEvent):
            node = self.scalar(event)
        elif isinstance(event, yaml.SequenceStartEvent):
            node = self.sequence(mark, depth)
        else:
            node = self.mapping(mark, depth)
        if event.anchor is not None:
            self.anchors[event.anchor] = node, self.nodes + self.expanded - before
        return node

    def alias(self, event: Any) -> Node:
        mark, name = event.start_mark, printable(event.anchor)
        self.aliases += 1
        if self.aliases > MAX_ALIASES:
            raise ScenarioErrors([self.error(f"more than {MAX_ALIASES} aliases; write the values out", mark)])
        if event.anchor not in self.anchors:
            raise ScenarioErrors([self.error(f'the alias "*{name}" has no anchor "&{name}" before it', mark)])
        target = self.anchors[event.anchor]
        if target is None:
            raise ScenarioErrors([self.error(f'the alias "*{name}" stands inside its own anchor', mark)])
        node, count = target
        self.expanded += count
        if self.expanded > MAX_EXPANDED:
            message = f"aliases repeat more than {MAX_EXPANDED} values; write the values out"
            raise ScenarioErrors([self.error(message, mark)])
        return replace(node, line=mark.line + 1, column=mark.column + 1)

    def scalar(self, event: Any) -> Scalar:
        mark, text = event.start_mark, event.value
        value: Value = None
        try:
            value = resolve(text) if event.implicit[0] and event.style is None else _checked(text)
        except ValueError as error:
            message = f'found "{printable(text, limit=20)}", expected {error}'
            self.errors.append(self.error(message, mark))
        return Scalar(mark.line + 1, mark.column + 1, value, text)

    def sequence(self, mark: yaml.Mark, depth: int) -> Items:
        items: list[Node] = []
        while not self.loader.check_event(yaml.SequenceEndEvent):
            items.append(self.node(depth + 1))
        self.loader.get_event()
        return Items(mark.line + 1, mark.column + 1, tuple(items))

    def mapping(self, mark: yaml.Mark, depth: int) -> Block:
        entries: dict[str | int, tuple[Scalar, Node]] = {}
        seen: dict[Value, Scalar] = {}
        while not self.loader.check_event(yaml.MappingEndEvent):
            begin = self.loader.peek_event().start_mark
            plain_key = getattr(self.loader.peek_event(), "style", "") is None
            errors = len(self.errors)
            key = self.node(depth + 1)
            refused = len(self.errors) > errors
            value = self.node(depth + 1)
            problem = _wrong_key(key, seen, plain_key)
            if problem and not refused:
                self.errors.append(self.error(problem, begin))
            elif isinstance(key, Scalar) and not problem and not refused:
                step = step_of(key)
                entries[step] = key, value
                # a number and the text of it would be the same step of a path
                seen[key.value] = seen[step] = key
        self.loader.get_event()
        return Block(mark.line + 1, mark.column + 1, entries)


def _wrong_key(key: Node, seen: Mapping[Value, Scalar], plain_key: bool) -> str | None:
    if not isinstance(key, Scalar) or isinstance(key.value, bool | None):
        return f"found {describe(key)} as a key, expected a word"
    if key.value == "<<" and plain_key:
        return 'the merge key "<<" is not allowed; write the keys out'
    first = seen.get(key.value) or seen.get(step_of(key))
    if first is not None:
        return f'the key "{printable(key.text)}" is given twice; first at {first.line}:{first.column}'
    return None


def _checked(text: str) -> str:
    """Refuse what an escape can put into a text but nobody can read."""
    if text.isascii() and text.isprintable():
        return text
    # JSON writes a character past U+FFFF as two escapes
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    place = text.find("\r") if "\r" in text else _find_unwanted(text)
    if place is not None:
        raise ValueError(f"text without the character U+{ord(text[place]):04X}")
    return text


def _find_unwanted(text: str) -> int | None:
    """Find the first character that an editor does not show, or that XML and JSON cannot hold."""
    # far cheaper than a regular expression, which takes longer to compile than most scenarios to read
    return min((text.index(char) for char in set(text) if _is_unwanted(ord(char))), default=None)


def _is_unwanted(code: int) -> bool:
    if code < 0x7F:
        return code < 0x20 and code not in (0x09, 0x0A, 0x0D)
    separator_or_mark = code in (0x2028, 0x2029, 0xFEFF)
    not_a_character = 0xFDD0 <= code <= 0xFDEF or code & 0xFFFE == 0xFFFE
    return code <= 0x9F or 0xD800 <= code <= 0xDFFF or separator_or_mark or not_a_character


def _too_large(file: str) -> ScenarioErrors:
    message = f"the file is larger than {MAX_BYTES // 10**6} MB; a scenario is small, at most some 1000 lines"
    return ScenarioErrors([ScenarioError(message, file, 1, 1)])


def _error_after(before: str, message: str, file: str) -> ScenarioError:
    before = before.replace("\r\n", "\n").replace("\r", "\n")
    return ScenarioError(message, file, before.count("\n") + 1, len(before) - before.rfind("\n"))


def _syntax_error(error: yaml.MarkedYAMLError, file: str) -> ScenarioError:
    # what the parser raises always has a place
    mark = error.problem_mark or error.context_mark or yaml.Mark(file, 0, 0, 0, None, 0)
    problem = error.problem or "cannot be read"
    if r"'\t'" in problem:
        problem = "found a tab; indent with spaces"
    context = error.context_mark
    if error.context and context is not None and (context.line, context.column) != (mark.line, mark.column):
        problem += f" {error.context} that begins at {context.line + 1}:{context.column + 1}"
    for theirs, ours in _PLAINER:
        problem = problem.replace(theirs, ours)
    return ScenarioError(f"not YAML: {printable(problem, limit=200)}", file, mark.line + 1, mark.column + 1)
