"""Reading a report as its page does: the data in it, and the numbers in its columns."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray


def data_of(html: str) -> list[dict[str, Any]]:
    """The runs in a page."""
    [text] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    runs: list[dict[str, Any]] = json.loads(text)["runs"]
    return runs


def column(text: str) -> NDArray[np.int64]:
    """Numbers of a packed column: Protocol Buffers' zigzag varints of differences."""
    values, value, shift, now = [], 0, 0, 0
    for byte in base64.b64decode(text):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            now += (value >> 1) ^ -(value & 1)
            values.append(now)
            value = shift = 0
    return np.array(values, dtype=np.int64)
