"""What a sweep says, and what is wrong in it, at its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.models import Scenario
from simulator.scenario.plan_models import PlanScenario
from simulator.scenario.sweep.points import SweepScenario
from simulator.scenario.sweep.read import fields_of, read_sweep
from tests.scenario.sweep.sweep_examples import DRAWN, PLAN, RING, SWEEP, write
from topologies.errors import CollsimError


def read(folder: Path, text: str, **vary: object) -> SweepScenario:
    return read_sweep(write(folder, text), fields_of(vary.pop("vary", {})), **vary)  # type: ignore[arg-type]


def chosen(sweep: SweepScenario) -> list[tuple[object, ...]]:
    return [
        (*(one.cell for one in point.chosen), *(() if sweep.seeds is None else (point.seed,)))
        for point in sweep.points()
    ]


def test_a_grid_in_order_and_each_point_read(tmp_path: Path) -> None:
    sweep = read(tmp_path, SWEEP)
    assert sweep.varied == ("collective.size", "topology.ranks", "collective.algorithm")
    sizes, algorithms = (1024, 2048, 4096), ("ring", "direct")
    assert chosen(sweep) == [(m, n, name) for m in sizes for n in (4, 8) for name in algorithms]
    last = sweep.read(sweep.points()[-1])
    assert isinstance(last, Scenario)
    assert (last.name, last.collective.size, last.topology.parameters["ranks"]) == ("A ring", 4096, 8)
    assert last.collective.algorithm == "direct"


def test_what_is_given_beside_the_file_replaces_and_adds(tmp_path: Path) -> None:
    size = {"range": "1 kB..1 MB", "points": 4}
    vary = {"topology.ranks": [2], "collective.size": size, "reduction": [{"bandwidth": "1 GB/s"}]}
    sweep = read(tmp_path, SWEEP.replace("[ring, direct]", "[ring]"), vary=vary)
    assert sweep.varied == ("collective.size", "topology.ranks", "collective.algorithm", "reduction")
    whole = "{bandwidth: 1 GB/s}"
    assert chosen(sweep) == [(1000 * 10**i, 2, "ring", whole) for i in range(4)]


def test_zip_takes_values_together(tmp_path: Path) -> None:
    text = SWEEP.replace("  vary", "  how: zip\n  vary").replace("4KiB", "2KiB")
    assert chosen(read(tmp_path, text)) == [(1024, 4, "ring"), (2048, 8, "direct")]
    assert len(read(tmp_path, text, how="grid").points()) == 8


def test_seeds_are_of_what_is_random(tmp_path: Path) -> None:
    sweep = read(tmp_path, DRAWN, seeds=3, vary={"network.routing": ["ecmp", "shortest", {"kind": "spray"}]})
    assert [row[1] for row in chosen(sweep)] == [0, 1, 2, None, 0, 1, 2]
    routings = [sweep.read(point).network.chosen_routing for point in sweep.points()]
    assert [(one.kind, one.seed) for one in routings[1:5]] == [
        ("ecmp", 1), ("ecmp", 2), ("shortest", 0), ("spray", 0),
    ]  # fmt: skip
    assert chosen(read(tmp_path, DRAWN, seeds=[5, 7])) == [(5,), (7,)]


def test_presets_by_bare_name_and_parts_after_wholes(tmp_path: Path) -> None:
    bare = PLAN.replace(PLAN.splitlines()[0], "model: llama3-70b").replace("{dp: 4}", "{dp: 2}")
    for text in (PLAN, bare):
        sweep = read(tmp_path, text, vary={"model.sequence": [128, 256]})
        lengths = [one.model.sequence for one in map(sweep.read, sweep.points())]  # type: ignore[union-attr]
        assert lengths == [128, 256]
    models = [{"preset": "llama3-8b"}, {"preset": "llama3-70b"}]
    vary = {"model.sequence": [128, 256], "model": models, "parallel.dp": [1]}
    sweep = read(tmp_path, bare, vary=vary)
    found = [sweep.read(point) for point in sweep.points()]
    assert all(isinstance(one, PlanScenario) for one in found)
    layers = [(one.model.sequence, one.model.layers) for one in found if isinstance(one, PlanScenario)]
    assert layers == [(128, 32), (128, 80), (256, 32), (256, 80)]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "collective.size:",
            "collective.sise:",
            '6:22: unknown key "sise" in collective; did you mean "size"?',
        ),
        (
            "collective.size:",
            "colective.size:",
            '6:21: unknown key "colective" in the scenario; did you mean',
        ),
        (
            "collective.size:",
            "collective.size.of:",
            '6:5: collective.size is the text "1 MiB" and has no "of"',
        ),
        ("collective.size:", "collective..size:", '6:23: collective..size: "collective..size" is no path'),
        ("1KiB..4KiB", "1KiB..4GB/s", '6:22: collective.size: "4GB/s" is a bandwidth, not a size'),
        ("1KiB..4KiB", "big", '6:22: collective.size: found "big", expected a range'),
        ("1KiB..4KiB", "[]", "6:22: collective.size: found an empty list"),
        (
            "1KiB..4KiB",
            "8",
            "6:22: sweep.vary.collective.size: found the number 8, expected text, a list or a",
        ),
        (
            "1KiB..4KiB",
            "{rage: 1..2}",
            'unknown key "rage" in sweep.vary.collective.size; did you mean "range"',
        ),
        ("1KiB..4KiB", "[1, 2]", '6:23: collective.size: 1 needs a unit, e.g. "1 GiB"'),
        ("  vary", "  how: zap\n  vary", '5:8: sweep.how: found the text "zap", expected grid or zip'),
        ("  vary", "  how: zip\n  vary", "5:3: sweep: zip takes the first values together"),
        ("  vary", "  seeds: 2\n  vary", "5:3: sweep: seeds: nothing in this scenario is random"),
        ("  vary", "  seeds: 0\n  vary", "5:10: sweep.seeds: found the number 0, expected 1 or more"),
        ("1 us", "1 uss", '2:63: topology.latency: unknown unit "uss"'),
        ("topology.ranks", "expect", "found the number 4, expected a mapping"),
    ],
)
def test_what_is_wrong_is_said_at_its_place(old: str, new: str, message: str, tmp_path: Path) -> None:
    text = SWEEP.replace(old, new, 1)
    with pytest.raises(ScenarioErrors) as caught:
        read(tmp_path, text)
    assert message in str(caught.value)


def test_points_that_are_too_many(tmp_path: Path) -> None:
    delays = {rank: [f"{i} us" for i in range(count)] for rank, count in (("delay.2", 199), ("delay.3", 3))}
    with pytest.raises(CollsimError, match="119,400 points; a sweep has at most 100,000"):
        read(tmp_path, RING, vary={"delay.1": "1 fs..1 us", **delays}, points=200)


@pytest.mark.parametrize(
    ("text", "given", "message"),
    [
        (RING, {}, "nothing is varied: expected"),
        (RING, {"seeds": 3}, "seeds: nothing in this scenario is random"),
        (DRAWN, {"seeds": 3, "vary": {"network.routing.seed": [1]}}, "network.routing.seed is varied, too"),
        (RING, {"points": 3, "vary": {"topology.ranks": [2, 4]}}, "points are of a range"),
        (
            RING,
            {"vary": {"topology.rank": [2, 4]}},
            'vary: unknown key "rank" in topology; did you mean "ranks"',
        ),
        (RING, {"vary": {"topology.ranks": {2, 4}}}, "found set, expected what a scenario may say"),
        ("[1]", {"vary": {"a": [1]}}, "expected a mapping"),
        (RING, {"vary": {"topology.ranks": {"range": "2..4", "poits": 3}}}, 'vary: unknown key "poits"'),
        (RING, {"vary": {"topology.ranks": {"kind": "2..4"}}}, 'vary: missing key "range"'),
        (RING, {"vary": {"topology.ranks": [2, 4]}, "how": "grit"}, 'vary: sweep.how: found the text "grit"'),
        (
            RING,
            {"vary": {"topology.ranks": "2..4"}, "points": 2.5},
            "a range holds 2 to 200 values, found 2.5",
        ),
        (RING, {"vary": 3}, "found int; expected values by field"),
        (DRAWN, {"seeds": [-1]}, "vary: sweep.seeds"),
        (DRAWN, {"seeds": 10**9}, "1,000,000,000 seeds; a sweep has at most 100,000 points"),
        (DRAWN.replace("kind: leaf", "kind:  leaf") + "sweep: {seeds: 1000000000}", {}, "small.yaml:4:9: "),
    ],
)
def test_what_is_wrong_beside_the_file(
    text: str, given: dict[str, object], message: str, tmp_path: Path
) -> None:
    with pytest.raises(CollsimError) as caught:
        read(tmp_path, text, **given)
    assert message in str(caught.value)
