"""Whatever a person writes, the answer is file:line:column and a sentence, never a traceback."""

# ruff: noqa: E501 - a table reads best with a case a line

from __future__ import annotations

import os
from pathlib import Path

import pytest

from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.load import load, loads

RING = "topology: {kind: ring, ranks: 8, bandwidth: 64 GB/s}\n"
GATHER = "collective: {kind: allgather, algorithm: ring, size: 1 GiB}\n"
GOOD = RING + GATHER


def ring(entries: str) -> str:
    """Scenario of which only the topology's second line varies."""
    return f"topology:\n  kind: ring\n  {entries}\n{GATHER}"


def gather(entries: str) -> str:
    """Scenario of which only the collective varies."""
    return f"{RING}collective: {{{entries}}}\n"


def preset(entries: str) -> str:
    """Scenario on a known machine."""
    return f"topology: {{preset: {entries}}}\n{GATHER}"


def levels(entries: str) -> str:
    """Scenario on a cluster of one level."""
    return f"topology: {{kind: multilevel, levels: [{entries}]}}\n{GATHER}"


def alias_bomb(layers: int, width: int) -> str:
    lines = ["a0: &a0 [" + "x, " * width + "x]"]
    lines += [f"a{i}: &a{i} [" + f"*a{i - 1}, " * width + f"*a{i - 1}]" for i in range(1, layers)]
    return "\n".join(lines)


