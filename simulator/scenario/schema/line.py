"""The line of a YAML file that tells editors which schema it has."""

from __future__ import annotations

import os
from pathlib import Path

from simulator.scenario.library import PRESETS, SCHEMA_MARK
from simulator.scenario.schema.files import NAME, PRESET_NAME


def schema_above(file: Path) -> Path | None:
    """The nearest schema in the file's folder or in one above it."""
    name = PRESET_NAME if PRESETS in file.resolve().parent.parts else NAME
    folders = file.resolve().parents
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def with_line(text: str, file: Path, schema: Path) -> str:
    """A file's text under the line of its schema, whose path is from the file's folder on.

    Examples
    --------
    >>> print(with_line("name: a", Path("/x/ring/a.yaml"), Path("/x/collsim.schema.json")))
    # yaml-language-server: $schema=../collsim.schema.json
    name: a
    """
    path = Path(os.path.relpath(schema.resolve(), file.resolve().parent)).as_posix()
    rest = text.partition("\n")[2] if text.startswith(SCHEMA_MARK) else text
    return f"{SCHEMA_MARK}{path}\n{rest}"
