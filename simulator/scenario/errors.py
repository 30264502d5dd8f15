"""What can be wrong in a scenario, said with its place in the file."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches

from topologies.errors import CollsimError, FormatError
from topologies.text import printable

SHOWN = 20


class UnitError(CollsimError):
    """A quantity that cannot be read: no unit, an unknown one, or a value out of range."""


class ScenarioError(CollsimError):
    """One thing that is wrong in a scenario; its text is ``file:line:column: message``.

    Parameters
    ----------
    message : str
        One line: what was found and what was expected.
    file : str
        Name of the file, as it was given.
    line, column : int, optional
        Place in the file, from 1; None where the file could not be read at all.
    at : tuple of str or int
        Path of the value inside the scenario, e.g. ``("topology", "levels", 1, "size")``.

    Examples
    --------
    >>> print(ScenarioError("a size is missing", "ring.yaml", 3, 5))
    ring.yaml:3:5: a size is missing
    """

    def __init__(
        self,
        message: str,
        file: str,
        line: int | None = None,
        column: int | None = None,
        at: tuple[str | int, ...] = (),
    ) -> None:
        super().__init__(message, at)
        self.file = file
        self.line = line
        self.column = column

    def __str__(self) -> str:
        place = "" if self.line is None else f":{self.line}:{self.column}"
        return f"{printable(self.file, limit=len(self.file))}{place}: {self.message}"

    def __reduce__(self) -> tuple[type[ScenarioError], tuple[object, ...]]:
        return type(self), (self.message, self.file, self.line, self.column, self.at)


class ScenarioErrors(CollsimError):  # noqa: N818 - it is many
    """Everything that is wrong in one scenario, in the order of the file, a line each.

    The text stops after the first `SHOWN`; `errors` holds them all.

    Parameters
    ----------
    errors : iterable of ScenarioError
        At least one, in any order.
    """

    def __init__(self, errors: Iterable[ScenarioError]) -> None:
        self.errors = tuple(sorted(errors, key=lambda error: (error.line or 0, error.column or 0)))
        lines = [str(error) for error in self.errors[:SHOWN]]
        if len(self.errors) > SHOWN:
            lines.append(f"... and {len(self.errors) - SHOWN} more")
        super().__init__("\n".join(lines))

    def __reduce__(self) -> tuple[type[ScenarioErrors], tuple[object, ...]]:
        return type(self), (self.errors,)


@contextmanager
def reading() -> Iterator[None]:
    """Have an error of a reader told with those of scenarios; it keeps its own file and place.

    Raises
    ------
    ScenarioErrors
    """
    try:
        yield
    except FormatError as error:
        message = error.message if error.byte is None else f"byte {error.byte}: {error.message}"
        column = error.column if error.line is None else error.column or 1
        raise ScenarioErrors([ScenarioError(message, error.file, error.line, column)]) from None


def nearest(word: str, words: Iterable[str]) -> str | None:
    """Find the word that a person most likely meant, if one is near enough.

    Examples
    --------
    >>> nearest("bandwith", ["latency", "bandwidth"])
    'bandwidth'
    >>> nearest("gb/s", ["Gb/s", "GB/s"]), nearest("bus", ["ring", "crossbar"])
    ('Gb/s', None)
    >>> nearest("h100", ["a100-80g", "h100-80g"])
    'h100-80g'
    """
    choices = list(words)
    for choice in choices:
        if choice.casefold() == word.casefold():
            return choice
    # a family's name stands for its first member
    longer = [choice for choice in choices if choice.casefold().startswith(f"{word.casefold()}-")]
    if longer:
        return longer[0]
    # difflib is quadratic in what it is given, and nobody means a word that long
    close = get_close_matches(word[:80], choices, n=1)
    return close[0] if close else None


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """Give the tail of a message that names the nearest word, or nothing.

    Examples
    --------
    >>> did_you_mean("simpi", ["auto", "simpy"])
    '; did you mean "simpy"?'
    """
    near = nearest(word, words)
    return f'; did you mean "{near}"?' if near else ""


def one_of(words: Iterable[str]) -> str:
    """Join words as a sentence does.

    Examples
    --------
    >>> one_of(["step"]), one_of(["step", "dataflow", "barrier"])
    ('step', 'step, dataflow or barrier')
    """
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def suggestion(word: str, words: Collection[str]) -> str:
    """Give the tail of a message that names the nearest word, or where none is near all of them.

    Examples
    --------
    >>> suggestion("simpi", ["auto", "simpy"]), suggestion("x", ["auto", "simpy"])
    ('; did you mean "simpy"?', '; expected auto or simpy')
    """
    return did_you_mean(word, words) or f"; expected {one_of(words)}"


def known(word: str, words: Collection[str], what: str) -> str:
    """A word that must be one of some.

    Raises
    ------
    CollsimError
        If it is none of them; the nearest is named.

    Examples
    --------
    >>> known("rign", ["ring"], "topology")
    Traceback (most recent call last):
    topologies.errors.CollsimError: there is no topology "rign"; did you mean "ring"?
    """
    if word not in words:
        raise CollsimError(f'there is no {what} "{printable(word)}"{suggestion(word, words)}')
    return word
