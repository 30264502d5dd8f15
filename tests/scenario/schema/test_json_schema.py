"""The JSON Schema: it accepts what the loaders accept, and refuses what a schema can."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from pydantic_core import SchemaValidator, ValidationError

from algorithms.collective import COLLECTIVES
from algorithms.registry import ALGORITHMS
from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.fields import Parameter, block_schema
from simulator.scenario.library import PRESETS, WORDS, library_folder
from simulator.scenario.parse import parse
from simulator.scenario.plan_load import loads_any
from simulator.scenario.presets import preset_names
from simulator.scenario.schema import NAME, PRESET_NAME, json_schema, schema_text
from simulator.scenario.schema.convert import Definitions
from simulator.scenario.schema.docstrings import documented, summary
from simulator.scenario.schema.line import schema_above, with_line
from simulator.scenario.source import plain
from simulator.scenario.words import words_text
from tests.scenario.test_load import EVERY_KEY
from tests.scenario.test_wrong_input import CASES
from topologies.quantities import Bandwidth, Bytes, Count, Ratio, Time, Whole
from topologies.registry import TOPOLOGIES

LIBRARY = sorted(library_folder().rglob("*.yaml"))
FILES = {NAME: None, f"{PRESETS}/{PRESET_NAME}": "preset"}

RING = "topology: {kind: ring, ranks: 8, bandwidth: 64 GB/s}\n"
GATHER = "collective: {kind: allgather, algorithm: ring, size: 1 GiB}\n"
TOGETHER = f"""{RING}collectives:
  - {{name: a, kind: allreduce, algorithm: ring, size: 8 MB, ranks: {{first: 0, last: 6, every: 2}}}}
  - {{kind: barrier, algorithm: dissemination, after: [a], start: 1 us, expect: {{slowdown: {{at_most: 2}}}}}}
