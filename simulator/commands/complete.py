"""Words that a shell completes: names of the registries, of presets and of the library.

A TAB must not wait for numpy: the names are read from a file of the library, which has them all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Final, Literal

import click
from click.shell_completion import CompletionItem

What = Literal["topology", "collective", "algorithm", "model", "hardware", "picture", "library"]
Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

_LIBRARY: Final = "library:"


def names_of(what: What) -> Completer:
    """What completes the value of an option, each name with what it is where the shell shows that."""

    def complete(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
        return [
            CompletionItem(name, help=said or None) for name, said in _names(what) if name.startswith(begun)
        ]

    return complete


class ScenarioPath(click.Path):
    """A file or a folder, or what the library calls one."""

    def shell_complete(
        self, context: click.Context, parameter: click.Parameter, begun: str
    ) -> list[CompletionItem]:
        """Names of the library for whoever begins one, and files."""
        if begun.startswith(_LIBRARY):
            return names_of("library")(context, parameter, begun)
        files = super().shell_complete(context, parameter, begun)
        return [CompletionItem(_LIBRARY), *files] if begun and _LIBRARY.startswith(begun) else files


def _names(what: What) -> Iterable[tuple[str, str]]:
    from simulator.scenario.library import WORDS, library_folder, library_names

    if what == "library":
        names = library_names()
        themes = dict.fromkeys(name.partition("/")[0] for name in names)
        return [(f"{_LIBRARY}{name}", "") for name in (*themes, *names)]
    try:
        known = json.loads((library_folder() / WORDS).read_text("utf-8"))
    except (OSError, ValueError):
        # a shell in the middle of a word is no place for an error; `collsim doctor` says it
        return ()
    found: dict[str, str] = known.get(what, {})
    return found.items()
