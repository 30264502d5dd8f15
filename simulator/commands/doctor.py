"""`collsim doctor`."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

import click

from simulator.commands.shared import FAILED, console


@click.command()
@click.option("--json", "as_json_text", is_flag=True, help="Print what was found as JSON.")
def doctor(as_json_text: bool) -> None:
    """Look whether all that collsim needs is there and works, and say what to do.

    The exit code is 1 where something is wrong.
    """
    from simulator.scenario.doctor import examine, is_well

    findings = list(examine())
    if as_json_text:
        click.echo(
            json.dumps(
                {"well": is_well(findings), "findings": [asdict(found) for found in findings]}, indent=2
            )
        )
    else:
        from simulator.scenario.tables import new_table

        table = new_table("name", "state", "value")
        for found in findings:
            table.add_row(found.what, found.state, found.found)
        console().print(table)
        for found in findings:
            if found.advice:
                click.echo(f"{found.what}: {found.found}; {found.advice}")
    if not is_well(findings):
        sys.exit(FAILED)
