"""The API in one place: all that it names is there, and nothing is loaded before it is used."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import collsim
import plots
from topologies.homes import homes

ROOT = Path(__file__).parents[1]


def test_every_name_is_there() -> None:
    for module in (collsim, plots):
        assert set(module.__all__) == set(homes(str(module.__file__))) <= set(dir(module))
        for name in module.__all__:
            assert getattr(module, name) is not None
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


RING = "library:first-walk/ring-reduce-scatter-8"


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: collsim.run(3), "found int; expected a scenario"),
        (lambda: collsim.sweep(3, {"a": [1]}), "found int; expected a scenario"),
        (lambda: collsim.picture(None, "levels"), "found NoneType; expected what a run gave"),
        (lambda: collsim.report(None, "out.html"), "found NoneType; expected what a run or a step gave"),
        (
            lambda: collsim.compare(RING, algorithms=["rinf"]),
            'there is no algorithm "rinf"; did you mean "ring"',
        ),
        (lambda: collsim.schema_text("plans"), 'there is no kind of file "plans"; expected collective'),
        (lambda: collsim.save_animation([], "out.gif"), "at least one figure"),
        (lambda: collsim.cluster(None, None).__enter__(), "a Dask cluster goes by its scheduler"),
    ],
)
def test_wrong_words_and_things(ask: Callable[[], object], message: str) -> None:
    with pytest.raises(collsim.CollsimError, match=message):
        ask()


def test_a_sweep_of_the_library() -> None:
    found = collsim.sweep(RING, {"topology.ranks": [2, 3]})
    assert found.columns["steps"].tolist() == [1, 2]
