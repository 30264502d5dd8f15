"""`collsim check`: the diff, the report for CI, and today's values written into the file."""

from __future__ import annotations

import os
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from collsim import hold
from tests.cli.command import RING, collsim, write

ONE_LINE = RING + "expect: {steps: 7, time: 16.522072 ms}\n"

ALL = """\
# eight in a ring
expect:   # what comes out
    steps: 9            # N - 1
    transfers: 0x39
    depth: 7
    bytes_sent_max: 1   # 7/8 of M
    bytes_sent_total: 7516192768
    bytes_reduced_max: 2
    congestion_factor:  0.9   # of M
    time: '16 ms'   # the first seed's formula
    analytic: {rel: 1e-9}
    gap: {at_most: 2.26, at_least: 2.2}
    verified: "no"
    fallback: hybrid
"""

UPDATED = """\
# eight in a ring
expect:   # what comes out
    steps: 7            # N - 1
    transfers: 56
    depth: 7
    bytes_sent_max: 939524096   # 7/8 of M
    bytes_sent_total: 7516192768
    bytes_reduced_max: 939524096
    congestion_factor:  0.875   # of M
    time: '16.522072 ms'   # the first seed's formula
    analytic: {rel: 1e-9}
    gap: {at_most: 2.26, at_least: 2.2}
    verified: "full"
    fallback: none
"""


def test_the_diff_puts_expected_and_found_side_by_side(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(
        tmp_path / "ring.yaml", RING + "expect:\n  steps: 9\n  bytes_reduced_max: 1\n  fallback: fold\n"
    )
    assert collsim("check", file) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{file}:6:3: steps:             expected 9,    found 7",
        f"{file}:7:3: bytes_reduced_max: expected 1,    found 939524096",
        f"{file}:8:3: fallback:          expected fold, found none",
        f"FAILED {file}",
        "0 passed, 1 failed",
    ]


@pytest.mark.parametrize(
    ("expect", "code"),
    [
        # the time is 16.522 ms; the bound is 7/8 M over two links of 64 GB/s, 7.340 ms, their ratio 2.251
        ("gap: {at_most: 2.3}", 0),
        ("gap: {at_most: 2.2510, at_least: 2.2509}", 0),
        ("gap: {at_most: 2.25}", 1),
        ("gap: {at_least: 2.26}", 1),
        ("bytes_reduced_max: 939524096", 0),
        ("fallback: none", 0),
        ("fallback: fold", 1),
        ("congestion_factor: 0.875", 0),
        ("time: {value: 16.5 ms, rel: 0.01}", 0),
        ("time: {value: 16.5 ms, abs: 1 us}", 1),
    ],
)
def test_expectations(expect: str, code: int, tmp_path: Path) -> None:
    assert collsim("check", write(tmp_path / "ring.yaml", RING + f"expect: {{{expect}}}\n")) == code


def test_a_limit_that_is_met_exactly_is_kept(tmp_path: Path) -> None:
    # without reduction and latency a ring of one direction takes exactly its bandwidth bound
    text = RING.replace("latency: 1 us", "direction: one").partition("reduction")[0]
    assert (
        collsim("check", write(tmp_path / "ring.yaml", text + "expect: {gap: {at_most: 1, at_least: 1}}\n"))
        == 0
    )


def test_what_has_no_bound_has_no_gap(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    alone = RING.replace("ranks: 8", "ranks: 1") + "expect: {gap: {at_most: 2}, congestion_factor: 0}\n"
    assert collsim("check", write(tmp_path / "alone.yaml", alone)) == 1
    assert "gap: expected at most 2, found none: the bound is 0" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("expect", "column", "message"),
    [
        ("congestion_factor: -0.5", 29, "must be zero or more, found -0.5"),
        ("congestion_factor: .nan", 29, 'found ".nan", expected a finite number'),
        ("steps: -1", 17, "found the number -1, expected 0 or more"),
        ("bytes_reduced_max: -1", 29, "expected 0 or more"),
        ("time: -1 us", 16, "must be zero or more"),
        ("analytic: {rel: -1}", 26, "must be zero or more"),
        ("analytic: {rel: .nan}", 26, "expected a finite number"),
        ("gap: {at_most: 0}", 25, "expected more than 0"),
        ("gap: {at_most: -.inf}", 25, "expected a finite number"),
        ("gap: {}", 15, 'expected "at_most: 1.2" or "at_least: 1.1", found neither'),
        ("gap: {at_most: 1, at_least: 2}", 15, "nothing is at least 2 and at most 1"),
        ("gap: 1.2", 15, "found the number 1.2, expected a mapping of at_most, at_least"),
        ("fallback: null", 20, "found nothing, expected text"),
        ("stepps: 7", 10, 'did you mean "steps"'),
    ],
)
def test_wrong_expectations_are_named_with_their_place(
    expect: str, column: int, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path / "ring.yaml", RING + f"expect: {{{expect}}}\n")
    assert collsim("check", file) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"{file}:5:{column}: ")
    assert message in said
    assert said.count("\n") == 1


