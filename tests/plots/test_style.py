"""Files of figures: whole, the same bytes, whatever names they hold."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure

import plots
from plots import save, topology_figure
from tests.plots.figures import hub
from topologies import (
    CollsimError,
    ring,
)


def test_files_are_whole_or_not_there(tmp_path: Path) -> None:
    figure = topology_figure(ring(3, 64e9))
    with pytest.raises(CollsimError, match=r"\.svg, \.png or \.pdf"):
        save(figure, tmp_path / "ring.bmp")
    with pytest.raises(FileNotFoundError):
        save(figure, tmp_path / "missing" / "ring.png")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "ring.svg").write_text("old")
    save(figure, str(tmp_path / "ring.svg"))
    assert "<svg" in (tmp_path / "ring.svg").read_text()


def test_a_failing_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figure, target = topology_figure(ring(3, 64e9)), tmp_path / "ring.png"
    target.write_text("old")

    def fail(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Figure, "savefig", fail)
    with pytest.raises(OSError, match="disk full"):
        save(figure, target)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("ring.png", "old")]


def test_a_folder_in_the_way_leaves_nothing_behind(tmp_path: Path) -> None:
    target = tmp_path / "ring.png"
    target.mkdir()
    with pytest.raises(OSError, match=r"ring\.png"):
        save(topology_figure(ring(3, 64e9)), target)
    assert list(tmp_path.iterdir()) == [target]
    assert list(target.iterdir()) == []


@pytest.mark.parametrize("name", ["a\ufffe", "a\x00", "a\x1b", "a\x85", "a\n", "a\t", "a\ud800", "a\u2028"])
def test_what_is_not_drawable_is_replaced(name: str, tmp_path: Path) -> None:
    figure = topology_figure(hub(name))
    assert figure.axes[0].texts[-1].get_text() == "a\ufffd"
    save(figure, tmp_path / "star.svg")
    ElementTree.parse(tmp_path / "star.svg")


@pytest.mark.parametrize(
    "name", ["\u4ea4\u6362\u673a", "\U0001f600", "costs $1 or $2", "$\\foo$", "_", "<&>"]
)
def test_foreign_names_are_drawn_as_they_are_and_without_a_word(name: str, tmp_path: Path) -> None:
    figure = topology_figure(hub(name))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        save(figure, tmp_path / "star.png")
        save(figure, tmp_path / "star.svg")
    assert name in "".join(ElementTree.parse(tmp_path / "star.svg").getroot().itertext())


def test_other_warnings_are_heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def warn(*_: object, **__: object) -> None:
        warnings.warn("something else", UserWarning, stacklevel=1)

    monkeypatch.setattr(Figure, "savefig", warn)
    with pytest.raises(UserWarning, match="something else"):
        save(topology_figure(ring(3, 64e9)), tmp_path / "ring.png")


def test_matplotlib_stays_out() -> None:
    code = "import plots, sys; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_pyplot_stays_out_even_when_drawing() -> None:
    code = "from plots import *; import sys; sys.exit('matplotlib.pyplot' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_plots_has_what_it_names() -> None:
    for name in plots.__all__:
        assert getattr(plots, name).__name__ == name
        assert name in dir(plots)
    with pytest.raises(AttributeError, match="sweep"):
        _ = plots.sweep
