"""A naive SimPy simulation of ring ReduceScatter: what one writes in an afternoon, kept to compare with.

Per transfer: a request for the link, a timeout, a delivery process into the receiver's mailbox, a
request for the reducer and a timeout.
"""

from __future__ import annotations

from collections.abc import Generator

import simpy


def naive_ring_reduce_scatter(
    ranks: int, chunk: int, latency: float, bandwidth: float, reduction: float
) -> float:
    """Seconds that ring ReduceScatter takes with chunks of `chunk` bytes."""
    env = simpy.Environment()
    links = [simpy.Resource(env) for _ in range(ranks)]
    reducers = [simpy.Resource(env) for _ in range(ranks)]
    mailboxes = [simpy.Store(env) for _ in range(ranks)]

    def deliver(rank: int, message: int) -> Generator[simpy.Event, None, None]:
        yield env.timeout(latency)
        yield mailboxes[rank].put(message)

    def send(rank: int, message: int) -> Generator[simpy.Event, None, None]:
        with links[rank].request() as request:
            yield request
            yield env.timeout(chunk / bandwidth)
        env.process(deliver((rank + 1) % ranks, message))

    def node(rank: int) -> Generator[simpy.Event, None, None]:
        for step in range(ranks - 1):
            env.process(send(rank, step))
            yield mailboxes[rank].get()
            with reducers[rank].request() as request:
                yield request
                yield env.timeout(chunk / reduction)

    for rank in range(ranks):
        env.process(node(rank))
    env.run()
    return float(env.now)
