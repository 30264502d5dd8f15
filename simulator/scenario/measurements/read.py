"""Reading a log, whichever benchmark's it is."""

from __future__ import annotations

from pathlib import Path

from simulator.scenario.errors import ScenarioError, ScenarioErrors, reading
from simulator.scenario.load import read_bytes
from simulator.scenario.measurements.nccl_json import read_nccl_json
from simulator.scenario.measurements.nccl_tests import is_nccl, read_nccl_tests
from simulator.scenario.measurements.osu import is_osu, read_osu
from simulator.scenario.measurements.series import Log, Told
from topologies.formats.reading import MOST_BYTES, decode


def read_log(path: Path, told: Told, *, trust_log: bool = False) -> Log:
    """Read a log of nccl-tests, rccl-tests (text or `-J`) or the OSU benchmarks.

    Parameters
    ----------
    path : pathlib.Path
    told : Told
        What the log does not say; it wins over what the log says.
    trust_log : bool
        The other way round: what a log says itself wins.

    Raises
    ------
    ScenarioErrors
        With the place in the log.
    """
    name = str(path)
    data = read_bytes(name, MOST_BYTES + 1, "a log")
    with reading():
        text = decode(data, name)
        if is_osu(text):
            return read_osu(text, name, told)
        own = Told() if trust_log else told
        if text.lstrip().startswith("{"):
            return read_nccl_json(text, name, own)
        if is_nccl(text):
            return read_nccl_tests(text, name, own)
    message = "is no log of nccl-tests, rccl-tests or the OSU benchmarks"
    raise ScenarioErrors([ScenarioError(message, name, 1, 1)])
