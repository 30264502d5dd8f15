"""Words that a shell completes: names of the registries, of presets and of the library.

A TAB must not wait for numpy: the names are read from the published schema, which has them all.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final, Literal

import click
from click.shell_completion import CompletionItem

What = Literal["topology", "collective", "algorithm", "model", "hardware", "library"]
Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

_LIBRARY: Final = "library:"


def names_of(what: What) -> Completer:
    """What completes the value of an option, each name with what it is where the shell shows that."""

    def complete(_context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
        return [CompletionItem(name, help=said) for name, said in _names(what) if name.startswith(begun)]

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


def _names(what: What) -> Iterator[tuple[str, str | None]]:
    from simulator.scenario.library import library_names

    if what == "library":
        names = library_names()
        themes = dict.fromkeys(name.partition("/")[0] for name in names)
        yield from ((f"{_LIBRARY}{name}", None) for name in (*themes, *names))
        return
    for words in _WORDS[what](_definitions()):
        yield from zip(
            words["enum"], words.get("enumDescriptions") or [None] * len(words["enum"]), strict=True
        )


def _definitions() -> Any:
    from simulator.scenario.library import library_folder

    try:
        text = (library_folder() / "collsim.schema.json").read_text("utf-8")
        return json.loads(text)["$defs"]
    except (OSError, ValueError):
        # a shell in the middle of a word is no place for an error; `collsim doctor` says it
        return {}


_WORDS: Final[dict[str, Callable[[Any], Iterator[Any]]]] = {
    "topology": lambda known: (known["topology"]["properties"][key] for key in ("kind", "preset")),
    "collective": lambda known: iter([known["a-collective"]["properties"]["kind"]]),
    "algorithm": lambda known: iter([known["algorithm"]]),
    "model": lambda known: iter([known["model"]["anyOf"][0]]),
    "hardware": lambda known: iter([known["hardware"]["anyOf"][0]]),
}
