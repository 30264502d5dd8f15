"""A folder of results keeps the scenario that it came from."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.scenario.errors import ScenarioErrors
from simulator.scenario.folder import KEPT, reopen
from simulator.scenario.library import library_folder
from simulator.scenario.models import Scenario
from simulator.scenario.output import write_results
from simulator.scenario.parse import parse
from simulator.scenario.result import as_json
from simulator.scenario.run_any import load_scenario, run_any
from simulator.scenario.source import plain
from simulator.scenario.together_models import TogetherScenario
from simulator.scenario.written import to_yaml

SMALL = """\
# nobody has named it
topology: {preset: dgx-1}
collective: {kind: allgather, algorithm: ring, size: 1001 B}
"""


def written_to(tmp_path: Path, text: str, name: str = "small.yaml") -> Path:
    (tmp_path / name).write_text(text, encoding="utf-8")
    folder = tmp_path / "out"
    write_results([run_any(load_scenario(tmp_path / name), allow_code=True)], folder, force=True)
    return folder


def again(folder: Path) -> str:
    scenario = reopen(folder)
    assert isinstance(scenario, Scenario | TogetherScenario)
    return as_json([run_any(scenario, allow_code=True)])


def test_what_is_kept_runs_to_the_same_result(tmp_path: Path) -> None:
    folder = written_to(tmp_path, SMALL)
    assert (folder / KEPT).read_text("utf-8") == (
        "name: small\n"
        "topology: {preset: dgx-1}\n"
        "collective: {kind: allgather, algorithm: ring, size: 1001 B}\n"
    )
    assert again(folder) == (folder / "result.json").read_text("utf-8")


def test_code_is_kept_beside_it(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    code = (
        "import numpy as np\n\ndef to_the_next(ranks):\n    rank = np.arange(ranks)\n"
        "    for step in range(ranks - 1):\n"
        "        yield rank, (rank + 1) % ranks, (rank - step) % ranks, 0\n"
    )
    (tmp_path / "mine" / "own.py").write_text(code, encoding="utf-8")
    one = "kind: allgather, size: 3 kB, algorithm: {file: mine/own.py, function: to_the_next}"
    text = f"topology: {{kind: ring, ranks: 3, bandwidth: 1 GB/s}}\ncollectives: [{{{one}}}, {{{one}}}]\n"
    folder = written_to(tmp_path, text)
    (tmp_path / "mine" / "own.py").unlink()
    assert sorted(path.name for path in folder.glob("*.py")) == ["1-own.py", "own.py"]
    assert again(folder) == (folder / "result.json").read_text("utf-8")


def test_a_scenario_that_lies_in_its_own_folder_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / KEPT).write_text(SMALL, encoding="utf-8")
    write_results([run_any(load_scenario(tmp_path / KEPT))], tmp_path, force=True)
    assert (tmp_path / KEPT).read_text("utf-8") == SMALL
    assert (tmp_path / "result.json").is_file()


def test_a_folder_without_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScenarioErrors, match=r'holds no "scenario\.yaml"'):
        reopen(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        *("a: '1e3'", "a: ''", 'a: "x\\ny"', "a: yes", "a: '- b'", "a: '# c'", "a: ' s '", "'1': 2", "3: x"),
        *("a: ~", "a:", "a: []", "a: {b: [], c: {}}", "a: '0o17'", "a: 0x10", "a: 'a: b'", "a: '*x'"),
        *("a: é☃", "a: |\n  x\n  y\n", "- a\n- {b: [1, [2]]}", "'=': '<<'", "a: &x {b: 1}\nc: *x"),
    ],
)
def test_what_is_written_reads_the_same(text: str) -> None:
    source, _ = parse(text, "before.yaml")
    written = to_yaml(source.root)
    again, refused = parse(written, "after.yaml")
    assert (plain(again.root), refused) == (plain(source.root), ())
    assert to_yaml(again.root) == written


def test_the_library_reads_the_same() -> None:
    for file in library_folder().rglob("*.yaml"):
        source, _ = parse(file.read_text("utf-8"), str(file))
        assert plain(parse(to_yaml(source.root), "again.yaml")[0].root) == plain(source.root), file
