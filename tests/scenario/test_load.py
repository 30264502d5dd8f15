from __future__ import annotations

import os
import pickle
import threading
import time
import typing
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import FrozenInstanceError, dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import SchemaValidator, ValidationError

from algorithms.registry import ALGORITHMS
from simulator.scenario.errors import ScenarioError, ScenarioErrors, nearest
from simulator.scenario.fields import Parameter, block_schema, parameters_of, schema_of
from simulator.scenario.load import load, loads
from simulator.scenario.models import Expect, ExpectedTime, Network, Reduction, Scenario, Tolerance
from topologies.errors import CollsimError
from topologies.quantities import Count, Ratio, Time
from topologies.registry import TOPOLOGIES
from topologies.text import printable

EVERY_KEY = """\
name: Ring ReduceScatter on 8 chips
topology: {kind: ring, ranks: 8, bandwidth: 64 GB/s, latency: 1 us, overhead: 0 s, direction: both}
collective: {kind: reduce_scatter, algorithm: ring, size: 1 GiB, first_chunk: -1}
reduction: {bandwidth: 512 GB/s, mode: streamed}
network:
  model: cut_through
  sync: dataflow
  placement: [0, 1, 2, 3, 4, 5, 6, 7]
  direct_links_only: true
engine: simpy
verify: no
delay: {3: 10 us, 0x4: 1 ms}
expect:
  steps: 7
  depth: 7
  transfers: 56
  bytes_sent_max: 939524096
  bytes_sent_total: 7516192768
  time: {value: 14.7 ms, rel: 1e-2}
  analytic: {abs: 1 ns}
  verified: no
"""

LEAST = """\
topology: {kind: crossbar, ranks: 2, bandwidth: 400 Gbit/s}
collective: {kind: allreduce, algorithm: direct, size: 0 B}
"""


def test_every_key(tmp_path: Path) -> None:
    file = tmp_path / "ring.yaml"
    file.write_text(EVERY_KEY, "utf-8")
    scenario = load(file)
    assert scenario.name == "Ring ReduceScatter on 8 chips"
    assert scenario.topology.kind == "ring"
    assert scenario.topology.parameters == {
        "ranks": 8,
        "bandwidth": 64e9,
        "latency": 1e-6,
        "overhead": 0.0,
        "direction": "both",
    }
    assert (scenario.collective.kind, scenario.collective.algorithm) == ("reduce_scatter", "ring")
    assert (scenario.collective.size, scenario.collective.options) == (2**30, {"first_chunk": -1})
    assert scenario.reduction == Reduction(512e9, "streamed")
    assert scenario.network == Network("cut_through", "dataflow", tuple(range(8)), True)
    assert (scenario.engine, scenario.verify, scenario.delay) == ("simpy", "no", {3: 1e-5, 4: 1e-3})
    assert scenario.expect == Expect(
        steps=7,
        depth=7,
        transfers=56,
        bytes_sent_max=939524096,
        bytes_sent_total=7516192768,
        time=ExpectedTime(0.0147, rel=1e-2),
        analytic=Tolerance(abs=1e-9),
        verified="no",
    )
    assert scenario.source.file == str(file)


def test_defaults() -> None:
    scenario = loads(LEAST, "library/two chips.yaml")
    assert scenario.name == "two chips"
    assert scenario.topology.parameters == {"ranks": 2, "bandwidth": 50e9}
    assert scenario.collective.options == {}
    assert scenario.reduction is None
    assert scenario.network == Network("store_and_forward", "step", None, False)
    assert (scenario.engine, scenario.verify, scenario.delay, scenario.expect) == (
        "auto",
        None,
        {},
        Expect(),
    )


def test_a_text_needs_no_name() -> None:
    scenario = loads(LEAST)
    assert (scenario.name, scenario.source.file) == ("scenario", "scenario")


def test_the_name_of_a_file_is_made_printable() -> None:
    assert loads(LEAST, "a\nb.yaml").name == r"a\nb"
    assert len(loads(LEAST, "x" * 250 + ".yaml").name) == 200
    assert loads(LEAST + f"name: {'x' * 200}\n").name == "x" * 200


def test_a_path_may_be_a_text(tmp_path: Path) -> None:
    file = tmp_path / "two.yaml"
    file.write_text(LEAST, "utf-8")
    assert load(str(file)) == load(file)


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="a pipe has no name here")
@pytest.mark.parametrize("wait", [0.0, 0.2])
def test_a_pipe_that_a_shell_made_is_read(wait: float) -> None:
    """What `collsim run <(command)` names, before and after the command has written."""
    reader, writer = os.pipe()

    def write() -> None:
        time.sleep(wait)
        os.write(writer, LEAST.encode())
        os.close(writer)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        assert load(f"/dev/fd/{reader}").topology.kind == "crossbar"
    finally:
        thread.join()
        os.close(reader)


