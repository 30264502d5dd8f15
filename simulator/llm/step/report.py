"""The report of a step: how long it takes, how well it uses the machine, and what keeps it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from simulator.llm.memory import Memory, memory
from simulator.llm.step.report_links import HotLink, LevelUse, hottest_links, level_uses, step_link_use
from simulator.llm.step.report_setting import GROUPS, groups_of
from simulator.llm.step.report_summary import Summary, step_summary
from simulator.llm.step.report_time import StageTime, stage_times
from topologies.clock import to_seconds

if TYPE_CHECKING:
    from simulator.llm.plan import Parallel
    from simulator.llm.step.report_setting import Setting
    from simulator.llm.step.simulate import Step


@dataclass(frozen=True, slots=True)
class Exposed:
    """Communication of a group that nothing hides.

    Attributes
    ----------
    group : str
    counterfactual : int
        fs that the step would be shorter if the group's calls took no time.
    timeline : float
        fs for which a call of the group is under way while its stage computes nothing; mean over the stages.
    worst : int
        The same at the stage with most of it.
    calls : int
        Of the group in a step.
    """

    group: str
    counterfactual: int
    timeline: float
    worst: int
    calls: int


@dataclass(frozen=True, slots=True)
class HowSimulated:
    """How the calls of a kind were simulated.

    Attributes
    ----------
    group, kind : str
    memoised : int
        Calls that meet no others, simulated by themselves once for all of a size.
    laid : int
        Calls that were laid over the network with all the others.
    time : int
        fs of all of them, one after the other.
    sent : float
        Bytes of all of them that a rank has to send, at least.
    """

    group: str
    kind: str
    memoised: int
    laid: int
    time: int
    sent: float

    @property
    def bus_bandwidth(self) -> float:
        """B/s that a rank sends meanwhile of what it has to: NCCL's busbw."""
        return self.sent / to_seconds(self.time) if self.time else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class StepReport:
    """What came of a step.

    Attributes
    ----------
    setting : Setting
    now, ideal : Summary
        Of the step as it is, and where no communication takes time.
    memory : Memory
    stages : tuple of StageTime
    exposed : tuple of Exposed
    levels : tuple of LevelUse
    hottest : tuple of HotLink
    simulated : tuple of HowSimulated
    """

    setting: Setting
    now: Summary
    ideal: Summary
    memory: Memory
    stages: tuple[StageTime, ...]
    exposed: tuple[Exposed, ...]
    levels: tuple[LevelUse, ...]
    hottest: tuple[HotLink, ...]
    simulated: tuple[HowSimulated, ...]

    @property
    def step(self) -> Step:
        """The step as it is."""
        return self.now.step

    @property
    def time(self) -> int:
        """Fs of the step."""
        return self.now.time


def step_report(setting: Setting, progress: Callable[[int, int], None] | None = None) -> StepReport:
    """Simulate a step, then once more for each group of calls, and for all, as if these took no time.

    Parameters
    ----------
    setting : Setting
    progress : callable, optional
        Called with the simulations that are done, and with all there are.

    Raises
    ------
    ModelError, PlanError
        If the hardware does not say how fast it is, or a call cannot be done.
    """
    asked, graph = setting.asked, setting.graph()
    groups = groups_of(graph)
    free = [(), *((group,) for group in groups), *([groups] if groups else [])]
    found: list[Summary] = []
    for done, without in enumerate(free):
        if progress is not None:
            progress(done, len(free))
        found.append(step_summary(setting, graph, without))
    now, without_one, ideal = found[0], found[1:-1], found[-1]
    stages, topology = stage_times(now.step), setting.fabric.topology
    use = step_link_use(now.step, setting.fabric)
    return StepReport(
        setting,
        now,
        ideal,
        memory(asked.model, asked.parallel, asked.batch, asked.memory),
        stages,
        tuple(
            _exposed(group, now.step, without.time, stages)
            for group, without in zip(groups, without_one, strict=True)
        ),
        level_uses(use, topology, now.time),
        hottest_links(use, topology, now.time),
        how_simulated(now.step, asked.parallel),
    )


def how_simulated(step: Step, parallel: Parallel) -> tuple[HowSimulated, ...]:
    """Count the calls that were memoised, and those that were laid over the network."""
    done: Counter[tuple[str, str, bool]] = Counter()
    time: Counter[tuple[str, str]] = Counter()
    sent: defaultdict[tuple[str, str], Fraction] = defaultdict(Fraction)
    for number, task in enumerate(step.graph.tasks):
        if task.way is not None:
            kind = (task.way.group.name, task.way.kind)
            done[*kind, task.way in step.memoised] += 1
            time[kind] += int(step.end[number] - step.begin[number])
            sent[kind] += task.way.share(parallel) * task.size
    return tuple(
        HowSimulated(*kind, done[*kind, True], done[*kind, False], time[kind], float(sent[kind]))
        for kind in sent
    )


def breakdown(stages: Sequence[StageTime]) -> dict[str, float]:
    """Find what part of a step each thing takes, mean of the stages: largest first, nothing left out.

    Groups of calls that are exposed at once both count.

    Examples
    --------
    >>> breakdown([StageTime(0, 70, 0, {"tp": 20, "pp": 5}, 25, 5)])
    {'compute': 0.7, 'tp': 0.2, 'pp': 0.05, 'idle': 0.05, 'update': 0.0}
    """
    whole = sum(stage.time for stage in stages)
    parts = Counter({"compute": 0})
    for stage in stages:
        parts.update({"compute": stage.passes, **stage.exposed, "idle": stage.idle, "update": stage.update})
    return {name: time / whole for name, time in parts.most_common()}


def bottleneck(stages: Sequence[StageTime]) -> str:
    """Say what takes most of a step, and what comes next.

    Examples
    --------
    >>> bottleneck([StageTime(0, 70, 0, {"tp": 20, "pp": 5}, 25, 5)])
    'compute 70 %, tp 20 %'
    """
    first = list(breakdown(stages).items())[:2]
    return ", ".join(f"{name} {100 * share:.0f} %" for name, share in first if share)


def _exposed(group: str, step: Step, without: int, stages: Sequence[StageTime]) -> Exposed:
    found = [stage.exposed[group] for stage in stages]
    calls = sum(task.stream.name in GROUPS[group] for task in step.graph.tasks)
    return Exposed(group, step.time - without, sum(found) / len(found), max(found), calls)
