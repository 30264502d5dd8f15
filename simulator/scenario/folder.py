"""The scenario that a folder of results came from: kept in it, so that it can be run again.

A run gives the same bytes every time; what a picture or a report needs beyond the folder's files is
made by running its scenario again.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from simulator.scenario.errors import ScenarioError, ScenarioErrors
from simulator.scenario.source import At, Block, Items, Node, Scalar, Source, put
from simulator.scenario.written import to_yaml

if TYPE_CHECKING:
    from simulator.scenario.plan_load import AnyScenario

KEPT: Final = "scenario.yaml"
"""Name of the file in a folder of results."""


class Named(Protocol):
    """A scenario of any kind, or a sweep of one."""

    @property
    def name(self) -> str:
        """What people call it."""

    @property
    def source(self) -> Source:
        """What its file says."""


def keep(scenario: Named, draft: Path, folder: Path) -> None:
    """Write a scenario into a folder of its results, and the files that it brings beside it.

    It says what its file says, as it is written there, without comments; presets stay names.

    Parameters
    ----------
    scenario : Scenario, TogetherScenario, WorkloadScenario, PlanScenario or SweepScenario
    draft : pathlib.Path
        Where to write.
    folder : pathlib.Path
        Where that will be; what was read from there is left as it is.
    """
    if Path(scenario.source.file).resolve() == (folder / KEPT).resolve():
        return
    tree = _named(scenario.source.written, scenario.name)
    for number, (at, path) in enumerate(named_files(scenario.source)):
        name = path.name if not number else f"{number}-{path.name}"
        if path.is_file():
            shutil.copyfile(path, draft / name)
        tree = put(tree, at, _text(name))
    for at, files in workload_files(scenario.source):
        for path in files:
            shutil.copyfile(path, draft / path.name)
        tree = put(tree, at, _text(Path(scenario.source.word(at) or "").name))
    (draft / KEPT).write_text(to_yaml(tree), encoding="utf-8")


def kept_file(folder: Path) -> Path:
    """The file of the scenario that a folder of results keeps; of a file, the file itself.

    Raises
    ------
    ScenarioErrors
        If there is none.
    """
    if not folder.is_dir():
        return folder
    if not (folder / KEPT).is_file():
        message = f'holds no "{KEPT}"; expected a folder that "--out" has written'
        raise ScenarioErrors([ScenarioError(message, str(folder))])
    return folder / KEPT


def reopen(folder: Path) -> AnyScenario:
    """Read the scenario that a folder of results keeps; of a file, the file itself.

    Raises
    ------
    ScenarioErrors
        If there is none, or with everything that is wrong in it.
    """
    from simulator.scenario.plan_load import load_any

    return load_any(kept_file(folder))


def _named(tree: Node, name: str) -> Node:
    """A scenario that does not go by its file's name."""
    if not isinstance(tree, Block) or "name" in tree.entries:
        return tree
    return replace(tree, entries={"name": (_text("name"), _text(name)), **tree.entries})


def named_files(source: Source) -> Iterator[tuple[At, Path]]:
    """Where a scenario names files, of its topology, of code and of schedules, and which these are."""
    several = source.find(("collectives",))
    entries = several.items if isinstance(several, Items) else ()
    collectives: list[At] = [("collective",), *(("collectives", i) for i in range(len(entries)))]
    keys = ("file", "schedule")
    places: list[At] = [("topology", "file")]
    places += [(*each, "algorithm", key) for each in collectives for key in keys]
    for at in places:
        name = source.word(at)
        if name is not None:
            yield at, Path(source.file).parent / name


def contents(source: Source) -> list[str]:
    """The bytes of the files that a scenario names: what comes of it depends on them."""
    paths = [path for _, path in named_files(source)]
    paths += [path for _, some in workload_files(source) for path in some]
    return [path.read_bytes().hex() if path.is_file() else "" for path in paths]


def workload_files(source: Source) -> Iterator[tuple[At, list[Path]]]:
    """Where a scenario of a workload names files, and which these are."""
    for key in ("file", "groups"):
        at: At = ("workload", key)
        name = source.word(at)
        if name is not None:
            path = Path(source.file).parent / name
            yield at, sorted(path.parent.glob(path.name) if "*" in path.name else [path])


def _text(text: str) -> Scalar:
    return Scalar(1, 1, text, text)