def test_same_text_is_an_equal_scenario() -> None:
    assert loads(EVERY_KEY, "a.yaml") == loads("# moved\n" + EVERY_KEY, "b.yaml")


def test_scenario_is_frozen_and_travels_between_processes() -> None:
    scenario = loads(EVERY_KEY, "a.yaml")
    with pytest.raises(FrozenInstanceError):
        scenario.name = "other"  # type: ignore[misc]
    again: Scenario = pickle.loads(pickle.dumps(scenario))
    assert again == scenario
    assert again.source.locate(("expect", "steps"), key=True) == (14, 3)


def test_places_of_expectations() -> None:
    source = loads(EVERY_KEY, "a.yaml").source
    keys = [source.locate(("expect", key), key=True) for key in ("steps", "transfers", "time", "verified")]
    assert keys == [(14, 3), (16, 3), (19, 3), (21, 3)]
    assert source.locate(("expect", "time", "rel")) == (19, 31)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("7 us", ExpectedTime(7e-6)),
        ("{value: 7 us}", ExpectedTime(7e-6)),
        ("{value: 7 us, rel: 1e-9}", ExpectedTime(7e-6, rel=1e-9)),
        ("{value: 7 us, rel: 0}", ExpectedTime(7e-6, rel=0.0)),
        ("{value: 7 us, abs: 1 ns}", ExpectedTime(7e-6, abs=1e-9)),
    ],
)
def test_expected_time(text: str, time: ExpectedTime) -> None:
    assert loads(f"{LEAST}expect: {{time: {text}}}\n", "a.yaml").expect.time == time


def test_slow_reducers_and_a_placement_to_be_searched() -> None:
    text = "reduction: {bandwidth: 512 GB/s, ranks: {0: 64 GB/s}}\nnetwork: {placement: auto}\n"
    scenario = loads(LEAST + text + "expect: {congestion_factor: 0.875}\n", "a.yaml")
    assert scenario.reduction == Reduction(512e9, ranks={0: 64e9})
    assert scenario.network == Network(placement="auto")
    assert scenario.expect == Expect(congestion_factor=0.875)


def test_multilevel_is_ready_for_its_builder() -> None:
    text = """\
topology:
  kind: multilevel
  levels:
    - {name: card, size: 4, shape: full_mesh, bandwidth: 64 GB/s, latency: 1 us}
    - {name: machine, size: 2, shape: ring, bandwidth: 16 GB/s, uplink: per_rank}
    - {name: room, size: 2, shape: switch, bandwidth: 4 GB/s, uplink: {shared: 2}}
collective:
  {kind: allreduce, algorithm: hierarchical, size: 1 MB, dims: [4, 2, 2], algorithms: [direct, ring, ring]}
"""
    scenario = loads(text, "a.yaml")
    assert TOPOLOGIES["multilevel"](**scenario.topology.parameters).ranks == 16
    assert scenario.collective.options == {"dims": (4, 2, 2), "algorithms": ("direct", "ring", "ring")}


def test_custom_is_ready_for_its_builder() -> None:
    text = """\
topology:
  kind: custom
  nodes: {ranks: 2, switches: [s]}
  links:
    - {src: 0, dst: s, bandwidth: 1 GB/s}
    - {src: s, dst: 1, bandwidth: 1 GB/s, direction: both, count: 2}
collective: {kind: allgather, algorithm: ring, size: 2 B}
"""
    topology = TOPOLOGIES["custom"](**loads(text, "a.yaml").topology.parameters)
    assert topology.ranks == 2


def test_a_builders_error_finds_its_place() -> None:
    text = LEAST.replace("crossbar, ranks: 2", "hypercube, dimension: 99")
    scenario = loads(text, "a.yaml")
    with pytest.raises(CollsimError) as caught:
        TOPOLOGIES["hypercube"](**scenario.topology.parameters)
    error = scenario.source.error(caught.value.message, ("topology", *caught.value.at))
    assert str(error).startswith("a.yaml:1:40: ")


@pytest.mark.parametrize("kind", TOPOLOGIES)
def test_every_topology_has_a_yaml_form(kind: str) -> None:
    SchemaValidator(block_schema(parameters_of(TOPOLOGIES[kind])))


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_option_has_a_yaml_form(name: str) -> None:
    with pytest.raises(ScenarioErrors) as caught:
        loads(LEAST.replace("direct", name).replace("0 B", "0"), "a.yaml")
    assert "2:" in str(caught.value)


