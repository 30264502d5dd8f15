"""The commands by what a person wants to do, as `collsim --help` lists them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import click

VARIABLE: Final = "_COLLSIM_COMPLETE"
"""The environment's variable by which a shell asks for words."""

SECTIONS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "Begin": ("library", "new", "topology", "algorithms", "convert"),
        "Simulate": ("run", "sweep", "llm"),
        "Understand": ("explain", "compare", "diff", "calibrate", "plot", "report"),
        "Check": ("check",),
        "Set up": ("doctor", "completion", "schema"),
    }
)


class Sections(click.Group):
    """A group that lists its commands under headings."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a list under each heading; a command that is in none comes last."""
        named = [name for names in SECTIONS.values() for name in names]
        others = tuple(name for name in self.list_commands(ctx) if name not in named)
        for title, names in {**SECTIONS, "Other commands": others}.items():
            rows = [
                (name, self.commands[name].get_short_help_str(80)) for name in names if name in self.commands
            ]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)
