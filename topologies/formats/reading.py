"""What every reader of topologies is given, and what they share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from topologies.errors import FormatError, TopologyError
from topologies.wiring import check_wire

MOST_BYTES: Final = 64 << 20
"""Of a file."""

MOST_SECONDS: Final = 1e9
"""Of a link in a file: the sum over any way is then a number, too."""


@dataclass(frozen=True, slots=True)
class Beside:
    """What a person says beside a file, for what it leaves open.

    Attributes
    ----------
    bandwidth, latency, overhead : float, optional
        Of links of which the file does not say it: bytes/s, s, s.
    machines : int, optional
        How many machines as in the file are joined by one network, where it describes a machine.
    """

    bandwidth: float | None = None
    latency: float | None = None
    overhead: float | None = None
    machines: int | None = None


def check_length(data: bytes, file: str) -> None:
    """Refuse a file that is far too large.

    Raises
    ------
    FormatError
    """
    if len(data) > MOST_BYTES:
        raise FormatError(f"the file is larger than {MOST_BYTES >> 20} MiB", file, byte=MOST_BYTES)


def check_link(bandwidth: float, latency: float, overhead: float) -> None:
    """Refuse a file's link that cannot carry anything, or whose times nobody means.

    Raises
    ------
    TopologyError
    """
    check_wire(bandwidth, latency, overhead)
    if max(latency, overhead) >= MOST_SECONDS:
        raise TopologyError(f"a link's time must be less than {MOST_SECONDS:g} s")


def decode(data: bytes, file: str) -> str:
    """Turn the bytes of a file into text.

    Raises
    ------
    FormatError
        If there is nothing, far too much, or what is no UTF-8.

    Examples
    --------
    >>> decode(b"1 2", "a.txt")
    '1 2'
    """
    check_length(data, file)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        found = error.object[error.start]
        raise FormatError(f"not UTF-8 text: found 0x{found:02x}", file, byte=error.start) from None
    if not text.strip():
        raise FormatError("the file is empty", file, 1, 1)
    return text
