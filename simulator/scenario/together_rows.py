"""The timeline of several collectives as rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simulator.scenario.result import HOP, hop_rows, transfer_columns
from simulator.scenario.rows import Kind, Rows

if TYPE_CHECKING:
    from simulator.scenario.together_result import TogetherResult

HOP_OF_SEVERAL: Final[Mapping[str, Kind]] = MappingProxyType({"collective": str, **HOP})


def together_rows(result: TogetherResult) -> Rows:
    """A row a hop, with whose it is; sources and destinations are the topology's ranks."""
    return Rows(HOP_OF_SEVERAL, partial(_hops, result))


def _hops(result: TogetherResult) -> Iterator[tuple[Any, ...]]:
    jobs, plan, names = result.together.jobs, result.together.plan, result.names
    first, row = result.together.first, result.together.row.tolist()

    def about(operation: int) -> tuple[Any, ...]:
        which = int(np.searchsorted(first, operation, side="right")) - 1
        job, transfer = jobs[which], int(plan.transfer[operation])
        if transfer < 0:
            return names[which], operation, *transfer_columns(job.schedule, transfer)
        step, channel, src, dst, chunks = transfer_columns(job.schedule, transfer - row[which])
        return names[which], operation, step, channel, job.node(src), job.node(dst), chunks

    return hop_rows(result.timeline, result.topology, about)
