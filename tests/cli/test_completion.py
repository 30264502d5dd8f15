"""What a shell completes: words of the registries and of the library, and no slow module loaded for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from algorithms.registry import ALGORITHMS
from simulator.cli import cli
from simulator.commands import complete
from simulator.commands.completion import NAME, VARIABLE, Bash
from simulator.scenario.library import WORDS
from simulator.scenario.picture_kinds import PICTURES
from tests.cli.command import collsim


def completed(*words: str) -> list[str]:
    """Words that complete the last one."""
    *before, begun = words
    items = ShellComplete(cli, {}, NAME, VARIABLE).get_completions(before, begun)
    return [item.value for item in items]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("ru",), ["run"]),
        (("llm", "me"), ["memory"]),
        (("new", "--topology", "tor"), ["torus"]),
        (("new", "--topology", "dgx-h"), ["dgx-h100"]),
        (("new", "--collective", "reduce_"), ["reduce_scatter"]),
        (("new", "--model", "llama2"), ["llama2-70b"]),
        (("new", "--hardware", "mi"), ["mi300x"]),
        (("new", "--kind", "to"), ["together"]),
        (("algorithms", "recursive_h"), ["recursive_halving"]),
        (("run", "library:first-walk/late"), ["library:first-walk/late-rank"]),
        (("plot", "out", "st"), [name for name in PICTURES if name.startswith("st")]),
        (("completion", "b"), ["bash"]),
        (("compare", "a.yaml", "--mem"), ["--memory-limit"]),
        (("run", "library:none"), []),
    ],
)
def test_words(words: tuple[str, ...], found: list[str]) -> None:
    assert completed(*words) == found


def test_every_algorithm() -> None:
    assert set(ALGORITHMS) <= set(completed("algorithms", ""))


def test_files_and_the_library() -> None:
    context = click.Context(cli)
    parameter = cli.commands["run"].params[0]
    items = complete.ScenarioPath().shell_complete(context, parameter, "lib")
    assert [(item.value, item.type) for item in items] == [("library:", "plain"), ("lib", "file")]


def test_without_the_file_of_words_nothing_is_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simulator.scenario.library.library_folder", lambda: tmp_path)
    assert completed("new", "--topology", "tor") == []
    (tmp_path / WORDS).write_text("[", "utf-8")
    assert completed("new", "--topology", "tor") == []


@pytest.mark.parametrize("line", ["collsim run library:fi", "collsim new --algorithm ri", "collsim plot a t"])
def test_nothing_slow_is_loaded(line: str) -> None:
    program = (
        "import sys, simulator.cli\n"
        "try: simulator.cli.main([])\n"
        "finally: print(*(sys.modules.keys() & {'numpy', 'yaml', 'pydantic_core', 'rich'}), file=sys.stderr)"
    )
    environment = {**os.environ, VARIABLE: "bash_complete", "COMP_WORDS": line}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stderr.strip() == ""
    assert done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("completion", shell) == 0
    script, _ = capsys.readouterr()
    assert VARIABLE in script
    assert f"{shell}_complete" in script


def test_an_unknown_shell(capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("completion", "tcsh") == 2
    assert "'tcsh' is not one of 'bash', 'zsh', 'fish'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "before", "begun"),
    [
        ("collsim ", [], ""),
        ("collsim run", [], "run"),
        ("collsim run library:se", ["run"], "library:se"),
        ('collsim new --size "1 MiB" --co', ["new", "--size", "1 MiB"], "--co"),
    ],
)
def test_bash_gives_the_line(
    line: str, before: list[str], begun: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMP_WORDS", line)
    assert Bash(cli, {}, NAME, VARIABLE).get_completion_args() == (before, begun)


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_replaces_what_stands_after_the_colon(tmp_path: Path) -> None:
    """The function that bash calls, with a program in the place of collsim that prints two names."""
    (tmp_path / "collsim").write_text("#!/bin/sh\necho plain,library:seed1/a\necho plain,library:seed1/b\n")
    (tmp_path / "collsim").chmod(0o755)
    script = Bash(cli, {}, NAME, VARIABLE).source() + (
        'compopt() { :; }; COMP_LINE="collsim run library:se"; COMP_POINT=${#COMP_LINE}\n'
        f'_collsim_completion "{tmp_path}/collsim"; echo "${{COMPREPLY[@]}}"\n'
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "seed1/a seed1/b\n"


def test_no_shell_is_said_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("completion") == 2
    assert capsys.readouterr().err.count("\n") == 1
