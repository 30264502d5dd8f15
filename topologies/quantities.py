"""Types of the parameters that a person may set, annotated with what they measure.

Inside the code every quantity is a plain SI number. The annotation tells the edge
(simulator/scenario) which unit words to accept and which values to refuse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal


@dataclass(frozen=True, slots=True)
class Quantity:
    """What a number measures.

    Parameters
    ----------
    kind : {'bandwidth', 'compute', 'time', 'bytes', 'count', 'ratio'}
        bandwidth in bytes/s and compute in FLOP/s (positive), time in s (zero or more), bytes
        an integer (zero or more), count an integer (``minimum`` or more, no unit), ratio a
        positive number without a unit.
    minimum : int
        Smallest count accepted.
    """

    kind: Literal["bandwidth", "compute", "time", "bytes", "count", "ratio"]
    minimum: int = 0


Bandwidth = Annotated[float, Quantity("bandwidth")]
Compute = Annotated[float, Quantity("compute")]
Time = Annotated[float, Quantity("time")]
Bytes = Annotated[int, Quantity("bytes")]
Count = Annotated[int, Quantity("count", minimum=1)]
Whole = Annotated[int, Quantity("count", minimum=0)]
Ratio = Annotated[float, Quantity("ratio")]
