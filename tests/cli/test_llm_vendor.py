"""`collsim llm vendor-allreduce`, as a person types it."""

from __future__ import annotations

import json

import pytest

from tests.cli.command import collsim


def test_both_versions_beside_the_simulation(capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("llm", "vendor-allreduce", "--sizes", "1MiB,64MiB") == 0
    out = capsys.readouterr().out
    rows = [line.split() for line in out.splitlines() if "MiB" in line]
    assert rows == [
        ["1", "MiB", "41.086", "41.086", "33.022", "19.6%"],
        ["64", "MiB", "2355.454", "2355.454", "1839.358", "21.9%"],
        ["1", "MiB", "36.644", "36.644", "35.748", "2.4%"],
        ["64", "MiB", "1948.956", "1948.956", "1891.612", "2.9%"],
    ]


def test_json_and_csv(capsys: pytest.CaptureFixture[str]) -> None:
    command = ("llm", "vendor-allreduce", "--ranks", 2, "--sizes", "64KiB", "--variant", "tpu.json")
    assert collsim(*command, "--json") == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["formula"] == row["simulated"] == pytest.approx(2.45e-6)
    assert (row["variant"], row["ranks"], row["size"]) == ("tpu.json", 2, 65536)
    assert collsim(*command, "--format", "csv") == 0
    assert capsys.readouterr().out.startswith(
        "variant,ranks,M,formula,simulated,overlapped,saved\ntpu.json,2,65536,2.45,"
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--ranks", 5),
            "collsim: Invalid value for --ranks: "
            "SOPHGO's AllReduce is for an even number of chips, or one; found 5\n",
        ),
        (("--sizes", "1"), 'collsim: Invalid value for --sizes: 1 needs a unit, e.g. "1 GiB"\n'),
    ],
)
def test_wrong_options(options: tuple[object, ...], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("llm", "vendor-allreduce", *options) == 2
    assert capsys.readouterr().err == message
