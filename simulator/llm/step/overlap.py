"""Which communication may be under way while a stage computes."""

from __future__ import annotations

from dataclasses import dataclass

from simulator.llm.checked import check_fields
from topologies.quantities import Bytes


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
    """

    tp: bool = False
    cp: bool = False
    ep: bool = False
    pp: bool = True
    dp: bool = True
    bucket: Bytes = 0

    def __post_init__(self) -> None:
        check_fields(self)

    def of(self, stream: str) -> bool:
        """Whether the calls of a stream let their stage go on.

        >>> Overlap().of("tp"), Overlap().of("gather"), Overlap(pp=False).of("send forward")
        (False, True, False)
        """
        return bool(getattr(self, _OF_STREAM.get(stream, stream)))


_OF_STREAM = {"gather": "dp", "reduce": "dp", "send forward": "pp", "send backward": "pp"}
