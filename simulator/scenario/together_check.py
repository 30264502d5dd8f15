"""Where several collectives are not what is expected of them."""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose
from typing import TYPE_CHECKING

from simulator.scenario.differences import (
    CLOSE,
    Difference,
    differences,
    is_within,
    limits_text,
    time_differences,
)
from simulator.scenario.models import Limits

if TYPE_CHECKING:
    from simulator.scenario.source import At
    from simulator.scenario.together_models import ExpectMember
    from simulator.scenario.together_result import MemberResult, TogetherResult


def together_differences(result: TogetherResult) -> Iterator[tuple[str, At, Difference]]:
    """Yield the name of a collective, or none; the block that expects something; and what is else."""
    expect, verified = result.scenario.expect, result.verified.partition("(")[0]
    for difference in time_differences("time", expect.time, result.duration):
        yield "", ("expect",), difference
    if expect.verified is not None and expect.verified != verified:
        yield "", ("expect",), ("verified", expect.verified, verified, verified)
    for i, member in enumerate(result.members):
        for difference in _of_member(result.scenario.members[i].expect, member):
            yield member.name, ("collectives", i, "expect"), difference


def _of_member(expect: ExpectMember, member: MemberResult) -> Iterator[Difference]:
    yield from differences(expect, member, member.duration)
    yield from time_differences("start", expect.start, member.start)
    yield from time_differences("finish", expect.finish, member.finish)
    yield from time_differences("alone", expect.alone, member.duration_alone)
    wanted, found = expect.slowdown, member.slowdown
    words = "none: it takes no time" if found is None else str(found)
    if isinstance(wanted, Limits):
        if not is_within(found, wanted):
            yield "slowdown", limits_text(wanted), words, None
    elif wanted is not None and (found is None or not isclose(found, wanted, rel_tol=CLOSE)):
        yield "slowdown", str(wanted), words, found
