"""To come."""

from __future__ import annotations

from typing import Final

from algorithms.algorithm import Algorithm

MODERN: Final[tuple[Algorithm, ...]] = ()
