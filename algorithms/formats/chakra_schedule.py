"""Writer of schedules as Chakra execution traces, a file a rank, as ASTRA-sim reads them.

A transfer is a COMM_SEND at its source and a COMM_RECV at its destination and, where it reduces, a COMP node
after that. Nodes have numbers of their own in all files, in the order of the transfers, so that a reader that
takes what is ready by its number takes it in that order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, get_args

from algorithms.errors import ScheduleError
from algorithms.formats.chakra import COMM_RECV, COMM_SEND, COMP, Node, Trace, Value, write_chakra
from algorithms.schedule import REDUCE

if TYPE_CHECKING:
    from algorithms.schedule import Schedule

NUMBER: Final = 4
"""Bytes of the numbers that a COMP node is taken to add, one operation each."""

_OF_A_ROW: Final = 3
"""Nodes of a transfer at most."""

After = Literal["step", "dataflow"]


@dataclass(frozen=True, slots=True)
class ChakraFiles:
    """A schedule as files.

    Attributes
    ----------
    data : tuple of bytes
        Of each rank.
    lost : tuple of str
        What of the schedule is not in them; a line each.
    """

    data: tuple[bytes, ...]
    lost: tuple[str, ...]

    def names(self, prefix: str) -> tuple[str, ...]:
        """Names of the files.

        >>> ChakraFiles((b"", b""), ()).names("ring")
        ('ring.0.et', 'ring.1.et')
        """
        return tuple(f"{prefix}.{rank}.et" for rank in range(len(self.data)))


def to_chakra(schedule: Schedule, after: After = "step") -> ChakraFiles:
    """Chakra execution traces of a schedule.

    Parameters
    ----------
    schedule : Schedule
        Without switches.
    after : {'step', 'dataflow'}
        What a node waits for: all that its rank did in the last step before in that channel; or, of one that
        sends, what wrote its chunks.

    Raises
    ------
    ScheduleError
        If switches take part, or nobody knows what a node waits for.

    Examples
    --------
    >>> from algorithms.registry import build
    >>> [len(file) for file in to_chakra(build("ring", "allgather", 3, 3)).data]
    [432, 434, 434]
    """
    if after not in get_args(After):
        raise ScheduleError(f'after is "{after}"; expected {", ".join(get_args(After))}')
    if schedule.switches:
        raise ScheduleError(f"{schedule.algorithm} works in switches, which have no execution trace")
    nodes: list[list[Node]] = [[] for _ in range(schedule.ranks)]
    waits = _StepWaits(schedule) if after == "step" else _DataWaits(schedule)
    tags: dict[tuple[int, int], int] = {}
    sizes = schedule.sizes().tolist()
    columns = (schedule.src.tolist(), schedule.dst.tolist(), sizes, (schedule.mode == REDUCE).tolist())
    for row, (src, dst, size, reduces) in enumerate(zip(*columns, strict=True)):
        tag = tags.get((src, dst), 0)
        tags[src, dst] = tag + 1
        ends: dict[str, Value] = {"comm_src": src, "comm_dst": dst, "comm_tag": tag}
        said = {"is_cpu_op": 0, "comm_size": size, **ends}
        name = f"step {schedule.step[row]}, channel {schedule.channel[row]}"
        send, receive, reduce = range(_OF_A_ROW * row, _OF_A_ROW * (row + 1))
        nodes[src].append(Node(send, f"send, {name}", COMM_SEND, waits.of_send(row), 0, said))
        nodes[dst].append(Node(receive, f"receive, {name}", COMM_RECV, waits.of_receive(row), 0, said))
        if reduces:
            work: dict[str, Value] = {"is_cpu_op": 0, "num_ops": -(-size // NUMBER), "tensor_size": size}
            nodes[dst].append(Node(reduce, f"reduce, {name}", COMP, (receive,), 0, work))
        waits.add(row, send, reduce if reduces else receive)
    return ChakraFiles(
        tuple(write_chakra(Trace(tuple(some))) for some in nodes), tuple(_lost(schedule, after))
    )


def _lost(schedule: Schedule, after: After) -> Iterator[str]:
    kind = schedule.collective.kind
    yield f"that it does {kind}, and which chunks each message holds"
    if (schedule.mode == REDUCE).any():
        yield (
            "how long a reduction takes: COMP nodes say their bytes, and additions of "
            f"{NUMBER}-byte numbers, but no time"
        )
    if after == "step":
        yield "that a message waits until its receiver is ready: eager readers send it before"


class _StepWaits:
    """What nodes wait for: all that their rank did in its last step before, in that channel."""

    def __init__(self, schedule: Schedule) -> None:
        self.step, self.channel = schedule.step.tolist(), schedule.channel.tolist()
        self.src, self.dst = schedule.src.tolist(), schedule.dst.tolist()
        self.now: dict[tuple[int, int], tuple[int, list[int]]] = {}
        self.before: dict[tuple[int, int], tuple[int, ...]] = {}

    def of_send(self, row: int) -> tuple[int, ...]:
        """Of the sender of a transfer."""
        return self._of(row, self.src[row])

    def of_receive(self, row: int) -> tuple[int, ...]:
        """Of its receiver."""
        return self._of(row, self.dst[row])

    def add(self, row: int, sent: int, received: int) -> None:
        """Take the last node of a transfer at either end."""
        for rank, node in ((self.src[row], sent), (self.dst[row], received)):
            self._of(row, rank)
            self.now[rank, self.channel[row]][1].append(node)

    def _of(self, row: int, rank: int) -> tuple[int, ...]:
        lane, step = (rank, self.channel[row]), self.step[row]
        reached, done = self.now.get(lane, (-1, []))
        if reached != step:
            self.before[lane] = tuple(done)
            self.now[lane] = (step, [])
        return self.before[lane]


class _DataWaits:
    """What nodes wait for: who sends a chunk, for all that wrote it there in earlier steps."""

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.step = schedule.step.tolist()
        self.written: dict[tuple[int, int], list[tuple[int, int]]] = {}

    def of_send(self, row: int) -> tuple[int, ...]:
        """Of the sender of a transfer."""
        rank = int(self.schedule.src[row])
        writers = (self.written.get((rank, chunk), ()) for chunk in self.schedule.chunks(row).tolist())
        return tuple(sorted({node for some in writers for step, node in some if step < self.step[row]}))

    def of_receive(self, _row: int) -> tuple[int, ...]:
        """Of its receiver: nothing."""
        return ()

    def add(self, row: int, _sent: int, received: int) -> None:
        """Take the last node of a transfer at its receiver."""
        rank = int(self.schedule.dst[row])
        for chunk in self.schedule.chunks(row).tolist():
            self.written.setdefault((rank, chunk), []).append((self.step[row], received))