def test_a_file_that_is_wrong_does_not_keep_others_from_being_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "a.yaml", "topology: 3\n")
    write(tmp_path / "b.yaml", ONE_LINE)
    assert collsim("check", tmp_path) == 2
    captured = capsys.readouterr()
    assert f"{tmp_path}/a.yaml:1:" in captured.err
    assert f"ok     {tmp_path}/b.yaml" in captured.out
    assert "1 passed, 1 failed" in captured.out


def test_junit_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "scenarios"
    folder.mkdir()
    write(folder / "bad.yaml", RING + "expect: {steps: 8, depth: 1}\n")
    write(folder / "good.yaml", ONE_LINE)
    write(folder / "wrong.yaml", RING + 'name2: "<&>"\n')
    monkeypatch.chdir(tmp_path)
    report = write(tmp_path / "report.xml", "<?xml version='1.0'?><yesterday/>")
    assert collsim("check", "scenarios", "--junit", report) == 2
    suite = ET.parse(report).getroot().find("testsuite")
    assert suite is not None
    assert suite.attrib == {"name": "collsim check", "tests": "3", "failures": "1", "errors": "1"}
    bad, good, wrong = suite.findall("testcase")
    assert good.attrib == {"classname": "scenarios", "name": "good", "file": "scenarios/good.yaml"}
    assert len(good) == 0
    failure, error = bad.find("failure"), wrong.find("error")
    assert failure is not None
    assert failure.get("message") == "steps: expected 8, found 7 (and 1 more)"
    assert (
        (failure.text or "").splitlines()[0].startswith("scenarios/bad.yaml:5:10: steps: expected 8, found 7")
    )
    assert error is not None
    assert 'unknown key "name2"' in (error.get("message") or "")
    first = report.read_bytes()
    collsim("check", "scenarios", "--junit", report)
    assert report.read_bytes() == first
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.xml", "scenarios"]


def test_what_is_named_of_the_library_goes_by_that_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report, name = tmp_path / "report.xml", "library:llm/zero-2-7.5b"
    assert collsim("check", name, "--junit", report) == 0
    assert capsys.readouterr().out == f"ok     {name}\n1 passed, 0 failed\n"
    assert [case.attrib for case in ET.parse(report).getroot().iter("testcase")] == [
        {"classname": "library:llm", "name": "zero-2-7.5b", "file": name}
    ]
    assert hold(name).file == name


def test_junit_report_of_a_failed_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from algorithms.errors import ProofError

    def fail(_schedule: object) -> None:
        raise ProofError("step 3: rank 1 sends nothing")

    monkeypatch.setattr("algorithms.proof.prove", fail)
    report = tmp_path / "report.xml"
    assert collsim("check", write(tmp_path / "ring.yaml", RING), "--junit", report) == 1
    assert 'type="proof"' in report.read_text("utf-8")


def test_a_report_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "ring.yaml", RING)
    assert collsim("check", file, "--junit", tmp_path) == 2
    assert collsim("check", file, "--junit", tmp_path / "no" / "report.xml") == 2
    assert capsys.readouterr().err.count("\n") == 2
    assert [path.name for path in tmp_path.iterdir()] == ["ring.yaml"]


def test_update_writes_todays_values_and_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path / "ring.yaml", RING + ALL)
    assert collsim("check", file, "--update") == 0
    assert f"updated {file}: 8 values" in capsys.readouterr().out
    assert file.read_text("utf-8") == RING + UPDATED
    before = file.stat()
    assert collsim("check", file, "--update") == 0
    assert "updated" not in capsys.readouterr().out
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize(
    ("written", "updated"),
    [
        ("time: 7.2 us", "time: 16522.072 us"),
        ("time: 7.2us", "time: 16522.072us"),
        ("time: 1.6e1  ms", "time: 16.522072  ms"),
        ("time: 0 s", "time: 0.016522072 s"),
        ("time: 1 fs", "time: 16522072000000 fs"),
        ("time: 1 µs", "time: 16522.072 µs"),
        ("time: 1 min", "time: 0.00027536786666666667 min"),
        ("time: {value: 1 ms, rel: 0.01}", "time: {value: 16.522072 ms, rel: 0.01}"),
        ("time: {abs: 1 us, value: '1 ms'}", "time: {abs: 1 us, value: '16.522072 ms'}"),
        ('"steps": 8', '"steps": 7'),
        ("{steps: 8, depth: 8, transfers: 8}", "{steps: 7, depth: 7, transfers: 56}"),
    ],
)
def test_units_quotes_and_forms_stay(written: str, updated: str, tmp_path: Path) -> None:
    form = "expect: {}\r\n" if written.startswith("{") else "expect:\r\n  {}  # today\r\n"
    data = RING.replace("\n", "\r\n") + form
    file = tmp_path / "ring.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + data.replace("{}", written).encode())
    assert collsim("check", file, "--update") == 0
    assert file.read_bytes() == b"\xef\xbb\xbf" + data.replace("{}", updated).encode()
    assert collsim("check", file) == 0


