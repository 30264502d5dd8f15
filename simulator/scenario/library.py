"""The scenarios that come with collsim, found by name wherever it is installed.

Their names are completed in a shell, so nothing slow is loaded for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path, PurePath

PREFIX = "library:"
PRESETS = "presets"
"""The folder of the library that holds topologies, not scenarios."""

WORDS = "collsim.words.json"
"""The file of the library with the words that a shell completes."""

SCHEMA_MARK = "# yaml-language-server: $schema="
"""How the line begins that tells editors which schema a file has."""


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


def heading(text: str) -> list[str]:
    r"""Comments at the top of a file, but for the line that names its schema.

    Examples
    --------
    >>> heading("# yaml-language-server: $schema=a.json\n# A ring.\n#\n# More.\nname: a # b\n")
    ['A ring.', '', 'More.']
    """
    lines = takewhile(lambda line: line.startswith("#"), text.splitlines())
    return [line.removeprefix("#").removeprefix(" ") for line in lines if not line.startswith(SCHEMA_MARK)]


def expand(paths: Sequence[Path]) -> list[Path]:
    """Files that a person means: files, folders, `library:NAME` and `library:THEME`.

    A folder stands for the YAML files in it, in order of name, but for those in folders named
    `presets`: they are pieces of scenarios.

    Raises
    ------
    ScenarioErrors
        If the library has no such scenario, or a folder holds none.
    """
    from simulator.scenario.errors import ScenarioError, ScenarioErrors

    files: list[Path] = []
    for path in map(resolve, paths):
        if not path.is_dir():
            files.append(path)
            continue
        inside = sorted(p for p in path.rglob("*") if p.suffix in (".yaml", ".yml") and p.is_file())
        scenarios = [p for p in inside if PRESETS not in (path.name, *p.relative_to(path).parts)]
        if not scenarios:
            what = "presets, which scenarios build on" if inside else "no YAML files"
            raise ScenarioErrors([ScenarioError(f"holds {what}; expected scenarios", str(path))])
        files += scenarios
    return files


def called(file: Path, path: Path) -> str:
    """What a file goes by that a path stands for: `library:NAME` where the path is such a name.

    Examples
    --------
    >>> file = library_folder() / "first-walk" / "ring-allreduce-8.yaml"
    >>> called(file, Path("library:first-walk")), called(Path("a/b.yaml"), Path("a"))
    ('library:first-walk/ring-allreduce-8', 'a/b.yaml')
    """
    if not path.as_posix().startswith(PREFIX):
        return str(file)
    return f"{PREFIX}{file.relative_to(library_folder()).with_suffix('').as_posix()}"


def stem(path: PurePath) -> str:
    """Name of a scenario's file without its suffix; names of the library have none, but may have points.

    Examples
    --------
    >>> stem(Path("library:llm/zero-2-7.5b")), stem(Path("llm/zero-2-7.5b.yaml"))
    ('zero-2-7.5b', 'zero-2-7.5b')
    """
    return path.name.removesuffix(".yaml").removesuffix(".yml")


def resolve(path: Path) -> Path:
    """The path itself, or where the library keeps what it names."""
    text = path.as_posix()
    if not text.startswith(PREFIX):
        return path
    name = text.removeprefix(PREFIX).removesuffix(".yaml")
    names = library_names()
    themes = sorted({known.partition("/")[0] for known in names})
    if name in themes:
        return library_folder() / name
    if name not in names:
        from simulator.scenario.errors import ScenarioError, ScenarioErrors, did_you_mean

        hint = did_you_mean(name, (*names, *themes)) or f"; its themes are {', '.join(themes)}"
        raise ScenarioErrors([ScenarioError(f'the library has no scenario "{name}"{hint}', text)])
    return library_folder() / f"{name}.yaml"