background: [{{src: 0, dst: 4, size: 1 MB, every: 20 us, times: 3}}]
network: {{model: packet, mtu: 1 KiB, routing: {{kind: ecmp, seed: 3}}}}
delay: {{3: 1 us}}
expect: {{time: 7 us, verified: full}}
"""
PLAN = """model: {preset: mixtral-8x7b, sequence: 1024, experts: {shared: 1}}
hardware: h100-80g
topology: {preset: dgx-h100, nodes: 2, rail: {bandwidth: 25 GB/s}}
parallel: {tp: 8, sp: true, dp: 2, zero: 1, order: [tp, cp, ep, dp, pp]}
batch: {global: 16, micro: 1}
memory: {convention: 18, recompute: selective, offload: [optimizer]}
search: {tp: [4, 8], zero: [0, 1]}
expect: {fits: true, memory_max: {value: 7 GiB, rel: 0.1}}
"""

# what no schema of this kind can say, by what it is
BEYOND = {
    "a whole number as 8.0 or 1e3, which is one in JSON": ("ranks as float", "ranks with exponent"),
    "how large a quantity may be, and whole bytes": (
        *("bandwidth vast", "bandwidth tiny", "bandwidth past floats", "bandwidth under floats"),
        *("bandwidth with huge exponent", "latency long", "latency endless", "size not whole", "size huge"),
    ),
    "how large a number is as a key": ("delay of a huge rank",),
    "what goes with what inside a block": (
        *("placed twice", "both tolerances", "no tolerance", "negative tolerance"),
    ),
}


@cache
def validator(part: str | None = None) -> Draft202012Validator:
    return Draft202012Validator(json_schema(part))


def as_json(text: str) -> Any:
    """What an editor takes a text for: every key is a text there."""
    source, refused = parse(text, "a.yaml")
    if refused:
        raise ScenarioErrors(refused)
    return _texts_as_keys(plain(source.root))


def _texts_as_keys(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _texts_as_keys(inner) for key, inner in value.items()}
    return [_texts_as_keys(inner) for inner in value] if isinstance(value, list) else value


def refusal(text: str, part: str | None = None) -> str:
    """What the schema says is wrong; nothing where it accepts."""
    value = as_json(text)
    if validator(part).is_valid(value):
        return ""
    error = best_match(validator(part).iter_errors(value))
    return "" if error is None else f"{error.json_path}: {error.message}"


@pytest.mark.parametrize(("name", "part"), FILES.items())
def test_published_file_is_current(name: str, part: str | None) -> None:
    assert (library_folder() / name).read_text("utf-8") == schema_text(part), "`make schema` writes it anew"


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(json_schema())


def test_published_words_are_current() -> None:
    assert (library_folder() / WORDS).read_text("utf-8") == words_text(), "`make schema` writes them anew"


@pytest.mark.parametrize("file", LIBRARY, ids=lambda file: file.stem)
def test_library_is_accepted_and_names_its_schema(file: Path) -> None:
    text = file.read_text("utf-8")
    is_preset = PRESETS in file.parts
    assert refusal(text, "preset" if is_preset else None) == ""
    schema = schema_above(file)
    assert schema == library_folder() / (f"{PRESETS}/{PRESET_NAME}" if is_preset else NAME)
    assert text == with_line(text, file, schema), "`make schema` writes the line"


def _single_cases() -> Iterator[tuple[str, str]]:
    """Cases of wrong input that are values, not texts that are no YAML."""
    for name, text, _ in CASES:
        if isinstance(text, str) and len(text) < 10_000:
            with suppress(ScenarioErrors):
                as_json(text)
                yield name, text


def test_wrong_input_is_refused_where_a_schema_can() -> None:
    cases = dict(_single_cases())
    assert len(cases) > 100
    accepted = {name for name, text in cases.items() if validator().is_valid(as_json(text))}
    assert accepted == {name for names in BEYOND.values() for name in names}


@pytest.mark.parametrize(
    "text",
    [
        TOGETHER.replace("ranks: {first", "rank: {first"),
        TOGETHER.replace("allreduce", "allreducer"),
        TOGETHER.replace("algorithm: ring", "algorithm: bruck"),
        TOGETHER.replace("size: 8 MB,", ""),
        TOGETHER.replace("start: 1 us", "start: 1"),
        TOGETHER.replace("network: {", "network: {placement: auto, "),
        TOGETHER.replace("background: [{src: 0, dst", "background: [{src: 0, dest"),
        PLAN.replace("mixtral-8x7b", "mixtral"),
        PLAN.replace("experts: {", "experts: {hidden: 8, "),
        PLAN.replace("h100-80g", "h100"),
        PLAN.replace("nodes: 2", "node: 2"),
        PLAN.replace("rail: {", "rail: {name: x, "),
        PLAN.replace("zero: 1,", "zero: 4,"),
        PLAN.replace("global: 16, ", ""),
        PLAN.replace("recompute: selective", "recompute: some"),
        PLAN.replace("[optimizer]", "[optimiser]"),
        PLAN.replace("7 GiB", "7"),
        PLAN + GATHER,
        RING + GATHER + "sweep: {vari: {}}\n",
        RING + GATHER + "sweep: {how: all}\n",
        "topology: {preset: dgx-1, kind: ring}\n" + GATHER,
        "topology: {preset: dgx-1, ranks: 4}\n" + GATHER,
        "topology: {preset: sg2260-multilevel, levels: {inter-rack: {size: 2}}}\n" + GATHER,
        "topology: {preset: dgx-h100, levels: {rail: {size: 2}}}\n" + GATHER,
    ],
)
def test_other_wrong_input_is_refused(text: str) -> None:
    assert text not in (TOGETHER, PLAN)
    assert refusal(text)
    with suppress(ScenarioErrors):
        loads_any(text)
        pytest.fail("the loader accepts it")


@pytest.mark.parametrize(
    "text",
    [
        "topology: {preset: sg2260-multilevel, levels: {inter-machine: {size: 4}}}\n" + GATHER,
        "topology: {preset: dgx-h100, levels: {rail: {bandwidth: 1 GB/s}}}\n" + GATHER,
        "topology: {preset: dgx-1, overrides: [{rank: 0, latency: 1 us}]}\n" + GATHER,
        RING
        + "collective: {kind: reduce, size: 1 B, blocks: 1, steps: [{0 -> 1: reduce all}, [0->1: copy 0]]}\n",
        RING
        + "collective: {kind: allgather, size: 1 B, algorithm: {file: a.py, function: f, options: {a: 1}}}\n",
        RING + "collective: {kind: scatter, algorithm: linear, sizes: [1 B, 2 B]}\n",
        RING + GATHER + "delay: {0x3: 1 us, +4: -0 us}\n",
        "model: llama3-8b\nbatch: {global: 8}\n",
    ],
)
def test_other_input_is_accepted(text: str) -> None:
    loads_any(text)
    assert refusal(text) == ""


def test_what_an_algorithm_does_and_takes_is_what_the_loader_says() -> None:
    options = sorted({option for algorithm in ALGORITHMS.values() for option in algorithm.options})
    for name, algorithm in ALGORITHMS.items():
        for kind in COLLECTIVES:
            text = f"{RING}collective: {{kind: {kind}, algorithm: {name}, size: 1 B}}\n"
            assert validator().is_valid(as_json(text)) == (kind in algorithm.collectives), (name, kind)
        known = json_schema_of(name)["properties"]
        assert {option for option in options if option in known} == set(algorithm.options)


def json_schema_of(algorithm: str) -> Any:
    """Keys beside an algorithm."""
    rules = validator().schema["$defs"]["a-collective"]["allOf"][-1]["else"]["else"]["allOf"]
    for rule in rules:
        if rule["if"].get("properties", {}).get("algorithm") == {"const": algorithm}:
            return rule["then"]
    raise AssertionError(algorithm)


def _described(node: Any, place: str = "$") -> Iterator[tuple[str, str]]:
    """Every key that a person may write, with what is said of it."""
    if isinstance(node, dict):
        for name, key in node.get("properties", {}).items():
            if isinstance(key, dict) and "const" not in key and "enum" not in key:
                inner = validator().schema["$defs"].get(key.get("$ref", "").rpartition("/")[2], {})
                yield f"{place}.{name}", key.get("description") or inner.get("description") or ""
        for name, inner in node.items():
            if name != "if":
                yield from _described(inner, f"{place}/{name}")
    elif isinstance(node, list):
        for i, inner in enumerate(node):
            yield from _described(inner, f"{place}/{i}")


def test_every_key_is_described() -> None:
    found = [entry for entry in _described(validator().schema) if not entry[0].endswith("/then.algorithm")]
    assert len(found) > 300
    assert [place for place, text in found if not text] == []


def test_what_is_said_and_assumed_of_a_key() -> None:
    ring = validator().schema["$defs"]["topology-ring"]["properties"]
    assert ring["direction"] == {
        "description": "A link each way between neighbours, or only from i to i+1.",
        "enum": ["both", "one"],
        "default": "both",
    }
    assert ring["latency"]["default"] == "0 s"
    # a person writes the unit
    assert ring["bandwidth"]["description"] == "Of each directed link."
    kinds = validator().schema["$defs"]["topology"]["properties"]["kind"]
    assert kinds["enum"] == list(TOPOLOGIES)
    assert kinds["enumDescriptions"] == [summary(builder) for builder in TOPOLOGIES.values()]
    presets = validator().schema["$defs"]["topology"]["properties"]["preset"]
    assert presets["enum"] == list(preset_names())


KEYS = {"rate": Bandwidth, "wait": Time, "size": Bytes, "count": Count, "rank": Whole, "share": Ratio}
BLOCK = block_schema({name: Parameter(annotation, required=False) for name, annotation in KEYS.items()})


@given(
    st.sampled_from(sorted(KEYS)),
    st.one_of(
        st.integers(-2, 3),
        st.booleans(),
        st.none(),
        st.builds(
            "{}{}{}".format,
            st.sampled_from(["0", "1", "-1", "-0", "+2", ".5", "1.", "1e3", "-.0e1", "0x1", "", "1,5"]),
            st.sampled_from(["", " ", "\t"]),
            st.sampled_from(["GB/s", "Gb/s", "gb/s", "us", "µs", "s", "B", "MiB", "kb", "min", "", "GB"]),
        ),
    ),
)
def test_quantities_are_read_alike(name: str, value: Any) -> None:
    definitions = Definitions()
    block = definitions.convert(BLOCK)
    schema = Draft202012Validator({**block, "$defs": definitions.blocks})
    try:
        SchemaValidator(BLOCK).validate_python({name: value})
    except ValidationError as error:
        fits = [detail["msg"] for detail in error.errors() if "out of range" in detail["msg"]]
        accepted = bool(fits) or "whole number of bytes" in str(error)
    else:
        accepted = True
    assert schema.is_valid({name: value}) == accepted


@pytest.mark.parametrize("text", [EVERY_KEY, TOGETHER, PLAN], ids=["collective", "together", "plan"])
def test_what_the_loader_accepts_the_schema_accepts(text: str) -> None:
    @given(
        st.integers(0, len(text)),
        st.integers(0, 12),
        st.text("{}[]:,-&*!<? \n\t\"'0189.xenaGB/s~", max_size=6),
    )
    def holds(start: int, length: int, slip: str) -> None:
        changed = text[:start] + slip + text[start + length :]
        with suppress(ScenarioErrors):
            loads_any(changed)
            assert refusal(changed) == ""

    holds()


class Base:
    """A base.

    Parameters
    ----------
    first, second : int
        Over
        two lines: bytes/s, s.

    Raises
    ------
    ValueError
        Never.
    """


class Derived(Base):
    """A class that says more.

    Attributes
    ----------
    third : int
    second : int
        Anew.
    """


def test_docstrings() -> None:
    assert documented(Derived) == {
        "first": "Over two lines: bytes/s, s.",
        "second": "Anew.",
        "third": "",
    }
    assert summary(Derived) == "A class that says more."


def write() -> None:
    """Write the published schemas, and the line that names one into every file of the library."""
    for name, part in FILES.items():
        (library_folder() / name).write_text(schema_text(part), "utf-8")
    (library_folder() / WORDS).write_text(words_text(), "utf-8")
    for file in LIBRARY:
        schema = schema_above(file)
        if schema is not None:
            file.write_text(with_line(file.read_text("utf-8"), file, schema), "utf-8")


def test_schema_is_small_enough_to_load_in_no_time() -> None:
    assert len(json.dumps(validator().schema)) < 200_000


if __name__ == "__main__":
    write()
