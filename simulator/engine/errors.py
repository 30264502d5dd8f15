"""Errors of plans and engines."""

from __future__ import annotations

from topologies.errors import CollsimError


class PlanError(CollsimError):
    """A plan that cannot be made, or that runs past what the clock can count."""
