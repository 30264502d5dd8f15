"""What must cross a cut, by hand, and how it is said."""

from __future__ import annotations

import numpy as np
import pytest

from algorithms.collective import make_collective
from algorithms.cuts import cut_side, cut_time, must_leave, named_cut
from algorithms.group_cuts import by_groups, must_move
from topologies import crossbar, full_mesh, line, ring

FIRST_TWO = np.array([True, True, False, False])


@pytest.mark.parametrize(
    ("kind", "bytes_", "back"),
    # of 4 ranks and M = 40: the first two send the last two ..., and the last two the first two
    [
        ("broadcast", 40, 0),
        ("reduce", 0, 40),
        ("scatter", 20, 0),
        ("gather", 0, 20),
        ("allgather", 20, 20),
        ("reduce_scatter", 20, 20),
        ("allreduce", 40, 40),
        ("all_to_all", 40, 40),
        ("send_recv", 0, 0),
        ("barrier", 0, 0),
    ],
)
def test_what_must_leave_two_of_four_ranks(kind: str, bytes_: int, back: int) -> None:
    collective = make_collective(kind, 4, 40 * (kind != "barrier"))
    assert must_leave(collective, FIRST_TWO) == bytes_
    assert must_leave(collective, ~FIRST_TWO) == back
    for everybody in (True, False):
        assert must_leave(collective, np.full(4, everybody)) == 0
    # as groups of two: each sends the same, and all together as much as both
    sent, received, total = must_move(collective, np.array([0, 0, 1, 1]))
    assert sent.tolist() == [bytes_, back]
    assert received.tolist() == [back, bytes_]
    assert total == bytes_ + back


def test_what_single_ranks_must_move() -> None:
    # an AllReduce of 3 ranks: 3 send a vector, 3 get one, and 2 (3 - 1) vectors must be sent in all
    sent, received, total = must_move(make_collective("allreduce", 3, 30))
    assert (sent.tolist(), received.tolist(), total) == ([30] * 3, [30] * 3, 120)
    sent, received, total = must_move(make_collective("reduce", 3, 30, root=1))
    assert (sent.tolist(), received.tolist(), total) == ([30, 0, 30], [0, 30, 0], 60)
    # one group has nobody to send to
    assert must_move(make_collective("allreduce", 3, 30), np.zeros(3, dtype=np.int64))[2] == 0
    # sums past 2^53 bytes are exact: of 2^50 - 1 bytes of 16 blocks the last is a byte shorter
    sent, _, total = must_move(make_collective("all_to_all", 16, 2**50 - 1))
    assert sent.tolist() == [2**50 - 1 - 2**46] * 15 + [2**50 - 2**46]
    assert total == sum(sent.tolist())


def test_a_cut_names_its_smaller_side() -> None:
    collective, place = make_collective("allgather", 4, 400), np.arange(4)
    topology = ring(4, 50.0)
    cut = named_cut(collective, topology, place, np.array([True, True, True, False]))
    assert (cut.nodes, cut.ranks, cut.sends, cut.bytes, cut.bandwidth) == ((3,), (3,), False, 300, 100.0)
    assert [topology.link_name(link) for link in cut.links] == ["0->3", "2->3"]
    assert cut.text() == "rank 3 receives 300 B over 2 links"
    assert cut_side(cut, 4).tolist() == [True, True, True, False]
    assert cut.seconds == cut_time(collective, topology, place, cut_side(cut, 4)) == 3
    half = named_cut(collective, topology, place, FIRST_TWO)
    assert half.text() == "2 ranks {0, 1} send 200 B over 2 links"
    # ranks that are placed elsewhere go by the topology's numbers, and switches count as nodes
    side = np.array([False, False, False, True, False])
    swapped = named_cut(collective, crossbar(4, 1.0), np.array([3, 2, 1, 0]), side)
    assert (swapped.nodes, swapped.ranks, swapped.text()) == ((3,), (3,), "rank 3 sends 100 B over 1 link")


def test_long_lists_of_ranks_are_cut_short() -> None:
    collective = make_collective("all_to_all", 24, 24)
    found = by_groups(collective, line(24, 1.0), np.arange(24))
    assert found.side is not None
    cut = named_cut(collective, line(24, 1.0), np.arange(24), found.side)
    assert cut.text() == "12 ranks {0, 1, 2, 3, 4, 5, 6, 7, ...} send 144 B over 1 link"


def test_nothing_to_move_takes_no_time() -> None:
    assert by_groups(make_collective("allgather", 3, 0), full_mesh(3, 1.0), np.arange(3)).seconds == 0
