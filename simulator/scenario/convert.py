"""Converting files of other tools: which formats there are, and what is lost on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from algorithms.formats.chakra_schedule import ChakraFiles, to_chakra
from algorithms.formats.registry import FORMATS, WRITTEN, write_schedule
from algorithms.formats.written import Written
from simulator.scenario.chakra_output import write_traces
from simulator.scenario.errors import one_of
from simulator.scenario.library import resolve
from simulator.scenario.output import check_new, write_file
from simulator.scenario.run import build_topology
from simulator.scenario.run_any import load_scenario
from simulator.scenario.schedule_file import (
    program_of_scenario,
    proven_program,
    proven_schedule,
    unsaid_of,
)
from simulator.scenario.topology_file import is_astra, read_topology
from topologies.errors import CollsimError
from topologies.formats.registry import FORMATS as TOPOLOGY_FORMATS
from topologies.formats.registry import READ

if TYPE_CHECKING:
    from simulator.scenario.models import Scenario
    from simulator.scenario.together_models import TogetherScenario
    from topologies.topology import Topology


@dataclass(frozen=True, slots=True)
class Family:
    """Formats of one kind of thing, of which each is converted into each other.

    Attributes
    ----------
    what : str
        The thing, for people.
    reads : tuple of str
        Names of the formats that are read.
    writes : mapping of str to tuple of str
        Of each that is written, how names of its files end.
    read : callable
        (file, name of its format or None) -> thing.
    of_scenario : callable
        (scenario, whether its code may be run) -> thing, and the bytes of its full vector, where it has one.
    write : callable
        (thing, name of a format, bytes of its full vector or None) -> what is written; of execution
        traces a file a rank.
    """

    what: str
    reads: tuple[str, ...]
    writes: Mapping[str, tuple[str, ...]]
    read: Callable[[Path, str | None], Any]
    of_scenario: Callable[[Scenario | TogetherScenario, bool], tuple[Any, int | None]]
    write: Callable[[Any, str, int | None], Written | ChakraFiles]


SCHEDULES: Final = Family(
    "a schedule",
    tuple(FORMATS),
    MappingProxyType({name: FORMATS[name].endings for name in WRITTEN}),
    proven_program,
    program_of_scenario,
    write_schedule,
)


def _topology_of(scenario: Scenario | TogetherScenario, _allow_code: bool) -> tuple[Topology, None]:
    return build_topology(scenario), None


def _write_topology(topology: Topology, form: str, _size: int | None) -> Written:
    write = TOPOLOGY_FORMATS[form].write
    if write is None:
        raise CollsimError(f"{form} is not written")
    return Written(write(topology).encode(), topology.notes)


TOPOLOGIES: Final = Family(
    "a topology",
    READ,
    # XML is of several, and the schedules' by its ending
    MappingProxyType(
        {
            name: tuple(ending for ending in form.endings if ending != ".xml")
            for name, form in TOPOLOGY_FORMATS.items()
            if form.write is not None
        }
    ),
    read_topology,
    _topology_of,
    _write_topology,
)


def _no_trace(path: Path, _form: str | None) -> Any:
    raise CollsimError(f"execution traces are written of scenarios; {path} is none")


def _traced(scenario: Scenario | TogetherScenario, allow_code: bool) -> tuple[ChakraFiles, int]:
    """The schedule of a scenario, in which messages wait as its network's `sync` says."""
    schedule, sync = proven_schedule(scenario, allow_code), scenario.network.sync
    if schedule.precedence is not None or sync == "barrier":
        how = "at barriers" if sync == "barrier" else "as its thread blocks do"
        raise CollsimError(f"this schedule waits {how}, which execution traces are not written of")
    files = to_chakra(schedule, sync)
    return replace(files, lost=(*unsaid_of(scenario), *files.lost)), schedule.collective.size


TRACES: Final = Family(
    "execution traces",
    (),
    MappingProxyType({"chakra": (".et",)}),
    _no_trace,
    _traced,
    lambda files, _form, _size: files,
)

FAMILIES: Final = (SCHEDULES, TOPOLOGIES, TRACES)

_SCENARIO: Final = (".yaml", ".yml")


def convert(
    source: str | Path,
    out: str | Path,
    read: str | None = None,
    write: str | None = None,
    *,
    size: int | None = None,
    force: bool = False,
    allow_code: bool = False,
) -> tuple[str, ...]:
    """Write a file, or what a scenario is about, in another format.

    Parameters
    ----------
    source : str or pathlib.Path
        A file of a format that is read, or a scenario, or ``"library:NAME"``.
    out : str or pathlib.Path
        Whose ending tells the format, unless `write` does. Of execution traces ``ring.et``, or
        ``ring.*.et``, stands for a file a rank, ``ring.0.et``, ``ring.1.et``, ...
    read, write : str, optional
        Names of formats; by default what names and contents tell.
    size : int, optional
        Bytes of the full vector, where the file does not say them and the other must.
    force : bool
        Overwrite what is there.
    allow_code : bool
        Whether the code that a scenario brings with it may be run.

    Returns
    -------
    tuple of str
        What is lost, a line each.

    Raises
    ------
    CollsimError
        If there is a file already, a format is not known, the file cannot be read, or the other format
        cannot say it.
    ProofError
        If a schedule is wrong.
    """
    source, out = resolve(Path(source)), Path(out)
    check_new(out, force=force)
    family, form = _target(out, read, write)
    written = _written(family, form, source, read, size, allow_code=allow_code)
    if isinstance(written, ChakraFiles):
        prefix = out.name.removesuffix(".et").removesuffix(".*")
        write_traces(written, out.with_name(prefix), force=force)
    else:
        write_file(out, written.data)
    return written.lost


def _written(
    family: Family, form: str, source: Path, read: str | None, size: int | None, *, allow_code: bool
) -> Written | ChakraFiles:
    """What is to be written, and what is lost."""
    if read is not None or source.suffix.lower() not in _SCENARIO or is_astra(source):
        return family.write(family.read(source, read), form, size)
    if size is not None:
        raise CollsimError(f"--size is not for a scenario: {source} says it")
    thing, whole = family.of_scenario(load_scenario(source), allow_code)
    return family.write(thing, form, whole)


def _target(out: Path, read: str | None, write: str | None) -> tuple[Family, str]:
    """What kind of thing is converted, and the format to write it in."""
    named = {"read": read, "written": write}
    known = {
        "read": [name for family in FAMILIES for name in family.reads],
        "written": [name for family in FAMILIES for name in family.writes],
    }
    for what, name in named.items():
        if name is not None and name not in known[what]:
            raise CollsimError(f'no format "{name}" is {what}; expected {one_of(known[what])}')
    fits = [
        (family, name)
        for family in FAMILIES
        if read is None or read in family.reads
        for name, endings in family.writes.items()
        if name == write or (write is None and out.suffix.lower() in endings)
    ]
    if len(fits) == 1:
        return fits[0]
    if fits:
        several = one_of([name for _, name in fits])
        raise CollsimError(f"cannot tell the format of {out} by its name; say --to {several}")
    if write is not None:
        raise CollsimError(f"{read} is not converted into {write}")
    raise CollsimError(f"cannot tell the format of {out} by its name; say --to {one_of(known['written'])}")
