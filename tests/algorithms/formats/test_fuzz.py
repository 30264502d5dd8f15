"""Damaged files: an error that names its place, or another program, but nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from algorithms.formats.registry import read_schedule
from algorithms.programs.errors import ProgramError
from algorithms.programs.proof import prove_program
from algorithms.programs.timing import schedule_of
from tests.algorithms.formats.format_files import FILES
from tests.damage import damaged
from topologies.errors import FormatError

TIMES = 100


def with_other_digits(data: bytes) -> Iterator[bytes]:
    """Files that are well formed, but of which a number is another."""
    random = np.random.default_rng(1998)
    digits = [i for i, byte in enumerate(data) if chr(byte).isdigit()]
    for _ in range(TIMES):
        changed = bytearray(data)
        changed[digits[random.integers(len(digits))]] = ord("0") + int(random.integers(10))
        yield bytes(changed)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_damaged_file_is_refused_or_read(file: Path) -> None:
    data = file.read_bytes()
    outcomes = set[str]()
    for version in (*damaged(data, TIMES), *with_other_digits(data)):
        try:
            program = read_schedule(version, file.name)
            prove_program(program)
            schedule_of(program, 1000)
            outcomes.add("right")
        except ProgramError as error:
            outcomes.add("ProgramError" + " of several lines" * ("\n" in str(error)))
        except FormatError as error:
            placed = str(error).startswith(f"{file.name}:") and "\n" not in str(error)
            outcomes.add("FormatError" + " without a place" * (not placed))
    assert {"right", "FormatError"} <= outcomes <= {"right", "FormatError", "ProgramError"}
