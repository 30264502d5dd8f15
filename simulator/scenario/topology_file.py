"""Topologies in files of other programs: which file a scenario means, and reading it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from simulator.scenario.errors import ScenarioErrors, reading
from simulator.scenario.fields import Words
from simulator.scenario.load import read_bytes
from simulator.scenario.models import FROM_FILE, TopologyChoice
from simulator.scenario.parse import decode, parse
from simulator.scenario.source import dotted, plain
from topologies.errors import TopologyError
from topologies.formats.astra import astra_topology
from topologies.formats.reading import MOST_BYTES, Beside
from topologies.formats.registry import FORMATS, READ, YAML, format_of
from topologies.overrides import Override
from topologies.quantities import Bandwidth, Count, Time

if TYPE_CHECKING:
    from topologies.topology import Topology


def topology_from(
    file: str,
    format: Annotated[str, Words(READ)] | None = None,
    bandwidth: Bandwidth | None = None,
    latency: Time | None = None,
    overhead: Time | None = None,
    machines: Count | None = None,
    overrides: Sequence[Override] = (),
) -> TopologyChoice:
    """A topology as a scenario says it: the signature is the schema.

    Parameters
    ----------
    file : str
        From the scenario's folder on.
    format : str, optional
        By default what the name and the content tell.
    bandwidth, latency, overhead : float, optional
        Of links of which the file does not say it.
    machines : int, optional
        How many machines as in the file one network joins.
    overrides : sequence of Override
    """
    beside = Beside(bandwidth, latency, overhead, machines)
    return TopologyChoice(FROM_FILE, {"file": file, "form": format, "beside": beside}, overrides)


def topology_beside(scenario: str, *, file: str, form: str | None, beside: Beside) -> Topology:
    """Read the topology that a scenario's file names; as `read_topology`."""
    return read_topology(Path(scenario).parent / file, form, beside)


def read_topology(path: Path, form: str | None = None, beside: Beside | None = None) -> Topology:
    """Read a topology from a file.

    Parameters
    ----------
    path : pathlib.Path
    form : str, optional
        A name in `topologies.formats.registry.READ`; by default what the name and the content tell.
    beside : Beside, optional
        What a person says beside it.

    Raises
    ------
    ScenarioErrors
        With the place in that file.
    """
    name = str(path)
    data = read_bytes(name, MOST_BYTES + 1, "a topology")
    with_what = Beside() if beside is None else beside
    with reading():
        read = FORMATS[form or format_of(name, data)].read
        return _read_yaml(data, name, with_what) if read is None else read(data, name, with_what)


def _read_yaml(data: bytes, file: str, beside: Beside) -> Topology:
    """Read ASTRA-sim's file: YAML is read here, and made a topology there."""
    source, refused = parse(decode(data, file), file)
    if refused:
        raise ScenarioErrors(refused)
    try:
        return astra_topology(plain(source.root), beside)
    except TopologyError as error:
        place = f"{dotted(error.at)}: " if error.at else ""
        raise ScenarioErrors([source.error(f"{place}{error.message}", error.at)]) from None


def foreign_topology(path: Path) -> Topology | None:
    """The topology of another program's file; None where the name is a scenario's, or a scenario is in it.

    Raises
    ------
    ScenarioErrors
    """
    if is_astra(path):
        return read_topology(path, YAML)
    ending = path.suffix.lower()
    known = any(ending in one.endings for one in FORMATS.values() if one.read is not None)
    return read_topology(path) if known else None


def is_astra(path: Path) -> bool:
    """Whether a file of YAML is a network of ASTRA-sim, and no scenario.

    Raises
    ------
    ScenarioErrors
        If it cannot be read.
    """
    form = FORMATS[YAML]
    if path.suffix.lower() not in form.endings or not path.is_file():
        return False
    return form.mark in read_bytes(str(path), MOST_BYTES + 1, "a topology")
