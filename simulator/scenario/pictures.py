"""The kinds of pictures: of what each is, and how that comes of a scenario.

A new kind is a function that draws, and a row of `PICTURES`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias, get_args

from plots.views import Colour, View
from simulator.scenario import plan_pictures, run_pictures, size_pictures
from simulator.scenario.compare import Comparison
from simulator.scenario.errors import UnitError, did_you_mean, one_of, printable
from simulator.scenario.folder import reopen
from simulator.scenario.models import Scenario
from simulator.scenario.plan_load import AnyScenario
from simulator.scenario.plan_models import PlanScenario
from simulator.scenario.plan_run import PlanResult, work_out
from simulator.scenario.ranges import parse_sizes
from simulator.scenario.run import Report, Result
from simulator.scenario.run_any import run_any
from simulator.scenario.step_run import StepResult, work_out_step
from simulator.scenario.together_models import TogetherScenario
from simulator.scenario.together_result import TogetherResult
from simulator.scenario.workload_models import WorkloadScenario
from simulator.scenario.workload_run import WorkloadResult
from topologies.errors import CollsimError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Drawable: TypeAlias = (
    AnyScenario | Result | TogetherResult | WorkloadResult | PlanResult | StepResult | Comparison
)
Drawn: TypeAlias = "Figure | tuple[Figure, ...]"
"""A figure, or those of an animation."""


@dataclass(frozen=True, slots=True)
class Making:
    """How what a picture is of is made.

    Attributes
    ----------
    folder : pathlib.Path, optional
        Of results, that it was read from.
    sizes : str, optional
        Sizes to time.
    report, allow_code, memory_limit
        As `run`.
    """

    folder: Path | None = None
    sizes: str | None = None
    report: Report | None = None
    allow_code: bool = False
    memory_limit: int | None = None


Make: TypeAlias = Callable[[Any, Making], Any]


@dataclass(frozen=True, slots=True)
class Picture:
    """A kind of picture.

    Attributes
    ----------
    summary : str
    draw : callable
        Draws what is one of `draws`, with `options`.
    draws : tuple of type
    make : mapping of type to callable
        From a scenario of each class to what is drawn.
    options : mapping of str to tuple of str
        What `draw` takes beside it, and the words for it.
    sized : bool
        Whether `make` may be told sizes.
    animated : bool
        Whether it is several figures, one after the other.
    """

    summary: str
    draw: Callable[..., Any]
    draws: tuple[type, ...]
    make: Mapping[type, Make]
    options: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sized: bool = False
    animated: bool = False


def _run(
    scenario: Scenario | TogetherScenario | WorkloadScenario, making: Making
) -> Result | TogetherResult | WorkloadResult:
    return run_any(
        scenario, report=making.report, allow_code=making.allow_code, memory_limit=making.memory_limit
    )


def _sizes(scenario: Scenario, making: Making) -> size_pictures.Sized | Comparison:
    if making.folder is not None and (making.folder / size_pictures.COMPARED).is_file():
        return size_pictures.compared(making.folder, scenario, making.report, allow_code=making.allow_code)
    return size_pictures.sized(
        scenario,
        making.sizes,
        report=making.report,
        allow_code=making.allow_code,
        memory_limit=making.memory_limit,
    )


_EITHER: Final[Mapping[type, Make]] = {Scenario: _run, TogetherScenario: _run}
_ONE: Final[Mapping[type, Make]] = {Scenario: _run}
_RESULTS: Final = (Result, TogetherResult)

PICTURES: Final[Mapping[str, Picture]] = MappingProxyType(
    {
        "timeline": Picture(
            "who held which link, when, and who waited",
            run_pictures.timeline_picture,
            _RESULTS,
            _EITHER,
            {"lanes": get_args(View)},
        ),
        "heatmap": Picture(
            "how busy every link is over time", run_pictures.heatmap_picture, _RESULTS, _EITHER
        ),
        "topology": Picture(
            "the links in the colour of their bytes, or busy time, and the cut that bounds them",
            run_pictures.topology_picture,
            _RESULTS,
            _EITHER,
            {"colour": get_args(Colour)},
        ),
        "storyboard": Picture(
            "how the chunks move, step by step", run_pictures.storyboard_picture, (Result,), _ONE
        ),
        "gif": Picture(
            "the storyboard, animated", run_pictures.storyboard_film, (Result,), _ONE, animated=True
        ),
        "sizes": Picture(
            "time against size, with the closed form and the bounds, or of all that were compared",
            size_pictures.sizes_picture,
            (size_pictures.Sized, Comparison),
            {Scenario: _sizes},
            sized=True,
        ),
        "steps": Picture(
            "steps of the collective's algorithms against the number of ranks",
            size_pictures.steps_picture,
            (Result, Scenario),
            {Scenario: lambda scenario, _: scenario},
        ),
        "levels": Picture(
            "bytes and busy time of the links of each level",
            run_pictures.levels_picture,
            _RESULTS,
            _EITHER,
        ),
        "attribution": Picture(
            "what the time on the critical path was, by level",
            run_pictures.attribution_picture,
            _RESULTS,
            _EITHER,
        ),
        "memory": Picture(
            "what a rank of each stage of a plan holds",
            plan_pictures.memory_picture,
            (PlanResult,),
            {PlanScenario: lambda scenario, _: work_out(scenario)},
        ),
        "step": Picture(
            "what each stage of a plan computes and sends in a step, or each rank in a workload",
            plan_pictures.step_picture,
            (StepResult, WorkloadResult),
            {
                PlanScenario: lambda scenario, making: work_out_step(scenario, making.report),
                WorkloadScenario: _run,
            },
        ),
    }
)

_WHAT: Final[Mapping[type, str]] = {
    Scenario: "one collective",
    TogetherScenario: "several collectives",
    WorkloadScenario: "a workload",
    PlanScenario: "a parallel plan",
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
        of = reopen(Path(of))
    making = Making(folder, sizes, report, allow_code, memory_limit)
    return row.draw(_made(of, kind, making), **options)


def find(kind: str) -> Picture:
    """The kind of picture of that name.

    Raises
    ------
    PictureError
        If there is none; names the nearest.
    """
    if kind not in PICTURES:
        hint = did_you_mean(kind, PICTURES) or f"; expected {one_of(PICTURES)}"
        raise PictureError(f'there is no picture "{printable(kind)}"{hint}')
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
            hint = did_you_mean(word, words) or f"; expected {one_of(words)}"
            raise PictureError(f'{name}: found "{printable(word)}"{hint}')


def _check_sizes(text: str) -> None:
    try:
        parse_sizes(text)
    except UnitError as error:
        raise PictureError(f"sizes: {error}") from None


def check_fits(scenario: AnyScenario, kind: str) -> None:
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
    check_fits(scenario, kind)
    return row.make[type(scenario)](scenario, making)
