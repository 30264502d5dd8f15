"""Which parallel plans a search tries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, Final, Literal

from simulator.llm.checked import check_fields
from simulator.llm.errors import ModelError
from simulator.llm.plan import Parallel, Schedule
from topologies.quantities import Count

if TYPE_CHECKING:
    from simulator.llm.model import Model
    from simulator.llm.plan import MemoryPlan

Recompute = Literal["none", "selective", "full"]

MOST_TRIED: Final = 100_000
"""Plans that are looked at."""

TOKENS_OF_A_RANK: Final = 8192
"""Tokens of a sequence that a rank is left with at least, where context parallelism is not asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """What a search varies, and among which values; what it does not say follows from the rest.

    Parameters
    ----------
    tp : sequence of int, optional
        Else divisors of the ranks, up to those of the topology's innermost dimension.
    sp : sequence of bool, optional
        Else true wherever tp is more than 1; with a tp of 1 it says nothing.
    cp : sequence of int, optional
        Else divisors of the ranks that leave 8192 tokens of a sequence to a rank, and 1.
    pp : sequence of int, optional
        Else divisors of the ranks, up to the layers.
    interleave : sequence of int, optional
        Else 1 and 2; more than 1 under `1f1b` only.
    schedule : sequence of str, optional
        Else `1f1b` and `zb-h1`; of a single stage the first.
    dp : sequence of int, optional
        Else whatever is left of the ranks.
    ep : sequence of int, optional
        Else 1, and divisors of the experts that divide dp.
    zero : sequence of int, optional
        Else 0, 1 and 3; of a single replica 0.
    recompute : sequence of str, optional
        Else `none` and `full`, and `selective` where attention's scores are stored.
    micro : sequence of int, optional
        Sequences of a micro-batch; else 1, 2 and 4.
    most : int, optional
        Plans that are simulated; else all that fit. Those with the longest least times are left out.
    """

    tp: Sequence[Count] | None = None
    sp: Sequence[bool] | None = None
    cp: Sequence[Count] | None = None
    pp: Sequence[Count] | None = None
    interleave: Sequence[Count] | None = None
    schedule: Sequence[Schedule] | None = None
    dp: Sequence[Count] | None = None
    ep: Sequence[Count] | None = None
    zero: Sequence[Literal[0, 1, 2, 3]] | None = None
    recompute: Sequence[Recompute] | None = None
    micro: Sequence[Count] | None = None
    most: Count | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        for field in fields(self):
            values = getattr(self, field.name)
            if field.name == "most" or values is None:
                continue
            if not values:
                raise ModelError("expected one value at least", (field.name,))
            twice = next((i for i, value in enumerate(values) if value in values[:i]), None)
            if twice is not None:
                raise ModelError(f"found {values[twice]} twice", (field.name, twice))


@dataclass(frozen=True, slots=True)
class Degrees:
    """What a search varies of a plan.

    Attributes
    ----------
    tp, cp, pp, dp, ep : int
    sp : bool
    schedule : str
    interleave : int
    zero : int
    recompute : str
    micro : int
    """

    tp: int
    sp: bool
    cp: int
    pp: int
    schedule: Schedule
    interleave: int
    dp: int
    ep: int
    zero: Literal[0, 1, 2, 3]
    recompute: Recompute
    micro: int

    def parallel(self, base: Parallel) -> Parallel:
        """The plan, with what is not varied as in another one.

        Raises
        ------
        ModelError
            If the degrees do not go together.
        """
        own = ("tp", "sp", "cp", "pp", "schedule", "interleave", "dp", "ep", "zero")
        shard = base.shard if self.zero else None
        return replace(base, shard=shard, **{name: getattr(self, name) for name in own})


def degrees_of(
    space: Space, ranks: int, machine: int, model: Model, sequence: int, memory: MemoryPlan
) -> tuple[Degrees, ...]:
    """Every plan of a space whose degrees come to so many ranks, once, in the order of the space.

    Parameters
    ----------
    space : Space
    ranks : int
    machine : int
        Ranks that are close to each other, which tp does not pass unless the space says so.
    model : Model
    sequence : int
        Tokens of a sequence.
    memory : MemoryPlan

    Raises
    ------
    ModelError
        If there are none, or too many.

    Examples
    --------
    >>> from simulator.llm.model import transformer
    >>> from simulator.llm.plan import MemoryPlan
    >>> model = transformer(layers=4, hidden=64, heads=4, vocab=512, sequence=128)
    >>> space = Space(zero=[1], recompute=["none"], micro=[1], schedule=["1f1b"], interleave=[1])
    >>> found = degrees_of(space, 4, 2, model, 128, MemoryPlan())
    >>> [(one.tp, one.pp, one.dp) for one in found]
    [(1, 1, 4), (1, 2, 2), (1, 4, 1), (2, 1, 2), (2, 2, 1)]
    """
    axes = _axes(space, ranks, machine, model, sequence, memory)
    if prod(map(len, axes.values())) > MOST_TRIED * 10:
        raise ModelError("more plans than can be looked at; name fewer values", ("search",))
    found = dict.fromkeys(_combined(axes, space, ranks))
    if not found:
        raise ModelError(f"no plan of these has {ranks} ranks", ("search",))
    if len(found) > MOST_TRIED:
        raise ModelError(f"{len(found)} plans, expected {MOST_TRIED} at most; name fewer values", ("search",))
    return tuple(found)


def _axes(
    space: Space, ranks: int, machine: int, model: Model, sequence: int, memory: MemoryPlan
) -> dict[str, Sequence[Any]]:
    divisors = [size for size in range(1, ranks + 1) if ranks % size == 0]
    again = ["none", "full"] if memory.attention == "flash" else ["none", "selective", "full"]
    usual: dict[str, Sequence[Any]] = {
        "tp": [size for size in divisors if size <= machine],
        "sp": [True],
        "cp": [size for size in divisors if size == 1 or size * TOKENS_OF_A_RANK <= sequence],
        "pp": [size for size in divisors if size <= model.layers],
        "schedule": ["1f1b", "zb-h1"],
        "interleave": [1, 2],
        "ep": [1],
        "zero": [0, 1, 3],
        "recompute": again,
        "micro": [1, 2, 4],
    }
    if model.experts is not None:
        usual["ep"] = [size for size in divisors if model.experts.count % size == 0]
    return {name: values if (own := getattr(space, name)) is None else own for name, values in usual.items()}


def _combined(axes: dict[str, Sequence[Any]], space: Space, ranks: int) -> Iterator[Degrees]:
    """Combinations, those that differ in what does not matter as one."""
    for tp, sp, cp, pp, schedule, interleave, ep, zero, recompute, micro in product(*axes.values()):
        dp, rest = divmod(ranks, tp * cp * pp)
        if rest or dp % ep or (space.dp is not None and dp not in space.dp):
            continue
        chunks = interleave if pp > 1 and schedule == "1f1b" else 1
        if chunks != interleave and 1 in axes["interleave"]:
            continue
        yield Degrees(
            tp=tp,
            sp=sp and tp > 1,
            cp=cp,
            pp=pp,
            schedule=schedule if pp > 1 else axes["schedule"][0],
            interleave=chunks,
            dp=dp,
            ep=ep,
            zero=zero if dp * cp > 1 else 0,
            recompute=recompute,
            micro=micro,
        )
