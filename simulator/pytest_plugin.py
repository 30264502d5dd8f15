"""Scenario files as tests of pytest: an item a file that `collsim_scenarios` names, its diff the failure.

```ini
[pytest]
collsim_scenarios = scenarios/*.yaml
```

Without that option nothing is loaded, and nothing happens.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from simulator.scenario.check import Outcome

SCENARIOS: Final = "collsim_scenarios"
CODE: Final = "collsim_allow_code"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options of the ini file."""
    parser.addini(
        SCENARIOS,
        "Patterns of scenario files to be held against what they expect, from the root directory on.",
        type="args",
        default=[],
    )
    parser.addini(
        CODE, "Whether the Python code of algorithms in them may be run.", type="bool", default=False
    )


def pytest_configure(config: pytest.Config) -> None:
    """Collect scenarios where they are asked for."""
    patterns = config.getini(SCENARIOS)
    if patterns:
        config.pluginmanager.register(_Collector(config, patterns), "collsim scenarios")


class _Collector:
    """Collects the files that the patterns name."""

    def __init__(self, config: pytest.Config, patterns: list[str]) -> None:
        self.files: set[Path] = set()
        for pattern in patterns:
            try:
                found = set(config.rootpath.glob(pattern))
            except (NotImplementedError, ValueError):
                message = f'{SCENARIOS}: found "{pattern}", expected a pattern such as scenarios/*.yaml'
                raise pytest.UsageError(message) from None
            if not found:
                message = f'{SCENARIOS}: no file matches "{pattern}" in {config.rootpath}'
                config.issue_config_time_warning(pytest.PytestConfigWarning(message), stacklevel=2)
            self.files |= found

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """Take a file that a pattern names."""
        return _File.from_parent(parent, path=file_path) if file_path in self.files else None


class _File(pytest.File):
    """A scenario's file."""

    def collect(self) -> Iterator[pytest.Item]:
        yield _Scenario.from_parent(self, name=self.path.stem)


class _Scenario(pytest.Item):
    """A scenario held against what it expects."""

    def runtest(self) -> None:
        from functools import partial

        from simulator.scenario.check import hold
        from simulator.scenario.run_any import run_any

        here = self.config.invocation_params.dir
        file = self.path.relative_to(here) if self.path.is_relative_to(here) else self.path
        outcome = hold(file, partial(run_any, allow_code=self.config.getini(CODE)))
        if outcome.other is not None:
            pytest.skip(outcome.other.errors[0].message)
        if not outcome.fine:
            raise NotAsExpectedError(outcome)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The diff in place of a traceback."""
        if isinstance(excinfo.value, NotAsExpectedError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, f"scenario {self.name}"


class NotAsExpectedError(AssertionError):
    """A scenario that is not what it expects to be."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__("\n".join(outcome.lines))
