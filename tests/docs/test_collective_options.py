"""The tables of options and of collectives agree with the registry."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Literal, get_args, get_origin, get_type_hints

import pytest

from algorithms import ALGORITHMS
from algorithms.algorithm import COMMON
from algorithms.collective import KINDS
from tests.docs.page import DOCS


def table(page: str, first: str) -> dict[str, dict[str, str]]:
    """Rows of the table whose first column has this title, by what stands there."""
    lines = iter((DOCS / page).read_text("utf-8").splitlines())
    titles = next(columns for line in lines if (columns := cells(line))[:1] == [first])
    next(lines)
    rows: dict[str, dict[str, str]] = {}
    for line in lines:
        if not line.startswith("|"):
            break
        row = dict(zip(titles, cells(line), strict=True))
        assert row[first] not in rows
        rows[row[first].strip("`")] = row
    return rows


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []


OPTIONS = table("reference/scenario.md", "option")
COLLECTIVES = table("explanation/algorithms.md", "collective")


def words(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_every_collective_has_a_row() -> None:
    assert sorted(name for row in COLLECTIVES.values() for name in words(row["collective"])) == sorted(KINDS)


def takers() -> Mapping[str, list[str]]:
    """The algorithms that take each option."""
    options = dict.fromkeys(option for a in ALGORITHMS.values() for option in a.options)
    by_option = {option: [n for n, a in ALGORITHMS.items() if option in a.options] for option in options}
    return {**{option: ["all"] for option in COMMON}, **by_option}


def test_every_option_has_a_row_with_the_algorithms_that_take_it() -> None:
    told = {name: sorted(words(row["algorithms"]) or [row["algorithms"]]) for name, row in OPTIONS.items()}
    assert told == {option: sorted(names) for option, names in takers().items()}


@pytest.mark.parametrize(
    ("option", "name"), [(o, n) for o, names in takers().items() for n in names if n in ALGORITHMS]
)
def test_words_and_defaults_of_options_are_those_of_the_builders(option: str, name: str) -> None:
    build = ALGORITHMS[name].build
    if option == "non_power_of_two":
        # which the registry sees to
        assert words(OPTIONS[option]["default"]) == ["fold"]
        return
    default = inspect.signature(build).parameters[option].default
    assert default is None or str(default) in words(OPTIONS[option]["default"])
    hint = get_type_hints(build)[option]
    literal = next((part for part in (hint, *get_args(hint)) if get_origin(part) is Literal), None)
    if literal is not None:
        assert words(OPTIONS[option]["value"]) == list(get_args(literal))
