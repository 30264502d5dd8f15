"""The files of a workload: which they are, and what they say."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from algorithms.formats.chakra import Trace, read_chakra
from simulator.llm.workload.groups import Groups, groups_in, read_groups
from simulator.llm.workload.layers import LayerTable, read_layers
from simulator.scenario.errors import ScenarioError, ScenarioErrors, reading
from simulator.scenario.load import read_bytes
from simulator.scenario.parse import decode

if TYPE_CHECKING:
    from simulator.scenario.workload_models import WorkloadScenario
    from topologies.topology import Topology

RANK: Final = "*"
"""Stands for a rank's number in the name of a trace."""

MOST_BYTES: Final = 1 << 28
"""Of all files of a workload."""

_FILE: Final = ("workload", "file")


def is_table(scenario: WorkloadScenario) -> bool:
    """Whether its file is a table of layers; else they are traces, one a rank."""
    name = scenario.workload.files.file
    return RANK not in Path(name).name and not name.endswith(".et")


def table_of(scenario: WorkloadScenario) -> LayerTable:
    """The table of layers.

    Raises
    ------
    ScenarioErrors
        If it cannot be read.
    """
    file = str(Path(scenario.source.file).parent / scenario.workload.files.file)
    text = decode(_read(file, MOST_BYTES, "a table of layers"), file)
    with reading():
        return read_layers(text, file)


def traces_of(scenario: WorkloadScenario, topology: Topology) -> list[Trace]:
    """The trace of each rank.

    Raises
    ------
    ScenarioErrors
        If there are not as many as ranks, or one cannot be read.
    """
    name = scenario.workload.files.file
    if Path(name).name.count(RANK) != 1 or RANK in str(Path(name).parent):
        message = f'workload.file: expected one "{RANK}" in the place of a rank\'s number, as in "step.*.et"'
        raise ScenarioErrors([scenario.source.error(message, _FILE)])
    path = Path(scenario.source.file).parent / name
    there = ranks_there(path)
    if there != list(range(topology.ranks)):
        raise ScenarioErrors([scenario.source.error(_unlike(there, topology.ranks, name), _FILE)])
    left, traces = MOST_BYTES, list[Trace]()
    with reading():
        for rank in there:
            file = str(path.with_name(path.name.replace(RANK, str(rank))))
            data = _read(file, left, "a Chakra trace")
            left -= len(data)
            traces.append(read_chakra(data, file))
    return traces


def ranks_there(path: Path) -> list[int]:
    """Ranks of which a trace is there, by the names of the files."""
    before, after = path.name.split(RANK)
    names = re.compile(rf"{re.escape(before)}(0|[1-9][0-9]{{0,8}}){re.escape(after)}")
    try:
        found = [names.fullmatch(file.name) for file in path.parent.iterdir()]
    except OSError:
        return []
    return sorted(int(match[1]) for match in found if match)


def _unlike(there: list[int], ranks: int, name: str) -> str:
    """What to say where traces and ranks do not match."""
    absent = next((rank for rank in range(ranks) if rank not in set(there)), None)
    if absent is None:
        return f"workload.file: there is a trace of rank {there[ranks]}, but the topology has {ranks} ranks"
    file = Path(name).name.replace(RANK, str(absent))
    return f'workload.file: there is no file "{file}"; the topology has {ranks} ranks, with a trace each'


def groups_of(scenario: WorkloadScenario, topology: Topology, traces: Sequence[Trace]) -> Groups:
    """The communicators: those of a file, and those that the traces have in them.

    Raises
    ------
    ScenarioErrors
        If their file cannot be read.
    """
    with reading():
        own = [groups_in(trace, topology.ranks) for trace in traces]
    if scenario.workload.files.groups is None:
        return Groups(topology, {}, own)
    file = str(Path(scenario.source.file).parent / scenario.workload.files.groups)
    text = decode(_read(file, MOST_BYTES, "a JSON file"), file)
    with reading():
        return Groups(topology, read_groups(text, file, topology.ranks), own)


def _read(file: str, most: int, what: str) -> bytes:
    data = read_bytes(file, most + 1, what)
    if len(data) > most:
        raise ScenarioErrors(
            [ScenarioError(f"is too large: {MOST_BYTES >> 20} MiB can be read in all", file)]
        )
    return data
