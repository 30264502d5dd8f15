"""What a search has simulated, in a file: killed and begun again it repeats nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simulator.llm.search.rating import Rating
from simulator.scenario.digest import digest, version
from simulator.scenario.folder import contents
from topologies.errors import CollsimError

if TYPE_CHECKING:
    from simulator.llm.search.search import Memo
    from simulator.llm.search.space import Degrees
    from simulator.scenario.plan_models import PlanScenario

TABLE = "CREATE TABLE IF NOT EXISTS ratings (plan TEXT PRIMARY KEY, time INTEGER, free INTEGER) WITHOUT ROWID"


@contextmanager
def search_state(path: Path, scenario: PlanScenario) -> Iterator[Memo]:
    """Open the file of what is known, and make it where there is none.

    Parameters
    ----------
    path : Path
    scenario : PlanScenario
        Plans of others may stand in the same file.

    Raises
    ------
    CollsimError
        If it is another kind of file, or cannot be written.
    """
    try:
        with closing(sqlite3.connect(path, timeout=60, isolation_level=None)) as connection:
            connection.execute(TABLE)
            yield _State(connection, digest([version(), _shared(scenario)]))
    except sqlite3.Error as error:
        raise CollsimError(f"{path}: cannot keep what a search finds: {error}") from None


@dataclass(slots=True, eq=False)
class _State:
    """Ratings in a file, by plan.

    Attributes
    ----------
    connection : sqlite3.Connection
    about : str
        Stands for all that plans of a search have in common, and for how they are simulated.
    """

    connection: sqlite3.Connection
    about: str

    def find(self, degrees: Degrees) -> Rating | None:
        """What came of a plan before."""
        query = "SELECT time, free FROM ratings WHERE plan = ?"
        found = self.connection.execute(query, (self._key(degrees),)).fetchone()
        return None if found is None else Rating(*found)

    def keep(self, degrees: Degrees, rating: Rating) -> None:
        """Write down what came of a plan; one that failed is tried again, perhaps with more memory."""
        if not rating.error:
            row = (self._key(degrees), rating.time, rating.free)
            self.connection.execute("INSERT OR REPLACE INTO ratings VALUES (?, ?, ?)", row)

    def _key(self, degrees: Degrees) -> str:
        return digest([self.about, degrees])


def _shared(scenario: PlanScenario) -> list[Any]:
    """All that a step's time depends on, but for what a search varies."""
    own = scenario.parallel
    parallel = (own.cp_kind, own.shard, own.reshard_after_forward, own.prefetch, own.order)
    return [
        scenario.model,
        parallel,
        replace(scenario.batch, micro=1),
        replace(scenario.memory, recompute="none", capacity=None, reserved=0),
        scenario.traffic,
        scenario.hardware,
        scenario.topology,
        contents(scenario.source),
        scenario.network,
        scenario.reduction,
        scenario.efficiency,
        scenario.work,
        scenario.overlap,
    ]
