"""Presets: what a machine is made of, what a scenario may change of it, and where errors point."""

from __future__ import annotations

import pickle
import re
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.library import PRESETS, library_folder
from simulator.scenario.load import load, loads
from simulator.scenario.presets import preset_names, read_preset
from simulator.scenario.run import build_topology
from topologies.measures import measure
from topologies.overrides import Override
from topologies.topology import Topology

GATHER = "collective: {kind: allgather, algorithm: ring, size: 1 MB}\n"

# ranks; directed links between ranks and switches, counted by hand:
# DGX-1: 8 GPUs x 6 NVLinks. DGX clusters: 32 ranks x (to the node's switch + to the rail's), both ways.
# Box of SG2260: 10 links both ways. Paired rings: 2 x 4 links both ways, and 4 x 2.
# Tori: 3 x 2 and 2 x 2 links of a chip. MI300X: 8 x 7.
COUNTS = {
    "dgx-1": (8, 48),
    "dgx-a100": (32, 128),
    "dgx-h100": (32, 128),
    "mi300x": (8, 56),
    "sg2260-8chip": (8, 20),
    "sg2260-paired-rings": (8, 32),
    "tpu-v4": (64, 384),
    "tpu-v5e": (256, 1024),
}


def topology(entries: str) -> Topology:
    return build_topology(loads(f"topology: {{preset: {entries}}}\n{GATHER}", "a.yaml"))


def refusal(entries: str) -> str:
    """What is said of a scenario that reads well but cannot be built."""
    scenario = loads(f"topology: {{preset: {entries}}}\n{GATHER}", "a.yaml")
    with pytest.raises(ScenarioErrors) as caught:
        build_topology(scenario)
    return str(caught.value)


def test_presets_of_the_issue() -> None:
    assert set(preset_names()) == {*COUNTS, "sg2260-multilevel"}


@pytest.mark.parametrize("name", COUNTS)
def test_ranks_and_links(name: str) -> None:
    built = topology(name)
    assert (built.ranks, len(built.links)) == COUNTS[name]


@pytest.mark.parametrize("name", preset_names())
def test_every_number_has_a_grade(name: str) -> None:
    """A line with a number has its grade beside it, or, in a list of links, in the comment above."""
    text = (library_folder() / PRESETS / f"{name}.yaml").read_text("utf-8")
    _, _, block = text.partition("topology:\n")
    graded = re.compile(r"# .*\b[VPUA]\b")
    numbers = [line for line in block.splitlines() if re.search(r":.*\d", line.partition("#")[0])]
    assert numbers
    if "links:\n" in block:
        above = block[: block.index("  links:\n")].splitlines()[-2:]
        assert any(graded.search(line) for line in above)
        numbers = [line for line in numbers if "- {src:" not in line]
    assert [line for line in numbers if not graded.search(line)] == []


@pytest.mark.parametrize("name", preset_names())
def test_grades_are_explained(name: str) -> None:
    text = (library_folder() / PRESETS / f"{name}.yaml").read_text("utf-8")
    assert "# Grades: V a vendor's" in text
    cited = set(re.findall(r"\b[VPU] (\[\d\])", text))
    assert cited <= set(re.findall(r"\[\d\]", text.partition("topology:\n")[0]))


def test_the_vendors_preset_holds_nothing_assumed() -> None:
    text = (library_folder() / PRESETS / "sg2260-8chip.yaml").read_text("utf-8")
    assert set(re.findall(r"\b([VPUA]) \[", text)) == {"V"}


def test_ladder_of_eight_chips() -> None:
    """Degrees, diameter and bisection of the vendor's picture, counted by hand."""
    ladder = topology("sg2260-8chip")
    out = [int((ladder.links.src == rank).sum()) for rank in range(8)]
    assert out == [3, 3, 3, 3, 2, 2, 2, 2]
    assert set(ladder.links.bandwidth.tolist()) == {32e9}
    assert measure(ladder).diameter == 4


