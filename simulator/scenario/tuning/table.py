"""The winners of a comparison as the tuning table of a library."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simulator.scenario.errors import known
from simulator.scenario.tuning import TABLES
from simulator.scenario.tuning.nccl_tuner import ALGORITHMS, NOTE, nccl_tuner_csv
from simulator.scenario.tuning.openmpi import able_of, notes_of, openmpi_json, openmpi_rules
from simulator.scenario.tuning.rules import missing_lines

if TYPE_CHECKING:
    from simulator.scenario.compare import Comparison


@dataclass(frozen=True, slots=True)
class TuningTable:
    """A library's tuning table, and what it cannot say."""

    text: str
    notes: tuple[str, ...]


def tuning_table(comparison: Comparison, form: str) -> TuningTable:
    """Write the winners of a comparison as a library reads them.

    Parameters
    ----------
    comparison : Comparison
    form : {'nccl-tuner', 'openmpi', 'openmpi-json'}
        The CSV of NCCL's example tuner plugin, or Open MPI's dynamic rules: the classic file, or JSON.

    Raises
    ------
    CollsimError
        If the library has no such collective, or none of the algorithms that were compared.
    """
    if known(form, TABLES, "tuning table") == "nccl-tuner":
        text, able = nccl_tuner_csv(comparison), ALGORITHMS[comparison.scenario.collective.kind]
        return TuningTable(text, (NOTE, *missing_lines(comparison, able, "NCCL")))
    text = openmpi_rules(comparison) if form == "openmpi" else openmpi_json(comparison)
    notes = (*notes_of(comparison), *missing_lines(comparison, able_of(comparison), "Open MPI"))
    return TuningTable(text, notes)
