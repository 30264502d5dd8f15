"""Algorithms for tori, for oversubscribed networks and for GPUs, published since 2010."""

from __future__ import annotations

from typing import Final

from algorithms.algorithm import Algorithm
from algorithms.catalogue.bine import BINE
from algorithms.catalogue.pat import PAT
from algorithms.catalogue.swing import SWING
from algorithms.catalogue.torus_rings import TORUS_RINGS

MODERN: Final[tuple[Algorithm, ...]] = (*SWING, *BINE, *PAT, *TORUS_RINGS)
