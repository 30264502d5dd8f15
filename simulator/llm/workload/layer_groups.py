"""Groups of ranks that do the collectives of a table of layers, by its kind of parallelism."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from topologies.errors import FormatError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simulator.llm.workload.groups import Groups
    from simulator.llm.workload.layers import Layer, LayerTable

Phase = Literal["forward", "inputs", "weights"]


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Groups that do the same at once.

    Attributes
    ----------
    name : str
    ranks : ndarray of int64, shape (groups, members)
    """

    name: str
    ranks: NDArray[np.int64] = field(compare=False)


@dataclass(slots=True, eq=False)
class LayerGroups:
    """The groups of a table on a topology.

    Attributes
    ----------
    table : LayerTable
    groups : Groups
        Of the topology.
    """

    table: LayerTable
    groups: Groups
    _made: dict[str, SideBySide] = field(default_factory=dict, init=False, repr=False)

    def of(self, layer: Layer, phase: Phase) -> SideBySide | None:
        """Who does a layer's collective; None where each does it alone, or none is done.

        Raises
        ------
        FormatError
            If the degrees of the table do not divide the ranks.
        """
        suffix = getattr(layer, phase).group
        policy = layer.policy or self.table.policy
        if self.table.policy.startswith("HYBRID_TRANSFORMER"):
            name = suffix.removeprefix("_").lower() or ("dp" if phase == "weights" else "tp")
        else:
            name = self._along(policy, phase, first=layer is self.table.layers[0])
        if name and name not in self._made:
            self._made[name] = SideBySide(name, self._ranks(name))
        found = self._made.get(name)
        return None if found is None or found.ranks.shape[1] == 1 else found

    def _along(self, policy: str, phase: Phase, *, first: bool) -> str:
        """Name of the group under a kind of parallelism that goes along the topology's dimensions."""
        of_weights = phase == "weights"
        match policy:
            case "HYBRID_DATA_MODEL":
                return "other dims" if of_weights else "dim 0"
            case "HYBRID_MODEL_DATA":
                return "dim 0" if of_weights else "other dims"
            case "MODEL" | "DISTRIBUTED_INFERENCE":
                return "" if of_weights else "all"
            case "HYBRID_DLRM" | "HYBRID_DLRM_ENHANCED":
                return "all" if of_weights or first else ""
        return "all" if of_weights else ""

    def _ranks(self, name: str) -> NDArray[np.int64]:
        topology = self.groups.topology
        everybody = np.arange(topology.ranks)
        if name == "all":
            return everybody[None, :]
        if name.endswith("dims") or name.startswith("dim "):
            flags = [(dim == 0) == (name == "dim 0") for dim in range(max(len(topology.dims), 1))]
            return self._dims(flags)
        tp, ep = self.table.number("tp"), self.table.number("ep")
        if topology.ranks % (tp * ep):
            message = f"model_parallel_NPU_group {tp} x ep {ep} does not divide {topology.ranks} ranks"
            raise FormatError(message, self.table.file, 1, 1)
        # innermost first: tensor parallel ranks, those that share experts, replicas of these
        mesh = everybody.reshape(-1, ep, tp)
        axes = {"tp": (2,), "ep": (1,), "dp_ep": (0,), "dp": (0, 1)}[name]
        others = [axis for axis in range(3) if axis not in axes]
        members = int(np.prod([mesh.shape[axis] for axis in axes]))
        return mesh.transpose([*others, *axes]).reshape(-1, members)

    def _dims(self, flags: Sequence[bool]) -> NDArray[np.int64]:
        """Groups along some of the topology's dimensions, in order of their first ranks."""
        if not any(flags):
            return np.arange(self.groups.topology.ranks)[:, None]
        found = (self.groups.along(flags, rank) for rank in range(self.groups.topology.ranks))
        return np.array(list(dict.fromkeys(members.ranks for members in found)), dtype=np.int64)
