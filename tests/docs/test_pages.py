"""The pages of the manual print what collsim prints, and their files load."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.page import DOCS, PAGES, ROOT, rewritten


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).with_suffix("").as_posix())
def test_a_page_prints_what_collsim_prints(page: Path, tmp_path: Path) -> None:
    text = page.read_text("utf-8")
    assert rewritten(text, tmp_path) == text, "`make docs-output` writes the pages anew"


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md"])
def test_links_into_the_manual_lead_somewhere(name: str) -> None:
    # those of the manual's own pages are held by its build
    page = ROOT / name
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
    assert [target for target in targets if not (page.parent / target).exists()] == []
