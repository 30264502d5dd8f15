"""The page of a report, in a headless Chromium: what it shows, and what keys and pointers do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from simulator.scenario.report import Reported
from tests.browser.looking import (
    AXIS,
    HALVING,
    LANE,
    RING,
    TOGETHER,
    Shown,
    canvas_of,
    hover,
    marked_rows,
    picture,
    result_of,
    tip,
)
from topologies.clock import to_seconds
from topologies.text import format_time

if TYPE_CHECKING:
    pass


def test_it_shows_the_numbers_of_the_result(shown: Shown, results: Callable[[str], Reported]) -> None:
    page, result = shown(RING), result_of(results)
    assert page.title() == "Ring ReduceScatter on 8 chips - collsim"
    assert page.inner_text("h1") == result.scenario.name
    figures = page.eval_on_selector_all(
        ".figures div", "(all) => all.map((one) => one.innerText.split('\\n'))"
    )
    assert ["time", format_time(result.time)] in figures
    assert ["proof", "full"] in figures
    assert page.locator(".topology .rank").count() == 8
    assert page.locator(".topology .links path.link").count() == 16
    bars = page.eval_on_selector_all(
        ".stack-bar", "(all) => all.map((bar) => bar.getAttribute('aria-label'))"
    )
    assert bars[0].startswith(
        "critical path: 16.5221 ms; latency 0.0 %, serialization 88.9 %, reduction 11.1 %"
    )


def test_pointing_at_a_span_tells_what_the_result_has(
    shown: Shown, results: Callable[[str], Reported]
) -> None:
    page, result = shown(RING), result_of(results)
    hover(page, 0.5, AXIS + 2.5 * LANE)
    told = tip(page)
    operation = int(told["operation"])
    row = int(result.timeline.plan.transfer[operation])
    hop = int(result.timeline.plan.hop_offset[operation])
    schedule, timeline = result.schedule, result.timeline
    assert told["on"] == "2->3"
    assert told["transfer"] == f"rank {schedule.src[row]} \u2192 rank {schedule.dst[row]}"
    assert told["step"] == str(schedule.step[row])
    assert told["chunk"] == " ".join(map(str, schedule.chunks(row)))
    assert told["at the end"] == "REDUCE"
    assert told["bytes"] == "128 MiB"
    for name in ("arrival", "grant", "release"):
        assert told[name] == format_time(to_seconds(int(getattr(timeline, name)[hop])))
    assert told["queued"] == "0 s"
    hover(page, 0.5, AXIS + 100 * LANE)
    assert tip(page) == {}


def test_a_message_that_queued_says_how_long(shown: Shown, results: Callable[[str], Reported]) -> None:
    page = shown(TOGETHER)
    page.fill("#find", "background")
    page.fill("#find", "link 0->1 step 1")
    page.press("#find", "Enter")
    told = tip(page)
    # from 21 us, behind a message of the background until 30 us
    assert (told["collective"], told["arrival"], told["grant"], told["queued"]) == (
        "allgather-0",
        "21 us",
        "30 us",
        "9 us",
    )
    title = page.get_by_text("who slows whom")
    assert title.count() == 1


def test_lanes_and_links_mark_each_other(shown: Shown) -> None:
    page = shown(RING)
    hover(page, 0.5, AXIS + 4.5 * LANE)
    number = page.get_attribute(".link.marked", "data-link")
    assert marked_rows(page) == [4]
    page.locator(f"path.reach[data-link='{number}']").dispatch_event("pointermove")
    assert tip(page, ".square")["link"] == "4->5"
    # 0->1 is the first link of all, 0->7 carries nothing and has no lane
    page.locator("path.reach[data-link='0']").dispatch_event("pointermove")
    assert marked_rows(page) == [0]
    page.locator("path.reach[data-link='1']").dispatch_event("pointermove")
    assert (page.get_attribute(".link.marked", "data-link"), marked_rows(page)) == ("1", [])
    page.focus("#topology")
    page.keyboard.press("Escape")
    assert page.locator(".link.marked").count() == 0
    page.keyboard.press("ArrowRight")
    assert marked_rows(page) == [0]
    page.keyboard.press("ArrowRight")
    assert marked_rows(page) == [1]
    assert page.inner_text("#said").startswith("link 1->2, level ring, bytes 896 MiB")


def test_the_slider_moves_chunks(shown: Shown) -> None:
    page = shown(RING)
    before = canvas_of(page, ".matrix")
    page.focus("#step")
    page.keyboard.press("ArrowRight")
    assert page.inner_text(".step-text") == "step 0 done, 6 to go"
    assert page.locator(".arrow.reduces").count() == 8
    assert page.locator(".arrow.copies").count() == 0
    assert canvas_of(page, ".matrix") != before
    # rank 1 holds two contributions to the chunk that rank 0 has sent it
    assert sorted(page.locator(".chunk").all_text_contents()) == list("01234567")
    page.keyboard.press("End")
    assert "8 of 8 wanted chunks are complete" in str(page.get_attribute(".matrix", "aria-label"))
    page.click("text=find it in the timeline")
    assert page.input_value("#find") == "step 6"
    page.focus("#step")
    page.keyboard.press("Home")
    assert page.locator(".arrow").count() == 0
    assert canvas_of(page, ".matrix") == before


def test_finding(shown: Shown, results: Callable[[str], Reported]) -> None:
    page, result = shown(RING), result_of(results)
    before = picture(page)
    schedule, plan = result.schedule, result.timeline.plan
    rank = (schedule.src == 3) | (schedule.dst == 3)
    hops = np.repeat(plan.transfer, np.diff(plan.hop_offset))
    for text, rows in (
        ("rank 3", rank),
        ("rank 3, step 2", rank & (schedule.step == 2)),
        ("chunk 5", schedule.first == 5),
    ):
        page.fill("#find", text)
        expected = int(np.isin(hops, np.flatnonzero(rows)).sum())
        assert page.inner_text(".told") == f"{expected} spans"
        assert picture(page) != before
    page.fill("#find", "link 2->3")
    page.press("#find", "Enter")
    assert (page.inner_text(".told"), tip(page)["on"], tip(page)["step"]) == ("1 of 7 spans", "2->3", "0")
    page.press("#find", "Enter")
    assert tip(page)["step"] == "1"
    page.fill("#find", "rank")
    assert "and which?" in page.inner_text(".told")
    page.press("#find", "Escape")
    page.focus("#timeline")
    page.keyboard.press("Escape")
    assert picture(page) == before


def test_wheel_drag_and_the_strip(shown: Shown) -> None:
    page = shown(RING)
    whole = picture(page)
    hover(page, 0.6, AXIS + LANE)
    page.mouse.wheel(0, -400)
    near = picture(page)
    page.mouse.down()
    hover(page, 0.4, AXIS + LANE)
    page.mouse.up()
    moved = picture(page)
    box = page.locator(".strip").bounding_box()
    assert box is not None
    page.locator(".strip").click(position={"x": 0.9 * box["width"], "y": 5})
    assert len({whole, near, moved, picture(page)}) == 4
    page.click("text=all")
    page.mouse.move(0, 0)
    assert picture(page) == whole


def test_folding_and_lanes_by_rank(shown: Shown) -> None:
    page = shown(RING)
    tall = page.locator("#timeline").bounding_box()["height"]  # type: ignore[index]
    page.click("text='fold'")
    folded = page.locator("#timeline").bounding_box()["height"]  # type: ignore[index]
    assert folded < tall / 2
    hover(page, 0.5, AXIS + 11)
    assert (tip(page)["group"], tip(page)["lanes"]) == ("ring links", "8")
    page.click("summary:has-text('groups of lanes')")
    page.click(".groups button:has-text('ring links')")
    assert page.get_attribute(".groups button:has-text('ring links')", "aria-pressed") == "false"
    page.click("text='unfold'")
    assert page.locator("#timeline").bounding_box()["height"] == tall  # type: ignore[index]
    before = picture(page)
    page.select_option(".tools select", "by rank")
    assert picture(page) != before
    assert page.locator(".groups button").all_inner_texts() == [f"rank {i}" for i in range(8)]


def test_the_cut_and_the_colours_of_links(shown: Shown) -> None:
    page = shown(HALVING)
    assert page.locator(".link.cut").count() == 0
    page.check("#cut")
    # rank 0 sends 7/8 of M over its three links
    assert page.locator(".link.cut").count() == 3
    assert page.locator(".inside").count() == 1
    assert "link shade5" in page.eval_on_selector_all(
        ".link", "(all) => all.map((one) => one.className.baseVal)"
    )
    page.select_option(".card:has(#topology) select", "level")
    assert page.locator(".link.level0").count() == 24


def test_several_runs_are_beside_each_other(shown: Shown, results: Callable[[str], Reported]) -> None:
    page = shown(HALVING, RING, TOGETHER)
    assert page.inner_text(".compare h1") == "3 runs beside each other"
    rows = page.eval_on_selector_all(
        ".runs tbody tr",
        "(all) => all.map((row) => [row.className, ...[...row.children].map((cell) => cell.textContent)])",
    )
    told = {row[1].removesuffix(" \u2260"): (row[0], row[2:]) for row in rows}
    times = [format_time(results(name).time) for name in (HALVING, RING, TOGETHER)]  # type: ignore[union-attr]
    assert told["time"] == ("differs", times)
    assert told["proof"] == ("", ["full"] * 3)
    assert told["most slowed down"][1][:2] == ["-", "-"]
    page.check("#only")
    assert not page.is_visible(".runs tr:has-text('proof')")
    for place, name in enumerate((HALVING, RING, TOGETHER)):
        page.locator(".tabs button").nth(place).click()
        assert page.inner_text("#run h1") == results(name).scenario.name
        assert page.locator(".tabs button[aria-pressed=true]").count() == 1


def test_a_step_of_a_language_model(shown: Shown) -> None:
    page = shown("llm/step-fsdp-8")
    page.fill("#find", "stage 0 batch 0")
    page.press("#find", "Enter")
    told = tip(page)
    assert told["on"].startswith("stage 0 ")
    assert told["micro-batch"] == "0"
    assert page.locator("#step").count() == 0
    assert page.locator(".stack").count() == 1


def test_names_are_only_text(shown: Shown, tmp_path: object, results: Callable[[str], Reported]) -> None:
    from dataclasses import replace

    from simulator.scenario.report import report

    result = result_of(results)
    name = "</script><img src=x onerror=alert(1)> \"'& \U0001f600"
    nasty = replace(result, scenario=replace(result.scenario, name=name))
    page = shown(RING)
    path = report(nasty, f"{tmp_path}/nasty.html")
    page.goto(path.as_uri())
    assert page.inner_text("h1") == name
    assert page.locator("img").count() == 0
