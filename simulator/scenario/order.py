"""Which of several collectives comes after which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from simulator.scenario.errors import ScenarioError, suggestion
from simulator.scenario.source import Source
from simulator.scenario.together_models import Member
from topologies.text import printable


def in_order(members: Sequence[Member]) -> list[int]:
    """Positions of the members, each after those that it comes after, else as they are.

    Those that come after themselves are left out, and so are those that come after them.
    """
    number = {member.name: i for i, member in enumerate(members)}
    order: list[int] = []
    done: set[int] = set()
    left = list(range(len(members)))
    while left:
        ready = next((i for i in left if all(number[name] in done for name in members[i].after)), None)
        if ready is None:
            return order
        left.remove(ready)
        done.add(ready)
        order.append(ready)
    return order


def misplaced(source: Source, members: Sequence[Member]) -> Iterator[ScenarioError]:
    """Names that two have or nobody has, and members that come after themselves."""
    first: dict[str, int] = {}
    for i, member in enumerate(members):
        if member.name in first:
            message = f'"{printable(member.name)}" is the name of collectives[{first[member.name]}], too'
            yield source.error(f"collectives[{i}].name: {message}", ("collectives", i, "name"))
        first.setdefault(member.name, i)
    known = True
    for i, member in enumerate(members):
        for k, name in enumerate(member.after):
            if name not in first:
                known = False
                hint = suggestion(name, first)
                message = f'collectives[{i}].after: there is no collective "{printable(name)}"{hint}'
                yield source.error(message, source.existing(("collectives", i, "after", k)))
    if not known or len(first) < len(members):
        return
    ordered = in_order(members)
    if len(ordered) < len(members):
        circle = _circle(members, set(range(len(members))) - set(ordered))
        names = ", ".join(f'"{printable(members[i].name)}"' for i in circle)
        message = f"collectives[{circle[0]}].after: it comes after itself, by way of {names}"
        yield source.error(message, ("collectives", circle[0], "after"))


def _circle(members: Sequence[Member], stuck: set[int]) -> list[int]:
    """Members each of which comes after the next, and the last after the first."""
    number = {member.name: i for i, member in enumerate(members)}
    way = [min(stuck)]
    while True:
        nearer = next(number[name] for name in members[way[-1]].after if number[name] in stuck)
        if nearer in way:
            return way[way.index(nearer) :]
        way.append(nearer)