@dataclass(frozen=True, slots=True)
class Ports:
    """A block that a later topology might ask for."""

    count: Count
    wait: Time = 0.0

    def __post_init__(self) -> None:
        if self.count == 13:
            raise CollsimError("thirteen ports", ("count",))


@dataclass(frozen=True, slots=True)
class Lanes:
    """Another one, told apart by its keys."""

    width: Count


def made_later(
    copy: Ports | Lanes | Sequence[Count] | str,
    json: typing.Optional[bool] = None,  # noqa: UP045 - the older spelling must work, too
    schema: Mapping[str, float] | None = None,
    size: Literal[1, 2] = 1,
    shape: tuple[Count, ...] = (),
    share: Ratio | None = None,
) -> None:
    """Builder of a topology that nobody has written yet."""


VALIDATOR = SchemaValidator(block_schema(parameters_of(made_later)))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ({"copy": {"count": 2, "wait": "1 us"}}, {"copy": Ports(2, 1e-6)}),
        ({"copy": {"width": 2}}, {"copy": Lanes(2)}),
        ({"copy": [1, 2]}, {"copy": (1, 2)}),
        ({"copy": "all", "json": True, "size": 2}, {"copy": "all", "json": True, "size": 2}),
        ({"copy": "all", "schema": {"a": 1}}, {"copy": "all", "schema": {"a": 1.0}}),
        ({"copy": "all", "share": 2}, {"copy": "all", "share": 2.0}),
        ({"copy": "all", "shape": [4, 4]}, {"copy": "all", "shape": (4, 4)}),
    ],
)
def test_a_new_builder_needs_no_change_here(written: Any, read: Any) -> None:
    assert VALIDATOR.validate_python(written) == read


@pytest.mark.parametrize(
    "written",
    [
        {},
        {"copy": None},
        {"copy": 3},
        {"copy": {"count": 13}},
        {"copy": "all", "json": 1},
        {"copy": "all", "size": True},
        {"copy": "all", "schema": {"a": True}},
        {"copy": "all", "schema": {"a": 1e30}},
        {"copy": "all", "shape": 4},
        {"copy": "all", "more": 4},
        {"copy": "all", "share": 0},
        {"copy": "all", "share": True},
    ],
)
def test_a_new_builders_wrong_input_is_refused(written: Any) -> None:
    with pytest.raises(ValidationError):
        VALIDATOR.validate_python(written)


def test_an_annotation_without_a_yaml_form_is_a_mistake_in_the_code() -> None:
    with pytest.raises(TypeError, match="no YAML form for <class 'complex'>"):
        schema_of(complex)


def test_parameters() -> None:
    assert parameters_of(Ports) == {"count": Parameter(Count, True), "wait": Parameter(Time, False)}


@given(
    st.integers(0, len(EVERY_KEY)),
    st.integers(0, 12),
    st.text("{}[]:,-&*!<? \n\t\"'0189.xenaGB/s~", max_size=6),
)
def test_a_scenario_with_a_slip_of_the_pen_is_read_or_refused(start: int, length: int, slip: str) -> None:
    with suppress(ScenarioErrors):
        loads(EVERY_KEY[:start] + slip + EVERY_KEY[start + length :], "a.yaml")


def test_errors_travel_between_processes() -> None:
    error = ScenarioError("m", "f", 1, 2, ("a",))
    errors = pickle.loads(pickle.dumps(ScenarioErrors([error])))
    assert str(errors) == "f:1:2: m"
    assert errors.errors[0].at == ("a",)


def test_errors_are_sorted_by_place() -> None:
    errors = ScenarioErrors(
        [ScenarioError("c", "f", 2, 1), ScenarioError("b", "f", 1, 9), ScenarioError("a", "f")]
    )
    assert str(errors) == "f: a\nf:1:9: b\nf:2:1: c"


@pytest.mark.parametrize(
    ("word", "words", "near"),
    [
        ("rng", ["crossbar", "ring"], "ring"),
        ("Ring", ["ring", "Rings"], "ring"),
        ("zzz", ["ring"], None),
        ("x" * 100_000, ["ring"], None),
        ("ring", [], None),
    ],
)
def test_nearest(word: str, words: list[str], near: str | None) -> None:
    assert nearest(word, words) == near


def test_printable() -> None:
    assert printable("a\ud800\x9b\u202e\u00e9") == "a\\ud800\\x9b\\u202e\u00e9"
