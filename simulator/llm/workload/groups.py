"""Groups of ranks that do collectives together: from a file of communicators, or along dimensions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from topologies.errors import FormatError
from topologies.formats.json_text import parse_json
from topologies.text import quoted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from algorithms.formats.chakra import Trace
    from topologies.topology import Topology


@dataclass(frozen=True, slots=True)
class Members:
    """Ranks that do a collective together, known by their name and their first.

    Attributes
    ----------
    name : str
        Of the group, for people; groups of one name have no rank in common.
    first : int
        The root, where there is one.
    ranks : tuple of int
    """

    name: str
    first: int
    ranks: tuple[int, ...] = field(compare=False)

    @classmethod
    def of(cls, name: str, ranks: Sequence[int]) -> Members:
        """The group of some ranks."""
        return cls(name, ranks[0], tuple(ranks))

    @property
    def array(self) -> NDArray[np.int64]:
        """The one group, as ways have groups."""
        return np.array([self.ranks], dtype=np.int64)


@dataclass(slots=True, eq=False)
class Groups:
    """The groups of a workload.

    Attributes
    ----------
    topology : Topology
    named : mapping of str to tuple of int
        Ranks of each communicator.
    own : sequence of mapping
        The same as each rank's own trace says it, of those that `named` has not; empty where none does.
    """

    topology: Topology
    named: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    own: Sequence[Mapping[str, tuple[int, ...]]] = ()
    _of: dict[object, dict[int, Members]] = field(default_factory=dict, init=False, repr=False)

    def communicator(self, name: str, rank: int) -> Members | None:
        """The group of that name, if it is known and has the rank; without a name, or as "0", everybody."""
        if self.own and name in self.own[rank] and name not in self.named:
            ranks = self.own[rank][name]
            return Members.of(f"group {name}", ranks) if rank in ranks else None
        if name not in self._of:
            everybody = name in ("", "0") and name not in self.named
            known = range(self.topology.ranks) if everybody else self.named.get(name, ())
            members = Members.of("all" if everybody else f"group {name}", known) if known else None
            self._of[name] = {} if members is None else dict.fromkeys(known, members)
        return self._of[name].get(rank)

    def along(self, dims: Sequence[int], rank: int) -> Members:
        """Ranks that differ from one along some of the topology's dimensions, each of which has a flag."""
        room = max(len(self.topology.dims), 1)
        chosen = tuple(bool(flag) for flag in (*dims, *[0] * room)[:room])
        if all(chosen):
            everybody = self.communicator("", rank)
            assert everybody is not None
            return everybody
        if chosen not in self._of:
            self._of[chosen] = self._lines(chosen)
        return self._of[chosen][rank]

    def _lines(self, chosen: tuple[bool, ...]) -> dict[int, Members]:
        """Group of each rank along some dimensions."""
        others = [dim for dim, flag in enumerate(chosen) if not flag]
        name = "dims " + ", ".join(str(dim) for dim, flag in enumerate(chosen) if flag)
        lines: dict[tuple[int, ...], list[int]] = {}
        for rank in range(self.topology.ranks):
            place = self.topology.coordinates(rank)
            lines.setdefault(tuple(place[dim] for dim in others), []).append(rank)
        return {rank: Members.of(name, line) for line in lines.values() for rank in line}


def read_groups(text: str, file: str, ranks: int) -> dict[str, tuple[int, ...]]:
    """Communicators of a JSON file: an object that lists the ranks of each.

    Parameters
    ----------
    text, file : str
        The file and its name.
    ranks : int
        How many ranks there are.

    Raises
    ------
    FormatError
        If it is none, or a group has a rank twice, or one that is not there; names the line and column.

    Examples
    --------
    >>> read_groups('{"1": [0, 1], "2": [2, 3]}', "groups.json", 4)
    {'1': (0, 1), '2': (2, 3)}
    """
    found = parse_json(text, file)
    if not isinstance(found.value, dict):
        raise found.error("expected an object that lists the ranks of each group")
    for name, members in found.value.items():
        wrong = _wrong_members(name, members, ranks)
        if wrong:
            raise found.error(wrong, name)
    return {name: tuple(members) for name, members in found.value.items()}


def groups_in(trace: Trace, ranks: int) -> dict[str, tuple[int, ...]]:
    """Process groups that PyTorch has written into the metadata nodes of a trace.

    Parameters
    ----------
    trace : Trace
    ranks : int
        How many ranks there are: a group without a list has all of them.

    Raises
    ------
    FormatError
        If a group has a rank twice, or one that is not there.

    Examples
    --------
    >>> from algorithms.formats.chakra import METADATA, Node, Trace
    >>> values = '[{"pg_name": "0", "ranks": []}, {"pg_name": "1", "ranks": [0, 2]}]'
    >>> node = Node(0, "process_group:init", METADATA, inputs=f"['{values}']")
    >>> groups_in(Trace((node,)), 3)
    {'0': (0, 1, 2), '1': (0, 2)}
    """
    found: dict[str, tuple[int, ...]] = {}
    for node in trace.nodes:
        for group in _listed(node.inputs):
            name, members = group.get("pg_name"), group.get("ranks")
            if isinstance(name, str) and isinstance(members, list):
                wrong = _wrong_members(name, members, ranks) if members else ""
                if wrong:
                    raise FormatError(wrong, trace.file, byte=node.at)
                found[name] = tuple(members or range(ranks))
    return found


def _listed(inputs: str) -> list[dict[str, Any]]:
    """Objects that a text inside a list of one text lists; none where it is anything else."""
    try:
        found = json.loads(inputs[2:-2]) if inputs.startswith("[") else []
    except (ValueError, RecursionError):
        return []
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _wrong_members(name: str, members: Any, ranks: int) -> str:
    """What is wrong with the ranks of a group; empty where nothing is."""
    group = f"group {quoted(name)}"
    if not isinstance(members, list) or not members:
        return f"{group}: expected a list of ranks"
    for rank in members:
        if type(rank) is not int or not 0 <= rank < ranks:
            return f"{group}: there is no rank {quoted(str(rank))}; ranks are 0 to {ranks - 1}"
    return f"{group}: has a rank twice" if len(set(members)) < len(members) else ""
