"""Columns of integers as text: differences, few bytes each, in base64."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

_BITS: Final = 7  # of a value in each of its bytes; the eighth says that there are more


def packed(column: ArrayLike) -> str:
    """Write integers as text that the page reads back.

    Each is its difference from the one before, with the sign as the lowest bit, in the variable
    length of Protocol Buffers ("Encoding", base-128 varints), all of them in base64.

    Parameters
    ----------
    column : array of integers
        Within 62 bits.

    Examples
    --------
    >>> packed([0, 0, 1, 65]), packed([])
    ('AAACgAE=', '')
    """
    values = np.asarray(column, dtype=np.int64).ravel()
    change = np.diff(values, prepend=0)
    code = ((change << 1) ^ (change >> 63)).astype(np.uint64)
    count = np.ones(len(code), dtype=np.int64)
    for more in range(1, 10):
        count += code >= np.uint64(1 << (_BITS * more))
    place = np.cumsum(count) - count
    out = np.zeros(int(count.sum()), dtype=np.uint8)
    for byte in range(int(count.max(initial=0))):
        some = np.flatnonzero(count > byte)
        low = (code[some] >> np.uint64(_BITS * byte)) & np.uint64(127)
        out[place[some] + byte] = low.astype(np.uint8) | ((count[some] > byte + 1) * 128).astype(np.uint8)
    return base64.b64encode(out.tobytes()).decode("ascii")


def numbered(names: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
    """Distinct names in the order in which they first come, and which of them each is.

    Examples
    --------
    >>> words, which = numbered(["b", "a", "b"])
    >>> words, which.tolist()
    (['b', 'a'], [0, 1, 0])
    """
    number = {name: place for place, name in enumerate(dict.fromkeys(names))}
    return list(number), np.array([number[name] for name in names], dtype=np.int64)
