"""The API in one place: all that it names is there, and nothing is loaded before it is used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import collsim

ROOT = Path(__file__).parents[1]


def test_every_name_is_there() -> None:
    assert dir(collsim) == sorted(collsim.__all__) == sorted(collsim._homes())
    for name in collsim.__all__:
        assert getattr(collsim, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'rnig'"):
        _ = collsim.rnig  # type: ignore[attr-defined]


def test_importing_it_loads_nothing() -> None:
    program = "import collsim, sys; print({'numpy', 'simulator', 'algorithms'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, check=True)
    assert done.stdout == b"set()\n"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("first-walk/ring-reduce-scatter-8", "Result"),
        ("together/background-on-a-ring", "TogetherResult"),
        ("llm/llama3-405b", "PlanResult"),
    ],
)
def test_one_call_runs_whatever_a_file_asks_for(name: str, kind: str) -> None:
    result = collsim.run(f"library:{name}")
    assert type(result).__name__ == kind
    assert type(collsim.run(collsim.load_any(f"library:{name}"))).__name__ == kind


def test_what_is_wrong_is_told_as_the_commands_tell_it() -> None:
    with pytest.raises(collsim.ScenarioErrors, match='the library has no scenario "first-wlak/x"'):
        collsim.run("library:first-wlak/x")
    with pytest.raises(collsim.ScenarioErrors, match="reads"):
        collsim.explain("library:llm/llama3-405b")
    assert "the library has no scenario" in collsim.hold("library:nothing").wrong
