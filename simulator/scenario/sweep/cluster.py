"""Workers of a Dask cluster that is already there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topologies.errors import CollsimError

if TYPE_CHECKING:
    from concurrent.futures import Executor

WAIT = "10s"
"""For a scheduler that does not answer."""


@contextmanager
def cluster(address: str | None, scheduler_file: Path | None) -> Iterator[tuple[Executor, int]]:
    """Connect to a cluster's scheduler: something that runs work there, and how many can at once.

    Parameters
    ----------
    address : str, optional
        ``tcp://10.0.0.1:8786``.
    scheduler_file : Path, optional
        What `dask scheduler --scheduler-file` wrote.

    Raises
    ------
    CollsimError
        If dask.distributed is not installed, nothing answers, or workers die over and over.
    """
    if not address and scheduler_file is None:
        # Dask would start a cluster of its own
        raise CollsimError(
            'a Dask cluster goes by its scheduler: an address, as "tcp://10.0.0.1:8786", or a file'
        )
    distributed = _distributed()
    if scheduler_file is not None and not scheduler_file.is_file():
        raise CollsimError(f"{scheduler_file}: there is no such file, which a Dask scheduler writes")
    try:
        client = distributed.Client(
            address, scheduler_file=None if scheduler_file is None else str(scheduler_file), timeout=WAIT
        )
    except (OSError, ValueError, TimeoutError) as error:
        where = address or scheduler_file
        raise CollsimError(f"no Dask scheduler answers at {where}: {error}") from None
    with client:
        workers = sum(client.nthreads().values())
        if not workers:
            raise CollsimError(f"the Dask cluster at {address or scheduler_file} has no workers")
        try:
            # a task is what it is, not what it is called with: one that was lost is run again
            yield client.get_executor(pure=False), workers
        except distributed.KilledWorker as error:
            raise CollsimError(f"workers of the Dask cluster died over and over: {error}") from None


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        message = 'dask.distributed is not installed: pip install "collsim[dask]"'
        raise CollsimError(message) from None
    return distributed
