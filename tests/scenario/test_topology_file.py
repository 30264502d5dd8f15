"""Topologies from files in scenarios and on the command line, whole and damaged."""

from __future__ import annotations

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from simulator.scenario import library, load
from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.folder import reopen
from simulator.scenario.run import build_topology, run
from simulator.scenario.schema import json_schema
from simulator.scenario.topology_file import foreign_topology, read_topology
from tests.cli.command import collsim
from tests.damage import damaged
from tests.topologies.formats.topology_files import FILES, GRAPHML
from topologies.errors import CollsimError
from topologies.formats.reading import Beside

DATA = Path(__file__).parents[3] / "shared" / "data"
SCENARIO = """\
topology: {file: TOPOLOGY}
collective: {kind: allgather, algorithm: ring, size: 6 MiB}
network: {model: cut_through}
"""
OPEN = {"hub.graphml": Beside(bandwidth=1e9)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with every file."""
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    return tmp_path


def scenario(folder: Path, topology: str) -> Path:
    path = folder / "scenario.yaml"
    path.write_text(SCENARIO.replace("{file: TOPOLOGY}", topology))
    return path


@pytest.mark.parametrize("name", [name for name in FILES if name not in ("hub.json", "pair.json")])
def test_a_collective_runs_on_every_file(folder: Path, name: str) -> None:
    beside = ", bandwidth: 1 GB/s" if name == "hub.graphml" else ""
    result = run(load.load(scenario(folder, f"{{file: {name}{beside}}}")))
    assert result.time > 0
    assert result.verified == "full"
    assert result.topology.notes == () or set(result.topology.notes) <= set(result.warnings)


def test_astra_sim_s_gigabytes_are_binary_and_said_so(folder: Path) -> None:
    built = build_topology(load.load(scenario(folder, "{file: astra.yml}")))
    # ORACLES: bytes per ns are bandwidth x 2^30 / 10^9
    assert set(built.links.bandwidth.tolist()) == {50 * 2.0**30, 25 * 2.0**30}
    assert set(built.links.latency.tolist()) == {500e-9, 936.25e-9}
    assert (built.ranks, built.dims) == (6, (3, 2))
    assert "ASTRA-sim's GB/s are GiB/s" in built.notes[0]


@pytest.mark.parametrize(
    ("topology", "message"),
    [
        ("{file: none.xml}", "none.xml: there is no such file"),
        ("{file: ., format: nccl}", ": is a directory; expected a topology"),
        (
            "{file: hub.graphml}",
            "hub.graphml:12:5: an edge has no bandwidth (bytes/s); say it for all such edges",
        ),
        ("{file: hub.json, format: taccl}", 'hub.json:1:1: expected a mapping with "gpus_per_node"'),
        ("{file: hub.json, machines: 2}", "hub.json:1:1: a graph is no machine"),
        ("{file: astra.yml, latency: 1 us}", "astra.yml:1:1: bandwidths and latencies are in the file"),
        (
            "{file: hub.json, format: nccl-xml}",
            'scenario.yaml:1:36: topology.format: found the text "nccl-xml"',
        ),
        (
            "{file: hub.json, ranks: 2}",
            'scenario.yaml:1:28: unknown key "ranks" in topology; expected file, format',
        ),
        ("{kind: ring, file: hub.json}", 'scenario.yaml:1:24: unknown key "file" in topology'),
        (
            "{file: scenario.txt}",
            "scenario.txt:1:1: cannot tell the format of this topology: it looks like none of nccl",
        ),
    ],
)
def test_what_is_wrong_is_said_of_the_file_where_it_is(folder: Path, topology: str, message: str) -> None:
    (folder / "scenario.txt").write_text("ring of 8")
    with pytest.raises(ScenarioErrors) as caught:
        run(load.load(scenario(folder, topology)))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (
            "Ring",
            "Torus",
            'astra.yml:1:13: topology[0]: found "Torus", expected Ring, FullyConnected, Switch',
        ),
        ("[ 3, 2 ]", "[ 3 ]", "astra.yml:2:13: npus_count: found 1 entries, but 2 of topology"),
        ("[ 3, 2 ]", "[ 3, two ]", "astra.yml:2:18: npus_count[1]: found two, expected a number of NPUs"),
        ("50.0", "0", "astra.yml:3:1"),
        ("[ 50.0, 25 ]", "{", "astra.yml:5:1: not YAML"),
    ],
)
def test_astra_sim_s_file_has_places_too(folder: Path, before: str, after: str, message: str) -> None:
    path = folder / "astra.yml"
    path.write_text(path.read_text().replace(before, after, 1))
    with pytest.raises(ScenarioErrors) as caught:
        read_topology(path)
    assert message.partition(":3:")[0] in str(caught.value)


def test_results_keep_the_topology_s_file(folder: Path) -> None:
    out = folder / "out"
    assert collsim("run", scenario(folder, "{file: xgmi.xml, latency: 1 us}"), "--out", out) == 0
    assert (out / "xgmi.xml").read_bytes() == FILES["xgmi.xml"]
    (folder / "xgmi.xml").unlink()
    again = reopen(out)
    assert build_topology(again).links.latency.tolist() == [1e-6] * 6


def test_the_command_measures_and_converts_files(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert collsim("topology", folder / "astra.yml", "--out", folder / "a.graphml") == 0
    assert "GiB/s" in capsys.readouterr().err
    assert collsim("topology", folder / "a.graphml", "--out", folder / "b.yml") == 0
    # 25 GiB/s there and back; 3 x 2 NPUs
    assert "bandwidth: [ 50, 25 ]" in (folder / "b.yml").read_text()
    assert collsim("topology", folder / "b.yml", "--out", folder / "b.yml") == 2
    assert "exists; --force overwrites it" in capsys.readouterr().err
    assert collsim("topology", folder / "xgmi.xml", "--out", folder / "x.yml") == 2
    assert not (folder / "x.yml").exists()


def test_a_scenario_s_name_is_no_file_of_another_program(folder: Path) -> None:
    assert foreign_topology(scenario(folder, "{file: xgmi.xml}")) is None
    assert foreign_topology(Path(f"{library.PREFIX}first-walk/ring-reduce-scatter-8")) is None


@pytest.mark.parametrize("name", FILES)
def test_damaged_files_are_read_or_refused(folder: Path, name: str) -> None:
    path = folder / name
    messages: list[str] = []
    for data in damaged(FILES[name]):
        path.write_bytes(data)
        try:
            read_topology(path, beside=OPEN.get(name))
        except CollsimError as error:
            messages += str(error).splitlines()
    assert len(messages) > 50
    assert [message for message in messages if f"{name}:" not in message] == []


def test_a_bomb_is_refused_before_it_goes_off(folder: Path) -> None:
    bomb = b'<!DOCTYPE a [<!ENTITY b "b"><!ENTITY c "&b;&b;">]>' + GRAPHML.partition(b"?>")[2]
    (folder / "bomb.graphml").write_bytes(bomb)
    with pytest.raises(ScenarioErrors, match=r"bomb.graphml:1:1: a document type"):
        read_topology(folder / "bomb.graphml")
    (folder / "deep.graphml").write_bytes(b"<a>" * 10**5)
    with pytest.raises(ScenarioErrors, match=r"nested more than 200 deep"):
        read_topology(folder / "deep.graphml")
    (folder / "deep.json").write_bytes(b'{"nodes": ' + b"[" * 10**5)
    with pytest.raises(ScenarioErrors, match=r"nested too deeply"):
        read_topology(folder / "deep.json")


def test_editors_are_told_of_files() -> None:
    schema = Draft202012Validator(json_schema(None))
    rest = {"collective": {"kind": "allgather", "algorithm": "ring", "size": "1 MiB"}}
    good = {"file": "a.xml", "format": "nccl", "machines": 2, "latency": "1 us"}
    assert schema.is_valid({"topology": good, **rest})
    for wrong in ({**good, "ranks": 8}, {**good, "format": "xml"}, {**good, "machines": 0}):
        assert not schema.is_valid({"topology": wrong, **rest}), wrong


@pytest.mark.skipif(not DATA.is_dir(), reason="no real files here")
@pytest.mark.parametrize(
    ("name", "ranks", "links"),
    [
        # 4 GPUs with a PCI link each to its CPU, both ways, and 4 CPUs among each other
        ("nccl/ncv4-topo.xml", 4, 8 + 12),
        # 8 GPUs and 4 switches, and 4 CPUs
        ("nccl/ndv4-topo.xml", 8, 16 + 8 + 12),
        # 12 xGMI; PCI: 4 GPUs, 4 and 1 switches, and the network's
        ("nccl/topo_4p3l.xml", 4, 12 + 2 * (4 + 4 + 1 + 1)),
        ("other/HGX-H100-validated.yml", 8, 16),
        ("other/Ring_16npus.yml", 16, 32),
    ],
)
def test_real_files_are_read(name: str, ranks: int, links: int) -> None:
    topology = foreign_topology(DATA / name)
    assert topology is not None
    assert (topology.ranks, len(topology.links)) == (ranks, links)
