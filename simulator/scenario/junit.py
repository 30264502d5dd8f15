"""Outcomes of a check as JUnit XML, which every CI server reads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from simulator.scenario.library import stem
from topologies.text import printable

if TYPE_CHECKING:
    from simulator.scenario.check import Outcome

SUITE = "collsim check"


def junit_xml(outcomes: Sequence[Outcome]) -> bytes:
    """A test case a file: a mismatch or a failed proof is a failure, wrong input an error.

    How long a scenario takes to run is left out: the same outcomes give the same bytes.
    """
    failures = sum(bool(outcome.mismatches or outcome.unproven) for outcome in outcomes)
    errors = sum(bool(outcome.wrong) for outcome in outcomes)
    counts = {"tests": str(len(outcomes)), "failures": str(failures), "errors": str(errors)}
    suites = ET.Element("testsuites", counts)
    suite = ET.SubElement(suites, "testsuite", {"name": SUITE, **counts})
    for outcome in outcomes:
        _add_case(suite, outcome)
    ET.indent(suites)
    text: bytes = ET.tostring(suites, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _add_case(suite: ET.Element, outcome: Outcome) -> None:
    file = _printable(outcome.file)
    path = PurePath(file)
    about = {"classname": path.parent.as_posix(), "name": stem(path), "file": file}
    case = ET.SubElement(suite, "testcase", about)
    lines = [_printable(line) for line in outcome.lines]
    if outcome.wrong:
        ET.SubElement(case, "error", {"message": lines[0], "type": "input"}).text = "\n".join(lines)
    elif outcome.unproven:
        ET.SubElement(case, "failure", {"message": lines[0], "type": "proof"}).text = "\n".join(lines)
    elif outcome.mismatches:
        first = outcome.mismatches[0]
        message = f"{first.key}: expected {first.expected}, found {first.found}"
        more = f" (and {len(lines) - 1} more)" if len(lines) > 1 else ""
        text = "\n".join(lines)
        ET.SubElement(case, "failure", {"message": message + more, "type": "expectation"}).text = text


def _printable(text: str) -> str:
    """A text without the characters that XML cannot hold."""
    return printable(text, limit=len(text))
