"""The kinds of pictures: each of what it is, and what it is not of."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.figure import Figure

import collsim
from algorithms.registry import ALGORITHMS
from algorithms.steps import work
from simulator.scenario import run_pictures
from simulator.scenario.compare import compare
from simulator.scenario.compare_output import write_comparison
from simulator.scenario.load import load, loads
from simulator.scenario.picture_kinds import PICTURES
from simulator.scenario.pictures import PictureError, picture
from simulator.scenario.run import Result, run
from simulator.scenario.size_pictures import sized
from simulator.scenario.sweep import run as sweeping
from simulator.scenario.sweep.run import sweep
from topologies.measures import measure

ONE = """\
name: Four in a ring
topology: {kind: ring, ranks: 4, bandwidth: 64 GB/s, latency: 1 us}
collective: {kind: allreduce, algorithm: ring, size: 1 MiB}
"""
SEVERAL = """\
topology: {kind: ring, ranks: 4, bandwidth: 64 GB/s, latency: 1 us}
collectives:
  - {name: first, kind: allreduce, algorithm: ring, size: 1 MiB}
  - {name: second, kind: allgather, algorithm: ring, size: 1 MiB}
"""
PLAN = """\
model: {layers: 2, hidden: 64, heads: 4, vocab: 100, sequence: 16}
parallel: {tp: 2, pp: 2}
batch: {global: 2}
hardware: {preset: h100-80g}
topology: {kind: ring, ranks: 4, bandwidth: 64 GB/s, latency: 1 us}
"""
VARIED = f"{ONE}sweep: {{vary: {{collective.size: [1 KiB, 1 MiB], topology.ranks: [4, 8]}}}}\n"
# 1024 ranks whose 2 M transfers are rank 0's
ALIKE = ONE.replace("ranks: 4", "ranks: 1024")
KINDS = {"Scenario": ONE, "TogetherScenario": SEVERAL, "PlanScenario": PLAN, "SweepScenario": VARIED}


@pytest.mark.parametrize("kind", PICTURES)
def test_every_kind_is_drawn_of_what_it_goes_with_and_refused_of_the_rest(kind: str, tmp_path: Path) -> None:
    fitting = {own.__name__ for own in PICTURES[kind].make}
    assert fitting
    for name, text in KINDS.items():
        of = tmp_path / "of.yaml"
        of.write_text(text, encoding="utf-8")
        if name in fitting:
            more = {"sizes": "1KiB,1MiB"} if PICTURES[kind].sized else {}
            drawn = picture(of, kind, **more)
            figures = drawn if isinstance(drawn, tuple) else (drawn,)
            assert all(isinstance(figure, Figure) for figure in figures)
            continue
        with pytest.raises(PictureError, match=rf'of.yaml: there is no picture "{kind}" of .*; there are '):
            picture(of, kind)


@pytest.fixture(scope="module")
def four() -> Result:
    return run(loads(ONE))


@pytest.fixture(scope="module")
def alike() -> Result:
    return run(loads(ALIKE))


def texts(figure: Figure) -> list[str]:
    legends = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    return [t.get_text() for t in (*figure.texts, *(t for a in figure.axes for t in a.texts))] + legends


@pytest.mark.parametrize(
    ("kind", "options", "said"),
    [
        ("heatmp", {}, 'there is no picture "heatmp"; did you mean "heatmap"?'),
        ("x", {}, "expected timeline, heatmap"),
        ("heatmap", {"lanes": "links"}, '"heatmap" takes no lanes; timeline does'),
        ("timeline", {"lanes": "level"}, 'lanes: found "level"; did you mean "levels"?'),
        ("topology", {"colour": "red"}, "expected bytes or busy"),
        ("timeline", {"sizes": "1KiB"}, "takes no sizes; sizes does"),
        ("timeline", {"shade": "1"}, "takes no shade"),
        ("sizes", {"sizes": "1 mile"}, "sizes: "),
    ],
)
def test_what_is_asked_for_wrongly_is_said(
    kind: str, options: dict[str, str], said: str, four: Result
) -> None:
    with pytest.raises(PictureError) as wrong:
        picture(four, kind, **options)
    assert said in str(wrong.value)


def test_a_result_is_drawn_as_it_is_and_run_no_more(four: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulator.scenario.picture_kinds.run_any", None)
    assert "Four in a ring" in texts(collsim.picture(four, "timeline"))
    assert len(collsim.picture(four, "gif")) == 1 + 6


def test_times_at_sizes_are_those_of_runs(four: Result) -> None:
    found = sized(four.scenario, "64KiB,1MiB")
    assert (found.times[1], found.closed[1], found.ranks) == (four.time, four.analytic, 4)
    assert found.bounds[1].bandwidth == four.bounds.bandwidth
    (simulated, *formulas) = picture(four, "sizes", sizes="64KiB,1MiB").axes[0].lines
    assert list(simulated.get_ydata()) == list(found.times)
    assert [line.get_label() for line in formulas] == ["closed form", "bandwidth bound", "latency bound"]


def test_steps_are_those_that_are_counted(four: Result) -> None:
    figure = picture(four, "steps")
    *lines, mark = figure.axes[0].lines
    assert (list(mark.get_xdata()), list(mark.get_ydata())) == ([4], [6])
    told = {}
    for line in lines:
        for name in str(line.get_label()).split(" and ")[0].split(", "):
            told[name] = dict(zip(line.get_xdata(), line.get_ydata(), strict=True))
    for name in ("ring", "recursive_doubling", "direct", "hybrid"):
        assert "allreduce" in ALGORITHMS[name].collectives
        for ranks in (2, 3, 6, 12, 16):
            assert told[name][ranks] == work(name, "allreduce", ranks).steps


def test_where_rank_0_stands_for_all_everything_is_drawn_of_all(alike: Result) -> None:
    topology = run_pictures.topology_picture(alike, "busy")
    (busy, idle) = (c for c in topology.axes[0].collections if c.get_label() in ("busy", "idle"))
    assert len(busy.get_paths()) + len(idle.get_paths()) == 1024
    assert "rank 0 was run for all, which do the same: no cut is drawn" in texts(topology)
    story = run_pictures.storyboard_picture(alike)
    assert "1,024 ranks, 2,046 steps, 2,095,104 transfers; 2,030 of the steps are left out" in texts(story)
    assert story.axes[0].get_title() == "step 0: 1,024 x 1 KiB"
    # 1024 links carry 2 (N - 1) blocks of M/N each
    levels = run_pictures.levels_picture(alike)
    assert [bar.get_width() for bar in levels.axes[0].patches] == [2 * 1023 * 2**20]


def test_use_of_the_whole_is_that_of_its_orbits(alike: Result) -> None:
    whole, use, _ = run_pictures._whole(alike)
    forth = (whole.links.dst - whole.links.src) % 1024 == 1
    assert measure(whole).links == len(use.bytes) == 2048
    assert set(use.bytes[forth].tolist()) == {2 * 1023 * 1024}
    assert not use.bytes[~forth].any()


def test_a_cut_is_drawn_or_it_is_said_why_not(four: Result, alike: Result) -> None:
    scatter = loads(ONE.replace("allreduce", "reduce_scatter"))
    assert any(text.startswith("cut: rank 0 sends") for text in texts(picture(scatter, "topology")))
    said = texts(picture(four, "topology"))
    assert "no cut: the bound on bandwidth is what all links together must carry (exact)" in said
    # as "explain --out" draws it
    assert any(text.endswith("no cut is drawn") for text in texts(run_pictures.cut_picture(alike, None)))


def test_a_folder_of_a_comparison_is_compared_again(tmp_path: Path) -> None:
    (tmp_path / "four.yaml").write_text(ONE, encoding="utf-8")
    found = compare(load(tmp_path / "four.yaml"), [1024, 2**20], algorithms=["ring", "direct"])
    write_comparison(found, tmp_path / "out")
    figure = picture(tmp_path / "out", "sizes")
    drawn = [str(line.get_label()) for line in figure.axes[0].lines]
    assert [name for name in drawn if name[0] != "_"] == ["ring", "direct"]
    with pytest.raises(collsim.ScenarioErrors, match="memory"):
        picture(tmp_path / "out", "sizes", memory_limit=1)
    for damage in ("{}", "[]", "no JSON", '{"sizes": ["1"], "times": {}}', '{"sizes": [2, 1], "times": {}}'):
        (tmp_path / "out" / "compare.json").write_text(damage, encoding="utf-8")
        with pytest.raises(collsim.ScenarioErrors, match=r"compare\.json: tells of no comparison"):
            picture(tmp_path / "out", "sizes")


def test_a_folder_of_a_sweep_is_drawn_as_it_is_and_only_what_it_lacks_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, out = tmp_path / "varied.yaml", tmp_path / "out"
    file.write_text(VARIED, encoding="utf-8")
    found = sweep(file, out=out)
    files = {path.name: path.read_bytes() for path in out.iterdir() if path.suffix != ".sqlite"}
    with monkeypatch.context() as patch:
        patch.setattr(sweeping, "run_batch", None)
        again = picture(out, "sweep")
    collsim.save(again, tmp_path / "again.png")
    assert (tmp_path / "again.png").read_bytes() == files["sweep.png"]
    assert {name: (out / name).read_bytes() for name in files} == files
    assert [list(line.get_ydata()) for line in picture(found, "sweep").axes[0].lines] == [
        [row.fields["time"] for row in found.rows if row.fields["ranks"] == ranks] for ranks in (4, 8)
    ]
    (out / "sweep.sqlite").unlink()
    collsim.save(picture(out, "sweep"), tmp_path / "again.png")
    assert (tmp_path / "again.png").read_bytes() == files["sweep.png"]
    assert not (out / "sweep.sqlite").exists()
