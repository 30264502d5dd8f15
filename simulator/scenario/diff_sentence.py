"""One sentence on why a run takes longer, or shorter, than another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simulator.engine.path_parts import PARTS
from topologies.clock import to_seconds
from topologies.text import format_sizes, format_time

if TYPE_CHECKING:
    from simulator.scenario.diff import Difference, LinkChange, Pair

ENOUGH: Final = 0.9
"""Share of the difference past which no further part is named."""

WORTH_A_WORD: Final = 0.1
"""Share of it from which on a part that went the other way is."""

NAMED: Final = 4
"""Keys that are named; of the others it is said how many they are."""

_CAUSES: Final = {"latency": "steps", "serialization": "bytes_sent_max", "reduction": "bytes_reduced_max"}
"""The count that makes most of a part."""


def sentence(found: Difference) -> str:
    """Say why the second run takes longer than the first, or shorter."""
    before, after = found.time.before or 0, found.time.after or 0
    if before == after:
        other = "" if not found.settings else f", though {_keys(found)}"
        return f"Both take {_time(before)}{other}{_exchanged(found)}."
    more = after > before
    ratio = "" if not before else f", {after / before:.3g} times as long as A"
    named = [_part(found, part) for part in _largest(found, more)]
    against = [_part(found, part) for part in _against(found, more)]
    text = f"B takes {_time(after)}{ratio}: {_signed(after - before)}, by {_listed(named)}"
    return text + (f", against {_listed(against)}" if against else "") + "."


def _keys(found: Difference) -> str:
    keys = [setting.key for setting in found.settings]
    more = [f"{len(keys) - NAMED} more"] if len(keys) > NAMED else []
    return f"{_listed(keys[:NAMED] + more)} {'differ' if len(keys) > 1 else 'differs'}"


def _exchanged(found: Difference) -> str:
    """What two equal times are made of, where that differs."""
    some = [_part(found, part) for part in PARTS if found.parts[part].grown]
    return f", with {_listed(some)}" if some else ""


def _largest(found: Difference, more: bool) -> list[str]:
    """Parts that make most of the difference."""
    way = 1 if more else -1
    ranked = sorted(
        (p for p in PARTS if way * found.parts[p].grown > 0), key=lambda p: -way * found.parts[p].grown
    )
    whole = sum(found.parts[part].grown for part in ranked)
    named: list[str] = []
    for part in ranked:
        if sum(found.parts[one].grown for one in named) * way >= ENOUGH * way * whole:
            break
        named.append(part)
    return named


def _against(found: Difference, more: bool) -> list[str]:
    """Parts that went the other way."""
    way, whole = (1 if more else -1), abs(found.time.grown)
    return [part for part in PARTS if -way * found.parts[part].grown >= WORTH_A_WORD * whole]


def _part(found: Difference, part: str) -> str:
    about = list(filter(None, (_where(found, part), _cause(found, part))))
    return f"{part} {_signed(found.parts[part].grown)}" + (f" ({'; '.join(about)})" if about else "")


def _where(found: Difference, part: str) -> str:
    """The level on which a part changed most, where there are several and it is not at the ranks."""
    if len(found.levels) < 2 or 2 * abs(found.ranks[part].grown) >= abs(found.parts[part].grown):
        return ""
    most = max(found.levels, key=lambda level: abs(level.parts[part].grown))
    return f"on {most.name} links" if most.parts[part].grown else ""


def _cause(found: Difference, part: str) -> str:
    """A count that changed along with a part."""
    if part == "queueing":
        return _busier(found)
    key = _CAUSES.get(part)
    pair = found.counts.get(key) if key else None
    if pair is None or pair.before is None or pair.after is None:
        return ""
    grew = found.parts[part].grown > 0
    if pair.grown and (pair.grown > 0) == grew:
        return _count(part, pair)
    return _carried(found, grew) if part == "serialization" and not pair.grown else ""


def _carried(found: Difference, grew: bool) -> str:
    """What all links carry, where the ranks send as much as before."""
    before = sum(level.bytes.before or 0 for level in found.levels)
    after = sum(level.bytes.after or 0 for level in found.levels)
    if before != after and (after > before) == grew:
        return f"all links carry {', not '.join(format_sizes(after, before))}"
    return "of as many bytes"


def _count(part: str, pair: Pair) -> str:
    before, after = pair.before or 0, pair.after or 0
    if part == "latency":
        return f"{after} steps, not {before}"
    what = "sends" if part == "serialization" else "reduces"
    return f"a rank {what} {', not '.join(format_sizes(after, before))}"


def _busier(found: Difference) -> str:
    """The link whose use changed most, the same way as the queues."""
    way = 1 if found.parts["queueing"].grown > 0 else -1
    some = [link for link in found.links if way * link.bytes.grown > 0 and link.bytes.after is not None]
    return "" if not some else _carries(some[0])


def _carries(link: LinkChange) -> str:
    before, after = link.bytes.before, link.bytes.after
    # a link that one of them does not name may carry something there, too
    sizes = format_sizes(after or 0, *([] if before is None else [before]))
    return f"{link.name} carries {', not '.join(sizes)}"


def _listed(texts: list[str]) -> str:
    *most, last = texts
    return f"{', '.join(most)} and {last}" if most else last


def _time(time: int) -> str:
    return format_time(to_seconds(time), 4)


def _signed(time: int) -> str:
    return ("+" if time > 0 else "") + _time(time)
