"""Errors of models and parallel plans."""

from __future__ import annotations

from topologies.errors import CollsimError


class ModelError(CollsimError):
    """A model whose numbers do not go together, or a plan that cannot be laid out."""
