"""Errors of plans and engines."""

from __future__ import annotations

from typing import Final

from topologies.errors import CollsimError

TOO_LATE: Final = "the simulation ran past 2.5 hours, past which femtoseconds do not fit 64 bits"
PLAN_TOO_LONG: Final = "the plan runs longer than 2.5 hours, past which femtoseconds do not fit 64 bits"


class PlanError(CollsimError):
    """A plan that cannot be made, or that runs past what the clock can count."""
