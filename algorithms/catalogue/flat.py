"""The algorithms that stand by themselves, over one dimension or by their own dimensions."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from algorithms.algorithm import Algorithm
from algorithms.catalogue.bruck import BRUCK
from algorithms.catalogue.butterfly import BUTTERFLY
from algorithms.catalogue.direct import DIRECT
from algorithms.catalogue.exchange import EXCHANGE
from algorithms.catalogue.halving import HALVING
from algorithms.catalogue.in_network import IN_NETWORK
from algorithms.catalogue.modern import MODERN
from algorithms.catalogue.rabenseifner import RABENSEIFNER
from algorithms.catalogue.ring import RINGS
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
            BRUCK,
            EXCHANGE,
            BUTTERFLY,
            MODERN,
            IN_NETWORK,
        )
        for algorithm in family
    }
)
