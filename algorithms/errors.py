"""Errors of schedules."""

from __future__ import annotations

from topologies.errors import CollsimError


class ScheduleError(CollsimError):
    """A schedule that cannot be built, or that does not compute its collective.

    Parameters
    ----------
    message : str
        One line.
    at : tuple of str or int
        Path of the offending option, when one is to blame.
    step, rank, chunk : int, optional
        Where in the schedule it went wrong.
    """

    def __init__(
        self,
        message: str,
        at: tuple[str | int, ...] = (),
        *,
        step: int | None = None,
        rank: int | None = None,
        chunk: int | None = None,
    ) -> None:
        super().__init__(message, at)
        self.step = step
        self.rank = rank
        self.chunk = chunk


class ProofError(ScheduleError):
    """A schedule that was built, but does not compute its collective."""
