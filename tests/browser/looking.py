"""What a page shows, as those who look at it see it, and what they point at."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from simulator.scenario.report import Reported
from simulator.scenario.run import Result

if TYPE_CHECKING:
    from playwright.sync_api import Page


Shown = Callable[..., "Page"]
RING = "first-walk/ring-reduce-scatter-8"
HALVING = "first-walk/halving-hypercube-8"
TOGETHER = "together/background-on-a-ring"
COPY = "new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', {willReadFrequently: true})"
AXIS, LANE = 22, 24
"""Pixels above the lanes, and of a lane where there are few."""


def result_of(results: Callable[[str], Reported], name: str = RING) -> Result:
    result = results(name)
    assert isinstance(result, Result)
    return result


def picture(page: Page) -> str:
    """What the timeline's canvas shows, once it has been drawn."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return canvas_of(page, "#timeline")


def canvas_of(page: Page, selector: str) -> str:
    """Sum of a canvas's pixels (FNV-1a), and its size."""
    script = """(canvas) => {
        const copy = COPY;
        copy.drawImage(canvas, 0, 0);
        const pixels = copy.getImageData(0, 0, canvas.width, canvas.height).data;
        let sum = 2166136261;
        for (const word of new Uint32Array(pixels.buffer)) sum = Math.imul(sum ^ word, 16777619);
        return `${canvas.width} x ${canvas.height}: ${sum}`;
    }""".replace("COPY", COPY)
    return str(page.eval_on_selector(selector, script))


def tip(page: Page, within: str = ".viewer") -> dict[str, str]:
    """Lines of the box that is shown; empty where none is."""
    script = """(box) => box.hidden ? {} : Object.fromEntries(
        [...box.querySelectorAll('dt')].map((name) => [name.textContent, name.nextSibling.textContent]))"""
    return dict(page.eval_on_selector(f"{within} .tip", script))


def hover(page: Page, across: float, down: float) -> None:
    """Point at a place of the timeline: a share of its width, and pixels from its top."""
    page.locator("#timeline").scroll_into_view_if_needed()
    box = page.locator("#timeline").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + across * box["width"], box["y"] + down)


def marked_rows(page: Page) -> list[int]:
    """Numbers of the lanes that are marked."""
    script = """(canvas) => {
        const probe = document.createElement('i');
        probe.style.color = getComputedStyle(document.documentElement).getPropertyValue('--mark');
        document.body.append(probe);
        const wanted = getComputedStyle(probe).color.match(/\\d+/g).map(Number);
        probe.remove();
        const copy = COPY;
        copy.drawImage(canvas, 0, 0);
        const pixels = copy.getImageData(1, 0, 1, canvas.height).data;
        const marked = (y) => wanted.every((part, i) => pixels[4 * y + i] === part);
        return [...Array(canvas.height).keys()].filter(marked);
    }""".replace("COPY", COPY)
    picture(page)
    rows = page.eval_on_selector("#timeline", script)
    return sorted({(int(y) - AXIS) // LANE for y in rows})
