"""What the manual takes from the registries."""

from __future__ import annotations

import re

import yaml

from algorithms import ALGORITHMS
from docs.generated import TOPOLOGY, algorithm_section, api
from tests.docs.page import DOCS
from topologies import TOPOLOGIES


def test_an_algorithm_has_its_facts_and_its_steps() -> None:
    lines = list(algorithm_section(ALGORITHMS["ring"]))
    assert lines[0] == "## ring\n"
    assert "| options | `first_chunk` (`-1`) |" in lines
    assert "| source | Patarasuk and Yuan 2009 |" in lines
    # 2 (N - 1) for N = 2..16
    assert f"| `allreduce` | {' | '.join(str(2 * (n - 1)) for n in range(2, 17))} |" in lines


def test_every_topology_is_pictured_under_its_name() -> None:
    page = (DOCS / "reference" / "topologies.md").read_text("utf-8")
    titles = re.findall(r"^### (\S+)$", page, re.MULTILINE)
    choices = [yaml.safe_load(found[1])["topology"] for found in TOPOLOGY.finditer(page)]
    assert titles == [choice.get("kind") or choice["preset"] for choice in choices]
    assert {choice["kind"] for choice in choices if "kind" in choice} == set(TOPOLOGIES)


def test_the_api_says_what_each_name_is() -> None:
    text = "\n".join(api())
    assert ".. autofunction:: collsim.run\n" in text
    assert ".. autoclass:: collsim.Result\n   :members:" in text
    assert ".. autodata:: collsim.REDUCE\n   :no-value:" in text
    # topologies have a page of their own
    assert "collsim.hypercube" not in text
