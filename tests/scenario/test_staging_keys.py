"""`network.staging` in a scenario: what it says, and where errors point."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.gains import gains
from simulator.scenario.load import loads
from simulator.scenario.run import Result, run
from simulator.scenario.run_any import run_any
from tests.cli.command import write

RING = """\
topology: {kind: ring, ranks: 4, bandwidth: 1 GB/s}
collective: {kind: reduce_scatter, algorithm: ring, size: 4 MB}
"""
# a step is 1 ms of link, 1/2 of a leg and 1/4 of a sum, and 3 us before it
STAGED = RING + "network: {staging: {load: 2 GB/s, reduce: 4 GB/s, overheads: {ring: 3 us}}}\n"


def ran(text: str) -> Result:
    return run(loads(text, "staged.yaml"))


def refusal(text: str) -> str:
    with pytest.raises(ScenarioErrors) as caught:
        ran(text)
    return str(caught.value)


def test_a_ring_takes_its_legs_in_every_step() -> None:
    result = ran(STAGED)
    assert result.duration == 3 * (1_750_000 + 3_000) * 10**6
    assert result.analytic is None
    totals = result.critical_path.totals()
    assert (totals["overhead"], totals["reduction"]) == (3 * 3 * 10**9, 3 * 25 * 10**10)
    assert (
        ran(STAGED.replace("{load", "{order: overlapped, load")).duration == 3 * (1_000_000 + 3_000) * 10**6
    )


def test_what_faster_legs_would_gain() -> None:
    twice = {one.parameter: one for one in gains(ran(STAGED))}["staging"]
    assert twice.time == 3 * (1_375_000 + 3_000) * 10**6


def test_several_collectives_are_staged_on_the_same_engines(tmp_path: Path) -> None:
    member = "  - {kind: reduce_scatter, algorithm: ring, size: 4 MB}\n"
    topology, _, network = STAGED.splitlines(keepends=True)
    both = write(tmp_path / "both.yaml", f"{topology}collectives:\n{member * 2}{network}")
    # the links are never idle from 3 us on: six messages of 1 ms, and the legs of the last
    assert run_any(both).duration == (3_000 + 6_000_000 + 750_000) * 10**6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("{ring: 3 us}", "{rong: 3 us}"), 'staged.yaml:3:69: there is no level "rong"; there are ring'),
        (("{load", "{order: both, load"), "staged.yaml:3:28:"),
        (("load: 2 GB/s", "load: 2"), "staged.yaml:3:27:"),
        (("{load", "{lode: 1 GB/s, load"), "staged.yaml:3:21:"),
        (("network: {", "network: {model: packet, "), "staging does not go with the model packet"),
        (
            ("network:", "reduction: {bandwidth: 1 GB/s}\nnetwork:"),
            "the staging reduces, and so does the reduction",
        ),
    ],
)
def test_where_errors_point(change: tuple[str, str], message: str) -> None:
    assert message in refusal(STAGED.replace(*change))
