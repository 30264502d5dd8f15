"""Writing today's values into what a scenario expects: single values, character by character.

Comments, layout, quotes and units stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from simulator.scenario.check import Mismatch, check
from simulator.scenario.errors import ScenarioError, ScenarioErrors
from simulator.scenario.output import write_file
from simulator.scenario.parse import decode
from simulator.scenario.plan_load import loads_any
from simulator.scenario.source import Scalar
from simulator.scenario.units import UNITS, Kind
from topologies.clock import FEMTOSECONDS

if TYPE_CHECKING:
    from simulator.scenario.check import Held

BOM: Final = b"\xef\xbb\xbf"
_BREAK: Final = re.compile(r"\r\n|\r|\n")
_QUANTITY: Final = re.compile(r"\s*(?P<number>[-+.0-9eE]*[.0-9])\s*(?P<unit>\S*)")
QUANTITIES: Final[Mapping[str, tuple[Kind, int]]] = MappingProxyType(
    {
        **dict.fromkeys(
            ("time", "start", "finish", "alone", "step_time", "ttft", "tpot"), ("time", FEMTOSECONDS)
        ),
        **{f"{part}_max": ("bytes", 1) for part in ("memory", "states", "activations", "cache")},
    }
)
"""What is written with a unit, and in how many parts of its own unit today's value is counted."""

_DIGITS: Final = 20
"""Digits after the point of a time in minutes: 1 fs is 1.7e-17 min."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Characters start..stop of a text to be replaced by others."""

    start: int
    stop: int
    text: str


def update(result: Held, mismatches: Sequence[Mismatch]) -> int:
    """Write what the result is into its scenario's file, where something else is expected.

    A tolerance or a limit that is not kept is no value: it stays as it is.

    Parameters
    ----------
    result : Result, TogetherResult, WorkloadResult or PlanResult
        Of a scenario that was loaded from a file.
    mismatches : sequence of Mismatch
        What `check` said of it.

    Returns
    -------
    int
        Values that were written; the file is not touched where there are none.

    Raises
    ------
    ScenarioErrors
        If a value cannot be replaced where it stands: an alias, an anchor, a text over several
        lines, or if the file has changed meanwhile.
    OutputError
        If the file cannot be written.
    """
    wanted = [wrong for wrong in mismatches if wrong.today is not None]
    if not wanted:
        return 0
    path = Path(result.scenario.source.file)
    if not path.is_file():
        raise ScenarioErrors([ScenarioError("is not a file that can be updated", str(path))])
    data = path.read_bytes()
    mark = BOM if data.startswith(BOM) else b""
    text = decode(data, str(path))
    edits = sorted((_edit(result, text, wrong) for wrong in wanted), key=lambda edit: -edit.start)
    for edit in edits:
        text = text[: edit.start] + edit.text + text[edit.stop :]
    # the kind of file stays the same: what is replaced are values under `expect`
    again = check(replace(result, scenario=loads_any(text, str(path))))  # type: ignore[arg-type]
    if any(wrong.today is not None for wrong in again):
        raise ScenarioErrors([ScenarioError("has changed while it ran; run it again", str(path))])
    write_file(path, mark + text.encode("utf-8"))
    return len(edits)


def _edit(result: Held, text: str, wrong: Mismatch) -> Edit:
    """What to replace, and by what."""
    source = result.scenario.source
    node = source.find(wrong.at)
    line, column = source.locate(wrong.at)
    start = _offset(text, line, column)
    first = text[start : start + 1]
    if not isinstance(node, Scalar) or first in ("*", "&", "|", ">"):
        form = {"*": "an alias", "&": "an anchor"}.get(first, "a block")
        raise ScenarioErrors(
            [source.error(f"{wrong.key}: {form} cannot be updated; write the value out", wrong.at)]
        )
    quotes = len(first) if first in ("'", '"') else 0
    start += quotes
    stop = start + len(node.text)
    if text[start:stop] != node.text or (quotes and text[stop : stop + 1] != first):
        message = (
            f"{wrong.key}: a value with escapes or over several lines cannot be updated; write it plainly"
        )
        raise ScenarioErrors([source.error(message, wrong.at)])
    *_, block, key = wrong.at
    what = str(block if key == "value" else key)
    if what not in QUANTITIES or not isinstance(wrong.today, int):
        return Edit(start, stop, str(wrong.today))
    kind, parts = QUANTITIES[what]
    match = _QUANTITY.fullmatch(node.text)
    if match is None:
        raise ScenarioErrors([source.error(f"{wrong.key}: has no unit that can be kept", wrong.at)])
    # a byte of a TiB has 40 digits, and then it ends
    digits = 40 if kind == "bytes" else _DIGITS
    number = decimal(Fraction(wrong.today, parts) / UNITS[kind][match["unit"]], digits)
    return Edit(start + match.start("number"), start + match.end("number"), number)


def _offset(text: str, line: int, column: int) -> int:
    """Where a line and column, from 1, stand in a text."""
    begins = [0, *(found.end() for found in _BREAK.finditer(text))]
    return begins[min(line, len(begins)) - 1] + column - 1


def decimal(value: Fraction, digits: int = _DIGITS) -> str:
    """A number of zero or more in plain digits: exact, or to so many digits where it never ends.

    >>> decimal(Fraction(16522072, 10**6)), decimal(Fraction(3)), decimal(Fraction(1, 3))
    ('16.522072', '3', '0.33333333333333333333')
    """
    places = next((p for p in range(digits) if not (value * 10**p).denominator > 1), digits)
    text = f"{round(value * 10**places):0{places + 1}d}"
    return text if not places else f"{text[:-places]}.{text[-places:]}"
