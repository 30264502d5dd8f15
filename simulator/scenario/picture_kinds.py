"""The kinds of pictures: of what each is, and how that comes of a scenario.

A new kind is a function that draws, and a row of `PICTURES`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias, get_args

from plots.views import Colour, View
from simulator.scenario import plan_pictures, run_pictures, size_pictures
from simulator.scenario.compare import Comparison
from simulator.scenario.models import Scenario
from simulator.scenario.plan_models import PlanScenario
from simulator.scenario.plan_run import PlanResult, work_out
from simulator.scenario.run import Report, Result
from simulator.scenario.run_any import run_any
from simulator.scenario.step_run import StepResult, work_out_step
from simulator.scenario.sweep.figure import sweep_figure
from simulator.scenario.sweep.points import SweepScenario
from simulator.scenario.sweep.result import Sweep
from simulator.scenario.together_models import TogetherScenario
from simulator.scenario.together_result import TogetherResult
from simulator.scenario.workload_models import WorkloadScenario
from simulator.scenario.workload_result import WorkloadResult
from simulator.scenario.workload_run import run_workload


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


def _run(scenario: Scenario | TogetherScenario, making: Making) -> Result | TogetherResult:
    return run_any(
        scenario, report=making.report, allow_code=making.allow_code, memory_limit=making.memory_limit
    )


def _sizes(scenario: Scenario, making: Making) -> size_pictures.Sized | Comparison:
    if making.folder is not None and (making.folder / size_pictures.COMPARED).is_file():
        return size_pictures.compared(
            making.folder,
            scenario,
            report=making.report,
            allow_code=making.allow_code,
            memory_limit=making.memory_limit,
        )
    return size_pictures.sized(
        scenario,
        making.sizes,
        report=making.report,
        allow_code=making.allow_code,
        memory_limit=making.memory_limit,
    )


def _sweep(scenario: SweepScenario, making: Making) -> Sweep:
    from simulator.scenario.sweep.run import sweep_again

    return sweep_again(
        scenario,
        making.folder,
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
                WorkloadScenario: lambda scenario, making: run_workload(scenario, making.report),
            },
        ),
        "sweep": Picture(
            "the time, or what else a sweep is about, against what is varied",
            sweep_figure,
            (Sweep,),
            {SweepScenario: _sweep},
        ),
    }
)
