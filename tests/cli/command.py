"""The command line, called as a person calls it, and the first walk to call it with."""

from __future__ import annotations

from pathlib import Path

from simulator.cli import main

RING = """\
name: Eight in a ring
topology: {kind: ring, ranks: 8, bandwidth: 64 GB/s, latency: 1 us}
collective: {kind: reduce_scatter, algorithm: ring, size: 1 GiB}
reduction: {bandwidth: 512 GB/s, mode: after}
"""


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def collsim(*arguments: object) -> int:
    """Exit code of a command."""
    try:
        main([str(argument) for argument in arguments])
    except SystemExit as end:
        return int(end.code or 0)
    return 0
