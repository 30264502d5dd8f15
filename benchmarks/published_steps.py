"""Simulated step times beside published ones, with one setting for all rows.

    python benchmarks/published_steps.py [--markdown] [--most-ranks N]

Nothing here passes or fails. docs/explanation/published-steps.md says where rows come from, and what is
fitted.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from time import process_time
from typing import Final, TypeVar

import numpy as np
from scipy.stats import spearmanr

from simulator.llm.step.flops import step_flops
from simulator.llm.step.report_setting import Setting
from simulator.llm.step.roofline import Efficiency
from simulator.llm.step.stage_units import Machine
from simulator.scenario.plan_load import loads_plan
from simulator.scenario.step_run import step_setting

T = TypeVar("T")
MEMORY: Final = 0.9
"""Of its bandwidth that the memory attains: Calculon's files of the A100, from 10 to 100 MB."""
SECOND: Final = 10**15


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A published step.

    Attributes
    ----------
    model : str
        Preset.
    ranks, tp, pp, interleave : int
    batch, micro : int
        Sequences of a step, and of a micro-batch.
    seconds : float or None
        Where the time itself was published.
    petaflops : float or None
        PFLOP/s of all ranks, where those were.
    selective : bool
        Sequence parallelism and selective recomputation; else all is recomputed.
    gradient : int
        Bytes of a number of a gradient.
    """

    model: str
    ranks: int
    tp: int
    pp: int
    batch: int
    micro: int
    interleave: int = 1
    seconds: float | None = None
    petaflops: float | None = None
    selective: bool = False
    gradient: int = 2

    @property
    def name(self) -> str:
        cut = f"{self.ranks} GPUs, {self.tp} x {self.pp} x {self.ranks // self.tp // self.pp}"
        return f"{self.model}, {cut}{', sp, selective' if self.selective else ''}"

    def setting(self, efficiency: Efficiency) -> Setting:
        """What is simulated; the mapping is a file for `collsim llm step`."""
        parallel = {"tp": self.tp, "pp": self.pp, "dp": self.ranks // self.tp // self.pp}
        memory = {"convention": 18 if self.gradient == 4 else 20, "attention": "scores"}
        plan = {
            "model": self.model,
            "hardware": "a100-80g",
            "topology": {"preset": "dgx-a100", "nodes": self.ranks // 8},
            "network": {"model": "cut_through"},
            "parallel": {**parallel, "interleave": self.interleave, "sp": self.selective},
            "batch": {"global": self.batch, "micro": self.micro},
            "memory": {**memory, "recompute": "selective" if self.selective else "full"},
            "work": {"mask": "full"},
            "overlap": {"dp": self.pp == 1},
        }
        found = step_setting(loads_plan(json.dumps(plan), self.name))
        return replace(found, machine=Machine(found.machine.hardware, efficiency))

    def published(self, flops: int) -> float:
        """Seconds of a step, whose operations have been counted."""
        return self.seconds or flops / ((self.petaflops or 0) * 1e15)


# columns: model, ranks, t, p, B, b, chunks of a stage, PFLOP/s of all GPUs
PTD_P: Final = [
    Row(
        model=f"narayanan-{model}",
        ranks=ranks,
        tp=tp,
        pp=pp,
        batch=batch,
        micro=micro,
        interleave=chunks,
        petaflops=petaflops,
    )
    for model, ranks, tp, pp, batch, micro, chunks, petaflops in (
        ("1.7b", 32, 1, 1, 512, 16, 1, 4.4),
        ("3.6b", 64, 2, 1, 512, 16, 1, 8.8),
        ("7.5b", 128, 4, 1, 512, 16, 1, 18.2),
        ("18.4b", 256, 8, 1, 1024, 8, 1, 34.6),
        ("39.1b", 512, 8, 2, 1536, 4, 1, 70.8),
        ("76.1b", 1024, 8, 4, 1792, 2, 3, 143.8),
        ("145.6b", 1536, 8, 8, 2304, 2, 2, 227.1),
        ("310.1b", 1920, 8, 16, 2160, 1, 2, 297.4),
        ("529.6b", 2520, 8, 35, 2520, 1, 3, 410.2),
        ("1008b", 3072, 8, 64, 3072, 1, 1, 502.0),
    )
]
RECOMPUTATION: Final = [
    Row(
        model=f"korthikanti-{model}",
        ranks=ranks,
        tp=8,
        pp=ranks // 8,
        batch=batch,
        micro=micro,
        interleave=chunks,
        seconds=seconds,
        selective=selective,
        gradient=4,
    )
    for model, ranks, batch, micro, chunks, full, both in (
        ("22b", 8, 4, 4, 1, 1.42, 1.10),
        ("175b", 64, 64, 1, 3, 18.13, 13.75),
        ("530b", 280, 280, 1, 3, 49.05, 37.83),
        ("1t", 512, 512, 1, 1, 94.42, 71.49),
    )
    for selective, seconds in ((False, full), (True, both))
]
# of each model and t up to 8, the fastest row of data/ground_truth_multi.csv
VTRAIN: Final = [
    Row(model=model, ranks=ranks, tp=tp, pp=pp, batch=batch, micro=micro, seconds=seconds)
    for model, ranks, tp, pp, batch, micro, seconds in (
        ("narayanan-3.6b", 64, 1, 1, 512, 8, 3.5665),
        ("narayanan-3.6b", 64, 2, 1, 512, 16, 3.9375),
        ("narayanan-3.6b", 64, 4, 1, 512, 16, 4.4921),
        ("narayanan-3.6b", 64, 8, 1, 512, 32, 4.9723),
        ("narayanan-18.4b", 256, 1, 8, 1024, 4, 12.379),
        ("narayanan-18.4b", 256, 2, 4, 1024, 4, 10.825),
        ("narayanan-18.4b", 256, 4, 2, 1024, 2, 10.0316),
        ("narayanan-18.4b", 256, 8, 1, 1024, 8, 9.6036),
        ("narayanan-39.1b", 512, 1, 16, 1536, 3, 19.991),
        ("narayanan-39.1b", 512, 2, 8, 1536, 3, 19.0672),
        ("narayanan-39.1b", 512, 4, 4, 1536, 2, 13.8755),
        ("narayanan-39.1b", 512, 8, 2, 1536, 2, 14.614),
        ("korthikanti-175b", 512, 2, 32, 1536, 2, 57.4112),
        ("korthikanti-175b", 512, 4, 32, 1536, 2, 53.9096),
        ("korthikanti-175b", 512, 8, 8, 1536, 2, 55.1096),
    )
]
TABLES: Final = {
    "Narayanan et al. 2021, table 1": PTD_P,
    "Korthikanti et al. 2022, table 5": RECOMPUTATION,
    "Bang et al. 2024, vTrain's measurements": VTRAIN,
}


@dataclass(frozen=True, slots=True)
class Measured:
    """A row as it was simulated, and what that took."""

    row: Row
    published: float
    simulated: float
    flops: int
    tasks: int
    cpu: float
    resident: float

    @property
    def error(self) -> float:
        return self.simulated / self.published - 1

    def rate(self, seconds: float) -> float:
        """TFLOP/s of a GPU."""
        return self.flops / (self.row.ranks * seconds * 1e12)

    def cells(self) -> list[str]:
        """What the table says of it."""
        rates = (f"{self.rate(time):.1f}" for time in (self.simulated, self.published))
        times = (f"{self.simulated:.2f}", f"{self.published:.2f}", f"{self.error:+.1%}")
        return [self.row.name, *times, *rates, f"{self.tasks:,}", f"{self.cpu:.0f}", f"{self.resident:.2f}"]


TIMES: Final = ("simulated, s", "published, s", "error")
HEAD: Final = ("step", *TIMES, "TFLOP/s", "published", "tasks", "CPU, s", "GB")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    asked.add_argument(
        "--markdown", action="store_true", help="print tables for docs/explanation/published-steps.md"
    )
    asked.add_argument("--most-ranks", type=int, default=4096, help="leave larger rows out")
    options = asked.parse_args()
    efficiency = apart(fitted, [row for row in PTD_P if row.pp == 1])
    print(f"matmul and attention {efficiency.matmul:.3f}, memory {efficiency.memory}\n")
    for title, rows in TABLES.items():
        some = [row for row in rows if row.ranks <= options.most_ranks]
        if some:
            print_table(title, some, efficiency, markdown=options.markdown)


def fitted(rows: Sequence[Row]) -> Efficiency:
    """The one number for all products, to 0.001, with which the errors of some rows add up to nothing."""
    settings = [row.setting(Efficiency()) for row in rows]
    want = [row.published(operations(setting)) for row, setting in zip(rows, settings, strict=True)]

    def error(thousandths: int) -> float:
        share = thousandths / 1000
        efficiency = Efficiency(matmul=share, attention=share, memory=MEMORY)
        times = [timed(setting, efficiency) for setting in settings]
        return sum(time / wanted - 1 for time, wanted in zip(times, want, strict=True))

    slow, fast = 100, 1000
    while fast - slow > 1:
        middle = (slow + fast) // 2
        slow, fast = (middle, fast) if error(middle) > 0 else (slow, middle)
    best = min(slow, fast, key=lambda share: abs(error(share))) / 1000
    return Efficiency(matmul=best, attention=best, memory=MEMORY)


def timed(setting: Setting, efficiency: Efficiency) -> float:
    """Seconds of a step at another efficiency; what calls take is kept."""
    return replace(setting, machine=Machine(setting.machine.hardware, efficiency)).run().time / SECOND


def operations(setting: Setting) -> int:
    """That the hardware does, all ranks together."""
    return int(step_flops(setting.asked, setting.work).hardware)


def apart(work: Callable[..., T], *given: object) -> T:
    """Do something in a process of its own: its memory is then told apart, and this one's stays small."""
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, fresh) as pool:
        return pool.submit(work, *given).result()


