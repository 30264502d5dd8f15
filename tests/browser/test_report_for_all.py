"""The page of a report for whoever uses keys alone, a dark screen, or wants nothing to move."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.browser.looking import (
    HALVING,
    RING,
    Shown,
    picture,
    tip,
)

if TYPE_CHECKING:
    pass


def test_keys_of_the_timeline(shown: Shown) -> None:
    page = shown(RING)
    page.focus("#timeline")
    whole = picture(page)
    page.keyboard.press("+")
    near = picture(page)
    page.keyboard.press("ArrowRight")
    moved = picture(page)
    assert len({whole, near, moved}) == 3
    page.keyboard.press("ArrowLeft")
    assert picture(page) == near
    page.keyboard.press("0")
    assert picture(page) == whole
    page.keyboard.press("p")
    without = picture(page)
    assert without != whole
    assert not page.is_checked("#path")
    page.check("#path")
    assert picture(page) == whole
    page.focus("#timeline")
    page.keyboard.press("Enter")
    assert (tip(page)["on"], tip(page)["step"]) == ("0->1", "0")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowDown")
    assert (tip(page)["on"], tip(page)["step"]) == ("1->2", "1")
    assert "step 1" in page.inner_text("#said")
    page.keyboard.press("Escape")
    assert tip(page) == {}
    assert picture(page) == whole


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_playing_moves_chunks_unless_nothing_should_move(shown: Shown, motion: str) -> None:
    page = shown(RING, reduced_motion=motion)
    page.click("#play")
    if motion == "no-preference":
        page.wait_for_selector(".dot.reduces", state="attached")
    page.wait_for_selector("text=step 0 done")
    if motion == "reduce":
        assert page.locator(".dot").count() == 0
    page.click("#play")
    assert page.inner_text("#play") == "play"


def contrast(one: str, other: str) -> float:
    """Ratio of two colours as WCAG 2 defines it."""

    def light(colour: str) -> float:
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


def test_both_themes_can_be_read(shown: Shown) -> None:
    page = shown(RING, color_scheme="dark")
    script = """(names) => names.map((name) => {
        const probe = document.createElement('i');
        probe.style.color = `var(--${name})`;
        document.body.append(probe);
        const found = getComputedStyle(probe).color;
        probe.remove();
        return found;
    })"""
    names = ["page", "card", "ink", "faint", "accent", "path", "copy", "reduce", "line", "focus", "zebra"]
    pages = set()
    # as the system has it, then light, then dark by the switch
    for theme in ("auto", "light", "dark"):
        assert page.inner_text("#theme") == f"theme: {theme}"
        colours = dict(zip(names, page.evaluate(script, names), strict=True))
        pages.add(colours["page"])
        for back in ("page", "card", "zebra"):
            for ink in ("ink", "faint", "accent"):
                assert contrast(colours[ink], colours[back]) >= 4.5, (theme, ink, back)
            for mark in ("path", "copy", "reduce", "line", "focus"):
                assert contrast(colours[mark], colours[back]) >= 3.0, (theme, mark, back)
        before = picture(page)
        page.click("#theme")
        if theme != "dark":
            assert picture(page) != before
    assert len(pages) == 2


def test_everything_is_reached_by_tab_and_has_a_name(shown: Shown) -> None:
    page = shown(RING, HALVING)
    script = """() => {
        const now = document.activeElement;
        if (now === document.body) return null;
        const name = now.id || now.ariaLabel || now.labels?.[0]?.textContent || now.textContent;
        return [name.trim(), getComputedStyle(now).outlineStyle];
    }"""
    reached: list[str] = []
    for _ in range(60):
        page.keyboard.press("Tab")
        found = page.evaluate(script)
        if found is None:
            break
        name, outline = found
        assert name
        assert outline != "none", name
        reached.append(name)
    places = [
        reached.index(name) for name in ("theme", "path", "find", "timeline", "topology", "play", "step")
    ]
    assert places == sorted(places)
    charts = page.eval_on_selector_all(
        "canvas:not([aria-hidden]), svg", "(all) => all.map((one) => one.ariaLabel)"
    )
    assert all(charts)
