"""What the operations of an MSCCL++ plan wait for: signals, packets, barriers and semaphores."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from algorithms.formats.mscclpp_plan import LINK
from topologies.text import printable

if TYPE_CHECKING:
    from algorithms.formats.mscclpp_plan import Block, Wire
    from algorithms.programs.making import Making
    from topologies.formats.json_text import JsonFile, Path


@dataclass(slots=True)
class Order:
    """What was met so far of what operations wait for, to be settled in the end.

    Attributes
    ----------
    plan : JsonFile
    making : Making
        To which the waits are added.
    """

    plan: JsonFile
    making: Making
    _signals: dict[Wire, list[list[int]]] = field(default_factory=lambda: defaultdict(list))
    _waits: dict[Wire, list[list[int]]] = field(default_factory=lambda: defaultdict(list))
    _used_by: dict[tuple[object, ...], int] = field(default_factory=dict)
    _where: dict[tuple[bool, Wire], Path] = field(default_factory=dict)
    _barriers: dict[tuple[int, int], dict[int, list[int]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    _asked: dict[tuple[int, int], tuple[int, Path]] = field(default_factory=dict)
    _releases: dict[tuple[int, int], list[int]] = field(default_factory=lambda: defaultdict(list))
    _acquires: dict[tuple[int, int], list[int]] = field(default_factory=lambda: defaultdict(list))
    _packets: dict[int, int] = field(default_factory=dict)
    _readers: list[tuple[int, int, int]] = field(default_factory=list)

    def channel(self, block: Block, path: Path, instructions: list[int], *, waits: bool) -> None:
        """Note signals, or waits, of the channels that an operation names."""
        kind = self.plan.get((*path, "channel_type"), str, "memory or port")
        if kind not in LINK:
            raise self.plan.error(
                f'found "{printable(kind)}", expected memory or port', *path, "channel_type"
            )
        known = block.wires[kind]
        for i, number in enumerate(self.plan.get((*path, "channel_ids"), list, "a list of channels")):
            at = (*path, "channel_ids", i)
            if not 0 <= self.plan.get(at, int, "the number of a channel") < len(known):
                raise self.plan.error(f"there is no channel {printable(number)}; there are {len(known)}", *at)
            wire = known[number]
            self._one_block(("waits" if waits else "signals", wire), block, "channel", at)
            self._where.setdefault((waits, wire), at)
            (self._waits if waits else self._signals)[wire].append(instructions)

    def barrier(self, block: Block, path: Path, instruction: int) -> None:
        """Note a barrier of some thread blocks of a rank."""
        number, count = (
            self.plan.get((*path, key), int, "a number") for key in ("barrier_id", "num_threadblocks")
        )
        self._asked.setdefault((block.rank, number), (count, path))
        self._barriers[block.rank, number][block.number].append(instruction)

    def semaphore(self, block: Block, path: Path, instruction: int, *, acquires: bool) -> None:
        """Note that semaphores of a rank are acquired or released."""
        for i, number in enumerate(self.plan.get((*path, "semaphore_ids"), list, "a list of semaphores")):
            at = (*path, "semaphore_ids", i)
            count = len(self.plan.get(("gpus", block.rank, "semaphores"), list, "a list of semaphores", []))
            if not 0 <= self.plan.get(at, int, "the number of a semaphore") < count:
                raise self.plan.error(f"there is no semaphore {printable(number)}; there are {count}", *at)
            if acquires:
                self._one_block(("acquires", block.rank, number), block, "semaphore", at)
            (self._acquires if acquires else self._releases)[block.rank, number].append(instruction)

    def writes_packets(self, instruction: int, place: int, size: int, path: Path) -> None:
        """Note places that are written as packets."""
        for at in range(place, place + size):
            if at in self._packets:
                raise self.plan.error(
                    "a second packet is written to one place, and nobody waits for it", *path
                )
            self._packets[at] = instruction

    def reads_packets(self, instruction: int, place: int, size: int) -> None:
        """Note places that are read as packets."""
        self._readers.append((instruction, place, size))

    def settle(self) -> None:
        """Add all waits.

        Raises
        ------
        FormatError
            If something is waited for that never comes, or the other way round.
        """
        for wire in dict.fromkeys((*self._signals, *map(_other, self._waits))):
            signals, waits = self._signals[wire], self._waits[_other(wire)]
            if len(signals) != len(waits):
                at = self._where.get((False, wire)) or self._where[True, _other(wire)]
                text = f"rank {wire[0]} signals rank {wire[1]} {len(signals)} times by a channel"
                raise self.plan.error(f"{text} on which it waits {len(waits)} times", *at)
            for signal, wait in zip(signals, waits, strict=True):
                for instruction in wait:
                    self.making.after[instruction] += signal
        self._settle_barriers()
        for (rank, number), acquires in self._acquires.items():
            self._settle_semaphore(rank, number, acquires)
        for instruction, place, size in self._readers:
            found = [self._packets[at] for at in range(place, place + size) if at in self._packets]
            self.making.after[instruction] += [writer for writer in found if writer != instruction]

    def _settle_barriers(self) -> None:
        for (rank, number), blocks in self._barriers.items():
            asked, path = self._asked[rank, number]
            rounds = {len(instructions) for instructions in blocks.values()}
            if len(blocks) != asked or len(rounds) > 1:
                come = f"{len(blocks)} come{', some more often' * (len(rounds) > 1)}"
                text = f"barrier {number} of rank {rank} waits for {asked} thread blocks; {come}"
                raise self.plan.error(text, *path)
            for first, *others in zip(*blocks.values(), strict=True):
                # the first waits for what all did before, and the others for it
                for i in others:
                    self.making.after[first] += self.making.after[i]
                    self.making.after[i].append(first)

    def _settle_semaphore(self, rank: int, number: int, acquires: list[int]) -> None:
        """The n-th time it is acquired, somebody has released it n times, less its first value."""
        at: Path = ("gpus", rank, "semaphores", number)
        self.plan.get(at, dict, "a semaphore")
        free, releases = self.plan.get((*at, "init_value"), int, "its value"), self._releases[rank, number]
        if len(acquires) - free > len(releases):
            text = f"semaphore {number} of rank {rank} is acquired {len(acquires)} times"
            raise self.plan.error(f"{text} and released {len(releases)} times", *at)
        one = len({self.making.block[release] for release in releases}) == 1
        for n, instruction in enumerate(acquires, 1 - free):
            if one and n > 0:
                self.making.after[instruction].append(releases[n - 1])
            elif n == len(releases):
                self.making.after[instruction] += releases

    def _one_block(self, use: tuple[object, ...], block: Block, what: str, at: Path) -> None:
        """Refuse what several thread blocks use in one way: nobody knows in which order."""
        if self._used_by.setdefault((block.rank, *use), block.number) != block.number:
            raise self.plan.error(f"two thread blocks use a {what} in one way, in whatever order", *at)


def _other(wire: Wire) -> Wire:
    """A channel as its other end sees it."""
    src, dst, kind, between = wire
    return dst, src, kind, between
