"""Reader of TE-CCL's schedules: in which epoch each chunk travels over which link.

The keys are those that its solvers write (microsoft/TE-CCL, teccl/solvers/allgather.py).
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from algorithms.formats.moves import Move, collective_of, program_of_moves
from topologies.formats.json_text import parse_json
from topologies.formats.reading import decode
from topologies.text import printable

if TYPE_CHECKING:
    from algorithms.programs.program import Program

_FLOWS, _PATHS = "7-Flows", "8-Chunk paths"
_FLOW: Final = re.compile(
    r"Chunk (?P<chunk>\d{1,9}) from (?P<owner>\d{1,9}) traveled over (?P<src>\d{1,9})->(?P<dst>\d{1,9}) "
    r"in epoch (?P<epoch>\d{1,9})(?P<via> via switches .*)?"
)
_DEMAND: Final = re.compile(r"Demand at (\d{1,9}) for chunk (\d{1,9}) from (\d{1,9}) met by epoch .*")


def read_teccl(data: bytes, file: str) -> Program:
    """Program of a TE-CCL schedule: an AllGather whose ranks are its GPUs, in the order of their numbers.

    Raises
    ------
    FormatError
        If it is no such schedule, or none of an AllGather; names the place.
    """
    text = parse_json(decode(data, file), file)
    if not isinstance(text.value, dict):
        raise text.error("expected the keys of a schedule")
    flows = []
    for i, flow in enumerate(text.get((_FLOWS,), list, "a list of flows")):
        found = _FLOW.fullmatch(str(flow))
        if found is None:
            raise text.error(
                f'found "{printable(flow)}", expected Chunk 0 from 0 traveled over ...', _FLOWS, i
            )
        flows.append(found)
    asked = {_DEMAND.fullmatch(key) for key in text.get((_PATHS,), dict, "paths of chunks")}
    demands = [found for found in asked if found is not None]
    if not demands:
        raise text.error("nobody demands anything", _PATHS)
    gpus = sorted({int(found[i]) for found in demands for i in (1, 3)})
    number = {gpu: rank for rank, gpu in enumerate(gpus)}
    chunks = max(int(found[2]) for found in demands) + 1
    demanded = Counter(found.group(2, 3) for found in demands)
    if len(gpus) > 2 and max(demanded.values()) == 1:
        raise text.error("expected an AllGather; each chunk is demanded by one GPU alone", _PATHS)
    moves = []
    for i, found in enumerate(flows):
        for gpu in (int(found[name]) for name in ("owner", "src", "dst")):
            if gpu not in number:
                raise text.error(f"there is no GPU {gpu} among those of the demands", _FLOWS, i)
        owner, src, dst = (number[int(found[name])] for name in ("owner", "src", "dst"))
        if int(found["chunk"]) >= chunks:
            raise text.error(f"there is no chunk {found['chunk']}; there are {chunks}", _FLOWS, i)
        moves.append(Move(int(found["epoch"]), src, dst, owner * chunks + int(found["chunk"])))
    unsaid = ["epochs: a rank goes on when it has what it sends"]
    if any(found["via"] for found in flows):
        unsaid.append("the switches that flows go by")
    collective = collective_of(file, "allgather", len(gpus), segments=chunks)
    return program_of_moves(file, "te-ccl", collective, moves, unsaid)
