"""Writing results: nothing half-written, nothing overwritten unasked."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from simulator.scenario.errors import one_of
from simulator.scenario.folder import keep
from simulator.scenario.result import as_json, timeline_rows
from simulator.scenario.run import Result
from simulator.scenario.run_pictures import timeline_picture
from topologies.errors import CollsimError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from simulator.scenario.report import Reported
    from simulator.scenario.result import AnyResult
    from simulator.scenario.rows import Rows
    from simulator.scenario.together_result import TogetherResult
    from simulator.scenario.workload_result import WorkloadResult
    from topologies.topology import Topology


FORMS: Final = ("png", "svg", "pdf")
"""Forms of a picture's file."""

_PICTURES: Final = tuple(f".{form}" for form in FORMS)

TRACE: Final = "trace.json.gz"
"""Name of the file for Perfetto."""

REPORT: Final = "report.html"
"""Name of the page of a report."""


class OutputError(CollsimError):
    """A place that cannot be written, or must not be."""


def write_results(
    results: Sequence[AnyResult], folder: Path, *, force: bool = False, report: bool = False
) -> list[Path]:
    """Write each result's files: result.json, timeline.csv, .png and .svg, trace.json.gz, and its scenario.

    One result goes into the folder itself, several into a folder each, named after the scenario.

    Parameters
    ----------
    results : sequence of Result, TogetherResult or WorkloadResult
    folder : Path
        New or empty, unless `force`.
    force : bool
        Overwrite what is there.
    report : bool
        Write report.html of all of them, too, into the folder itself.

    Raises
    ------
    OutputError
        If the folder is in use or cannot be written, or two scenarios have the same name.
    """
    names = [_slug(result.scenario.name) for result in results]
    twins = {name for name in names if names.count(name) > 1}
    if len(results) > 1 and twins:
        raise OutputError(f'two scenarios would be written to "{min(twins)}"; give them different names')

    def fill(target: Path) -> None:
        for result, name in zip(results, names, strict=True):
            home = target if len(results) == 1 else target / name
            home.mkdir(exist_ok=True)
            _fill_folder(result, home)
            keep(result.scenario, home, folder / home.relative_to(target))
        if report:
            save_reports(results, target)

    return write_folder(folder, fill, force=force)


def write_file(path: Path, data: bytes) -> None:
    """Write a file, all of it or nothing; what was there before is replaced.

    Raises
    ------
    OutputError
        If it cannot be written, or is a folder, a device or a pipe.
    """
    try:
        # what a link points to is replaced, not the link
        path = path.resolve()
        check_file(path)
        hidden = path.with_name(f".collsim.{os.getpid()}.{path.name[:100]}")
        try:
            hidden.write_bytes(data)
            if path.exists():
                shutil.copymode(path, hidden)
            hidden.replace(path)
        finally:
            hidden.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror}") from None


def check_file(path: Path) -> None:
    """Refuse to put a file in the place of a folder, a device or a pipe.

    Raises
    ------
    OutputError
    """
    if path.is_dir():
        raise OutputError(f"{path} is a folder; a file should go there")
    if path.exists() and not path.is_file():
        raise OutputError(f"{path} is a device or a pipe; a file should go there")


def check_new(path: Path, *, force: bool) -> None:
    """Refuse to put a file in the place of another, or of what is none.

    Raises
    ------
    OutputError
    """
    check_file(path)
    if path.exists() and not force:
        raise OutputError(f"{path} exists; --force overwrites it")


def check_folder(folder: Path, *, force: bool) -> None:
    """Refuse a folder that holds something, or a path that is no folder.

    Raises
    ------
    OutputError
        With what is in the way.
    """
    if not folder.name and not folder.is_dir():
        raise OutputError("--out needs the name of a folder")
    try:
        if folder.exists() and not folder.is_dir():
            raise OutputError(f"{folder} is not a folder")
        if folder.is_dir() and any(folder.iterdir()) and not force:
            raise OutputError(f"{folder} is not empty; --force overwrites what is there")
    except OSError as error:
        raise OutputError(f"cannot write {folder}: {error.strerror}") from None


