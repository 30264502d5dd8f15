"""What the manual tells of the registries: filled into its pages when they are built.

A page says where by a comment, `<!-- generated: algorithms -->`; on GitHub it is not seen.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import collsim
from algorithms.algorithm import Algorithm
from algorithms.steps import step_table
from simulator.scenario.catalogue import algorithm_facts
from simulator.scenario.load import loads
from simulator.scenario.tables import measure_rows
from simulator.seeds.page import table

if TYPE_CHECKING:
    from sphinx.application import Sphinx

RANKS = range(2, 17)
PLACE = re.compile(r"<!-- generated: (\w+) -->\n")
TOPOLOGY = re.compile(r"```yaml\n(topology:.*?)```\n", re.DOTALL)
PICTURES = "_pictures"
# a topology alone is no scenario
REST = "collective: {kind: barrier, algorithm: dissemination}\n"
ROOMS = MappingProxyType(
    {
        "": "Registries and constants",
        "simulator.scenario": "Scenarios and their results",
        "topologies": "Topologies",
        "algorithms": "Schedules, proof and bounds",
        "simulator.engine": "Plans and timelines",
        "simulator.llm": "Language models",
        "plots": "Pictures",
    }
)


def fill(app: Sphinx, page: str, source: list[str]) -> None:
    """Put what is generated into the text of a page (Sphinx's event source-read)."""
    source[0] = PLACE.sub(lambda found: "\n".join(GENERATED[found[1]]()), source[0])
    if page == "reference/topologies":
        folder = Path(app.srcdir) / "reference" / PICTURES
        folder.mkdir(exist_ok=True)
        source[0] = TOPOLOGY.sub(partial(_pictured, folder), source[0])


def algorithms() -> Iterator[str]:
    """A section for each algorithm."""
    for algorithm in collsim.ALGORITHMS.values():
        yield from algorithm_section(algorithm)


def algorithm_section(algorithm: Algorithm) -> Iterator[str]:
    """What is known of an algorithm, and its steps by number of ranks."""
    yield f"## {algorithm.name}\n"
    yield f"{algorithm.summary}\n"
    facts = algorithm_facts(algorithm) | {"options": ", ".join(_options(algorithm)) or "none"}
    yield from table(("", ""), facts.items())
    counted = step_table(RANKS, names=[algorithm.name])
    rows = (
        (f"`{kind}`", *(str(work.steps) for work in by[algorithm.name].values()))
        for kind, by in counted.items()
    )
    yield from table(("steps, N =", *map(str, RANKS)), rows)


def _options(algorithm: Algorithm) -> Iterator[str]:
    """Options with what they are where a scenario says nothing."""
    defaults = inspect.signature(algorithm.build).parameters
    for option in algorithm.options:
        default = defaults[option].default if option in defaults else "fold"
        yield f"`{option}`" + ("" if default is None else f" (`{default}`)")


def _pictured(folder: Path, found: re.Match[str]) -> str:
    """A block that defines a topology, its picture, its measures, and its builder's signature."""
    scenario = loads(found[1] + REST)
    built = collsim.build_topology(scenario)
    name = re.sub(r"\W+", "-", found[1].removeprefix("topology:")).strip("-")[:60]
    collsim.save(collsim.topology_figure(built), folder / f"{name}.svg")
    rows = "\n".join(table(("", ""), measure_rows(collsim.measure(built))))
    choice = scenario.topology
    kind = choice.kind
    signature = "" if choice.preset else _reference([_documented(kind, collsim.TOPOLOGIES[kind])])
    return f"{found[0]}\n![{built.kind}]({PICTURES}/{name}.svg)\n\n{rows}\n{signature}"


def api() -> Iterator[str]:
    """A section for each room: what `import collsim` gives of it."""
    rooms: dict[str, list[str]] = {room: [] for room in ROOMS}
    for name in sorted(set(collsim.__all__) - set(collsim.TOPOLOGIES), key=lambda name: (name.lower(), name)):
        rooms[_room(getattr(collsim, name))].append(name)
    for room, title in ROOMS.items():
        yield f"## {title}\n"
        yield _reference(_documented(name, getattr(collsim, name)) for name in rooms[room])


def _room(value: object) -> str:
    if not callable(value):
        return ""
    return next(room for room in ROOMS if room and value.__module__.startswith(room))


def _reference(directives: Iterable[str]) -> str:
    return "```{eval-rst}\n" + "\n".join(directives) + "```\n"


def _documented(name: str, value: object) -> str:
    if inspect.isclass(value):
        return f".. autoclass:: collsim.{name}\n   :members:\n"
    if callable(value):
        return f".. autofunction:: collsim.{name}\n"
    return f".. autodata:: collsim.{name}\n   :no-value:\n"


GENERATED: Mapping[str, Callable[[], Iterable[str]]] = MappingProxyType(
    {"algorithms": algorithms, "api": api}
)