def test_dgx_1_has_the_matrix_of_nvlinks() -> None:
    """Links of each pair as NVIDIA's drawing, SCCL and TE-CCL have them."""
    matrix = [
        [0, 2, 1, 1, 2, 0, 0, 0],
        [2, 0, 1, 2, 0, 1, 0, 0],
        [1, 1, 0, 2, 0, 0, 2, 0],
        [1, 2, 2, 0, 0, 0, 0, 1],
        [2, 0, 0, 0, 0, 2, 1, 1],
        [0, 1, 0, 0, 2, 0, 1, 2],
        [0, 0, 2, 0, 1, 1, 0, 2],
        [0, 0, 0, 1, 1, 2, 2, 0],
    ]
    links = topology("dgx-1").links
    found = [[int(((links.src == i) & (links.dst == j)).sum()) for j in range(8)] for i in range(8)]
    assert found == matrix


def test_four_levels_of_the_seed() -> None:
    cluster = topology("sg2260-multilevel")
    assert cluster.levels == ("intra-chip", "intra-node", "intra-machine", "inter-machine")
    assert cluster.dims == (8, 2, 8, 2)


def test_a_parameter_is_replaced() -> None:
    scenario = loads(f"topology: {{preset: mi300x, ranks: 4, bandwidth: 48 GB/s}}\n{GATHER}", "a.yaml")
    assert scenario.topology.parameters == {"ranks": 4, "bandwidth": 48e9, "latency": 1e-6}
    assert (scenario.topology.kind, scenario.topology.preset) == ("full_mesh", "mi300x")


def test_a_block_is_merged_key_by_key() -> None:
    """Of the rail only the bandwidth is new: its latency stays."""
    links = topology("dgx-h100, nodes: 2, rail: {bandwidth: 25 GB/s}").links
    assert set(zip(links.bandwidth.tolist(), links.latency.tolist(), strict=True)) == {
        (450e9, 0.25e-6),
        (25e9, 0.25e-6),
    }


def test_a_level_of_a_cluster_is_changed_by_name() -> None:
    cluster = topology("sg2260-multilevel, levels: {inter-machine: {size: 3, bandwidth: 12.5 GB/s}}")
    assert cluster.dims == (8, 2, 8, 3)
    outer = cluster.links.level == cluster.levels.index("inter-machine")
    assert set(cluster.links.bandwidth[outer].tolist()) == {12.5e9}
    assert set(cluster.links.latency[outer].tolist()) == {3e-6}


def test_a_clusters_levels_may_be_given_anew() -> None:
    levels = "levels: [{name: chip, size: 4, shape: ring, bandwidth: 1 GB/s}]"
    assert topology(f"sg2260-multilevel, {levels}").levels == ("chip",)


@pytest.mark.parametrize(("name", "level"), [("dgx-1", "nvlink"), ("tpu-v4", "dim2"), ("dgx-a100", "rail")])
def test_a_level_of_any_other_kind_is_changed_by_name(name: str, level: str) -> None:
    entries = f"{name}, levels: {{{level}: {{bandwidth: 1 GB/s, latency: 9 us, overhead: 1 us}}}}"
    built = topology(entries)
    chosen = built.links.level == built.levels.index(level)
    columns = (built.links.bandwidth, built.links.latency, built.links.overhead)
    assert [set(column[chosen].tolist()) for column in columns] == [{1e9}, {9e-6}, {1e-6}]
    assert chosen.all() or (built.links.bandwidth[~chosen] > 1e9).all()


def test_overrides_come_after_changes_of_levels() -> None:
    levels, overrides = "{full_mesh: {bandwidth: 2 GB/s}}", "[{rank: 1, bandwidth: 1 GB/s}]"
    text = f"topology: {{preset: mi300x, levels: {levels}, overrides: {overrides}}}\n"
    scenario = loads(text + GATHER, "a.yaml")
    assert scenario.topology.overrides == (
        Override(level="full_mesh", bandwidth=2e9),
        Override(rank=1, bandwidth=1e9),
    )


def test_overrides_of_any_kind() -> None:
    text = """\
topology:
  kind: custom
  nodes: {ranks: 2, switches: [s]}
  links: [{src: 0, dst: s, bandwidth: 1 GB/s}, {src: s, dst: 1, bandwidth: 1 GB/s}]
  overrides: [{src: s, dst: 1, latency: 5 us}, {rank: 0, bandwidth: 2 GB/s}, {level: link, overhead: 1 us}]
"""
    scenario = loads(text + GATHER, "a.yaml")
    assert scenario.topology.overrides == (
        Override(src="s", dst=1, latency=5e-6),
        Override(rank=0, bandwidth=2e9),
        Override(level="link", overhead=1e-6),
    )
    assert scenario.topology.preset is None


