"""Damaged files: an error that names its place, or another program, but nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from algorithms.formats.registry import read_schedule
from algorithms.programs.errors import ProgramError
from algorithms.programs.proof import prove_program
from algorithms.programs.timing import schedule_of
from tests.algorithms.formats.format_files import FILES
from topologies.errors import FormatError

MUTATIONS = 200


def mutated(data: bytes, random: np.random.Generator) -> bytes:
    """A file of which a few bytes are others, are missing, are there twice, or have changed places."""
    changed = bytearray(data)
    for _ in range(random.integers(1, 4)):
        start, length = int(random.integers(len(changed))), int(random.integers(1, 20))
        piece = bytes(changed[start : start + length])
        match random.integers(5):
            case 0:
                changed[start] = random.integers(256)
            case 1:
                del changed[start : start + length]
            case 2:
                changed[start:start] = piece
            case 3:
                other = int(random.integers(len(changed)))
                changed[other : other + length] = piece
            case _:
                digits = [i for i, byte in enumerate(changed) if chr(byte).isdigit()]
                changed[digits[random.integers(len(digits))]] = ord("0") + int(random.integers(10))
    return bytes(changed)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_damaged_file_is_refused_or_read(file: Path) -> None:
    random, data = np.random.default_rng(1998), file.read_bytes()
    outcomes = set[str]()
    for _ in range(MUTATIONS):
        try:
            program = read_schedule(mutated(data, random), file.name)
            prove_program(program)
            schedule_of(program, 1000)
            outcomes.add("right")
        except (FormatError, ProgramError) as error:
            outcomes.add(type(error).__name__ + " of several lines" * ("\n" in error.message))
    assert "FormatError" in outcomes
    assert outcomes <= {"right", "FormatError", "ProgramError"}
