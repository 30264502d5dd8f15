"""Writing schedules as Chakra execution traces, a file a rank."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from simulator.scenario.output import OutputError, check_new, write_file

if TYPE_CHECKING:
    from algorithms.formats.chakra_schedule import ChakraFiles


def write_traces(files: ChakraFiles, prefix: Path, *, force: bool = False) -> list[Path]:
    """Write `prefix.0.et`, `prefix.1.et`, ...

    Parameters
    ----------
    files : ChakraFiles
        As `to_chakra` gives them.
    prefix : pathlib.Path
        Folder, and beginning of the names.
    force : bool
        Overwrite what is there.

    Raises
    ------
    OutputError
        If a file is there and `force` is not given, or one cannot be written.
    """
    if not prefix.name:
        raise OutputError(f"{prefix} has no name for files; expected one as traces/ring")
    paths = [prefix.with_name(name) for name in files.names(prefix.name)]
    for path in paths:
        check_new(path, force=force)
    try:
        prefix.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write {prefix.parent}: {error.strerror}") from None
    for path, data in zip(paths, files.data, strict=True):
        write_file(path, data)
    return paths
