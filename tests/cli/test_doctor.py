"""`collsim doctor`: what is there, what is not, and what to do."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

import pytest
from matplotlib import rcParams

from simulator.scenario import doctor
from simulator.scenario.doctor import Finding
from tests.cli.command import collsim


def found(capsys: pytest.CaptureFixture[str]) -> Mapping[str, Finding]:
    """What it says, by what it looked at."""
    whole = json.loads(capsys.readouterr().out)
    findings = [Finding(**finding) for finding in whole["findings"]]
    assert whole["well"] == doctor.is_well(findings)
    return {finding.what: finding for finding in findings}


def test_all_is_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("doctor", "--json") == 0
    findings = found(capsys)
    assert {"Python", "collsim", "numpy", "simpy", "compiled engine", "library", "schema", "fonts"} <= {
        *findings
    }
    assert findings["numpy"].found == metadata.version("numpy")
    assert findings["numpy"].wanted.startswith(">=")
    assert findings["schema"].found == "current"
    assert all(finding.advice == "" for finding in findings.values() if finding.state == "fine")
    assert all(finding.advice for finding in findings.values() if finding.state != "fine")
    # what only the checks of collsim itself need is not asked for
    assert "ruff" not in findings


def test_what_is_missing_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    version = metadata.version

    def without(name: str) -> str:
        if name in ("scipy", "pandas"):
            raise metadata.PackageNotFoundError(name)
        # what only checks of reports need may be missing here
        told = {"simpy": "3.0", "pyarrow": "1.0", "playwright": "1.65"}
        return told[name] if name in told else version(name)

    monkeypatch.setattr(metadata, "version", without)
    monkeypatch.setattr("topologies.loops.numba_is_here", lambda: False)
    monkeypatch.setattr("simulator.scenario.library.library_folder", lambda: tmp_path)
    monkeypatch.setattr(doctor.os, "access", lambda *_: False)
    monkeypatch.setattr(doctor, "ENOUGH_MEMORY", 1 << 60)
    monkeypatch.setitem(rcParams, "font.sans-serif", ["No Such Font"])
    monkeypatch.setattr(doctor.shutil, "which", lambda _: None)
    assert collsim("doctor", "--json") == 1
    states = {what: finding.state for what, finding in found(capsys).items() if finding.state != "fine"}
    assert states == {
        "scipy": "wrong",
        "simpy": "wrong",
        "pandas (for pandas)": "absent",
        "pyarrow (for parquet)": "poor",
        "compiled engine": "poor",
        "compiled loops": "poor",
        "machine": "poor",
        "library": "wrong",
        "schema": "wrong",
        "fonts": "wrong",
        "browser (for checks of reports)": "absent",
    }
    assert collsim("doctor") == 1
    text, _ = capsys.readouterr()
    assert "simpy: 3.0; python -m pip install 'simpy>=4.1'" in text
    assert "pandas (for pandas): not installed; python -m pip install 'collsim[pandas]'" in text


def test_engines_that_differ(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from simulator.engine import engines

    run_plan = engines.run_plan

    def later(plan: object, engine: str = "auto", progress: object = None) -> object:
        from dataclasses import replace

        timeline = run_plan(plan, engine)  # type: ignore[arg-type]
        return replace(timeline, grant=timeline.grant + 1) if engine == "compiled" else timeline

    monkeypatch.setattr("simulator.scenario.run.run_plan", later)
    assert collsim("doctor", "--json") == 1
    assert found(capsys)["compiled engine"].state == "wrong"


def test_what_cannot_be_loaded_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_what: str) -> Finding:
        raise ImportError("libfreetype is missing")

    monkeypatch.setattr(doctor, "_LOOKS", {"fonts": broken})
    assert collsim("doctor", "--json") == 1
    assert found(capsys)["fonts"].found == "does not work: libfreetype is missing"


def test_not_installed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def none(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", none)
    monkeypatch.setattr(doctor, "_LOOKS", {})
    assert collsim("doctor", "--json") == 1
    assert found(capsys)["collsim"].found == "not installed"
