"""Pictures of results, of scenarios, and of folders of results."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from simulator.scenario.errors import UnitError, one_of, suggestion
from simulator.scenario.folder import kept_file, reopen
from simulator.scenario.kinds import SWEEP, OtherKindError
from simulator.scenario.models import Scenario
from simulator.scenario.picture_kinds import PICTURES, Making, Picture
from simulator.scenario.plan_models import PlanScenario
from simulator.scenario.ranges import parse_sizes
from simulator.scenario.sweep.points import SweepScenario
from simulator.scenario.sweep.read import read_sweep
from simulator.scenario.together_models import TogetherScenario
from simulator.scenario.workload_models import WorkloadScenario
from topologies.errors import CollsimError
from topologies.text import printable

if TYPE_CHECKING:
    from simulator.scenario.compare import Comparison
    from simulator.scenario.plan_run import PlanResult
    from simulator.scenario.run import Report, Result
    from simulator.scenario.step_run import StepResult
    from simulator.scenario.sweep.result import Sweep
    from simulator.scenario.together_result import TogetherResult
    from simulator.scenario.workload_result import WorkloadResult

AnyScenario: TypeAlias = Scenario | TogetherScenario | WorkloadScenario | PlanScenario | SweepScenario
Drawable: TypeAlias = (
    "AnyScenario | Result | TogetherResult | WorkloadResult | PlanResult | StepResult | Comparison | Sweep"
)

_WHAT: Final[Mapping[type, str]] = {
    Scenario: "one collective",
    TogetherScenario: "several collectives",
    WorkloadScenario: "a workload",
    PlanScenario: "a parallel plan",
    SweepScenario: "a sweep",
}


class PictureError(CollsimError):
    """A picture that there is not, or not of this."""


def picture(
    of: Drawable | str | Path,
    kind: str,
    *,
    sizes: str | None = None,
    report: Report | None = None,
    allow_code: bool = False,
    memory_limit: int | None = None,
    **options: str,
) -> Any:
    """Draw a picture.

    Parameters
    ----------
    of : result, scenario, str or pathlib.Path
        What it is of: what a run gave, a scenario that is run for it, a file, or a folder that `--out` has
        written, whose scenario is run again.
    kind : str
        One of `PICTURES`.
    sizes : str, optional
        Of `sizes`: a range as ``1KiB..1GiB``, or a list.
    report, allow_code, memory_limit
        As `run`.
    **options : str
        Of `timeline` its `lanes`, of `topology` its `colour`.

    Returns
    -------
    matplotlib.figure.Figure
        Of `gif` a tuple of them, which `plots.animation.save_animation` writes.

    Raises
    ------
    PictureError
        If there is no such picture, it does not go with what it should be of, or it takes no such option.
    ScenarioErrors
        If a scenario is wrong, or cannot run.

    Examples
    --------
    >>> from simulator.scenario.load import loads
    >>> four = loads('''topology: {kind: ring, ranks: 4, bandwidth: 64 GB/s}
    ... collective: {kind: allgather, algorithm: ring, size: 1 MiB}''')
    >>> [label.get_text() for label in picture(four, "heatmap").axes[0].get_yticklabels()]
    ['0->1', '1->2', '2->3', '3->0']
    """
    row = find(kind)
    check_options(kind, {**options, **({} if sizes is None else {"sizes": sizes})})
    folder = None
    if isinstance(of, str | Path):
        folder = Path(of) if Path(of).is_dir() else None
        of = _opened(Path(of))
    making = Making(folder, sizes, report, allow_code, memory_limit)
    return row.draw(_made(of, kind, making), **options)


def _opened(path: Path) -> AnyScenario:
    """The scenario of a file or a folder, or the sweep of one."""
    try:
        return reopen(path)
    except OtherKindError as error:
        if error.kind != SWEEP:
            raise
        return read_sweep(kept_file(path))


def find(kind: str) -> Picture:
    """The kind of picture of that name.

    Raises
    ------
    PictureError
        If there is none; names the nearest.
    """
    if kind not in PICTURES:
        raise PictureError(f'there is no picture "{printable(kind)}"{suggestion(kind, PICTURES)}')
    return PICTURES[kind]


def check_options(kind: str, options: Mapping[str, str]) -> None:
    """Refuse options that a picture does not take, and words that they do not have.

    Raises
    ------
    PictureError
    """
    row = find(kind)
    for name, word in options.items():
        if name == "sizes" and row.sized:
            _check_sizes(word)
            continue
        if name not in row.options:
            takers = [other for other, one in PICTURES.items() if name in one.options]
            takers += [other for other, one in PICTURES.items() if name == "sizes" and one.sized]
            whose = f"; {one_of(takers)} does" if takers else ""
            raise PictureError(f'"{kind}" takes no {printable(name)}{whose}')
        words = row.options[name]
        if word not in words:
            raise PictureError(f'{name}: found "{printable(word)}"{suggestion(word, words)}')


def _check_sizes(text: str) -> None:
    try:
        parse_sizes(text)
    except UnitError as error:
        raise PictureError(f"sizes: {error}") from None


def _check_fits(scenario: AnyScenario, kind: str) -> None:
    """Refuse a picture that does not go with a scenario, and say which do.

    Raises
    ------
    PictureError
    """
    own = type(scenario)
    if own not in find(kind).make:
        fitting = [name for name, row in PICTURES.items() if own in row.make]
        raise PictureError(
            f'{scenario.source.file}: there is no picture "{kind}" of {_WHAT[own]}; there are '
            f"{', '.join(fitting)}"
        )


def _made(of: Any, kind: str, making: Making) -> Any:
    """What a picture draws, of a result or a scenario."""
    row = PICTURES[kind]
    if isinstance(of, row.draws):
        return of
    scenario = getattr(of, "scenario", of)
    if type(scenario) not in _WHAT:
        raise PictureError(
            f"found {type(of).__name__}; expected what a run gave, a scenario, a file or a folder"
        )
    _check_fits(scenario, kind)
    return row.make[type(scenario)](scenario, making)
