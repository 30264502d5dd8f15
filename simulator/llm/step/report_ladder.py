"""A step with one kind of overlap after the other, as MegaScale's Table 3 adds them (Jiang et al. 2024)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from simulator.llm.step.flops import step_flops
from simulator.llm.step.overlap import Overlap
from simulator.llm.step.report_setting import groups_of

if TYPE_CHECKING:
    from simulator.llm.step.report_setting import Setting

_ORDER: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "tp": frozenset({"tp"}),
        "cp": frozenset({"cp"}),
        "ep": frozenset({"ep"}),
        "pp": frozenset({"pp"}),
        "dp": frozenset({"dp gather", "dp reduce"}),
    }
)
"""Switches of `Overlap` in the order in which they are turned on, and the groups that each is about."""


@dataclass(frozen=True, slots=True)
class Rung:
    """A step of the ladder.

    Attributes
    ----------
    name : str
    time : int
        fs.
    mfu : float
    """

    name: str
    time: int
    mfu: float


def ladder(setting: Setting) -> tuple[Rung, ...]:
    """Simulate a step without overlap, with one kind more each time, and without communication.

    Kinds of which the plan has no calls are left out.

    Raises
    ------
    ModelError, PlanError
        As `step_report`.
    """
    flops = step_flops(setting.asked, setting.work)
    names = ("tp", "cp", "ep", "pp", "dp")
    overlap = replace(setting.overlap, **dict.fromkeys(names, False))
    rungs = []

    def add(name: str, overlap: Overlap, *, free: bool = False) -> None:
        own = replace(setting, overlap=overlap)
        graph = own.graph()
        time = own.run(graph, groups_of(graph) if free else ()).time
        rungs.append(Rung(name, time, flops.mfu(time, setting.machine.hardware)))

    add("no overlap", overlap)
    present = set(groups_of(setting.graph()))
    for name in names:
        if _ORDER[name] & present:
            overlap = replace(overlap, **{name: True})
            add(f"+ {name}", overlap)
    add("no communication", overlap, free=True)
    return tuple(rungs)
