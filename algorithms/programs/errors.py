"""Errors of programs."""

from __future__ import annotations

from algorithms.errors import ProofError


class ProgramError(ProofError):
    """A program that does not compute its collective, races, or comes to a stop.

    Parameters
    ----------
    message : str
        One line.
    line : int, optional
        Of the file that it was read from, 0 where it is unknown.
    rank, chunk, step : int, optional
        Where it went wrong.
    """

    def __init__(
        self,
        message: str,
        line: int = 0,
        *,
        step: int | None = None,
        rank: int | None = None,
        chunk: int | None = None,
    ) -> None:
        super().__init__(message, step=step, rank=rank, chunk=chunk)
        self.line = line