@pytest.mark.parametrize(
    ("entries", "at", "message"),
    [
        ("dgx-1, levels: {nvlnk: {bandwidth: 1 GB/s}}", "nvlnk", 'there is no level "nvlnk"'),
        ("mi300x, overrides: [{level: mesh, latency: 1 us}]", "mesh", 'there is no level "mesh"'),
        ("mi300x, overrides: [{rank: 8, latency: 1 us}]", "8,", "there is no rank 8"),
        ("mi300x, overrides: [{src: 0, dst: 9, latency: 1 us}]", "9", "there is no node 9"),
        ("dgx-1, overrides: [{src: 0, dst: 7, latency: 1 us}]", "{src", "there is no link from 0 to 7"),
        ("tpu-v4, dims: []", "[]", "a grid "),
        (
            "sg2260-multilevel, levels: {intra-chip: {shape: hypercube, size: 6}}",
            "6}",
            "a hypercube needs a power of two, found 6",
        ),
        (
            "sg2260-multilevel, levels: {intra-chip: {uplink: {shared: 1}}}",
            "{shared",
            "the innermost level joins the ranks themselves",
        ),
    ],
)
def test_what_cannot_be_built_is_named_with_its_place(entries: str, at: str, message: str) -> None:
    column = f"topology: {{preset: {entries}}}".index(at) + 1
    assert refusal(entries).startswith(f"a.yaml:1:{column}: {message}")


def test_a_fault_of_a_presets_own_value_points_at_its_name() -> None:
    """What the scenario does not say itself stands at the name of its preset."""
    scenario = loads(f"topology: {{preset: mi300x, latency: 2 us}}\n{GATHER}", "a.yaml")
    assert scenario.source.locate(("topology", "bandwidth")) == (1, 20)
    assert scenario.source.locate(("topology", "latency")) == (1, 37)


def test_all_errors_around_a_preset_come_at_once() -> None:
    text = "topology: {preset: dgx1, overrides: 3}\ncollective: {kind: allgather, algorithm: rng, size: 1}\n"
    with pytest.raises(ScenarioErrors) as caught:
        loads(text, "a.yaml")
    places = [(error.line, error.column) for error in caught.value.errors]
    assert places == [(1, 20), (1, 37), (2, 42), (2, 53)]


def test_a_scenario_on_a_preset_travels_between_processes() -> None:
    scenario = loads(f"topology: {{preset: dgx-1}}\n{GATHER}", "a.yaml")
    assert pickle.loads(pickle.dumps(scenario)) == scenario


ON_A_PRESET = """\
topology:
  preset: sg2260-multilevel
  levels: {intra-chip: {size: 4, latency: 1 ns}, inter-machine: {uplink: {shared: 2}}}
  overrides: [{rank: 3, bandwidth: 1 GB/s}, {src: 0, dst: intra-chip/0, latency: 1 us}]
"""


@given(
    st.integers(0, len(ON_A_PRESET)),
    st.integers(0, 12),
    st.text("{}[]:,-&*!<? \n\t\"'0189.xenaGB/s~", max_size=6),
)
def test_a_preset_with_a_slip_of_the_pen_is_read_or_refused(start: int, length: int, slip: str) -> None:
    with suppress(ScenarioErrors):
        loads(ON_A_PRESET[:start] + slip + ON_A_PRESET[start + length :] + GATHER, "a.yaml")


def test_a_preset_is_no_scenario() -> None:
    with pytest.raises(ScenarioErrors, match='missing key "collective"'):
        load(library_folder() / PRESETS / "dgx-1.yaml")


def test_a_broken_preset_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / PRESETS).mkdir()
    (tmp_path / PRESETS / "bad.yaml").write_text("kind: ring\n", "utf-8")
    monkeypatch.setattr("simulator.scenario.presets.library_folder", lambda: tmp_path)
    with pytest.raises(ScenarioErrors, match=r"bad\.yaml:1:1: a preset is a mapping of topology"):
        read_preset("bad")


def test_a_level_of_links_has_only_what_links_have() -> None:
    text = (
        "topology: {preset: sg2260-8chip, levels: {nosuchlevel: {level: c2c, bandwidth: 1 GB/s}}}\n"
        "collective: {kind: allgather, algorithm: direct, size: 1 MB}\n"
    )
    with pytest.raises(ScenarioErrors, match=r'unknown key "level" in topology\.levels\.nosuchlevel'):
        loads(text, "a.yaml")
