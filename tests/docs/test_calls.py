"""What the manual says a command is from Python: there for every command and option, and it runs."""

from __future__ import annotations

import dataclasses
import pathlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

import click
import pytest

import collsim
from simulator.cli import cli
from tests.cli.test_llm_experts import PLAN as EXPERTS
from tests.cli.test_llm_search import SMALL as SEARCH
from tests.cli.test_llm_serve import PLAN as SERVE
from tests.docs.page import DOCS
from tests.docs.test_collective_options import cells
from tests.scenario.measurements.logs import nccl_log
from tests.scenario.test_step import PLAN

RING = """\
topology: {kind: ring, ranks: 4, bandwidth: 1 GB/s}
collective: {kind: allreduce, algorithm: ring, size: 4 KiB}
"""
DRAWN = """\
topology: {kind: leaf_spine, leaves: 2, hosts: 2, spines: 2, bandwidth: 1 GB/s}
collective: {kind: allreduce, algorithm: ring, size: 4 KiB}
network: {routing: ecmp}
"""
LOG = nccl_log("all_reduce", 4, [2**power for power in range(10, 16)], lambda size: 6e-6 + 1.5e-9 * size)
FILES = {
    "ring.yaml": RING,
    "other.yaml": RING.replace("algorithm: ring", "algorithm: direct"),
    "drawn.yaml": DRAWN,
    "plan.yaml": PLAN,
    "serve.yaml": SERVE,
    "search.yaml": SEARCH,
    "experts.yaml": EXPERTS,
    "all_reduce.log": LOG,
}
ELSEWHERE = ("--dask",)
"""What needs a cluster, which tests of sweeps start."""


def rows() -> Iterator[tuple[str, list[str]]]:
    """Of every row what is typed, and the calls."""
    lines = iter((DOCS / "reference" / "api.md").read_text("utf-8").splitlines())
    assert next(line for line in lines if cells(line) == ["command", "call"])
    next(lines)
    for line in lines:
        if not line.startswith("|"):
            return
        typed, calls = cells(line)
        yield " ".join(re.findall(r"`([^`]+)`", typed)), re.findall(r"`([^`]+)`", calls)


def by_command() -> Mapping[str, list[tuple[str, list[str]]]]:
    """Rows by the name of their command, the one of the command itself first."""
    found: dict[str, list[tuple[str, list[str]]]] = {}
    for typed, calls in rows():
        if not typed.startswith("--"):
            words = typed.split()
            name = " ".join(words[: 2 if words[0] == "llm" else 1])
            assert name not in found
            found[name] = []
        found[name].append((typed, calls))
    return found


CALLS = by_command()


def commands(group: click.Group, before: str = "") -> Iterator[tuple[str, click.Command]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, f"{before}{name} ")
        else:
            yield before + name, command


def test_every_command_and_option_has_its_call() -> None:
    known = dict(commands(cli))
    assert set(CALLS) == set(known)
    for name, command in known.items():
        options = {option for one in command.params if isinstance(one, click.Option) for option in one.opts}
        told = {word for typed, _ in CALLS[name] for word in typed.split() if word.startswith("--")}
        assert told == options, name


@pytest.mark.parametrize("name", CALLS)
def test_the_calls_run(name: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file, text in FILES.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"collsim": collsim, "dataclasses": dataclasses, "pathlib": pathlib}
    names["result"] = collsim.run("ring.yaml")
    for typed, calls in CALLS[name]:
        if typed.startswith(ELSEWHERE):
            continue
        for call in calls:
            # a call may give a name to what comes
            made, _, said = call.partition(" = ") if re.match(r"\w+ = ", call) else ("_", "", call)
            names[made] = eval(said, names)
