"""Work shared out to processes, or done at once."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import parent_process
from multiprocessing.connection import wait
from typing import Any, Final

from topologies.errors import CollsimError

MOST: Final = 1024
"""Processes: all of a pool may be started at once."""


class AtOnce(Executor):
    """Does work where it is handed in."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Do it now."""
        done: Future[Any] = Future()
        done.set_result(function(*args, **kwargs))
        return done


def processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def processes(count: int) -> Iterator[Executor]:
    """So many processes, which end with this one; with one, all is done here.

    Raises
    ------
    CollsimError
        If it is none or too many, or one of them dies.
    """
    if not isinstance(count, int) or not 1 <= count <= MOST:
        raise CollsimError(f"there are 1 to {MOST:,} workers, found {count!r}")
    if count == 1:
        yield AtOnce()
        return
    pool = ProcessPoolExecutor(count, initializer=_begin)
    try:
        yield pool
    except BrokenProcessPool:
        message = "a process that simulated has died; was there too little memory for so many workers?"
        raise CollsimError(message) from None
    finally:
        # what has not begun is not waited for
        pool.shutdown(cancel_futures=True)


def _begin() -> None:
    signal.signal(signal.SIGINT, _end)
    threading.Thread(target=_watch, daemon=True).start()


def _end(*_: object) -> None:
    """Go without a word: the parent says what there is to say."""
    os._exit(1)


def _watch() -> None:
    """Do not outlive a parent that was killed."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        _end()
