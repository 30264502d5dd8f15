"""Whether everything that collsim needs is there and works, and what to do where it is not."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal

from simulator.pool import processors
from topologies.errors import CollsimError
from topologies.text import printable

State = Literal["fine", "absent", "poor", "wrong"]
"""`absent` is what a person may do without, `poor` what works less well than it could."""

ENOUGH_MEMORY: Final = 1 << 30
"""Bytes that should be free."""

OLDEST: Final = (3, 11)
"""Python that will do."""

BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes
    ----------
    what : str
    state : {'fine', 'absent', 'poor', 'wrong'}
    found : str
    advice : str
        What to do; empty where nothing is to be done.
    wanted : str
        The version, where it is a matter of one.
    """

    what: str
    state: State
    found: str
    advice: str = ""
    wanted: str = ""


def examine() -> Iterator[Finding]:
    """Look at everything, one thing after the other."""
    yield _python()
    yield from _packages()
    for what, look in _LOOKS.items():
        try:
            yield look(what)
        except (ImportError, OSError, CollsimError) as error:
            # of a package that is missing, or broken, this is not the first that is said
            yield Finding(what, "wrong", f"does not work: {printable(str(error), limit=100)}", _AGAIN)


def is_well(findings: Sequence[Finding]) -> bool:
    """Whether collsim works: nothing is wrong."""
    return all(finding.state != "wrong" for finding in findings)


def _python() -> Finding:
    found = f"{platform.python_implementation()} {platform.python_version()}"
    wanted = f">={'.'.join(map(str, OLDEST))}"
    if tuple(map(int, platform.python_version_tuple()[:2])) >= OLDEST:
        return Finding("Python", "fine", found, wanted=wanted)
    return Finding("Python", "wrong", found, f"install Python {wanted}", wanted)


def _packages() -> Iterator[Finding]:
    """Collsim, and what it depends on or can make use of."""
    try:
        version, requires = metadata.version("collsim"), metadata.requires("collsim") or []
    except metadata.PackageNotFoundError:
        advice = "install it, from its folder: python -m pip install --editable ."
        yield Finding("collsim", "wrong", "not installed", advice)
        return
    yield Finding("collsim", "fine", version)
    try:
        from packaging.requirements import Requirement
    except ImportError:
        yield Finding("packages", "wrong", "no packaging", _install("packaging"))
        return
    extras = metadata.metadata("collsim").get_all("Provides-Extra") or []
    for requirement in map(Requirement, requires):
        marker = requirement.marker
        needed = marker is None or marker.evaluate({"extra": ""})
        of = next((extra for extra in extras if marker is not None and marker.evaluate({"extra": extra})), "")
        # the tools of those who work on collsim itself are told by its checks
        if needed or (of and of != "dev"):
            yield _package(requirement.name, str(requirement.specifier), "" if needed else of)


def _package(name: str, wanted: str, extra: str) -> Finding:
    from packaging.specifiers import SpecifierSet

    get = _install(f"collsim[{extra}]" if extra else f"{name}{wanted}")
    what = f"{name} (for {extra})" if extra else name
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Finding(what, "absent" if extra else "wrong", "not installed", get, wanted)
    if SpecifierSet(wanted).contains(version, prereleases=True):
        return Finding(what, "fine", version, wanted=wanted)
    return Finding(what, "poor" if extra else "wrong", version, get, wanted)


def _install(what: str) -> str:
    return f"python -m pip install '{what}'"


def _engines(what: str) -> Finding:
    """Both engines on one small plan."""
    from simulator.scenario.load import loads
    from simulator.scenario.run import run
    from topologies.loops import numba_is_here

    if not numba_is_here():
        advice = f"large plans run on SimPy, a hundred times slower: {_install('numba')}"
        return Finding(what, "poor", "numba cannot be loaded", advice)
    timelines = [run(loads(f"{_PLAN}engine: {engine}\n")).timeline for engine in ("simpy", "compiled")]
    columns = [(line.arrival.tolist(), line.grant.tolist(), line.release.tolist()) for line in timelines]
    if columns[0] == columns[1]:
        return Finding(what, "fine", "the same bits as SimPy")
    advice = "report it, and write `engine: simpy` until then"
    return Finding(what, "wrong", "other times than SimPy", advice)


