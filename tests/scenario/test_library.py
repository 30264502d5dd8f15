"""The library of scenarios: what comes with collsim says what it shows, and is what it expects."""

from __future__ import annotations

from pathlib import Path

import pytest

from algorithms.errors import ScheduleError
from simulator.scenario.check import check, hold
from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.library import PREFIX, expand, library_folder, library_names
from simulator.scenario.load import load, loads
from simulator.scenario.plan_load import load_any
from simulator.scenario.run import run
from simulator.scenario.run_any import run_any
from simulator.scenario.sweep.read import read_sweep
from simulator.scenario.sweep.run import sweep

THEMES = {
    "first-walk",
    "llm",
    "machines",
    "network-models",
    "routing",
    "seed1",
    "stragglers",
    "sweeps",
    "together",
    "topologies",
}

SWEEPS = [name for name in library_names() if name.startswith("sweeps/")]
SCENARIOS = [name for name in library_names() if name not in SWEEPS]


def file(name: str) -> Path:
    return library_folder() / f"{name}.yaml"


def test_themes() -> None:
    names = library_names()
    assert len(names) >= 25
    assert {name.partition("/")[0] for name in names} >= THEMES
    assert not any(name.startswith("presets") for name in names)


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario_says_what_it_shows_and_is_what_it_expects(name: str) -> None:
    text = file(name).read_text("utf-8")
    assert text.startswith("# ")
    assert "expect:" in text
    outcome = hold(file(name), run_any)
    assert outcome.fine, outcome.lines


def test_names_of_scenarios_are_their_own() -> None:
    names = [load_any(file(name)).name for name in SCENARIOS]
    names += [read_sweep(file(name)).name for name in SWEEPS]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("name", SWEEPS)
def test_sweeps_say_what_they_show_and_run(name: str) -> None:
    assert file(name).read_text("utf-8").startswith("# ")
    assert not sweep(file(name)).failed


def test_what_sweeps_show() -> None:
    """As their first lines say: which algorithm is ahead, how often flows meet, what fits."""
    sizes = sweep(file("sweeps/sizes-8-chips")).columns
    rows = list(zip(sizes["collective.size"], sizes["collective.algorithm"], sizes["time"], strict=True))
    direct, two_shot = ({m: t for m, name, t in rows if name == one} for one in ("direct", "two_shot"))
    # 4/3 alpha beta
    assert all((two_shot[m] < direct[m]) == (m > 66_667) for m in direct)
    seeds = sweep(file("sweeps/ecmp-seeds")).rows
    assert [row.point.seed for row in seeds] == [*range(8), *range(8), None]
    memory = sweep(file("sweeps/llama3-70b-memory")).columns
    assert memory["model.sequence"][~memory["fits"]].tolist() == [32768, 65536]  # type: ignore[index, operator]


def time(name: str) -> float:
    """Seconds that a scenario of the library expects."""
    expected = load(file(name)).expect.time
    assert expected is not None
    return expected.value


def test_what_the_first_seed_compares() -> None:
    """Its takeaways, as relations between what the library's files expect."""
    assert time("seed1/duality-reduce-scatter") == time("seed1/duality-allgather")
    assert time("seed1/ring-approximate-cost") == time("seed1/reduction-streamed")
    assert time("seed1/reduction-after") == pytest.approx(1.125 * 14.680064e-3, rel=1e-12)
    assert time("seed1/table-halving") < time("seed1/table-hierarchical") < time("seed1/table-ring")
    assert time("seed1/four-levels-flat") > 10 * time("seed1/four-levels-hierarchical")
    tensor = load(file("seed1/llm-tensor-parallel")).expect.bytes_sent_max
    assert tensor == 2 * (load(file("seed1/llm-sequence-parallel")).expect.bytes_sent_max or 0)


def test_what_routing_is_worth() -> None:
    """Flows that keep apart, are sprayed or go round beat those that meet, alike in all but their routing."""
    assert time("routing/static-leaf-spine") < time("routing/ecmp-leaf-spine")
    assert time("routing/one-flow-spray") < time("routing/one-flow-ecmp") / 2
    assert time("routing/dragonfly-valiant") < 0.6 * time("routing/dragonfly-shortest")


def test_a_constraint_on_n_may_be_an_error() -> None:
    """A scenario that is refused cannot be held against what it expects, so it is here."""
    text = file("seed1/halving-needs-two-to-the-k-hybrid").read_text("utf-8")
    scenario = loads(text.replace("non_power_of_two: hybrid", "non_power_of_two: error"), "a.yaml")
    with pytest.raises(
        ScenarioErrors, match=r"a\.yaml:6:\d+: recursive_halving needs N = 2\^k ranks, found N = 12"
    ):
        run(scenario)


def test_direct_links_only_refuses_what_the_ladder_cannot_do() -> None:
    """SCCL's hardware has no way from chip 4 to chip 6 but through others: halving must be refused."""
    text = file("machines/sg2260-halving").read_text("utf-8")
    scenario = loads(text.replace("model: cut_through", "direct_links_only: true"), "a.yaml")
    with pytest.raises((ScenarioErrors, ScheduleError), match="hop"):
        run(scenario)


def test_wrong_congestion_is_a_mismatch() -> None:
    text = file("topologies/halving-full-mesh-8").read_text("utf-8")
    (wrong,) = check(run(loads(text.replace("0.875", "0.876"), "a.yaml")))
    assert (wrong.key, wrong.expected, wrong.found, wrong.line) == ("congestion_factor", "0.876", "0.875", 6)


def test_paths_folders_names_and_themes_are_files(tmp_path: Path) -> None:
    assert expand([Path("a.yaml")]) == [Path("a.yaml")]
    name = "first-walk/ring-reduce-scatter-8"
    assert expand([Path(PREFIX + name), Path(f"{PREFIX}{name}.yaml")]) == [file(name)] * 2
    theme = [known for known in library_names() if known.startswith("stragglers/")]
    assert expand([Path(f"{PREFIX}stragglers")]) == [file(known) for known in theme]
    # a folder's presets are pieces of scenarios
    assert set(expand([library_folder()])) == {file(known) for known in library_names()}
    (tmp_path / "b.yml").touch()
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.yaml").touch()
    (tmp_path / "notes.txt").touch()
    assert expand([tmp_path]) == [tmp_path / "b.yml", tmp_path / "deep" / "a.yaml"]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("library:first-walk/ring-reduce-scater-8", 'did you mean "first-walk/ring-reduce-scatter-8"'),
        ("library:presets/dgx-1", "no scenario"),
        (
            "library:",
            "its themes are catalogue, first-walk, llm, machines, network-models, routing, seed1, "
            "stragglers, sweeps, together, topologies",
        ),
        (str(library_folder() / "presets"), "holds presets"),
    ],
)
def test_what_the_library_does_not_have(path: str, message: str) -> None:
    with pytest.raises(ScenarioErrors, match=message):
        expand([Path(path)])


def test_an_empty_folder_holds_no_scenarios(tmp_path: Path) -> None:
    with pytest.raises(ScenarioErrors, match="holds no YAML files"):
        expand([tmp_path])
