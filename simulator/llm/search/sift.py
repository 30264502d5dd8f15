"""Which plans can be laid out and fit, and what is known of them before they are simulated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Literal

from simulator.llm.errors import ModelError
from simulator.llm.fit import misfits
from simulator.llm.memory import memory
from simulator.llm.search.least import Least, least_time
from simulator.llm.traffic import traffic
from topologies.errors import CollsimError
from topologies.text import format_bytes

if TYPE_CHECKING:
    from simulator.llm.search.space import Degrees
    from simulator.llm.step.report_setting import Setting


@dataclass(frozen=True, slots=True)
class Kept:
    """A plan that fits.

    Attributes
    ----------
    degrees : Degrees
    memory : int
        Bytes of a rank of the stage that has most.
    traffic : int
        Bytes that a rank of the stage that sends most sends in a step.
    least : Least
        Lower bounds of its time; 0 where they cannot be found, and it cannot be simulated.
    """

    degrees: Degrees
    memory: int
    traffic: int
    least: Least


@dataclass(frozen=True, slots=True)
class Dropped:
    """A plan that is not simulated.

    Attributes
    ----------
    degrees : Degrees
    why : {'layout', 'memory'}
    where : str
        What cannot be laid out, as the path of its key; or the part of memory that overflows first.
    message : str
        The reason in full.
    """

    degrees: Degrees
    why: Literal["layout", "memory"]
    where: str
    message: str


def setting_at(base: Setting, degrees: Degrees) -> Setting:
    """What a plan is simulated from: as another one, but for its degrees.

    Raises
    ------
    ModelError
        If the degrees do not go together.
    """
    asked = base.asked
    parallel = degrees.parallel(asked.parallel)
    batch = replace(asked.batch, micro=degrees.micro)
    plan = replace(asked.memory, recompute=degrees.recompute)
    return replace(
        base,
        asked=replace(asked, parallel=parallel, batch=batch, memory=plan),
        fabric=replace(base.fabric, parallel=parallel),
    )


def sift(base: Setting, several: tuple[Degrees, ...]) -> list[Kept | Dropped]:
    """Look at several plans, in order."""
    return [_one(base, degrees) for degrees in several]


def _one(base: Setting, degrees: Degrees) -> Kept | Dropped:
    try:
        setting = setting_at(base, degrees)
    except ModelError as error:
        return Dropped(degrees, "layout", ".".join(("parallel", *map(str, error.at))), error.message)
    asked = setting.asked
    parts = (asked.model, asked.parallel, asked.batch, asked.memory)
    for misfit in misfits(*parts, asked.plan):
        return Dropped(degrees, "layout", ".".join(map(str, misfit.at)), misfit.message)
    taken = memory(*parts)
    overflow = taken.overflow
    if overflow is not None:
        excess = format_bytes(ceil(overflow.excess), 4)
        message = f"stage {overflow.stage} needs {excess} more than there are"
        return Dropped(degrees, "memory", overflow.part, message)
    sent = traffic(*parts, asked.plan)
    return Kept(degrees, ceil(taken.peak.total), ceil(sent.rank(sent.busiest)), _least(setting))


def _least(setting: Setting) -> Least:
    try:
        return least_time(setting)
    except CollsimError:
        # its simulation says what is wrong
        return Least(0, 0, exact=False)