_PLAN: Final = """\
topology: {kind: ring, ranks: 5, bandwidth: 64 GB/s, latency: 1 us}
collective: {kind: allreduce, algorithm: recursive_doubling, size: 1 MB}
reduction: {bandwidth: 512 GB/s}
"""


def _cache(what: str) -> Finding:
    """Where compiled loops are kept."""
    import simulator.engine

    beside = Path(simulator.engine.__path__[0])
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    folders = [Path(chosen)] if chosen else [beside, Path.home()]
    for folder in folders:
        if os.access(folder, os.W_OK):
            return Finding(what, "fine", f"kept in {folder}")
    advice = "every process compiles them anew: let NUMBA_CACHE_DIR name a folder that you may write"
    return Finding(what, "poor", f"{folders[0]} cannot be written", advice)


def _machine(what: str) -> Finding:
    import psutil

    free = psutil.virtual_memory().available
    found = f"{processors()} processors, {free / 2**30:.1f} GiB free"
    if free >= ENOUGH_MEMORY:
        return Finding(what, "fine", found)
    advice = "close what needs memory: a run is refused where 80 % of what is free do not hold it"
    return Finding(what, "poor", found, advice)


def _library(what: str) -> Finding:
    from simulator.scenario.library import library_folder, library_names
    from simulator.scenario.presets import preset_names

    names, presets = library_names(), preset_names()
    if names and presets:
        found = f"{len(names)} scenarios, {len(presets)} topologies in {library_folder()}"
        return Finding(what, "fine", found)
    return Finding(what, "wrong", f"nothing in {library_folder()}", _AGAIN)


_AGAIN: Final = "install collsim again; in a checkout: make schema"


def _published(what: str) -> Finding:
    """The schemas and words of the library, which should be what the code says today."""
    from simulator.scenario.library import PRESETS, WORDS, library_folder
    from simulator.scenario.schema import NAME, PRESET_NAME, schema_text
    from simulator.scenario.words import words_text

    wanted: dict[str, Callable[[], str]] = {
        NAME: schema_text,
        f"{PRESETS}/{PRESET_NAME}": lambda: schema_text("preset"),
        WORDS: words_text,
    }
    stale = []
    for name, make in wanted.items():
        try:
            is_current = (library_folder() / name).read_text("utf-8") == make()
        except (OSError, ValueError):
            is_current = False
        if not is_current:
            stale.append(name)
    if stale:
        return Finding(what, "wrong", f"not of today: {', '.join(stale)}", _AGAIN)
    return Finding(what, "fine", "current")


def _fonts(what: str) -> Finding:
    """The fonts of pictures."""
    from matplotlib import font_manager, rcParams

    families = rcParams["font.sans-serif"]
    for family in families:
        try:
            path = font_manager.findfont(family, fallback_to_default=False)
        except ValueError:
            continue
        return Finding(what, "fine", f"{family}, {path}")
    return Finding(what, "wrong", f"none of {', '.join(families)}", _AGAIN)


def _browser(what: str) -> Finding:
    """What the checks of reports look at them with."""
    for name in BROWSERS:
        if path := shutil.which(name):
            return Finding(what, "fine", path)
    advice = "only those who work on collsim need one: install chromium"
    return Finding(what, "absent", "none", advice)


_LOOKS: Final[Mapping[str, Callable[[str], Finding]]] = MappingProxyType(
    {
        "compiled engine": _engines,
        "compiled loops": _cache,
        "machine": _machine,
        "library": _library,
        "schema": _published,
        "fonts": _fonts,
        "browser (for checks of reports)": _browser,
    }
)
