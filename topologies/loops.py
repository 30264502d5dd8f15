"""Plain loops that numba compiles where the work is worth it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any, Final, TypeVar, cast

Loop = TypeVar("Loop", bound=Callable[..., Any])

WORTH_LOADING: Final = 50_000
"""Turns of a loop from which on loading numba, about half a second, pays."""

WORTH_CALLING: Final = 500
"""The same once numba is loaded."""


@cache
def numba_is_here() -> bool:
    """Whether numba is installed and fits this Python; asked only where it would be loaded."""
    try:
        import numba
    except ImportError:
        return False
    return hasattr(numba, "njit")


def fast(loop: Loop, turns: int, steps: tuple[Callable[..., Any], ...] = ()) -> Loop:
    """The loop itself, or for many turns, where numba is installed, its compiled twin.

    Parameters
    ----------
    loop : function
        Of arrays and numbers, calling nothing but numpy and its steps.
    turns : int
        About how many it will take.
    steps : tuple of function
        Of the loop's own module; they may call each other.
    """
    worth = WORTH_CALLING if "numba" in sys.modules else WORTH_LOADING
    return cast("Loop", _compiled(loop, steps)) if turns >= worth and numba_is_here() else loop


@cache
def _compiled(loop: Callable[..., Any], steps: tuple[Callable[..., Any], ...]) -> Any:
    from numba import njit
    from numba.extending import register_jitable

    for step in steps:
        register_jitable(step)
    return njit(cache=True)(loop)
