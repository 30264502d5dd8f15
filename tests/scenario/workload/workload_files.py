"""Scenarios of workloads with their files, in a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from algorithms.formats.chakra import Node, Trace, write_chakra
from tests.llm.workload.trace_examples import collective, compute, receive, send

TOPOLOGY = "topology: {kind: crossbar, ranks: 2, bandwidth: 1 GB/s}\nnetwork: {model: cut_through}\n"
STEP = f"{TOPOLOGY}workload: {{file: traces/step.*.et, groups: groups.json}}\n"


TABLE = """HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 1 pp: 2 all_gpus: 8 pp_comm: 64
2
first -1 1000 ALLREDUCE 8000 2000 NONE 0 3000 ALLREDUCE 8000 0
last -1 4000 NONE 0 5000 ALLREDUCE 8000 6000 NONE 0 0
"""


def a_table(folder: Path) -> Path:
    """A table of two layers on two ranks: (1 + 8 + 4) forward, (5 + 8 + 6 + 2 + 3) backward, us."""
    (folder / "layers.txt").write_text(TABLE, encoding="utf-8")
    (folder / "layers.yaml").write_text(f"{TOPOLOGY}workload: {{file: layers.txt}}\n", encoding="utf-8")
    return folder / "layers.yaml"


def write_traces(folder: Path, *ranks: Sequence[Node]) -> None:
    """Write a trace a rank into a folder `traces`."""
    (folder / "traces").mkdir(exist_ok=True)
    for rank, nodes in enumerate(ranks):
        (folder / "traces" / f"step.{rank}.et").write_bytes(write_chakra(Trace(tuple(nodes))))


def a_step(folder: Path, text: str = STEP) -> Path:
    """A scenario whose two ranks compute, add up 8 kB, exchange 4 kB, compute: 2 + 8 + 4 + 1 us."""
    calls = [compute(0, 2), collective(1, 0, 8000, 0, pg_name="1")]
    write_traces(
        folder,
        [*calls, send(2, 1, 4000, 1)],
        [*calls, receive(2, 0, 4000, 1), compute(3, 1, 2)],
    )
    (folder / "groups.json").write_text('{"1": [0, 1]}', encoding="utf-8")
    (folder / "step.yaml").write_text(text, encoding="utf-8")
    return folder / "step.yaml"
