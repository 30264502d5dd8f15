"""Commands that are loaded when they are asked for, so that a TAB and a small run do not pay for all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module

import click


class Loaded(MutableMapping[str, click.Command]):
    """Commands by name, each in a module of its own under that name.

    Parameters
    ----------
    modules : mapping of str to str
        The module of each.

    Examples
    --------
    >>> commands = Loaded({"check": "simulator.commands.check"})
    >>> len(commands), commands["check"].name
    (1, 'check')
    """

    def __init__(self, modules: Mapping[str, str]) -> None:
        self._modules = dict(modules)
        self._known: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._known:
            self._known[name] = getattr(import_module(self._modules[name]), name)
        return self._known[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._known[name] = command

    def __delitem__(self, name: str) -> None:
        self._modules.pop(name, None)
        del self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._modules, **self._known})

    def __len__(self) -> int:
        return len({**self._modules, **self._known})
