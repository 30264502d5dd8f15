"""A page of the manual whose blocks of code are run, one after the other, in a folder of the page's own.

- `console`: every line that begins with `$` is run, and what it prints is written below it. A comment before
  the block, `<!-- leaves out: TITLE; TITLE -->`, leaves out what stands below these titles.
- `sh`: commands that are shown, not run; their options must exist.
- `yaml`: must load; a part of a scenario is completed with `REST`.
- `python`: examples are run as doctests, anything else as a program; all blocks of a page share their names.
- A `yaml` or `python` block whose first line is a comment with the name of a file is that file from there on.

Blocks in other languages are left alone. Run as a script, this writes all pages anew.
"""

from __future__ import annotations

import doctest
import io
import re
import runpy
import shlex
import sys
from collections.abc import Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click
import yaml

from simulator.cli import cli, main
from simulator.scenario.plan_load import load_any
from simulator.scenario.sweep.read import read_sweep

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = tuple(
    sorted(path for path in DOCS.rglob("*.md") if not path.relative_to(DOCS).as_posix().startswith("_"))
)
BLOCK = re.compile(
    r"^(?:<!-- leaves out: (?P<without>.*?) -->\n)?```(?P<kind>console|sh|yaml|python)\n(?P<text>.*?)```\n",
    re.DOTALL | re.MULTILINE,
)
FILE = re.compile(r"# (?P<name>[\w-]+\.(?:yaml|py))\n")
REST: Mapping[str, Any] = MappingProxyType(
    {
        "topology": {"kind": "ring", "ranks": 8, "bandwidth": "64 GB/s"},
        "collective": {"kind": "allreduce", "algorithm": "ring", "size": "1 MiB"},
    }
)


def rewritten(text: str, folder: Path) -> str:
    """A page with what its commands print today; its files go into an empty folder.

    Raises
    ------
    Exception
        What a block raises that does not go.
    """
    (folder / "scenarios").symlink_to(ROOT / "scenarios")
    names: dict[str, Any] = {"__name__": "page"}

    def anew(found: re.Match[str]) -> str:
        kind, block = found["kind"], found["text"]
        file = FILE.match(block)
        if file:
            Path(file["name"]).write_text(block, encoding="utf-8")
        if kind == "console":
            return _printed_anew(found)
        if kind == "sh":
            _check_usage(block)
        elif kind == "yaml":
            _check_yaml(block)
        elif not file:
            _run_python(block, names)
        return found[0]

    with chdir(folder):
        return BLOCK.sub(anew, text)


def _printed_anew(found: re.Match[str]) -> str:
    titles = tuple(found["without"].split("; ")) if found["without"] else ()
    lines = [line for line in found["text"].splitlines() if line.startswith("$ ")]
    shown = "".join(f"{line}\n{_shortened(printed(line.removeprefix('$ ')), titles)}" for line in lines)
    return found[0].replace(f"```console\n{found['text']}", f"```console\n{shown}")


def printed(command: str) -> str:
    """What a person sees who types a command: standard output and standard error."""
    program, *arguments = shlex.split(command, comments=True)
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        if program == "collsim":
            with suppress(SystemExit):
                main(arguments)
        elif program == "python":
            runpy.run_path(arguments[0], run_name="__main__")
        else:
            raise ValueError(f"a page may run collsim and python, found {program}")
    return out.getvalue()


def _shortened(text: str, without: tuple[str, ...]) -> str:
    """Output without what stands below some titles: an ellipsis is there instead."""
    kept: list[str] = []
    before, left_out = "", False
    for line in (line.rstrip() for line in text.splitlines()):
        # tables are indented, but for their titles, which may be of several lines
        if line[:1].strip() and not (left_out and before[:1].strip()):
            left_out = line.startswith(without)
        if not left_out:
            kept.append(line)
        elif kept[-2:] != ["...", ""]:
            kept += ["...", ""]
        before = line
    shown = "\n".join(kept).strip("\n")
    return f"{shown}\n" if shown else ""


def _check_usage(block: str) -> None:
    """Refuse commands and options that are not there."""
    for line in block.splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] != ["collsim"]:
            continue
        command: click.Command = cli
        words = words[1:]
        while isinstance(command, click.Group):
            name = words.pop(0)
            command = command.commands[name]
        command.make_context("collsim", words)


def _check_yaml(block: str) -> None:
    """Refuse a scenario, or a part of one, that does not load."""
    keys = set(yaml.safe_load(block))
    lacking = () if keys & {"model", "collectives", "workload"} else sorted(REST.keys() - keys)
    whole = Path("part.yaml")
    whole.write_text(block + "".join(yaml.safe_dump({key: REST[key]}) for key in lacking), encoding="utf-8")
    if "sweep" in keys:
        read_sweep(whole)
    else:
        load_any(whole)


def _run_python(block: str, names: dict[str, Any]) -> None:
    if ">>>" not in block:
        exec(compile(block, "page", "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(block, names, "page", "page", 0)
    failure = io.StringIO()
    doctest.DocTestRunner().run(test, out=failure.write, clear_globs=False)
    names.update(test.globs)
    assert not failure.getvalue(), failure.getvalue()


def write_all() -> None:
    """Write every page anew."""
    from tempfile import TemporaryDirectory

    for page in PAGES:
        with TemporaryDirectory() as folder:
            page.write_text(rewritten(page.read_text("utf-8"), Path(folder)), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(write_all())
