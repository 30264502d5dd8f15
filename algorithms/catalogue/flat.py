"""The algorithms that stand by themselves, over one dimension or by their own dimensions."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from algorithms.algorithm import Algorithm
from algorithms.catalogue.binary_trees import BINARY_TREES
from algorithms.catalogue.bine import BINE
from algorithms.catalogue.bruck import BRUCK
from algorithms.catalogue.butterfly import BUTTERFLY
from algorithms.catalogue.direct import DIRECT
from algorithms.catalogue.double_tree import DOUBLE_TREE
from algorithms.catalogue.exchange import EXCHANGE
from algorithms.catalogue.halving import HALVING
from algorithms.catalogue.paired_rings import PAIRED_RINGS
from algorithms.catalogue.pat import PAT
from algorithms.catalogue.rabenseifner import RABENSEIFNER
from algorithms.catalogue.ring import RINGS
from algorithms.catalogue.swing import SWING
from algorithms.catalogue.torus_rings import TORUS_RINGS
from algorithms.catalogue.trees import TREES

FLAT: Mapping[str, Algorithm] = MappingProxyType(
    {
        algorithm.name: algorithm
        for family in (
            RINGS,
            HALVING,
            RABENSEIFNER,
            DIRECT,
            TREES,
            BINARY_TREES,
            DOUBLE_TREE,
            BRUCK,
            EXCHANGE,
            BUTTERFLY,
            SWING,
            BINE,
            PAT,
            TORUS_RINGS,
            PAIRED_RINGS,
        )
        for algorithm in family
    }
)
