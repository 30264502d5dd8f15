"""The page of a report: columns, escaping, and one file that needs nothing else."""

from __future__ import annotations

import re
from pathlib import Path
from xml.dom import minidom

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from algorithms import build
from plots.report.columns import packed
from plots.report.moves import Part, part_chart
from plots.report.page import SCRIPTS, page
from plots.report.place import MOST_LINKS, place_chart
from plots.report.spans import MOST_LANES, timeline_chart
from plots.report.values import Fact, Run, Stacks, Table
from simulator.engine.analysis import link_use
from simulator.engine.critical_path import critical_path
from simulator.engine.engines import run_plan
from simulator.engine.lower import lower
from tests.plots.page_reader import column, data_of
from topologies import Topology, full_mesh, ring

ASSETS = Path(__file__).parents[2] / "plots" / "report" / "assets"
NASTY = "</script><script>alert(1)</script> \"'&amp; <!-- \u2028 \U0001f600 \ud800 {{data}}"


@given(st.lists(st.integers(-(1 << 60), 1 << 60), max_size=30))
def test_columns_come_back_as_they_were(values: list[int]) -> None:
    assert column(packed(values)).tolist() == values


def chart_of(ranks: int = 4, most: int = 200_000) -> dict[str, object]:
    schedule, place = build("ring", "allreduce", ranks, 1 << 20), ring(ranks, bandwidth=64e9, latency=1e-6)
    timeline = run_plan(lower(schedule, place))
    parts = [Part("ring", schedule, range(ranks))]
    return dict(timeline_chart(timeline, parts, place, critical_path(timeline, place), most))


def run_of(name: str) -> Run:
    facts, table = (Fact(name, name, headline=True),), Table(name, [name], [[name]])
    return Run(name, name, 5, facts, [name], [Stacks(name, [name], [(name, [5])])], [table], chart_of())


def test_whatever_a_name_holds_stays_text() -> None:
    html = page([run_of(NASTY)])
    [run] = data_of(html)
    assert (run["name"], run["facts"][0]["text"], run["tables"][0]["rows"]) == (NASTY, NASTY, [[NASTY]])
    assert html.count("</script>") == html.count("<script") == 2
    assert "alert(1)</script>" not in html
    html.encode("utf-8")
    assert page([run_of(NASTY)]) == html


def test_the_page_asks_for_nothing_from_elsewhere() -> None:
    html = page([run_of("a"), run_of("b")])
    # names of XML are no addresses
    assert set(re.findall(r"https?://[^\"'\s)]+", html)) <= {"http://www.w3.org/2000/svg"}
    assert "default-src 'none'" in html
    assert not re.search(r"@import|url\(|fetch\(|XMLHttpRequest|WebSocket|\bimport\b|<script src", html)
    assert re.findall("<link[^>]*>", html) == ['<link rel="icon" href="data:,">']
    assert len(data_of(html)) == 2
    assert "<title>a and 1 more - collsim</title>" in html


def test_every_script_is_there_once_and_after_what_it_imports() -> None:
    assert sorted(SCRIPTS) == sorted(path.stem for path in ASSETS.glob("*.js"))
    names: list[str] = []
    for place, script in enumerate(SCRIPTS):
        text = (ASSETS / f"{script}.js").read_text(encoding="utf-8")
        assert text.count("\n") < 300
        imported = re.findall(r'^import [^;]* from "\./(\w+)\.js";$', text, re.MULTILINE)
        assert all(SCRIPTS.index(other) < place for other in imported)
        names += re.findall(r"^(?:export )?(?:const|let|function|class) (\w+)", text, re.MULTILINE)
    assert len(names) == len(set(names))
    assert not re.search(r"^(import|export) ", page([run_of("a")]), re.MULTILINE)


def test_a_chart_holds_the_timeline_to_the_femtosecond() -> None:
    schedule, place = build("ring", "allreduce", 4, 1 << 20), ring(4, bandwidth=64e9, latency=1e-6)
    timeline = run_plan(lower(schedule, place))
    chart = chart_of()
    spans, operations = chart["spans"], chart["operations"]
    assert isinstance(spans, dict)
    assert isinstance(operations, dict)
    arrival, wait, hold = (column(spans[name]) for name in ("arrival", "wait", "hold"))
    assert (arrival == timeline.arrival).all()
    assert (arrival + wait == timeline.grant).all()
    assert (arrival + wait + hold == timeline.release).all()
    assert column(operations["hops"]).sum() == timeline.plan.hops
    assert (column(operations["transfer"]) == timeline.plan.transfer).all()
    [told] = chart["schedules"]  # type: ignore[misc, attr-defined]
    assert (column(told["step"]) == schedule.step).all()
    assert (column(told["dst"]) == schedule.dst).all()
    assert told["animated"]


def test_what_is_too_much_is_told_as_how_busy_lanes_are() -> None:
    chart = chart_of(ranks=8, most=64)
    assert "spans" not in chart
    assert chart["schedules"] == []
    use = chart["use"]
    assert isinstance(use, dict)
    share, resource, cell = (column(use[name]) for name in ("share", "resource", "cell"))
    assert share.min() > 0
    assert share.max() <= 1000
    # a ring of 8 holds every link for 14 messages of 128 KiB
    busy = np.bincount(resource, weights=share / 1000) * chart["end"] / use["cells"]
    assert busy / 1e15 == pytest.approx(np.full(8, 14 * 2**17 / 64e9), rel=2e-3)
    assert cell.max() < use["cells"]


def placed(topology: Topology) -> dict[str, object]:
    schedule = build("direct", "allgather", topology.ranks, topology.ranks)
    use = link_use(run_plan(lower(schedule, topology)), schedule)
    chart = place_chart(topology, use, None, None, 1)
    assert chart is not None
    return dict(chart)


def test_a_large_topology_is_drawn_with_its_busiest_links() -> None:
    chart = placed(full_mesh(70, bandwidth=1e9))
    assert chart["links"] == 70 * 69
    assert len(column(str(chart["link"]))) == MOST_LINKS
    small = placed(full_mesh(5, bandwidth=1e9))
    assert column(str(small["link"])).tolist() == list(range(20))
    assert column(str(small["bytes"])).tolist() == [1] * 20


def test_of_very_many_lanes_the_busiest_are_kept() -> None:
    place = full_mesh(65, bandwidth=1e9)
    schedule = build("direct", "allgather", 65, 65)
    timeline = run_plan(lower(schedule, place))
    path = critical_path(timeline, place)
    chart = timeline_chart(timeline, [Part("direct", schedule, range(65))], place, path)
    assert chart["left_out"] == 65 * 64 - MOST_LANES
    assert len(chart["resources"]["names"]) == MOST_LANES
    assert "use" in chart


def test_chunks_that_are_lists_are_told_one_by_one() -> None:
    schedule = build("bruck", "all_to_all", 6, 36)
    chart = part_chart(Part("bruck", schedule, range(6)))
    assert schedule.index is not None
    assert (column(chart["index"]) == schedule.index).all()
    one = part_chart(Part("rank 0 alone", schedule, (), whole=False))
    assert not one["animated"]
    assert column(one["place"]).tolist() == []


def test_the_html_is_well_formed() -> None:
    text = (ASSETS / "page.html").read_text(encoding="utf-8")
    # void elements closed, it is XML: every element has its end
    closed = re.sub(r"<(meta|link)([^>]*)>", r"<\1\2/>", text.split("\n", 1)[1])
    minidom.parseString(re.sub(r"\{\{\w+\}\}", "", closed))
