"""One schedule made for another root, or for several segments of every chunk."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from algorithms.assembly import settled
from algorithms.collective import EVERY, KINDS, Collective
from algorithms.compose import on
from algorithms.errors import ScheduleError
from algorithms.schedule import Lists, Schedule, check_moves

MOST_CHANNELS: Final = 1 << 15
"""Channels that a schedule may have."""


def rooted(schedule: Schedule, root: int) -> Schedule:
    """The schedule of a rooted collective, made for root 0, with every rank moved on by `root`.

    The block of rank v of a Scatter or Gather becomes that of the rank in its place.
    """
    collective, ranks = schedule.collective, schedule.ranks
    players = (np.arange(ranks) + root) % ranks
    chunk = np.arange(collective.chunks)
    if KINDS[collective.kind].by_rank:
        segments = collective.chunks // ranks
        chunk = players[chunk // segments] * segments + chunk % segments
    places = []
    for place in (collective.source, collective.target):
        moved = np.where(place == EVERY, EVERY, players[place]).astype(np.int32)
        named = np.empty_like(moved)
        named[chunk] = moved
        places.append(named)
    # what is cut unevenly stays so: a block's size goes with its name, not with its old owner
    moved_on = replace(collective, source=places[0], target=places[1])
    return on(schedule, moved_on, players, Lists(np.arange(len(chunk) + 1), chunk))


def segmented(schedule: Schedule, segments: int) -> Schedule:
    """Each chunk cut into segments that go their ways one after the other: a pipeline.

    Segment s of every chunk travels in a channel of its own, so that it waits for nothing but
    itself and the links. Its steps are numbered as a machine with one port would take them: s times as
    many later as the busiest rank has steps in which it sends (or receives). T steps become
    T + (segments - 1) times that: N - 2 + S for a chain.

    Raises
    ------
    ScheduleError
        If there are fewer than 1 segment, or more channels than fit.
    """
    if segments < 1:
        raise ScheduleError(f"there is at least 1 segment, found {segments}", ("segments",))
    if segments == 1:
        return schedule
    channels = int(schedule.channel.max(initial=0)) + 1
    if channels * segments > MOST_CHANNELS:
        raise ScheduleError(
            f"{segments} segments of {channels} channels; at most {MOST_CHANNELS} channels fit", ("segments",)
        )
    moved = schedule.moves()[1]
    check_moves(len(moved) * segments)
    collective = schedule.collective
    small, larger = np.divmod(np.repeat(collective.sizes, segments), segments)
    part = np.tile(np.arange(segments), collective.chunks)
    cut = Collective(
        collective.kind,
        collective.ranks,
        small + (part < larger),
        np.repeat(collective.source, segments),
        np.repeat(collective.target, segments),
    )
    segment = np.arange(segments, dtype=np.int32)[:, None]
    first = np.cumsum(schedule.count) - schedule.count
    period = _busy_steps(schedule)
    return settled(
        replace(
            schedule,
            collective=cut,
            step=(schedule.step + segment * period).ravel(),
            channel=(schedule.channel * np.int32(segments) + segment).ravel().astype(np.int16),
            src=np.tile(schedule.src, segments),
            dst=np.tile(schedule.dst, segments),
            first=(first + segment * len(moved)).ravel(),
            count=np.tile(schedule.count, segments),
            mode=np.tile(schedule.mode, segments),
            index=(moved * segments + segment).ravel().astype(np.int32),
        )
    )


def _busy_steps(schedule: Schedule) -> int:
    """Steps in which the busiest rank sends, or receives."""
    steps, most = schedule.steps, 0
    for end in (schedule.src, schedule.dst):
        active = np.unique(end.astype(np.int64) * steps + schedule.step)
        most = max(most, int(np.bincount(active // steps).max(initial=0)) if steps else 0)
    return most
