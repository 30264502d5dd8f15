from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.scenario import parse as module
from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.parse import decode, parse, resolve
from simulator.scenario.source import plain


def read(text: str) -> object:
    source, refused = parse(text, "a.yaml")
    assert refused == ()
    return plain(source.root)


@pytest.mark.parametrize(
    ("text", "value"),
    # the table of the core schema, YAML 1.2.2, section 10.3.2
    [
        ("null", None),
        ("Null", None),
        ("~", None),
        ("", None),
        ("true", True),
        ("True", True),
        ("FALSE", False),
        ("0", 0),
        ("-19", -19),
        ("+12", 12),
        ("010", 10),
        ("0o7", 7),
        ("0x3A", 58),
        ("0.", 0.0),
        ("-0.0", 0.0),
        (".5", 0.5),
        ("+12e03", 12000.0),
        ("-2E+05", -200000.0),
        ("1e-9", 1e-9),
        ("1e3", 1000.0),
    ],
)
def test_core_schema(text: str, value: object) -> None:
    assert resolve(text) == value
    assert type(resolve(text)) is type(value)


@pytest.mark.parametrize(
    "word",
    [
        "yes",
        "no",
        "on",
        "off",
        "y",
        "n",
        "Yes",
        "OFF",
        "nULL",
        "tRUE",
        "12:30:00",
        "1_000",
        "2001-12-14",
        "0b1",
        "0O7",
        "-0x1",
        "e3",
        ".",
        "1e",
        "=",
        ".e3",
        "--1",
        "1.2.3",
        "64 GB/s",
        "- 1",
    ],
)
def test_words_of_yaml_1_1_are_words(word: str) -> None:
    assert resolve(word) == word


def test_quoted_numbers_are_text() -> None:
    assert read("[\"8\", '1e3', 'true', \"~\", 8]") == ["8", "1e3", "true", "~", 8]


def test_block_scalars_are_text() -> None:
    assert read("a: |\n  8\nb: >-\n  true\n") == {"a": "8\n", "b": "true"}


def test_byte_order_mark_and_line_ends_do_not_move_places() -> None:
    text = decode(b"\xef\xbb\xbfname: x\r\nengine: auto\rverify: full\n", "a.yaml")
    source, _ = parse(text, "a.yaml")
    assert source.locate(("name",), key=True) == (1, 1)
    assert source.locate(("engine",)) == (2, 9)
    assert source.locate(("verify",)) == (3, 9)


def test_columns_count_characters() -> None:
    source, _ = parse("{\u00e9\u00e8\U0001f600: 1, b: 2}", "a.yaml")
    assert source.locate(("b",), key=True) == (1, 10)


def test_json_is_read() -> None:
    assert read('{"a": [1, 2.5, "x\\ud83d\\ude00", true, null]}') == {
        "a": [1, 2.5, "x\U0001f600", True, None]
    }


def test_yaml_version_1_2_is_accepted() -> None:
    assert read("%YAML 1.2\n---\na: 1\n...\n") == {"a": 1}


def test_aliases_repeat_a_value_at_their_own_place() -> None:
    source, _ = parse("a: &x {p: 1}\nb: *x\n", "a.yaml")
    assert plain(source.root) == {"a": {"p": 1}, "b": {"p": 1}}
    assert source.locate(("b",)) == (2, 4)
    assert source.locate(("b", "p")) == (1, 11)


def test_alias_limits() -> None:
    twenty = "a: &a x\nb: [" + ", ".join(["*a"] * 20) + "]\n"
    assert read(twenty) == {"a": "x", "b": ["x"] * 20}
    wide = "a: &a [" + "x, " * 498 + "x]\nb: [" + ", ".join(["*a"] * 20) + "]\n"
    assert isinstance(read(wide), dict)
    with pytest.raises(ScenarioErrors, match="more than 20 aliases"):
        parse(twenty + "c: *a\n", "a.yaml")
    with pytest.raises(ScenarioErrors, match="aliases repeat more than 10000 values"):
        parse(wide.replace("[x", "[x, x"), "a.yaml")


def test_depth_limit() -> None:
    assert read("[" * 30 + "]" * 30)
    with pytest.raises(ScenarioErrors, match="nested more than 30 levels"):
        parse("[" * 31 + "]" * 31, "a.yaml")


def test_value_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_VALUES", 4)
    assert read("[1, 2, 3]") == [1, 2, 3]
    with pytest.raises(ScenarioErrors, match=r"a\.yaml:1:11: more than 4 values"):
        parse("[1, 2, 3, 4]", "a.yaml")


def problems(text: str) -> list[str]:
    try:
        return [error.message for error in parse(text, "a.yaml")[1]]
    except ScenarioErrors as caught:
        return [error.message for error in caught.errors]


@given(st.text(st.sampled_from("ab:-,[]{}#&*!|>'\"%@`?~<. \n\t\\x0u1"), max_size=40) | st.text(max_size=40))
def test_any_text_is_read_or_refused_on_printable_lines(text: str) -> None:
    assert all(problem.isprintable() for problem in problems(text))
