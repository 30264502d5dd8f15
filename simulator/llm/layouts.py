"""Variables on a device mesh: a state on every axis, and what moves from one layout to another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from simulator.llm.errors import ModelError
from simulator.llm.states import REPLICATED, Partial, Partitioned, Primitive, Replicated, State, primitive
from simulator.llm.symbols import Expression, Number, expression

Layout: TypeAlias = Mapping[str, State]
"""A state on each axis of a mesh, as PyTorch's DTensor has placements; replicated where it says nothing."""

Mesh: TypeAlias = "Mapping[str, Expression | Number]"
"""Ranks along each axis: numbers or symbols."""


@dataclass(frozen=True, slots=True)
class Move:
    """One primitive along one axis of a mesh, by all groups of ranks that differ only there.

    Attributes
    ----------
    axis : str
    primitive : Primitive
    ranks : Expression
        Along the axis.
    groups : Expression
        How many do it side by side.
    share : Expression
        Which part of the variable a group works on.
    """

    axis: str
    primitive: Primitive
    ranks: Expression
    groups: Expression
    share: Expression

    def total(self, size: Expression | Number = 1) -> Expression:
        """What leaves all ranks of all groups, for a variable of that size."""
        return self._of(self.primitive.exact_total, size) * self.groups

    def rank(self, size: Expression | Number = 1) -> Expression:
        """What leaves the rank that sends most."""
        return self._of(self.primitive.exact_rank, size)

    def _of(self, figure: Expression, size: Expression | Number) -> Expression:
        return figure.replaced(N=self.ranks).replaced(M=self.share * size)


def storage_factor(layout: Layout, mesh: Mesh) -> Expression:
    """How often all ranks together hold a variable.

    >>> print(storage_factor({"tp": Partitioned("O")}, {"tp": 8, "dp": 4}))
    4
    """
    times = expression(1)
    for axis, ranks in mesh.items():
        if isinstance(layout.get(axis, REPLICATED), Replicated | Partial):
            times = times * ranks
    return times


def held_share(layout: Layout, mesh: Mesh, without: str = "") -> Expression:
    """Which part of a variable a rank has to do with: cut along every axis that partitions it.

    >>> print(held_share({"tp": Partitioned("O"), "dp": REPLICATED}, {"tp": 8, "dp": 4}))
    1/8
    """
    share = expression(1)
    for axis, ranks in mesh.items():
        if axis != without and isinstance(layout.get(axis, REPLICATED), Partitioned):
            share = share / expression(ranks)
    return share


def move(axis: str, change: Primitive, layout: Layout, mesh: Mesh) -> Move:
    """A primitive along one axis of a mesh, while a variable lies as it does on the others."""
    groups = expression(1)
    for other, ranks in mesh.items():
        if other != axis:
            groups = groups * ranks
    return Move(axis, change, expression(mesh[axis]), groups, held_share(layout, mesh, axis))


def redistribute(before: Layout, after: Layout, mesh: Mesh) -> tuple[Move, ...]:
    """What moves between two layouts, axis by axis: first what cuts the variable, last what gathers it.

    What is cut is smaller for all that follow, so no other order of the axes moves less.

    Parameters
    ----------
    before, after : mapping of str to State
    mesh : mapping of str to Expression or int

    Raises
    ------
    ModelError
        If a layout names an axis that the mesh does not have.

    Examples
    --------
    >>> moves = redistribute({"tp": Partial(), "dp": Partitioned("B")}, {"dp": Partitioned("B")},
    ...                      {"tp": 8, "dp": 4})
    >>> [(m.axis, m.primitive.name, str(m.total(1))) for m in moves]
    [('tp', 'All-Reduce', '14')]
    """
    for axis in (*before, *after):
        if axis not in mesh:
            raise ModelError(f'there is no axis "{axis}" in the mesh', (axis,))
    return tuple(_moves(dict(before), after, mesh))


def _moves(now: dict[str, State], after: Layout, mesh: Mesh) -> Iterator[Move]:
    changes = {
        axis: primitive(now.get(axis, REPLICATED), after.get(axis, REPLICATED))
        for axis in mesh
        if now.get(axis, REPLICATED) != after.get(axis, REPLICATED)
    }
    for axis in sorted(changes, key=lambda axis: _growth(changes[axis])):
        yield move(axis, changes[axis], now, mesh)
        now[axis] = changes[axis].target


def _growth(change: Primitive) -> tuple[int, bool]:
    """What leaves less to do for the others comes first; of those, what costs nothing."""
    cut_before, cut_after = (isinstance(state, Partitioned) for state in (change.source, change.target))
    return cut_before - cut_after, change.order > 0
