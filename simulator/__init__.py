"""WHEN, ASK and the command line: plans, engines, scenarios."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path


def _check_siblings() -> None:
    """Refuse to work beside packages of the same generic names that are not collsim's."""
    home = Path(__file__).resolve().parent.parent
    for name in ("topologies", "algorithms", "plots"):
        spec = find_spec(name)
        origin = spec.origin if spec is not None else None
        if origin is None or Path(origin).resolve().parent.parent != home:
            raise ImportError(f"collsim needs its own package '{name}', but Python finds {origin or 'none'}")


_check_siblings()