def _slug(name: str) -> str:
    """A scenario's name as the name of a folder."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.")[:60] or "scenario"


def _fill_folder(result: AnyResult, folder: Path) -> None:
    from simulator.scenario.workload_result import WorkloadResult

    (folder / "result.json").write_text(as_json([result]), encoding="utf-8")
    if isinstance(result, WorkloadResult):
        _fill_workload(result, folder)
        return
    hop_table(result).save(folder / "timeline.csv")
    save_figures({"timeline": timeline_picture(result)}, folder)
    if not list(left_out(result)):
        _save_trace(result, folder / TRACE)


def _fill_workload(result: WorkloadResult, folder: Path) -> None:
    from simulator.engine.formats.trace_events import write_trace
    from simulator.scenario.plan_pictures import step_picture
    from simulator.scenario.step_trace import step_trace
    from simulator.scenario.workload_output import workload_rows

    workload_rows(result).save(folder / "timeline.csv")
    save_figures({"timeline": step_picture(result)}, folder)
    write_trace(step_trace(result.report.step, "rank"), folder / TRACE)


def hop_table(result: Result | TogetherResult) -> Rows:
    """A row a hop."""
    if isinstance(result, Result):
        return timeline_rows(result)
    from simulator.scenario.together_rows import together_rows

    return together_rows(result)


def left_out(result: AnyResult) -> Iterator[str]:
    """What of a result is not written, and why."""
    from simulator.engine.formats.timeline_trace import MOST_HOPS
    from simulator.scenario.workload_result import WorkloadResult

    if isinstance(result, WorkloadResult):
        return
    hops = result.timeline.plan.hops
    if hops > MOST_HOPS:
        yield f"{TRACE} is left out: past {MOST_HOPS:,} hops no browser shows it, and these are {hops:,}"


def _save_trace(result: Result | TogetherResult, path: Path) -> None:
    from simulator.engine.formats.timeline_trace import timeline_trace, together_trace
    from simulator.engine.formats.trace_events import write_trace

    timeline, topology, why = result.timeline, result.topology, result.critical_path
    if isinstance(result, Result):
        trace = timeline_trace(timeline, result.schedule, topology, why)
    else:
        trace = together_trace(timeline, result.together, topology, result.names, why)
    write_trace(trace, path)


def save_reports(results: Sequence[Reported], folder: Path) -> None:
    """Write the page of all of them."""
    from simulator.scenario.report import save_report

    save_report([(result, ()) for result in results], folder / REPORT)


def save_figures(figures: Mapping[str, Figure], folder: Path) -> None:
    """Write each figure under its name, as PNG and as SVG."""
    from plots.style import save

    for name, figure in figures.items():
        for form in ("png", "svg"):
            save(figure, folder / f"{name}.{form}")


def write_folder(folder: Path, fill: Callable[[Path], None], *, force: bool = False) -> list[Path]:
    """Fill a hidden folder beside the real one, then move what is in it.

    Parameters
    ----------
    folder : Path
        New or empty, unless `force`.
    fill : callable
        Writes files into the folder that it is given.
    force : bool
        Overwrite what is there.

    Raises
    ------
    OutputError
        If the folder is in use or cannot be written.
    """
    folder = folder.resolve()
    check_folder(folder, force=force)
    made = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        hidden = Path(tempfile.mkdtemp(prefix=".collsim.", dir=folder.parent))
    except OSError as error:
        raise OutputError(f"cannot write {folder}: {error.strerror}") from None
    try:
        fill(hidden)
        files = sorted(path.relative_to(hidden) for path in hidden.rglob("*") if path.is_file())
        _check_targets(folder, files)
        for file in files:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (hidden / file).replace(folder / file)
    except OSError as error:
        raise OutputError(f"cannot write {folder}: {error.strerror}") from None
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
        _remove_empty(made)
    return [folder / file for file in files]


def _check_targets(folder: Path, files: Sequence[Path]) -> None:
    """Refuse before the first file is moved, not after."""
    for file in files:
        check_file(folder / file)


def _remove_empty(made: Sequence[Path]) -> None:
    """Take back the folders that were made for nothing, innermost first."""
    for folder in made:
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def write_topology(topology: Topology, path: Path, *, force: bool = False) -> None:
    """Draw a topology as PNG, SVG or PDF, or write it in another program's format, by the name's ending.

    Raises
    ------
    OutputError
        If the file exists and `force` is not given, or it cannot be written.
    TopologyError
        If the format cannot hold it.
    """
    check_topology_out(path, force=force)
    writers = _writers()
    if path.suffix in writers:
        text = writers[path.suffix](topology)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"cannot write {path}: {error.strerror}") from None
        write_file(path, text.encode())
        return
    from plots.topology import topology_figure

    write_picture(topology_figure(topology), path, force=force)


def _writers() -> Mapping[str, Callable[[Topology], str]]:
    """Writers of topologies by the ending of a file's name; XML may be of several."""
    from topologies.formats.registry import FORMATS

    ends = {end: one.write for one in FORMATS.values() if one.write for end in one.endings}
    return {end: write for end, write in ends.items() if end != ".xml"}


def check_topology_out(path: Path, *, force: bool) -> None:
    """Refuse a path that is neither a picture's nor a topology's, or in use.

    Raises
    ------
    OutputError
        With what is in the way.
    """
    check_out(path, (*_PICTURES, *_writers()), force=force)


def write_picture(drawn: Figure | Sequence[Figure], path: Path, *, force: bool = False) -> None:
    """Write a figure into a PNG, SVG or PDF file, or several as an animated GIF.

    Raises
    ------
    OutputError
        If the file exists and `force` is not given, or it cannot be written.
    """
    animated = isinstance(drawn, Sequence)
    check_picture(path, force=force, animated=animated)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(drawn, Sequence):
            from plots.animation import save_animation

            save_animation(drawn, path)
        else:
            from plots.style import save

            save(drawn, path)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror}") from None


def check_picture(path: Path, *, force: bool, animated: bool = False) -> None:
    """Refuse a picture's path that is no picture's, or in use.

    Raises
    ------
    OutputError
        With what is in the way.
    """
    check_out(path, (".gif",) if animated else _PICTURES, force=force)


def check_out(path: Path, suffixes: Sequence[str], *, force: bool) -> None:
    """Refuse a file's path that ends otherwise, or is in use.

    Raises
    ------
    OutputError
        With what is in the way.
    """
    if path.suffix not in suffixes:
        raise OutputError(f"{path} must end in {one_of(suffixes)}")
    check_new(path, force=force)