CASES: list[tuple[str, str | bytes, list[str]]] = [
    # the file itself
    ("empty", "", ["1:1: the file is empty; expected a scenario"]),
    ("only comments", "# a\n\n# b\n", ["1:1: the file is empty"]),
    ("only a marker", "---\n", ["2:1: the scenario: found nothing, expected a mapping"]),
    ("not UTF-8", b"name: caf\xe9\n", ["1:10: not UTF-8 text: found the byte 0xe9"]),
    ("not UTF-8 after accents", "name: caf\u00e9\nx: ".encode() + b"\xff", ["2:4: not UTF-8"]),
    ("UTF-16", "name: x".encode("utf-16"), ["1:1: not UTF-8"]),
    ("NUL byte", b"name: a\0b\n", ["1:8: the character U+0000 is not allowed"]),
    ("control character", "name: a\x1b[31m\n", ["1:8: the character U+001B is not allowed"]),
    ("C1 control character", "# x\r\nname: a\x85b\n", ["2:8: the character U+0085 is not allowed"]),
    ("line separator", "name: a\u2028b\n", ["1:8: the character U+2028 is not allowed"]),
    ("BOM in the middle", "name: \ufeffa\n", ["1:7: the character U+FEFF is not allowed"]),
    ("raw surrogate", "name: \ud800\n", ["1:7: the character U+D800 is not allowed"]),
    ("large", b"#" * 1_000_001, ["1:1: the file is larger than 1 MB; a scenario is small"]),
    ("large in bytes", "\u00e9".encode() * 500_001, ["1:1: the file is larger than 1 MB"]),
    ("large text", "#" * 1_000_001, ["1:1: the file is larger than 1 MB"]),
    ("many values", "[" + "1," * 50_000 + "]", ["1:100000: more than 50000 values"]),
    ("not a character", "name: \ufdd0\n", ["1:7: the character U+FDD0 is not allowed"]),
    ("not a character in plane 1", "name: \U0001fffe\n", ["1:7: the character U+1FFFE is not allowed"]),
    ("two documents", GOOD + "---\nname: x\n", ["3:1: a second document begins"]),
    ("text", "hello\n", ['1:1: the scenario: found the text "hello", expected a mapping of topology']),
    ("number", "42\n", ["1:1: the scenario: found the number 42, expected a mapping"]),
    ("list", "- a\n- b\n", ["1:1: the scenario: found a list, expected a mapping"]),
    ("binary rubbish", bytes(range(128, 256)), ["1:1: not UTF-8"]),
    # YAML
    ("open bracket", "a: [1, 2\n", ["2:1: not YAML: expected ',' or ']', but got the end of the file"]),
    ("open quote", 'name: "abc\n', ["2:1: not YAML: found unexpected end of the file"]),
    ("tab indent", "topology:\n\tkind: ring\n", ["2:1: not YAML: found a tab; indent with spaces"]),
    ("colon in a value", "name: a: b\n", ['1:8: not YAML: found ":" where no key can stand']),
    ("wrong indent", "name: a\n engine: auto\n", ['2:8: not YAML: found ":" where no key can stand']),
    ("reserved character", "name: @a\n", ["1:7: not YAML: found character '@'"]),
    ("stray bracket", "name: a\n]\n", ["2:1: not YAML"]),
    ("two values", "name: 'a' b\n", ["1:11: not YAML: expected the end of the block, but found a value"]),
    ("bad escape", 'name: "\\q"\n', ["1:9: not YAML: found unknown escape character 'q'"]),
    ("escape out of range", 'name: "\\U00110000"\n', ["1:10: an escape or a version"]),
    ("huge escape", 'name: "\\Uffffffff"\n', ["1:10: an escape or a version"]),
    ("other YAML version", "%YAML 2.0\n---\n" + GOOD, ["1:1: not YAML: found incompatible YAML document"]),
    ("huge YAML version", f"%YAML 1.{'9' * 5000}\n---\n" + GOOD, ["1:9: an escape or a version"]),
    ("surrogate escape", GOOD + 'name: "\\ud800"\n', ['3:7: found "\\ud800", expected text without']),
    ("NUL escape", GOOD + 'name: "a\\0b"\n', ['3:7: found "a\\x00b", expected text without the character U+0000']),
    ("terminal escape", GOOD + 'name: "\\e[31m"\n', ['3:7: found "\\x1b[31m", expected text without']),
    ("return escape", GOOD + 'name: "a\\rb"\n', ["3:7: found \"a\\rb\", expected text without the character U+000D"]),
    ("separator escape", GOOD + 'name: "a\\Lb"\n', ["3:7: found \"a\\u2028b\", expected text without the character U+2028"]),
    ("escape of no character", GOOD + 'name: "\\ufffe"\n', ["3:7: found \"\\ufffe\", expected text without the character U+FFFE"]),
    ("escape of the last code", GOOD + 'name: "a\\uffff"\n', ["3:7: found \"a\\uffff\", expected text without the character U+FFFF"]),
    ("escape of no character past 16 bits", GOOD + 'name: "\\ud83f\\udfff"\n', ["3:7: found \"\\ud83f\\udfff\", expected text without the character U+1FFFF"]),
    ("escape of no character in a key", GOOD + '"\\uffff": 1\n', ["3:1: found \"\\uffff\", expected text without the character U+FFFF"]),
    ("deep list", "a: " + "[" * 10_000, ["1:33: nested more than 30 levels deep"]),
    ("deep mapping", "{a: " * 10_000, ["1:118: nested more than 30 levels deep"]),
    ("deep block", "- " * 10_000, ["1:61: nested more than 30 levels deep"]),
    ("python tag", GOOD + "name: !!python/object/apply:os.system [ls]\n", ['3:7: found the tag "!!python/object']),
    ("own tag", ring("ranks: !eight 8\n  bandwidth: 1 GB/s"), ['3:10: found the tag "!eight"; tags are not']),
    ("binary tag", GOOD + "name: !!binary aGk=\n", ['3:7: found the tag "!!binary"']),
    ("set tag", GOOD + "delay: !!set {}\n", ['3:8: found the tag "!!set"']),
    ("timestamp tag", GOOD + "name: !!timestamp 2001-12-14\n", ['3:7: found the tag "!!timestamp"']),
    ("int tag", ring("ranks: !!int 8\n  bandwidth: 1 GB/s"), ['3:10: found the tag "!!int"']),
    ("tag without a name", GOOD + "name: ! x\n", ['3:7: found the tag "!"']),
    ("unknown alias", GOOD + "name: *x\n", ['3:7: the alias "*x" has no anchor "&x" before it']),
    ("recursive alias", "a: &a [*a]\n", ['1:8: the alias "*a" stands inside its own anchor']),
    ("many aliases", "a: &a 1\nb: [" + "*a, " * 21 + "]\n", ["2:85: more than 20 aliases"]),
    ("alias bomb", alias_bomb(9, 8), ["4:20: more than 20 aliases"]),
    ("wide alias bomb", "a: &a [" + "x," * 600 + "]\nb: [" + "*a, " * 20 + "]\n", ["2:69: aliases repeat more than"]),
    ("merge key", ring("<<: {ranks: 8}\n  bandwidth: 1 GB/s"), ["1:1: missing key", '3:3: the merge key "<<" is not']),
    ("duplicate key", GOOD + GATHER, ['3:1: the key "collective" is given twice; first at 2:1']),
    ("duplicate inner key", ring("ranks: 8\n  bandwidth: 1 GB/s\n  ranks: 4"), ['5:3: the key "ranks" is given twice; first at 3:3']),
    ("duplicate number key", GOOD + "delay: {3: 1 us, 0x3: 2 us}\n", ['3:18: the key "0x3" is given twice; first at 3:9']),
    ("list as a key", GOOD + "? [a]\n: 1\n", ["3:3: found a list as a key, expected a word"]),
    ("mapping as a key", GOOD + "{a: 1}: 1\n", ["3:1: found a mapping as a key, expected a word"]),
    ("true as a key", GOOD + "true: 1\n", ["3:1: found true as a key, expected a word"]),
    ("nothing as a key", GOOD + "~: 1\n", ["3:1: found nothing as a key, expected a word"]),
    ("number as a key", GOOD + "7: 1\n", ["3:1: found the number 7 as a key in the scenario, expected a word"]),
    ("float as a key", GOOD + "1.5: 1\n", ["3:1: found the number 1.5 as a key in the scenario, expected a word"]),
    ("huge number as a key", GOOD + f"{10**30}: 1\n", [f"3:1: found the number {10**30} as a key in the scenario, expected a word"]),
    ("number and its text as keys", GOOD + 'delay: {1.5: 1 us, "1.5": 1 us}\n', ['3:20: the key "1.5" is given twice; first at 3:9']),
    ("whole number twice as a key", GOOD + "delay: {1: 1 us, 1.0: 2 us}\n", ['3:18: the key "1.0" is given twice; first at 3:9']),
    # keys
    ("no topology", GATHER, ['1:1: missing key "topology" in the scenario']),
    ("no collective", RING, ['1:1: missing key "collective", or "collectives", in the scenario']),
    ("unknown key", GOOD + "engin: auto\n", ['3:1: unknown key "engin" in the scenario; did you mean "engine"?']),
    ("far key", GOOD + "zzz: 1\n", ['3:1: unknown key "zzz" in the scenario; expected name, topology, collective']),
    ("later key", GOOD + "failures: none\n", ['3:1: unknown key "failures" in the scenario; expected name']),
    ("long key", GOOD + f"? {'k' * 5000}\n: 1\n", [f'3:3: unknown key "{"k" * 60}..." in the scenario']),
    (
        "misspelt bandwidth",
        ring("ranks: 8\n  bandwith: 1 GB/s"),
        ['1:1: missing key "bandwidth" in topology', '4:3: unknown key "bandwith" in topology; did you mean "bandwidth"?'],
    ),
    ("no kind", f"topology: {{ranks: 8}}\n{GATHER}", ['1:1: missing key "kind", "preset" or "file" in topology']),
    ("unknown kind", f"topology: {{kind: rng, foo: 8}}\n{GATHER}", ['1:18: topology.kind: found the text "rng", expected ring']),
    ("list as a kind", f"topology: {{kind: [ring]}}\n{GATHER}", ["1:18: topology.kind: found a list, expected ring"]),
    ("text as a topology", f"topology: ring\n{GATHER}", ['1:11: topology: found the text "ring", expected a mapping of kind']),
    ("no topology value", f"topology:\n{GATHER}", ["1:10: topology: found nothing, expected a mapping of kind"]),
    ("key of another kind", ring("ranks: 8\n  bandwidth: 1 GB/s\n  levels: []"), ['5:3: unknown key "levels" in topology']),
    # whole numbers
    ("ranks as text", ring('ranks: "8"\n  bandwidth: 1 GB/s'), ['3:10: topology.ranks: found the text "8", expected a whole']),
    ("ranks as float", ring("ranks: 8.0\n  bandwidth: 1 GB/s"), ["3:10: topology.ranks: found the number 8.0, expected"]),
    ("ranks with exponent", ring("ranks: 1e3\n  bandwidth: 1 GB/s"), ["3:10: topology.ranks: found the number 1e3,"]),
    ("ranks as bool", ring("ranks: true\n  bandwidth: 1 GB/s"), ["3:10: topology.ranks: found true, expected a whole number"]),
    ("ranks zero", ring("ranks: 0\n  bandwidth: 1 GB/s"), ["3:10: topology.ranks: found the number 0, expected 1 or more"]),
    ("ranks negative", ring("ranks: -8\n  bandwidth: 1 GB/s"), ["3:10: topology.ranks: found the number -8, expected 1"]),
    ("ranks missing", ring("ranks:\n  bandwidth: 1 GB/s"), ["3:9: topology.ranks: found nothing, expected a whole number"]),
    ("ranks as list", ring("ranks: [8]\n  bandwidth: 1 GB/s"), ["3:10: topology.ranks: found a list, expected a whole number"]),
    ("ranks huge", ring(f"ranks: {'9' * 30}\n  bandwidth: 1 GB/s"), ["3:10: topology.ranks: found the number 999"]),
    ("ranks endless", ring(f"ranks: {'9' * 5000}\n  bandwidth: 1 GB/s"), ['3:10: found "99999999999999999999...", expected']),
    ("ranks nan", ring("ranks: .nan\n  bandwidth: 1 GB/s"), ['3:10: found ".nan", expected a finite number']),
    ("ranks infinite", ring("ranks: -.inf\n  bandwidth: 1 GB/s"), ['3:10: found "-.inf", expected a finite number']),
    ("ranks past floats", ring("ranks: 1e999\n  bandwidth: 1 GB/s"), ['3:10: found "1e999", expected a number below']),
    ("ranks sexagesimal", ring("ranks: 12:30:00\n  bandwidth: 1 GB/s"), ['3:10: topology.ranks: found the text "12:30:00"']),
    ("ranks with underscore", ring("ranks: 1_000\n  bandwidth: 1 GB/s"), ['3:10: topology.ranks: found the text "1_000"']),
    # quantities
    ("no unit", ring("ranks: 8\n  bandwidth: 64"), ['4:14: topology.bandwidth: 64 needs a unit, e.g. "64 GB/s"']),
    ("no unit, float", ring("ranks: 8\n  bandwidth: 1e-3"), ['4:14: topology.bandwidth: 1e-3 needs a unit']),
    ("no unit, quoted", ring("ranks: 8\n  bandwidth: '64'"), ['4:14: topology.bandwidth: 64 needs a unit, e.g. "64 GB/s"']),
    ("bandwidth as size", ring("ranks: 8\n  bandwidth: 64 GB"), ['4:14: topology.bandwidth: "64 GB" is a size, not a bandwidth; did you mean "64 GB/s"?']),
    ("bandwidth as time", ring("ranks: 8\n  bandwidth: 8 us"), ['4:14: topology.bandwidth: "8 us" is a time, not a bandwidth']),
    ("bandwidth as bits", ring("ranks: 8\n  bandwidth: 8 Gbit"), ['4:14: topology.bandwidth: unknown unit "Gbit" in "8 Gbit"; did you mean "Gbit/s"?']),
    ("unit in lower case", ring("ranks: 8\n  bandwidth: 8 gb/s"), ['4:14: topology.bandwidth: unknown unit "gb/s" in "8 gb/s"; did you mean "GB/s"?']),
    ("bandwidth zero", ring("ranks: 8\n  bandwidth: 0 GB/s"), ['4:14: topology.bandwidth: "0 GB/s" must be more than 0 B/s']),
    ("bandwidth negative", ring("ranks: 8\n  bandwidth: -1 GB/s"), ['4:14: topology.bandwidth: "-1 GB/s" must be more than 0']),
    ("bandwidth vast", ring("ranks: 8\n  bandwidth: 1e9 TB/s"), ['4:14: topology.bandwidth: "1e9 TB/s" is out of range']),
    ("bandwidth tiny", ring("ranks: 8\n  bandwidth: 1e-9 B/s"), ['4:14: topology.bandwidth: "1e-9 B/s" is out of range']),
    ("bandwidth past floats", ring("ranks: 8\n  bandwidth: 1e300 GB/s"), ['4:14: topology.bandwidth: "1e300 GB/s" is out of range: expected 0.001 B/s to 1e6 TB/s']),
    ("bandwidth under floats", ring("ranks: 8\n  bandwidth: 1e-400 GB/s"), ['4:14: topology.bandwidth: "1e-400 GB/s" is out of range: expected 0.001 B/s']),
    ("bandwidth of many digits", ring(f"ranks: 8\n  bandwidth: {'9' * 5000} GB/s"), [f'4:14: topology.bandwidth: "{"9" * 60}..." is out of range']),
    ("bandwidth in words", ring("ranks: 8\n  bandwidth: fast"), ['4:14: topology.bandwidth: "fast" is not a bandwidth']),
    ("bandwidth with a comma", ring("ranks: 8\n  bandwidth: 1,5 GB/s"), ['4:14: topology.bandwidth: "1,5 GB/s" is not']),
    ("bandwidth as bool", ring("ranks: 8\n  bandwidth: true"), ["4:14: topology.bandwidth: found true, expected a number and"]),
    ("bandwidth as list", ring("ranks: 8\n  bandwidth: [1]"), ["4:14: topology.bandwidth: found a list, expected a number"]),
    ("bandwidth with huge exponent", ring("ranks: 8\n  bandwidth: 1e999999999 GB/s"), ["4:14: topology.bandwidth: "]),
    ("latency negative", ring("ranks: 8\n  bandwidth: 1 GB/s\n  latency: -1 us"), ['5:12: topology.latency: "-1 us" must be zero']),
    ("latency bare zero", ring("ranks: 8\n  bandwidth: 1 GB/s\n  latency: 0"), ['5:12: topology.latency: 0 needs a unit']),
    ("latency long", ring("ranks: 8\n  bandwidth: 1 GB/s\n  latency: 1e9 s"), ['5:12: topology.latency: "1e9 s" is out of']),
    ("latency endless", ring("ranks: 8\n  bandwidth: 1 GB/s\n  latency: 1e99999999 us"), ['5:12: topology.latency: "1e99999999 us" is out of range: expected 0 s, or 1e-30 s to 1e6 s']),
    ("latency written long", ring(f"ranks: 8\n  bandwidth: 1 GB/s\n  latency: {'0' * 5000}1 us"), [f'5:12: topology.latency: "{"0" * 60}..." is longer than 200 characters']),
    ("size of bare zero", gather("kind: allgather, algorithm: ring, size: 0"), ['2:54: collective.size: 0 needs a unit, e.g. "0 GiB"']),
    ("size not whole", gather("kind: allgather, algorithm: ring, size: 1.5 B"), ['2:54: collective.size: "1.5 B" is not a whole number']),
    ("size negative", gather("kind: allgather, algorithm: ring, size: -1 B"), ['2:54: collective.size: "-1 B" must be zero or more']),
    ("size huge", gather("kind: allgather, algorithm: ring, size: 9e9 TB"), ['2:54: collective.size: "9e9 TB" is out of range']),
    ("size as bandwidth", gather("kind: allgather, algorithm: ring, size: 1 GB/s"), ['2:54: collective.size: "1 GB/s" is a bandwidth, not a size; did you mean "1 GB"?']),
    # words and blocks of a topology
    ("direction", ring("ranks: 8\n  bandwidth: 1 GB/s\n  direction: bth"), ['5:14: topology.direction: found the text "bth", expected both or one; did you mean "both"?']),
    ("level not a mapping", levels("4"), ["1:39: topology.levels[0]: found the number 4, expected a mapping of name"]),
    ("levels not a list", f"topology: {{kind: multilevel, levels: 4}}\n{GATHER}", ["1:38: topology.levels: found the number 4, expected a list"]),
    ("uplink word", levels("{name: a, size: 4, shape: ring, bandwidth: 1 GB/s, uplink: per_rnk}"), ['1:98: topology.levels[0].uplink: found the text "per_rnk", expected per_rank or {shared: 2}; did you mean "per_rank"?']),
    ("uplink key", levels("{name: a, size: 4, shape: ring, bandwidth: 1 GB/s, uplink: {shred: 2}}"), ['1:90: missing key "shared" in', '1:99: unknown key "shred" in topology.levels[0].uplink; did you mean "shared"?']),
    ("uplink count", levels("{name: a, size: 4, shape: ring, bandwidth: 1 GB/s, uplink: {shared: 0}}"), ["1:107: topology.levels[0].uplink.shared: found the number 0, expected 1 or more"]),
    ("uplink neither", levels("{name: a, size: 4, shape: ring, bandwidth: 1 GB/s, uplink: 3}"), ["1:98: topology.levels[0].uplink: found the number 3, expected per_rank or {shared: 2}"]),
    ("overrides not a list", ring("ranks: 8\n  bandwidth: 1 GB/s\n  overrides: {rank: 3}"), ["5:14: topology.overrides: found a mapping, expected a list"]),
    ("override key", ring("ranks: 8\n  bandwidth: 1 GB/s\n  overrides: [{rnk: 3}]"), ['5:16: unknown key "rnk" in topology.overrides[0]; did you mean "rank"?']),
    ("override rank", ring("ranks: 8\n  bandwidth: 1 GB/s\n  overrides: [{rank: x, latency: 1 us}]"), ['5:22: topology.overrides[0].rank: found the text "x", expected a whole number']),
    ("override without a unit", ring("ranks: 8\n  bandwidth: 1 GB/s\n  overrides: [{rank: 3, bandwidth: 2}]"), ['5:36: topology.overrides[0].bandwidth: 2 needs a unit, e.g. "2 GB/s"']),
    ("unknown preset", preset("dgx1"), ['1:20: topology.preset: found the text "dgx1", expected dgx-1, ']),
    ("preset far from any", preset("ring"), ['1:20: topology.preset: found the text "ring", expected dgx-1, ']),
    ("preset of a path", preset("../presets/dgx-1"), ['1:20: topology.preset: found the text "../presets/dgx-1", expected']),
    ("preset as a number", preset("3"), ["1:20: topology.preset: found the number 3, expected dgx-1, "]),
    ("preset as a list", preset("[dgx-1]"), ["1:20: topology.preset: found a list, expected dgx-1, "]),
    ("preset of nothing", preset(""), ["1:19: topology.preset: found nothing, expected dgx-1, "]),
    ("preset and kind", preset("dgx-1, kind: ring"), ['1:27: topology.kind: found both "preset" and "kind"']),
    ("parameter of a preset", preset("mi300x, ranks: four"), ['1:35: topology.ranks: found the text "four", expected a whole number']),
    ("unknown parameter of a preset", preset("mi300x, rnks: 4"), ['1:28: unknown key "rnks" in topology; did you mean "ranks"?']),
    ("block of a preset", preset("dgx-h100, rail: {bandwith: 1 GB/s}"), ['1:37: unknown key "bandwith" in topology.rail; did you mean "bandwidth"?']),
    ("level of a preset", preset("sg2260-multilevel, levels: {inter-machin: {size: 2}}"), ['1:48: topology.levels: the preset has no level "inter-machin"; did you mean "inter-machine"?']),
    ("level far from any", preset("sg2260-multilevel, levels: {x: {size: 2}}"), ['1:48: topology.levels: the preset has no level "x"; expected intra-chip, intra-node, intra-machine or inter-machine']),
    ("level of a preset as a number", preset("sg2260-multilevel, levels: {intra-chip: 3}"), ["1:60: topology.levels.intra-chip: found the number 3, expected a mapping"]),
    ("level of a preset without a unit", preset("sg2260-multilevel, levels: {intra-chip: {latency: 1}}"), ['1:70: topology.levels[0].latency: 1 needs a unit, e.g. "1 us"']),
    ("links of a preset without a unit", preset("dgx-1, levels: {nvlink: {bandwidth: 50}}"), ['1:56: topology.overrides[0].bandwidth: 50 needs a unit, e.g. "50 GB/s"']),
    ("links of a preset as a number", preset("dgx-1, levels: {nvlink: 50}"), ["1:44: topology.levels.nvlink: found the number 50, expected a mapping"]),
    ("levels of a preset as a number", preset("tpu-v4, levels: 3"), ['1:28: unknown key "levels" in topology']),
    # the collective
    ("unknown collective", gather("kind: all_gather, algorithm: ring, size: 1 B"), ['2:20: collective.kind: found the text "all_gather", expected broadcast, reduce, scatter, gather,']),
    ("unknown algorithm", gather("kind: allgather, algorithm: rings, size: 1 B"), ['2:42: collective.algorithm: found the text "rings", expected ']),
    ("impossible algorithm", gather("kind: allgather, algorithm: recursive_halving, size: 1 B"), ['2:42: collective.algorithm: the algorithm "recursive_halving" does not do allgather; expected ring,']),
    ("option not taken", gather("kind: allgather, algorithm: direct, size: 1 B, first_chunk: 0"), ['2:61: the algorithm "direct" does not take the option "first_chunk"; it takes none']),
    ("option of no algorithm", gather("kind: allgather, algorithm: ring, size: 1 B, portions: 4"), ['2:59: unknown key "portions" in collective']),
    ("option word", gather("kind: reduce_scatter, algorithm: recursive_halving, size: 1 B, order: fa"), ['2:84: collective.order: found the text "fa", expected ']),
    ("option type", gather("kind: allgather, algorithm: ring, size: 1 B, first_chunk: 1.5"), ["2:72: collective.first_chunk: found the number 1.5, expected a whole number"]),
    ("algorithm of a dimension", gather("kind: allgather, algorithm: hierarchical, size: 1 B, dims: [4, 2], algorithms: [ring, dirct]"), ['2:100: collective.algorithms[1]: found the text "dirct", expected ']),
    ("dims not whole", gather("kind: allgather, algorithm: hierarchical, size: 1 B, dims: [4, x]"), ['2:77: collective.dims[1]: found the text "x", expected a whole number']),
    # the rest
    ("engine", GOOD + "engine: simpi\n", ['3:9: engine: found the text "simpi", expected auto, simpy or compiled; did you mean "simpy"?']),
    (
        "unknown engine",
        GOOD + "engine: quick\n",
        ['3:9: engine: found the text "quick", expected auto, simpy or compiled'],
    ),
    ("verify as bool", GOOD + "verify: false\n", ["3:9: verify: found false, expected full, sampled or no"]),
    ("no model", GOOD + "network: {model: fairshare}\n", ['3:18: network.model: found the text "fairshare", expected store_and_forward,']),
    ("sync", GOOD + "network: {sync: steps}\n", ['3:17: network.sync: found the text "steps", expected step, dataflow or barrier; did you mean "step"?']),
    ("placement word", GOOD + "network: {placement: aut}\n", ['3:22: network.placement: found the text "aut", expected auto or a list; did you mean "auto"?']),
    ("placement of a number", GOOD + "network: {placement: 3}\n", ["3:22: network.placement: found the number 3, expected a list or auto"]),
    ("placed twice", GOOD + "network: {placement: [0, 1, 0]}\n", ["3:29: network.placement[2]: rank 0 is placed twice"]),
    ("negative placement", GOOD + "network: {placement: [-1]}\n", ["3:23: network.placement[0]: found the number -1, expected 0"]),
    ("word for a bool", GOOD + "network: {direct_links_only: yes}\n", ['3:30: network.direct_links_only: found the text "yes", expected true or false']),
    ("reduction without", GOOD + "reduction: {mode: after}\n", ['3:1: missing key "bandwidth" in reduction']),
    ("reduction of nothing", GOOD + "reduction:\n", ["3:11: reduction: found nothing, expected a mapping of bandwidth"]),
    ("reducers as a list", GOOD + "reduction: {bandwidth: 1 GB/s, ranks: [1 GB/s]}\n", ["3:39: reduction.ranks: found a list, expected a mapping"]),
    ("reducer of a word", GOOD + "reduction: {bandwidth: 1 GB/s, ranks: {a: 1 GB/s}}\n", ['3:40: found the text "a" as a key in reduction.ranks, expected a whole number']),
    ("reducer without a unit", GOOD + "reduction: {bandwidth: 1 GB/s, ranks: {3: 64}}\n", ['3:43: reduction.ranks[3]: 64 needs a unit, e.g. "64 GB/s"']),
    ("name as a number", GOOD + "name: 8\n", ["3:7: name: found the number 8, expected text"]),
    ("name of nothing", GOOD + "name: ''\n", ['3:7: name: found the text "", expected one line of text']),
    ("name of two lines", GOOD + "name: |\n  a\n  b\n", ["3:7: name: found the text \"a\\nb\\n\", expected one line"]),
    ("name that is long", GOOD + f"name: {'x' * 201}\n", [f'3:7: name: found the text "{"x" * 60}...", expected a text of at most 200 characters']),
    ("name with a tab", GOOD + 'name: "a\\tb"\n', ["3:7: name: found the text \"a\\tb\", expected one line of text without control characters"]),
    ("level's name that is long", levels(f"{{name: {'x' * 201}, size: 4, shape: ring, bandwidth: 1 GB/s}}"), ["1:46: topology.levels[0].name: found the text"]),
    ("switch's name of two lines", f'topology: {{kind: custom, nodes: {{ranks: 2, switches: ["a\\nb"]}}, links: []}}\n{GATHER}', ["1:55: topology.nodes.switches[0]: found the text \"a\\nb\", expected one line of text"]),
    ("delay of a huge rank", GOOD + f"delay: {{{'9' * 23}: 1 us}}\n", [f"3:9: found the number {'9' * 23} as a key in delay, expected at most 2^62"]),
    ("delay of a rank past int64", GOOD + f"delay: {{0x{2**63:x}: 1}}\n", [f"3:9: found the number 0x{2**63:x} as a key in delay, expected at most", f"3:29: delay.{2**63}: 1 needs a unit"]),
    ("delay of half a rank", GOOD + "delay: {1.5: 1 us}\n", ["3:9: found the number 1.5 as a key in delay, expected a whole number"]),
    ("delay of a word", GOOD + "delay: {a: 1 us}\n", ['3:9: found the text "a" as a key in delay, expected a whole number']),
    ("delay of a rank below 0", GOOD + "delay: {-1: 1 us}\n", ["3:9: found the number -1 as a key in delay, expected 0"]),
    ("delay without a unit", GOOD + "delay: {3: 10}\n", ['3:12: delay[3]: 10 needs a unit, e.g. "10 us"']),
    ("delay as a list", GOOD + "delay: [1 us]\n", ["3:8: delay: found a list, expected a mapping"]),
    ("expected steps", GOOD + "expect: {steps: seven}\n", ['3:17: expect.steps: found the text "seven", expected a whole']),
    ("expected key", GOOD + "expect: {step: 7}\n", ['3:10: unknown key "step" in expect; did you mean "steps"?']),
    ("expected time", GOOD + "expect: {time: 7}\n", ['3:16: expect.time: 7 needs a unit, e.g. "7 us"']),
    ("both tolerances", GOOD + "expect: {time: {value: 7 us, rel: 1e-9, abs: 1 ns}}\n", ['3:46: expect.time.abs: expected "rel" or "abs", found both']),
    ("no tolerance", GOOD + "expect: {analytic: {}}\n", ['3:20: expect.analytic: expected "rel: 1e-9" or "abs: 1 ns"']),
    ("negative tolerance", GOOD + "expect: {analytic: {rel: -1}}\n", ["3:26: expect.analytic.rel: must be zero or more, found -1"]),
    ("tolerance in words", GOOD + "expect: {analytic: {rel: small}}\n", ['3:26: expect.analytic.rel: found the text "small", expected a number']),
    ("bare tolerance", GOOD + "expect: {analytic: 1e-9}\n", ["3:20: expect.analytic: found the number 1e-9, expected a mapping of rel, abs"]),
    ("congestion in words", GOOD + "expect: {congestion_factor: low}\n", ['3:29: expect.congestion_factor: found the text "low", expected a number']),
    ("verified", GOOD + "expect: {verified: yes}\n", ['3:20: expect.verified: found the text "yes", expected full, symmetry, sampled or no']),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_wrong_input_is_named_with_its_place(text: str | bytes, expected: list[str], tmp_path: Path) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    if isinstance(text, str):
        with pytest.raises(ScenarioErrors) as caught:
            loads(text, str(file))
    else:
        with pytest.raises(ScenarioErrors) as caught:
            load(file)
    lines = str(caught.value).split("\n")
    assert len(lines) == len(caught.value.errors)
    for fragment in expected:
        assert any(line.startswith(f"{file}:{fragment}") for line in lines), f"{fragment}\nnot in\n{lines}"


def test_no_case_is_written_twice() -> None:
    assert len({name for name, _, _ in CASES}) == len(CASES) >= 60


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ScenarioErrors, match=r"none\.yaml: there is no such file"):
        load(tmp_path / "none.yaml")


