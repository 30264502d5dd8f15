"""`collsim doctor`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from simulator.commands.shared import FAILED, console

if TYPE_CHECKING:
    from simulator.scenario.doctor import Finding


@click.command()
@click.option("--json", "as_json_text", is_flag=True, help="Print what was found as JSON.")
def doctor(as_json_text: bool) -> None:
    """Look whether all that collsim needs is there and works.

    Says what to do where it is not; the exit code is 1 then. What is `absent` only some commands need.
    """
    from simulator.scenario.doctor import examine, is_well

    findings = list(examine())
    if as_json_text:
        whole = {"well": is_well(findings), "findings": [asdict(found) for found in findings]}
        click.echo(json.dumps(whole, indent=2))
    else:
        _print(findings)
    if not is_well(findings):
        sys.exit(FAILED)


def _print(findings: Sequence[Finding]) -> None:
    """A table of all, and a line for each of which something is to be done."""
    from simulator.scenario.tables import new_table

    table = new_table("name", "state", "value", "wanted")
    for found in findings:
        table.add_row(found.what, found.state, found.found, found.wanted)
    console().print(table)
    for found in findings:
        if found.advice:
            click.echo(f"{found.what}: {found.found}; {found.advice}")
