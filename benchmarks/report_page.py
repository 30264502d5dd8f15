"""Reports: how large they are, how long they take to make, and to open in a headless Chromium."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from time import perf_counter, process_time

from simulator.scenario.doctor import BROWSERS
from simulator.scenario.load import loads
from simulator.scenario.report import report_page
from simulator.scenario.run import Result, run

ALLREDUCE = """
topology: {kind: ring, ranks: 64, bandwidth: 64 GB/s, latency: 1 us}
collective: {kind: allreduce, algorithm: ring, size: 1 GiB}
reduction: {bandwidth: 512 GB/s, mode: after}
"""
ALL_TO_ALL = """
topology: {kind: ring, ranks: 58, bandwidth: 64 GB/s, latency: 1 us}
collective: {kind: all_to_all, algorithm: direct, size: 58 MiB}
"""
"""Some 50,000 hops."""

DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"


def result_of(text: str) -> Result:
    return run(loads(text))


def page_of(result: Result) -> tuple[float, str]:
    """CPU seconds of this process, and the page."""
    before = process_time()
    page = report_page([(result, ())])
    return process_time() - before, page


def opening(page: str) -> float | None:
    """Seconds until a page's timeline is drawn; None where there is no playwright or no browser."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        return None
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as runner:
        path = Path(folder) / "report.html"
        path.write_text(page, encoding="utf-8")
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        try:
            browser = runner.chromium.launch(
                executable_path=next(filter(None, map(shutil.which, BROWSERS)), None), args=flags
            )
        except Error:
            return None
        tab = browser.new_page()
        tab.goto("about:blank")
        before = perf_counter()
        tab.goto(path.as_uri())
        tab.wait_for_selector("#timeline")
        tab.evaluate(DRAWN)
        seconds = perf_counter() - before
        browser.close()
    return seconds
