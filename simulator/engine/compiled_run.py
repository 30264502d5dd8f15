"""What the compiled engine's event loops have in common: they run to the end, and tell how far they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from simulator.engine.errors import TOO_LATE, PlanError
from simulator.engine.timeline import Timeline
from topologies.clock import LONGEST

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from simulator.engine.plan import Plan


def run_to_end(
    advance: Callable[[int], bool],
    scalars: NDArray[np.int64],
    hops: int,
    every: int,
    progress: Callable[[int, int], None] | None,
) -> None:
    """Let a loop advance until nothing is left.

    Parameters
    ----------
    advance : callable
        Grants so many hops more, or all that are left; whether there is more.
    scalars : ndarray of int64
        The loop's, which say how many hops it has granted and whether the clock ran over.
    hops : int
        Hops in all.
    every : int
        Hops after which `progress` is told.
    progress : callable, optional
        Called now and then with (hops granted, hops in all).

    Raises
    ------
    PlanError
        If the clock runs past 2.5 hours.
    """
    from simulator.engine.kernel import GRANTED, LATE

    more = True
    while more:
        more = advance(hops if progress is None else every)
        if progress is not None:
            progress(int(scalars[GRANTED]), hops)
    if scalars[LATE]:
        raise PlanError(TOO_LATE)


def compiled_timeline(
    plan: Plan, arrival: NDArray[np.int64], grant: NDArray[np.int64], release: NDArray[np.int64]
) -> Timeline:
    """Timeline of a plan that ran to its end; times in fs, shape (hops,).

    Raises
    ------
    PlanError
        If it ended past 2.5 hours.
    """
    timeline = Timeline(plan, arrival, grant, release, engine="compiled")
    if timeline.time > LONGEST:
        raise PlanError(TOO_LATE)
    return timeline
