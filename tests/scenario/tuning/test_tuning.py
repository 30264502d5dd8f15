"""Tuning tables: simulated winners in NCCL's and Open MPI's files; logs beside a comparison."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from simulator.scenario.compare import Comparison, compare
from simulator.scenario.load import loads
from simulator.scenario.tuning.nccl_tuner import nccl_tuner_csv
from simulator.scenario.tuning.openmpi import able_of, openmpi_json, openmpi_rules
from simulator.scenario.tuning.openmpi_rules import Row, Rules, SizeRules, read_rules, write_rules
from simulator.scenario.tuning.rules import missing_lines
from simulator.scenario.tuning.table import tuning_table
from tests.cli.command import collsim
from tests.damage import damaged
from tests.scenario.measurements.logs import nccl_log, osu_log
from topologies.errors import CollsimError, FormatError

DATA = Path(__file__).parents[4] / "shared" / "data" / "other" / "openmpi_decision.file"
SIZES = [2**power for power in range(10, 28)]
# the textbook's one-port machine: closed forms hold
SCENARIO = """\
topology: {kind: crossbar, ranks: RANKS, bandwidth: 50 GB/s, overhead: 2 us}
collective: {kind: KIND, algorithm: NAME, size: 1 MiB}
network: {model: cut_through}
"""


def compared(kind: str, names: Sequence[str], ranks: int = 8, extra: str = "") -> Comparison:
    text = SCENARIO.replace("RANKS", str(ranks)).replace("KIND", kind).replace("NAME", names[0] + extra)
    return compare(loads(text, "a.yaml"), SIZES, algorithms=list(names), verify=False)


def rows(text: str) -> list[list[str]]:
    return [line.split(",") for line in text.splitlines() if not line.startswith("#")]


def test_nccl_s_rows_cover_all_sizes_and_change_where_the_winner_does() -> None:
    found = rows(nccl_tuner_csv(compared("allgather", ["ring", "pat"])))
    # of the one-port machine PAT has fewer messages and as many bytes: it is never behind
    assert found == [["allgather", "0", str(2**64 - 1), "pat", "simple", "-1", "-1", "8"]]
    found = rows(nccl_tuner_csv(compared("allreduce", ["ring", "double_binary_tree", "rabenseifner"])))
    assert [row[3] for row in found] == ["tree", "ring"]
    # 10 alpha + 5 M/beta and 14 alpha + 7/4 M/beta meet at 123 kB: the next size is 128 KiB
    assert [row[1:3] for row in found] == [["0", str(2**17 - 1)], [str(2**17), str(2**64 - 1)]]


def test_open_mpi_s_rules_are_read_back_as_they_were_meant() -> None:
    comparison = compared("allreduce", ["ring", "recursive_doubling", "rabenseifner"])
    read = read_rules(openmpi_rules(comparison), "rules")
    # 3 (alpha + M/beta) and 6 alpha + 7/4 M/beta meet at 240 kB; of allreduce they are numbers 3 and 6
    assert read == Rules({2: (SizeRules(8, (Row(0, 3, 0, 0), Row(2**18, 6, 0, 0))),)})
    rules = json.loads(openmpi_json(comparison))["collectives"]["allreduce"][0]["rules"]
    assert [tuple(rule.values()) for rule in rules] == [(0, 2**18 - 1, 3), (2**18, "inf", 6)]


def test_both_reduce_scatters_of_open_mpi_have_their_own_numbers() -> None:
    read = read_rules(openmpi_rules(compared("reduce_scatter", ["ring", "recursive_halving"])), "rules")
    # recursive halving is 2 of reduce_scatter, and 3 of reduce_scatter_block
    assert {number: blocks[0].rows[0].algorithm for number, blocks in read.collectives.items()} == {
        12: 2,
        13: 3,
    }


def test_what_a_library_lacks_is_said_and_the_nearest_written() -> None:
    comparison = compared("allreduce", ["ring", "swing"])
    assert [row[3] for row in rows(nccl_tuner_csv(comparison))] == ["ring"]
    (line,) = missing_lines(comparison, able_of(comparison), "Open MPI")
    # 14 alpha against 6: at 1 KiB nearly 7/3
    assert line.startswith(
        "swing is the fastest at 1 KiB to 128 MiB and Open MPI has none like it: the nearest"
    )
    assert "2.33 times" in line


def test_neighbour_exchange_is_open_mpi_s_of_even_n_only() -> None:
    names = ["neighbor_exchange", "recursive_doubling", "ring"]
    assert set(able_of(compared("allgather", names, ranks=6))) >= {"neighbor_exchange"}
    assert (
        not {"neighbor_exchange", "recursive_doubling"}
        & able_of(compared("allgather", ["ring"], ranks=5)).keys()
    )


@pytest.mark.parametrize(
    ("kind", "names", "extra", "message"),
    [
        ("all_to_all", ["pairwise"], "", "NCCL's tuner chooses nothing for all_to_all"),
        ("allreduce", ["swing"], "", "NCCL has none of the algorithms that do this allreduce"),
    ],
)
def test_nccl_refuses(kind: str, names: list[str], extra: str, message: str) -> None:
    with pytest.raises(CollsimError, match=message):
        nccl_tuner_csv(compared(kind, names, extra=extra))


@pytest.mark.parametrize(
    ("kind", "names", "extra", "message"),
    [
        ("gather", ["binomial"], "", "Open MPI's rules know no sizes of gather"),
        ("allreduce", ["swing"], "", "Open MPI has none of the algorithms that do this allreduce"),
        ("broadcast", ["chain"], ", segments: 4", "Open MPI's segments are of a size"),
    ],
)
def test_open_mpi_refuses(kind: str, names: list[str], extra: str, message: str) -> None:
    with pytest.raises(CollsimError, match=message):
        openmpi_rules(compared(kind, names, extra=extra))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a:1:1: the file ends where a number of collectives should stand"),
        ("1\n2\n1\n8\n2\n0 3 0 0\n", "a:6:7: the file ends where a message size should stand"),
        ("1\n2\n1\n8\n1\n8 3 0 0\n", "a:6:1: the first message size of a block must be 0, found 8"),
        ("1\n2\n1\n8\n2\n0 3 0 0\n0 3 0 0", "a:7:1: message sizes must rise, found 0 after 0"),
        ("1\n2\n2\n8\n1\n0 3 0 0\n4\n1\n0 3 0 0", "a:7:1: communicator sizes must rise, found 4 after 8"),
        ("1\n22\n", 'a:2:1: found "22", expected a collective\'s number'),
        ("1 # one\n2\n1\n8\n1\n0 3 0 x\n", 'a:6:7: found "x", expected a segment\'s size'),
        ("1\n2\n1\n8\n1\n0 3 0 0\n3", 'a:7:1: found "3" after the last collective'),
        ("2\n2 0\n2 0", "a:3:1: collective 2 is given twice"),
        ("rule-file-version-2\n1\n2\n1\n8\n1\n0 3 0 0", "a:7:7: the file ends where requests should stand"),
    ],
)
def test_rules_that_open_mpi_would_not_take_are_refused_with_their_line(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_rules(text, "a")
    assert str(caught.value) == message


def test_damaged_rules_are_read_or_refused() -> None:
    whole = write_rules(
        Rules({2: (SizeRules(8, (Row(0, 3, 0, 0), Row(4096, 4, 0, 0))),), 7: (SizeRules(2, ()),)})
    )
    for data in damaged(whole.encode()):
        try:
            read = read_rules(data.decode("latin-1"), "a")
        except FormatError as error:
            line = error.line
        else:
            line = 1
            assert all(
                not block.rows or block.rows[0].since == 0 for b in read.collectives.values() for block in b
            )
        assert line is not None


@pytest.mark.skipif(not DATA.is_file(), reason="no real file here")
def test_a_published_file_has_a_row_too_few() -> None:
    # it says 11 rows and has 10: the next block's first number is taken for a row
    with pytest.raises(FormatError, match="16:1: message sizes must rise, found 4 after 32768"):
        read_rules(DATA.read_text(), "decision.file")


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "a.yaml"
    path.write_text(SCENARIO.replace("RANKS", "8").replace("KIND", "allreduce").replace("NAME", "ring"))
    return path


def test_the_command_prints_a_table_and_what_it_cannot_say(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--algorithms", "ring,swing", "--sizes", "1KiB..1MiB", "--points", "3"]
    assert collsim("compare", scenario, *options, "--format", "nccl-tuner") == 0
    said = capsys.readouterr()
    assert said.out.splitlines()[1] == f"allreduce,0,{2**64 - 1},ring,simple,-1,-1,8"
    assert "protocols are not simulated" in said.err
    assert "swing is the fastest" in said.err
    assert collsim("compare", scenario, "--format", "openmpi", "--json") == 2


def ring(size: int) -> float:
    """2 (N-1) (alpha + M/N / beta), and 10 % more."""
    return 1.1 * 14 * (2e-6 + size / 8 / 50e9)


LOGS: Mapping[str, str] = {
    "nccl": nccl_log("all_reduce", 8, [2**16, 2**23], ring),
    "osu": osu_log("Allreduce", [2**16, 2**23], ring),
}


@pytest.mark.parametrize("form", LOGS)
def test_a_log_stands_beside_the_simulation(
    scenario: Path, tmp_path: Path, form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    log, out = tmp_path / "a.log", tmp_path / "out"
    log.write_text(LOGS[form])
    command = ("compare", scenario, "--algorithms", "ring,recursive_doubling", "--log", log, "--out", out)
    assert collsim(*command) == 0
    said = capsys.readouterr().out
    # the ring's 14 (2 us + 1 MiB / 50 GB/s) and 10 % more
    (line,) = [line for line in said.splitlines() if "353.8 us" in line]
    assert line.split()[-2:] == ["ring", "-9.1%"]
    found = json.loads((out / "compare.json").read_text())
    assert found["sizes"] == [2**16, 2**23]
    assert [point["size"] for point in found["measured"]["points"]] == [2**16, 2**23]
    assert "circles: measured" in (out / "compare.svg").read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (nccl_log("all_gather", 8, [1024], ring), "times allgather, not allreduce"),
        (nccl_log("all_reduce", 4, [1024], ring), "times allreduce of 4 ranks, but the topology has 8"),
    ],
)
def test_another_log_is_refused(
    scenario: Path, tmp_path: Path, text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.log").write_text(text)
    assert collsim("compare", scenario, "--log", tmp_path / "a.log") == 2
    assert message in capsys.readouterr().err


def test_nccl_is_told_only_what_it_has_for_a_collective() -> None:
    # its Broadcast is a ring alone, a pipeline, though it has trees and NVLS for other collectives
    found = rows(nccl_tuner_csv(compared("broadcast", ["double_binary_tree", "chain"])))
    assert [row[3] for row in found] == ["ring"]
    with pytest.raises(CollsimError, match="NCCL has none of the algorithms that do this reduce"):
        nccl_tuner_csv(compared("reduce", ["double_binary_tree", "binomial"]))


def test_open_mpi_s_numbers_depend_on_options() -> None:
    # coll_tuned_bcast_decision.c: 2 chains, 3 pipeline; 8 and 9 scatter with doubling and with a ring
    for name, extra, row in (
        ("chain", "", Row(0, 3, 1, 0)),
        ("chain", ", fanout: 2", Row(0, 2, 2, 0)),
        ("scatter_allgather", "", Row(0, 9, 0, 0)),
        ("scatter_allgather", ", allgather: recursive_doubling", Row(0, 8, 0, 0)),
        ("knomial", ", radix: 4", Row(0, 7, 0, 0)),
    ):
        comparison = compared("broadcast", [name], extra=extra)
        assert read_rules(openmpi_rules(comparison), "rules").collectives[7][0].rows == (row,)
    assert tuning_table(comparison, "openmpi").notes == (
        "knomial's radix is in no rule: set coll_tuned_bcast_knomial_radix to 4",
    )