def measured(row: Row, efficiency: Efficiency) -> Measured:
    begin = process_time()
    setting = row.setting(efficiency)
    graph = setting.graph()
    time = setting.run(graph).time / SECOND
    flops, cpu = operations(setting), process_time() - begin
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
    return Measured(row, row.published(flops), time, flops, len(graph), cpu, resident)


def print_table(title: str, rows: Sequence[Row], efficiency: Efficiency, *, markdown: bool) -> None:
    """Simulate rows, print each as soon as it is there, and what they come to."""
    print(f"**{title}**\n" if markdown else title)
    print_cells(HEAD, markdown=markdown)
    if markdown:
        print_cells(["---", *["---:"] * (len(HEAD) - 1)], markdown=True)
    found = []
    for row in rows:
        found.append(apart(measured, row, efficiency))
        print_cells(found[-1].cells(), markdown=markdown)
    print(f"\n{summary(found)}\n")


def print_cells(cells: Sequence[str], *, markdown: bool) -> None:
    name, *others = cells
    text = f"{name:52}" + "".join(f"{cell:>13}" for cell in others)
    print(f"| {' | '.join(cells)} |" if markdown else text, flush=True)


def summary(rows: Sequence[Measured]) -> str:
    """How far off, and whether the order is right."""
    errors = np.array([row.error for row in rows])
    times = [(row.simulated, row.published) for row in rows]
    rates = [(row.rate(row.simulated), row.rate(row.published)) for row in rows]
    text = f"Mean error {errors.mean():+.1%}, mean absolute error {np.abs(errors).mean():.1%}, "
    text += f"largest {np.abs(errors).max():.1%}"
    if len(rows) > 2:
        text += f"; Spearman's rank correlation of times {correlation(times):.3f}"
        text += f", of TFLOP/s {correlation(rates):.3f}"
    return f"{text}."


def correlation(pairs: Sequence[tuple[float, float]]) -> float:
    """Spearman's, of what was simulated with what was published."""
    return float(spearmanr(*zip(*pairs, strict=True)).statistic)


if __name__ == "__main__":
    main()
