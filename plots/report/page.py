"""Runs as one HTML file: the page, its look, its code and the data, and nothing from elsewhere."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from plots.palette import label

if TYPE_CHECKING:
    from plots.report.values import Run

SCRIPTS: Final = (
    *("columns", "words", "store", "model", "tips", "stacks", "summary", "compare"),
    *("rows", "sight", "bars", "paint", "gestures", "timeline", "find", "place"),
    *("holdings", "matrix", "arrows", "steps"),
    "main",
)
"""The page's code, each file after those that it imports from."""

_IMPORT: Final = re.compile(r"^import\s[^;]*;\n", re.MULTILINE)
_EXPORT: Final = re.compile(r"^export ", re.MULTILINE)
_COMMENT: Final = re.compile(r"^ *(?:/\*\*.*?\*/|//[^\n]*)\n", re.MULTILINE | re.DOTALL)
_HOLE: Final = re.compile(r"\{\{(\w+)\}\}")


def page(runs: Sequence[Run]) -> str:
    """Write the page of one run, or of several beside each other; the same bytes for the same runs.

    Parameters
    ----------
    runs : sequence of Run
        At least one.
    """
    parts = {
        "title": html.escape(label(_title(runs), 100)),
        # a page is dark by a person's choice, or by that of the machine
        "style": _filled(_asset("style.css"), {"dark": _asset("dark.css").rstrip()}),
        "data": _json({"runs": [_run(run) for run in runs]}),
        "script": "\n".join(map(_script, SCRIPTS)),
    }
    return _filled(_asset("page.html"), parts)


def _filled(text: str, parts: Mapping[str, str]) -> str:
    """A text with its holes filled; what is filled in is not looked at again, whatever it holds."""
    return _HOLE.sub(lambda hole: parts[hole[1]], text)


def _title(runs: Sequence[Run]) -> str:
    others = f" and {len(runs) - 1} more" if len(runs) > 1 else ""
    return f"{runs[0].name}{others} - collsim"


def _run(run: Run) -> dict[str, Any]:
    return {
        "name": run.name,
        "sentence": run.sentence,
        "time": run.time,
        "facts": [asdict(fact) for fact in run.facts],
        "warnings": list(run.warnings),
        "stacks": [asdict(stack) for stack in run.stacks],
        "tables": [asdict(table) for table in run.tables],
        "timeline": run.timeline,
        "place": run.place,
    }


def _json(value: Any) -> str:
    """JSON that no HTML parser can mistake for markup."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


@cache
def _script(name: str) -> str:
    """A module as part of one: without its imports, as what it imports stands above it, and its comments."""
    text = _asset(f"{name}.js")
    for left_out in (_COMMENT, _IMPORT, _EXPORT):
        text = left_out.sub("", text)
    return text.strip()


@cache
def _asset(name: str) -> str:
    return (files("plots.report") / "assets" / name).read_text(encoding="utf-8")
