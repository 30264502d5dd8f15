"""The thread blocks and steps of an MSCCL XML file as columns, held against what a runtime would take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from algorithms.formats.messages import refuse_where
from algorithms.formats.msccl_elements import STEP, TYPES
from algorithms.variation import MOST_CHANNELS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from algorithms.formats.msccl_elements import Elements

_BLOCK: Final = ("block", "send", "recv", "chan")


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """The steps of all thread blocks, side by side, by rank and thread block.

    Attributes
    ----------
    column : mapping of str to ndarray of int64
        Those of `STEP` as they are written, `rank`, `block`, `send`, `recv` and `chan` of the thread
        block, `line`, and `lane`: the thread block, numbered over all ranks.
    file : str
    """

    column: Mapping[str, NDArray[np.int64]]
    file: str

    def __getitem__(self, name: str) -> NDArray[np.int64]:
        return self.column[name]

    def does(self, what: str) -> NDArray[np.bool_]:
        """Whether each does something that a type of step does."""
        return np.array([getattr(kind, what) for kind in TYPES.values()])[self["type"]]


def steps_of(file: Elements, ranks: int) -> Steps:
    """Steps of all thread blocks.

    Raises
    ------
    FormatError
        If a thread block or a step is not where it must be, or has to do with a rank that is not there.
    """
    table = np.array(file.blocks, dtype=np.int64).reshape(-1, len(_BLOCK) + 2)
    gpu_ids = np.array([gpu[0] for gpu in file.gpus], dtype=np.int64)
    blocks = {name: table[:, at] for at, name in enumerate(_BLOCK)}
    blocks |= {"rank": gpu_ids[table[:, -2]], "line": table[:, -1]}
    order = np.lexsort((blocks["block"], blocks["rank"]))
    blocks = {name: values[order] for name, values in blocks.items()}
    _check_blocks(file.name, blocks, ranks)
    lane = np.empty(len(order), dtype=np.int64)
    lane[order] = np.arange(len(order))
    rows = np.array(file.steps, dtype=np.int64).reshape(-1, len(STEP) + 2)
    lanes = lane[rows[:, -2]]
    by_lane = np.argsort(lanes, kind="stable")
    rows, lanes = rows[by_lane], lanes[by_lane]
    column = {name: values[lanes] for name, values in blocks.items()}
    column |= {name: rows[:, at] for at, name in enumerate(STEP)}
    steps = Steps({**column, "line": rows[:, -1], "lane": lanes}, file.name)
    _check_steps(steps)
    return steps


def _check_blocks(file: str, blocks: Mapping[str, NDArray[np.int64]], ranks: int) -> None:
    rank, block, line = (blocks[name] for name in ("rank", "block", "line"))
    number = np.arange(len(rank)) - np.searchsorted(rank, rank)
    refuse_where(
        file,
        block != number,
        line,
        lambda i: f"thread block {block[i]} of gpu {rank[i]}: expected 0, 1, ... without a gap, each once",
    )
    _check_ends(file, blocks, "send", "sends to", ranks)
    _check_ends(file, blocks, "recv", "receives from", ranks)


def _check_ends(file: str, blocks: Mapping[str, NDArray[np.int64]], end: str, does: str, ranks: int) -> None:
    """Whom the thread blocks send to, or receive from."""
    rank, peer, channel, line = (blocks[name] for name in ("rank", end, "chan", "line"))

    def who(i: int) -> str:
        return f"thread block {blocks['block'][i]} of gpu {rank[i]} {does}"

    refuse_where(file, peer >= ranks, line, lambda i: f"{who(i)} rank {peer[i]}; there are {ranks} ranks")
    refuse_where(file, peer == rank, line, lambda i: f"{who(i)} itself")
    beyond = (peer >= 0) & ((channel < 0) | (channel >= MOST_CHANNELS))
    refuse_where(file, beyond, line, lambda i: f"chan is {channel[i]}; expected 0 to {MOST_CHANNELS - 1}")
    there = np.flatnonzero(peer >= 0)
    key = ((rank * ranks + peer) * MOST_CHANNELS + channel)[there]
    order = np.argsort(key, kind="stable")
    twice = np.zeros(len(rank), dtype=bool)
    twice[there[order[1:]]] = key[order[1:]] == key[order[:-1]]
    refuse_where(
        file, twice, line, lambda i: f"{who(i)} rank {peer[i]} by channel {channel[i]}, as another does"
    )


def _check_steps(steps: Steps) -> None:
    line, lane, words = steps["line"], steps["lane"], list(TYPES)
    number = np.arange(len(lane)) - np.searchsorted(lane, lane)
    refuse_where(
        steps.file, steps["s"] != number, line, lambda i: f"s is {steps['s'][i]}; expected {number[i]}"
    )

    def alone(i: int) -> str:
        return f"a step {words[steps['type'][i]]} in a thread block without a peer for it"

    for does, peer in (("sends", "send"), ("receives", "recv")):
        refuse_where(steps.file, steps.does(does) & (steps[peer] < 0), line, alone)
