"""The pages of the manual print what collsim prints, and their files load."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.page import DOCS, PAGES, rewritten


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).with_suffix("").as_posix())
def test_a_page_prints_what_collsim_prints(page: Path, tmp_path: Path) -> None:
    text = page.read_text("utf-8")
    assert rewritten(text, tmp_path) == text, "`make pages` writes the pages anew"
