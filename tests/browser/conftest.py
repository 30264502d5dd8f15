"""A headless browser; where there is none, the tests of this folder are skipped."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from simulator.scenario.doctor import BROWSERS
from simulator.scenario.library import expand
from simulator.scenario.plan_load import load_any
from simulator.scenario.report import Reported, report, run_again

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")
Shown = Callable[..., "Page"]


def executable() -> str | None:
    """A Chromium that is installed; None for playwright's own."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: make test-browser"
    )
    with playwright.sync_playwright() as runner:
        try:
            opened = runner.chromium.launch(executable_path=executable(), args=list(FLAGS))
        except playwright.Error as error:
            pytest.skip(f"no Chromium to be found: {str(error).splitlines()[0]}")
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def results() -> Callable[[str], Reported]:
    """Result of a scenario of the library, run once."""
    found: dict[str, Reported] = {}

    def result(name: str) -> Reported:
        if name not in found:
            [file] = expand([Path(f"library:{name}")])
            found[name] = run_again(load_any(file))
        return found[name]

    return result


@pytest.fixture
def shown(browser: Browser, results: Callable[[str], Reported], tmp_path: Path) -> Iterator[Shown]:
    """Open the report of scenarios; at the end nothing may have gone wrong, or been asked for."""
    wrong: list[str] = []
    asked: list[str] = []
    context = browser.new_context(viewport={"width": 1000, "height": 700})

    def show(*names: str, **media: str) -> Page:
        path = report([results(name) for name in names], tmp_path / "report.html", force=True)
        page = context.new_page()
        page.on(
            "console",
            lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None,
        )
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.emulate_media(**media)  # type: ignore[arg-type]
        page.goto(path.as_uri())
        page.wait_for_selector("#timeline")
        return page

    yield show
    context.close()
    assert wrong == []
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
