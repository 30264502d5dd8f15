"""The scenarios that come with collsim, found by name wherever it is installed."""

from __future__ import annotations

from pathlib import Path

from simulator.scenario.errors import ScenarioError, ScenarioErrors, did_you_mean

PREFIX = "library:"
PRESETS = "presets"
"""The folder of the library that holds topologies, not scenarios."""


def library_folder() -> Path:
    """Folder of the library: inside an installed package, or beside it in a checkout."""
    here = Path(__file__).resolve().parent
    installed = here / "_library"
    return installed if installed.is_dir() else here.parent.parent / "scenarios"


def library_names() -> tuple[str, ...]:
    """Names of all scenarios of the library, e.g. `first-walk/ring-reduce-scatter-8`."""
    folder = library_folder()
    files = (path.relative_to(folder) for path in folder.rglob("*.yaml"))
    return tuple(sorted(file.with_suffix("").as_posix() for file in files if file.parts[0] != PRESETS))


def resolve(path: Path) -> Path:
    """The file that a person means: a path, or `library:NAME`.

    Raises
    ------
    ScenarioErrors
        If the library has no such scenario.
    """
    text = path.as_posix()
    if not text.startswith(PREFIX):
        return path
    name = text.removeprefix(PREFIX).removesuffix(".yaml")
    names = library_names()
    if name not in names:
        hint = did_you_mean(name, names) or f"; it has {', '.join(names)}"
        raise ScenarioErrors([ScenarioError(f'the library has no scenario "{name}"{hint}', text)])
    return library_folder() / f"{name}.yaml"
