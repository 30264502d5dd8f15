"""Pictures of a run, of one collective or of several: its timeline, its links, where its time went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from simulator.engine.critical_path import parts_by_level
from simulator.scenario.run import Result, build_topology
from topologies.clock import to_seconds
from topologies.text import format_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from algorithms.cuts import Cut
    from plots.heat import Heat
    from plots.markers import Marker
    from plots.moves import Moves
    from plots.storyboard import Story
    from plots.views import Colour, View
    from simulator.engine.analysis import LinkUse
    from simulator.scenario.symmetric import Symmetry
    from simulator.scenario.together_result import TogetherResult
    from topologies.topology import Topology

MOST_MARKERS: Final = 6
"""Collectives of which a picture marks when they have finished."""

MOST_LINKS: Final = 1 << 17
"""Links of a topology that is drawn whole where rank 0 stands for all."""

STANDS: Final = ": rank 0, which stands for all"


def timeline_picture(result: Result | TogetherResult, lanes: View = "auto") -> Figure:
    """The timeline of a result with its critical path."""
    from plots.timeline import timeline_figure, together_figure

    if isinstance(result, Result):
        return timeline_figure(
            result.timeline,
            result.schedule,
            result.topology,
            title=_title(result),
            markers=_markers(result),
            lanes=lanes,
            path=result.critical_path,
        )
    return together_figure(
        result.timeline,
        result.together,
        result.topology,
        title=result.scenario.name,
        names=result.names,
        markers=_markers(result),
        lanes=lanes,
        path=result.critical_path,
    )


def heatmap_picture(result: Result | TogetherResult) -> Figure:
    """How busy every link is over time."""
    from plots.heatmap import heatmap_figure

    return heatmap_figure(result.timeline, result.topology, title=_title(result), markers=_markers(result))


def topology_picture(result: Result | TogetherResult, colour: Colour = "bytes") -> Figure:
    """The topology, its links coloured by what they did, with the cut that bounds the bandwidth."""
    from plots.topology import topology_figure

    topology, use, notes = _whole(result)
    cut = _cut(result)
    if cut is None and isinstance(result, Result) and result.bounds.bandwidth and not notes:
        notes = (f"no cut: the bound on bandwidth is {result.bounds.moved}",)
    return topology_figure(topology, cut, _heat(result, use, colour), title=_title(result), notes=notes)


def cut_picture(result: Result | TogetherResult, cut: Cut | None) -> Figure:
    """The topology with a cut through it."""
    from plots.topology import topology_figure

    return topology_figure(result.topology, cut, title=_title(result), notes=_stands(result))


def _story(result: Result, steps: Sequence[int] | None) -> Story:
    """What a storyboard tells of a result; where rank 0 stands for all, of all."""
    from plots.moves import moves_of, some_steps
    from plots.storyboard import Story, story_of

    schedule = result.schedule
    if result.symmetry is None:
        return story_of(schedule, result.topology, result.placement, steps)
    shown = some_steps(schedule.steps) if steps is None else steps
    moves = [_of_all(one, result.symmetry) for one in moves_of(schedule, shown, named=False)]
    return Story(schedule.ranks, schedule.steps, schedule.ranks * len(schedule), moves)


def _of_all(moves: Moves, symmetry: Symmetry) -> Moves:
    """Everybody's transfers of a step, from rank 0's."""
    ranks, count = symmetry.one.ranks, len(moves)
    src = np.repeat(np.arange(ranks), count)
    dst = symmetry.one.group.add(np.tile(moves.dst, ranks), src)
    return replace(
        moves, src=src, dst=dst, reduces=np.tile(moves.reduces, ranks), bytes=np.tile(moves.bytes, ranks)
    )


def _title(result: Result | TogetherResult) -> str:
    alone = isinstance(result, Result) and result.symmetry is not None
    return result.scenario.name + (STANDS if alone else "")


def _markers(result: Result | TogetherResult) -> list[Marker]:
    from plots.markers import Marker

    if not isinstance(result, Result):
        ends = [Marker(member.name, to_seconds(member.finish)) for member in result.members]
        # more would hide what they mark
        return ends if len(ends) <= MOST_MARKERS else []
    bounds = {
        "closed form": result.analytic,
        "latency bound": result.bounds.latency,
        "bandwidth bound": result.bounds.bandwidth,
        "reduction bound": result.bounds.reduction,
    }
    return [Marker(label, seconds) for label, seconds in bounds.items() if seconds]


def _whole(result: Result | TogetherResult) -> tuple[Topology, LinkUse, tuple[str, ...]]:
    """The topology to draw, what its links did, and what there is to say of it."""
    use = result.link_use
    if not isinstance(result, Result) or result.symmetry is None:
        return result.topology, use, ()
    symmetry = result.symmetry
    if symmetry.one.ranks * max(symmetry.seen.orbits, 1) > MOST_LINKS:
        return result.topology, use, _stands(result)
    whole = build_topology(result.scenario)
    return whole, symmetry.everywhere(use, whole), _stands(result)


def _stands(result: Result | TogetherResult) -> tuple[str, ...]:
    if not isinstance(result, Result) or result.symmetry is None:
        return ()
    return ("rank 0 was run for all, which do the same: no cut is drawn",)


def _cut(result: Result | TogetherResult) -> Cut | None:
    """The cut whose links take longest to carry what must cross them, where it is one that binds."""
    return result.bounds.cut if isinstance(result, Result) else None


def _heat(result: Result | TogetherResult, use: LinkUse, colour: Colour) -> Heat:
    from plots.heat import Heat

    if colour == "bytes":
        moved = use.bytes.astype(np.float64)
        return Heat(
            moved, float(moved.max(initial=0.0) or 1.0), colour, lambda count: format_bytes(round(count), 3)
        )
    busy = use.busy / max(result.timeline.time, 1)
    return Heat(busy, float(busy.max(initial=0.0) or 1.0), colour, _percent)


def _percent(part: float) -> str:
    return f"{100 * part:.3g} %"


def storyboard_picture(result: Result) -> Figure:
    """How the chunks move, step by step."""
    from plots.storyboard import storyboard_figure

    return storyboard_figure(_story(result, None), title=_title(result))


def storyboard_film(result: Result) -> tuple[Figure, ...]:
    """The storyboard, a figure a step; of very many steps some."""
    from plots.storyboard import frame_steps, storyboard_frames

    story = _story(result, frame_steps(result.schedule.steps))
    return storyboard_frames(story, title=_title(result))


def levels_picture(result: Result | TogetherResult) -> Figure:
    """What the links of each level carried, and for how long they were busy."""
    from plots.levels import levels_figure

    copies, markers = 1, []
    if isinstance(result, Result):
        copies = 1 if result.symmetry is None else result.symmetry.one.ranks
        markers = _markers(result)
    return levels_figure(
        result.topology,
        result.link_use,
        result.timeline.time,
        title=_title(result),
        markers=markers,
        copies=copies,
    )


def attribution_picture(result: Result | TogetherResult) -> Figure:
    """What the time on the critical path was."""
    from plots.attribution import attribution_figure

    path = result.critical_path
    parts = parts_by_level(path, result.timeline, result.topology)
    return attribution_figure(path, parts, title=_title(result))
