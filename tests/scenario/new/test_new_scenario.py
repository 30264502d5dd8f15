"""New scenarios: what is written can be read, runs, and is what it expects, whatever is wished for."""

from __future__ import annotations

from pathlib import Path

import pytest

from algorithms.collective import COLLECTIVES
from algorithms.registry import able
from simulator.scenario.check import hold
from simulator.scenario.new import MAKERS, Wish, files, fitting, new_scenario
from simulator.scenario.new.layout import WIDTH
from simulator.scenario.plan_load import loads_any
from simulator.scenario.plan_models import PlanScenario
from simulator.scenario.presets import preset_names
from simulator.scenario.run import build_topology
from simulator.scenario.run_any import run_any
from simulator.scenario.sweep.read import read_sweep
from tests.scenario.schema.test_json_schema import refusal
from topologies.errors import CollsimError
from topologies.registry import TOPOLOGIES


def held(text: str, folder: Path) -> None:
    """What `collsim check` says of it: nothing."""
    file = folder / "new.yaml"
    file.write_text(text, "utf-8")
    outcome = hold(file, run_any)
    assert outcome.fine, outcome.lines
    assert outcome.result is not None


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_collectives_run_on_every_topology(
    topology: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # it would run here what is run below
    monkeypatch.setattr(files, "_try", lambda *_: None)
    ranks = 2 if topology == "fat_tree" else 4
    # each on every third, so that every collective has its topologies, and every topology its collectives
    for collective in list(COLLECTIVES)[list(TOPOLOGIES).index(topology) % 3 :: 3]:
        held(
            new_scenario("collective", Wish(topology=topology, collective=collective, ranks=ranks)), tmp_path
        )


# whose 256 ranks and more take a while
LARGE = {"sg2260-multilevel", "tpu-v5e"}


@pytest.mark.parametrize("preset", sorted({*preset_names()} - LARGE))
def test_presets(preset: str, tmp_path: Path) -> None:
    held(new_scenario("collective", Wish(topology=preset, collective="allgather")), tmp_path)


@pytest.mark.parametrize("kind", MAKERS)
def test_kinds(kind: str, tmp_path: Path) -> None:
    text = new_scenario(kind, Wish(topology="leaf_spine", ranks=16))
    assert refusal(text) == ""
    assert max(map(len, text.splitlines())) <= WIDTH + 4
    if kind != "sweep":
        return held(text, tmp_path)
    (tmp_path / "sweep.yaml").write_text(text, "utf-8")
    sweep = read_sweep(tmp_path / "sweep.yaml")
    assert sweep.varied == ("collective.size",)
    sweep.read(sweep.points()[0])
    return None


@pytest.mark.parametrize("kind", MAKERS)
def test_what_is_not_given_may_be_taken_in(kind: str) -> None:
    """Each line that begins with `# ` and a key, by itself, is something that a file may say."""
    lines = new_scenario(kind, Wish(topology="leaf_spine", algorithm="swing")).splitlines()
    known = [i for i, line in enumerate(lines) if line.lstrip().startswith("# ") and ": " in line]
    taken = 0
    for i in known:
        indent, _, key = lines[i].partition("# ")
        word = key.partition(":")[0]
        if not word.isidentifier() or word in (line.strip().partition(":")[0] for line in lines[:i]):
            continue
        above = [line.partition(" # ")[0] for line in lines[:i]]
        # an option of the model packet needs it
        above = [line.replace("cut_through", "packet") if word == "mtu" else line for line in above]
        changed = "\n".join([*above, f"{indent}{key.partition('  #')[0]}", *lines[i + 1 :]])
        assert refusal(changed) == "", word
        taken += 1
    assert taken >= 8


@pytest.mark.parametrize("topology", TOPOLOGIES)
def test_as_many_ranks_as_wished_for(topology: str) -> None:
    has = {"fat_tree": {16}, "hypercube": {1, 16}}.get(topology, {1, 6, 16})
    for ranks in (1, 6, 16):
        wish = Wish(topology=topology, ranks=ranks)
        if ranks in has:
            assert build_topology(loads_any(new_scenario("collective", wish))).ranks == ranks
        else:
            with pytest.raises(CollsimError, match=f"there is no {topology} of {ranks} ranks; one has "):
                new_scenario("collective", wish)


def test_a_rail_cluster_has_as_many_machines_as_it_takes() -> None:
    scenario = loads_any(new_scenario("plan", Wish(topology="dgx-h100", ranks=16)))
    assert isinstance(scenario, PlanScenario)
    assert scenario.parallel.ranks == build_topology(scenario).ranks == 16


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        (
            Wish(collective="broadcast", algorithm="swing"),
            'no algorithm "swing" does broadcast; expected direct',
        ),
        (Wish(algorithm="rign"), 'no algorithm "rign" does allreduce; did you mean "ring"?'),
        (Wish(algorithm="in_network"), "in_network needs switches that reduce above all ranks"),
        (Wish(topology="tpu-v4", ranks=8), "tpu-v4 has 64 ranks here, not 8"),
        (Wish(topology="dgx-a100", ranks=12), "dgx-a100 has 8 ranks here, not 12"),
    ],
)
def test_wishes_that_cannot_be(wish: Wish, message: str) -> None:
    with pytest.raises(CollsimError) as caught:
        new_scenario("collective", wish)
    assert caught.value.message.startswith(message)


def test_the_algorithm_that_fits_does_the_collective() -> None:
    for collective in COLLECTIVES:
        for topology in TOPOLOGIES:
            assert fitting(collective, topology) in able(collective)
    # where a common algorithm is at home, it is that one
    assert [fitting("reduce_scatter", kind) for kind in ("ring", "hypercube", "multilevel")] == [
        *("ring", "recursive_halving", "hierarchical")
    ]


def test_a_large_one_expects_nothing_and_is_not_run() -> None:
    scenario = loads_any(new_scenario("collective", Wish(ranks=4096, size="1 GiB")))
    assert not scenario.expects_something
