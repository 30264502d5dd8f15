"""Which communication may be under way while a stage computes."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.llm.checked import check_fields
from simulator.llm.errors import ModelError
from topologies.quantities import Bytes, Ratio


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlap:
    """Which communication may be under way while a stage computes; the rest stops it.

    Parameters
    ----------
    tp : bool
        Under sequence parallelism, matrix products and the collectives before and after them piece
        by piece round a ring: each piece is sent while another one is multiplied (asynchronous tensor
        parallelism). Else backward: gradients of weights go on while those of inputs are added up.
    cp : bool
        Backward, the gradients of weights go on while keys and values do.
    ep : bool
        Tokens go to their experts while the shared expert works, and come back so backward.
    pp : bool
        A stage goes on while what it hands on is under way.
    dp : bool
        Gradients are added up as soon as they are there; and ZeRO-3 gathers weights ahead.
    bucket : int
        Bytes of gradients that are added up together, at least; 0 does so unit by unit.
    steals : float, optional
        Part of its speed that a stage loses while its calls are under way, below 1: 0.15 of NVLink's
        and 0.02 of the network's in Calculon's files (Isaev et al. 2023).
    """

    tp: bool = False
    cp: bool = False
    ep: bool = False
    pp: bool = True
    dp: bool = True
    bucket: Bytes = 0
    steals: Ratio | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        if self.steals is not None and self.steals >= 1:
            raise ModelError(f"must be below 1, found {self.steals:g}", ("steals",))

    def of(self, stream: str) -> bool:
        """Whether the calls of a stream let their stage go on.

        >>> Overlap().of("tp"), Overlap().of("gather"), Overlap(pp=False).of("send forward")
        (False, True, False)
        """
        return bool(getattr(self, _OF_STREAM.get(stream, stream)))


_OF_STREAM = {"gather": "dp", "reduce": "dp", "send forward": "pp", "send backward": "pp"}
