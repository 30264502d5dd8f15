"""Where a module finds what it names and loads only when it is first used."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path


@cache
def homes(file: str) -> dict[str, str]:
    """Module of each name, as a file's imports for type checkers say: nothing is named twice.

    Parameters
    ----------
    file : str
        Of Python, with a block ``if TYPE_CHECKING:``.
    """
    whole = ast.parse(Path(file).read_text(encoding="utf-8"))
    imports = next(node.body for node in whole.body if isinstance(node, ast.If))
    return {
        one.name: str(node.module)
        for node in imports
        if isinstance(node, ast.ImportFrom)
        for one in node.names
    }