def test_directory(tmp_path: Path) -> None:
    with pytest.raises(ScenarioErrors, match="is a directory; expected a YAML file"):
        load(tmp_path)


def test_pipe_that_nobody_writes_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.yaml")
    with pytest.raises(ScenarioErrors, match=r"fifo\.yaml: is a pipe; expected a YAML file"):
        load(tmp_path / "fifo.yaml")


@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero"])
def test_device(device: str) -> None:
    with pytest.raises(ScenarioErrors, match="is a device; expected a YAML file"):
        load(device)


def test_name_that_no_file_can_have() -> None:
    with pytest.raises(ScenarioErrors, match="cannot be read: embedded null"):
        load(Path("a\0b"))


def test_name_that_is_too_long(tmp_path: Path) -> None:
    with pytest.raises(ScenarioErrors, match="cannot be read: File name too long"):
        load(tmp_path / ("x" * 5000))


def test_unreadable_file(tmp_path: Path) -> None:
    file = tmp_path / "secret.yaml"
    file.write_text(GOOD)
    file.chmod(0)
    try:
        file.read_bytes()
    except PermissionError:
        with pytest.raises(ScenarioErrors, match="cannot be read: Permission denied"):
            load(file)


def test_all_errors_of_a_file_come_at_once_and_in_order() -> None:
    text = """\
topology:
  kind: ring
  ranks: 8.0
  bandwith: 64 GB
  latency: 1
collective: {kind: allgather, algorithm: recursive_halving, size: 0, size: 1 B}
engine: simpi
network: {sync: steps, placement: [0, 0]}
expect: {time: 7, stepz: 3, analytic: {rel: x}}
"""
    with pytest.raises(ScenarioErrors) as caught:
        loads(text, "many.yaml")
    places = [(error.line, error.column) for error in caught.value.errors]
    assert places == sorted(places)
    assert places == [
        (1, 1),  # bandwidth is missing
        (3, 10),
        (4, 3),
        (5, 12),
        (6, 42),
        (6, 67),
        (6, 70),
        (7, 9),
        (8, 17),
        (9, 16),
        (9, 19),
        (9, 45),
    ]
    assert [error.at for error in caught.value.errors][1] == ("topology", "ranks")


def test_a_refused_value_is_reported_once() -> None:
    with pytest.raises(ScenarioErrors) as caught:
        loads(ring("ranks: !!str 8\n  bandwidth: .inf"), "a.yaml")
    assert len(caught.value.errors) == 2


def test_only_the_first_errors_of_a_file_are_shown() -> None:
    with pytest.raises(ScenarioErrors) as caught:
        loads(GOOD + "".join(f"key{i}: 1\n" for i in range(25)), "a.yaml")
    lines = str(caught.value).split("\n")
    assert len(caught.value.errors) == 25
    assert len(lines) == 21
    assert lines[0].startswith('a.yaml:3:1: unknown key "key0"')
    assert lines[20] == "... and 5 more"
