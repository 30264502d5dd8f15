"""The words that a person may write on a command line, each with what it means.

They are published as a small file, from which a shell completes them without loading the registries.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from algorithms.collective import KINDS
from algorithms.registry import ALGORITHMS
from simulator.scenario.picture_kinds import PICTURES
from simulator.scenario.presets import preset_names
from simulator.scenario.schema.docstrings import summary
from simulator.scenario.schema.topology import title, titles
from topologies.registry import TOPOLOGIES


def words() -> dict[str, Mapping[str, str]]:
    """Words by what they name.

    Examples
    --------
    >>> words()["topology"]["full_mesh"]
    'Every pair of N ranks joined by a link each way.'
    """
    presets = {name: title(f"{name}.yaml") for name in preset_names()}
    return {
        "topology": {name: summary(builder) for name, builder in TOPOLOGIES.items()} | presets,
        "collective": dict.fromkeys(KINDS, ""),
        "algorithm": {name: algorithm.summary for name, algorithm in ALGORITHMS.items()},
        "model": titles("model"),
        "hardware": titles("hardware"),
        "picture": {name: picture.summary for name, picture in PICTURES.items()},
    }


def words_text() -> str:
    """The text of the published file."""
    return json.dumps(words(), indent=1, ensure_ascii=False) + "\n"
