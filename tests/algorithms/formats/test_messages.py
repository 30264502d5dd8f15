"""Messages whose two ends stand in different lines of a file."""

from __future__ import annotations

import numpy as np

from algorithms.formats.messages import Ends


def test_the_nth_of_a_lane_is_the_nth_also_among_a_million_ranks() -> None:
    last, sender, receiver = (1 << 20) - 1, 1 << 19, 5
    # lines 1 to 4 send, 5 to 8 receive; far ranks and lanes are told apart
    rank = np.array([last, sender, last, 1, receiver, receiver, receiver, receiver])
    to = np.array([receiver, receiver, receiver, receiver, -1, -1, -1, -1])
    by = np.array([-1, -1, -1, -1, 1, last, sender, last])
    lane = np.array([0, 0, 0, 32767, 32767, 0, 0, 0])
    amount = np.array([1, 2, 3, 4, 4, 1, 2, 3])
    ends = Ends("a", np.arange(1, 9), rank, to, by, lane, amount, ("by channel", "chunks"))
    assert ends.senders(np.arange(4), np.arange(4, 8)).tolist() == [3, 0, 1, 2]
