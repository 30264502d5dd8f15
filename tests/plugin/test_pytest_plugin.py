"""Scenario files as tests of pytest."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

GOOD = """\
topology: {kind: ring, ranks: 8, bandwidth: 64 GB/s, latency: 1 us}
collective: {kind: reduce_scatter, algorithm: ring, size: 1 GiB}
expect: {steps: 7}
"""

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def plugged(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder with two scenarios, whose pytest knows the plugin whether it is installed or not."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    folder = pytester.mkdir("scenarios")
    (folder / "bad.yaml").write_text(GOOD.replace("steps: 7", "steps: 8, depth: 7, transfers: 1"), "utf-8")
    (folder / "good.yaml").write_text(GOOD, "utf-8")
    (pytester.mkdir("other") / "third.yaml").write_text(GOOD, "utf-8")
    return pytester


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """In a process of its own: one that has forgotten numpy cannot load it again."""
    return pytester.runpytest_subprocess("-p", "simulator.pytest_plugin", *arguments)


def test_a_scenario_is_a_test_and_its_diff_is_the_failure(plugged: pytest.Pytester) -> None:
    plugged.makeini("[pytest]\ncollsim_scenarios = scenarios/*.yaml\n")
    result = run(plugged, "-v")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "scenarios/bad.yaml::bad FAILED*",
            "scenarios/good.yaml::good PASSED*",
            "*_ scenario bad _*",
            "scenarios/bad.yaml:3:10: steps:     expected 8, found 7",
            "scenarios/bad.yaml:3:30: transfers: expected 1, found 56",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*third*")


def test_wrong_input_is_a_failure_with_its_place(plugged: pytest.Pytester) -> None:
    plugged.makepyprojecttoml(
        '[tool.pytest.ini_options]\ncollsim_scenarios = ["**/good.yaml", "other/*.yaml"]\n'
    )
    (plugged.path / "other" / "third.yaml").write_text("topology: {kind: rign}\n", "utf-8")
    result = run(plugged)
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(['other/third.yaml:1:18: *did you mean "ring"*'])


def test_one_file_is_named_by_its_path(plugged: pytest.Pytester) -> None:
    plugged.makeini("[pytest]\ncollsim_scenarios = scenarios/*.yaml\n")
    run(plugged, "scenarios/good.yaml::good").assert_outcomes(passed=1)
    result = run(plugged, "-k", "good", "--collect-only", "-q", "scenarios/good.yaml")
    result.stdout.fnmatch_lines(["scenarios/good.yaml::good"])


def test_without_the_option_nothing_is_collected_or_loaded(plugged: pytest.Pytester) -> None:
    plugged.makepyfile(
        """
        import sys

        def test_nothing_is_loaded():
            heavy = {"numpy", "yaml", "networkx", "simpy", "simulator.scenario", "algorithms", "topologies"}
            assert "simulator.pytest_plugin" in sys.modules
            assert not heavy & set(sys.modules)
        """
    )
    run(plugged).assert_outcomes(passed=1)


def test_collecting_loads_nothing_that_is_slow(plugged: pytest.Pytester) -> None:
    plugged.makeini("[pytest]\ncollsim_scenarios = scenarios/*.yaml\n")
    plugged.makeconftest(
        """
        import sys

        def pytest_collection_finish(session):
            assert len(session.items) == 2
            assert not {"numpy", "yaml"} & set(sys.modules)
        """
    )
    result = run(plugged, "--collect-only", "-q")
    result.stdout.fnmatch_lines(["scenarios/bad.yaml::bad", "scenarios/good.yaml::good"])
    assert result.ret == 0


@pytest.mark.parametrize("pattern", ["/abs/*.yaml", "''"])
def test_a_pattern_that_is_none_is_refused(pattern: str, plugged: pytest.Pytester) -> None:
    plugged.makeini(f"[pytest]\ncollsim_scenarios = {pattern}\n")
    result = run(plugged)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*collsim_scenarios: found *, expected a pattern such as scenarios/[*].yaml"]
    )


def test_code_of_scenarios_runs_only_where_the_ini_file_allows_it(plugged: pytest.Pytester) -> None:
    collective = "{kind: send_recv, size: 1 B, algorithm: {file: send.py, function: send}}"
    text = f"topology: {{kind: ring, ranks: 2, bandwidth: 1 GB/s}}\ncollective: {collective}\n"
    (plugged.path / "own.yaml").write_text(text, "utf-8")
    (plugged.path / "send.py").write_text("def send(ranks):\n    yield [0], [1], [0], 0\n", "utf-8")
    plugged.makeini("[pytest]\ncollsim_scenarios = *.yaml\n")
    result = run(plugged)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["own.yaml:2:53: *is run only with --allow-code"])
    plugged.makeini("[pytest]\ncollsim_scenarios = *.yaml\ncollsim_allow_code = true\n")
    run(plugged).assert_outcomes(passed=1)


def test_a_pattern_that_finds_nothing_warns(plugged: pytest.Pytester) -> None:
    plugged.makeini("[pytest]\ncollsim_scenarios = scenarios/*.yml\n")
    plugged.makepyfile("def test_one(): pass")
    run(plugged).assert_outcomes(passed=1, warnings=1)


def test_the_plugin_is_found_where_collsim_is_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"collsim": "simulator.pytest_plugin"}
