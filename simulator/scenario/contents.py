"""What the library holds: each scenario with its name and what it shows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from simulator.scenario.library import heading, library_folder, library_names
from simulator.scenario.parse import parse


@dataclass(frozen=True, slots=True)
class Held:
    """A scenario of the library.

    Attributes
    ----------
    path : str
        Its name after `library:`.
    name : str
        What people call it.
    shows : str
        The first sentence of the comment at its top.
    """

    path: str
    name: str
    shows: str

    @property
    def theme(self) -> str:
        """The part of the library that it is in."""
        return self.path.partition("/")[0]


def contents() -> list[Held]:
    """Every scenario of the library, in order of name."""
    folder = library_folder()
    return [_held(name, folder / f"{name}.yaml") for name in library_names()]


def _held(path: str, file: Path) -> Held:
    text = file.read_text("utf-8")
    # the rest of the file is not needed, and takes a hundred times as long
    named = next((line for line in text.splitlines() if line.startswith("name:")), "{}")
    source, _ = parse(named, path)
    sentence = re.split(r"(?<=[.?]) ", " ".join(heading(text)), maxsplit=1)[0]
    return Held(path, source.word(("name",)) or file.stem, sentence)