@pytest.mark.parametrize(
    ("expect", "place", "message"),
    [
        ("expect: {steps: &n 8, depth: 7}\n", "5:17", "steps: an anchor cannot be updated"),
        ("expect: {depth: &n 7, transfers: *n}\n", "5:34", "transfers: an alias cannot be updated"),
        ("expect:\n  time: |-\n    1 ms\n", "6:9", "time: a block cannot be updated"),
        ("expect:\n  time: 1\n    ms\n", "6:9", "time: a value with escapes or over several lines"),
        ('expect:\n  time: "1\\x20ms"\n', "6:9", "time: a value with escapes or over several lines"),
        ("delay: {0: &z 0 s}\nexpect: {steps: 8, time: *z}\n", "6:26", "time: an alias cannot be updated"),
    ],
)
def test_update_refuses_what_it_cannot_edit(
    expect: str, place: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path / "ring.yaml", RING + expect)
    assert collsim("check", file, "--update") == 2
    said = capsys.readouterr().err
    assert said.startswith(f"{file}:{place}: {message}")
    assert said.count("\n") == 1
    assert file.read_text("utf-8") == RING + expect


def test_update_leaves_tolerances_and_limits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    late = "delay: {0: 1 s}\nexpect: {steps: 8, analytic: {rel: 1e-9}, gap: {at_most: 1.1}}\n"
    file = write(tmp_path / "ring.yaml", RING + late)
    assert collsim("check", file, "--update") == 1
    assert file.read_text("utf-8") == RING + late.replace("steps: 8", "steps: 7")
    printed = capsys.readouterr().out
    assert "analytic: expected the closed form" in printed
    assert "gap:      expected at most 1.1" in printed


def test_update_keeps_mode_and_link(tmp_path: Path) -> None:
    file = write(tmp_path / "real.yaml", RING + "expect: {steps: 8}\n")
    file.chmod(0o640)
    link = tmp_path / "link.yaml"
    link.symlink_to(file)
    assert collsim("check", link, "--update") == 0
    assert link.is_symlink()
    assert "steps: 7" in file.read_text("utf-8")
    assert file.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.yaml", "real.yaml"]


def test_update_refuses_a_pipe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    read, write_end = os.pipe()
    os.write(write_end, (RING + "expect: {steps: 8}\n").encode())
    os.close(write_end)
    assert collsim("check", f"/dev/fd/{read}", "--update") == 2
    os.close(read)
    assert "is not a file that can be updated" in capsys.readouterr().err


def test_update_notices_that_the_file_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import simulator.scenario.check

    file = write(tmp_path / "ring.yaml", RING + "expect: {steps: 8}\n")
    changed = RING + "expect: {steps: 9, depth: 1}\n"
    real = simulator.scenario.check.check

    def meanwhile(result: object) -> object:
        write(file, changed)
        return real(result)  # type: ignore[arg-type]

    monkeypatch.setattr(simulator.scenario.check, "check", meanwhile)
    assert collsim("check", file, "--update") == 2
    assert file.read_text("utf-8") == changed


def test_todays_value_may_be_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = RING.replace("1 GiB", "0 B") + "expect: {congestion_factor: 0.875}\n"
    file = write(tmp_path / "ring.yaml", text)
    assert collsim("check", file, "--update") == 1
    assert "congestion_factor: expected 0.875, found none: M is 0" in capsys.readouterr().out
    assert file.read_text("utf-8") == text


def test_a_report_is_never_written_over_what_is_no_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, notes = write(tmp_path / "a.yaml", ONE_LINE), write(tmp_path / "notes.txt", "mine")
    for report, said in ((file, "is one of the scenarios"), (notes, "exists and is no XML")):
        assert collsim("check", "--junit", report, file) == 2
        assert said in capsys.readouterr().err
    assert (file.read_text("utf-8"), notes.read_text("utf-8")) == (ONE_LINE, "mine")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_not_replaced_by_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, pipe = write(tmp_path / "a.yaml", ONE_LINE), tmp_path / "pipe"
    os.mkfifo(pipe)
    assert collsim("check", "--junit", pipe, file) == 2
    assert "is a device or a pipe" in capsys.readouterr().err
    assert pipe.is_fifo()
