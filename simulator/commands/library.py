"""`collsim library`."""

from __future__ import annotations

import json

import click

from simulator.commands.shared import console, known


@click.command()
@click.argument("theme", required=False)
@click.option("--json", "as_json_text", is_flag=True, help="Print it as JSON.")
def library(theme: str | None, as_json_text: bool) -> None:
    """List the scenarios that come with collsim.

    With THEME only those of one theme. `collsim run library:THEME/NAME` runs one, and
    `collsim new --from library:THEME/NAME FILE` copies it.
    """
    from simulator.scenario.contents import contents
    from simulator.scenario.library import PREFIX

    entries = contents()
    if theme is not None:
        themes = dict.fromkeys(entry.theme for entry in entries)
        known(theme.removeprefix(PREFIX), themes, "theme")
        entries = [entry for entry in entries if entry.theme == theme.removeprefix(PREFIX)]
    if as_json_text:
        rows = [
            {"library": f"{PREFIX}{entry.path}", "name": entry.name, "shows": entry.shows}
            for entry in entries
        ]
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
        return
    from simulator.scenario.tables import new_table

    table = new_table("scenario", "name")
    for entry in entries:
        table.add_row(f"{PREFIX}{entry.path}", entry.name)
    console().print(table)
