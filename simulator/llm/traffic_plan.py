"""How traffic is counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Final

from simulator.llm.checked import check_fields
from simulator.llm.errors import ModelError
from topologies.quantities import Count, Ratio

DEFAULTS: Final[Mapping[str, str]] = {
    "allreduce": "ring",
    "allgather": "ring",
    "reduce_scatter": "ring",
    "all_to_all": "direct",
    "send_recv": "direct",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficPlan:
    """How traffic is counted: bytes of a number, and what implementations do differently.

    Parameters
    ----------
    activation : float
        Bytes of a number of an activation, or of its gradient.
    dispatch, combine : float, optional
        Bytes of a number on the way to the experts, and back, in the forward pass; as `activation`
        where they do not say. 8 bits with a 32-bit scale for 128 numbers are 1.03125.
    regather : bool
        Whether sequence parallelism gathers the inputs of matrices again for their gradients.
    node : int, optional
        Ranks of a machine: tokens then go to each machine once, and from rank to rank inside it.
    nodes_limit : int, optional
        To how many machines a token goes at most; counted as that many.
    algorithms : mapping of str to str
        Algorithm of each kind of collective; else a ring, and everybody to everybody directly.
        `hierarchical` goes along the topology's own dimensions.
    """

    activation: Ratio = 2
    dispatch: Ratio | None = None
    combine: Ratio | None = None
    regather: bool = True
    node: Count | None = None
    nodes_limit: Count | None = None
    algorithms: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_fields(self)
        if self.nodes_limit is not None and self.node is None:
            raise ModelError("a limit of machines needs node, the ranks of a machine", ("nodes_limit",))
        check_algorithms(self.algorithms, DEFAULTS)

    def algorithm(self, kind: str) -> str:
        """What does a kind of collective."""
        return self.algorithms.get(kind, DEFAULTS[kind])


def check_algorithms(algorithms: Mapping[str, str], kinds: Iterable[str]) -> None:
    """Refuse algorithms that there are not, or that do not do what they should.

    Parameters
    ----------
    algorithms : mapping of str to str
        Of each kind of collective.
    kinds : iterable of str
        Of which one may be given.

    Raises
    ------
    ModelError
    """
    for kind, name in algorithms.items():
        # the catalogue takes longer to load than all the rest of a plan
        from algorithms.errors import ScheduleError
        from algorithms.registry import ALGORITHMS, find

        if kind not in kinds:
            message = f'found "{kind}", expected {", ".join(kinds)}{_meant(kind, kinds)}'
            raise ModelError(message, ("algorithms", kind))
        try:
            find(name, kind)
        except ScheduleError as error:
            message = f"{error.message}{_meant(name, ALGORITHMS)}"
            raise ModelError(message, ("algorithms", kind)) from None


def _meant(word: str, words: Iterable[str]) -> str:
    near = get_close_matches(word[:80], words, n=1)
    return f'; did you mean "{near[0]}"?' if near and near[0] != word else ""
