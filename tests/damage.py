"""Small damage to a file: what a truncated download, an editor or an attacker makes of it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

TOKENS = (
    b"",
    b"-1",
    b"0",
    b"1e400",
    b"nan",
    b"99999999999999999999",
    b'"',
    b"<",
    b">",
    b"[",
    b"{",
    b"\xff",
    b"\n",
    b"#",
)


def damaged(data: bytes, times: int = 200, seed: int = 10) -> Iterator[bytes]:
    """So many versions of a file, the same on every run."""
    rng = np.random.default_rng(seed)
    for _ in range(times):
        start, end = sorted(rng.integers(0, len(data) + 1, 2).tolist())
        token = TOKENS[int(rng.integers(len(TOKENS)))]
        match int(rng.integers(5)):
            case 0:
                yield data[:start]
            case 1:
                yield data[:start] + data[end:]
            case 2:
                yield data[:start] + token + data[start + 1 :]
            case 3:
                yield data[:end] + data[start:]
            case _:
                end = min(start + 3, len(data))
                yield data[:start] + bytes(rng.integers(0, 256, end - start, dtype=np.uint8)) + data[end:]
