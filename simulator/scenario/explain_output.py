"""Writing an explanation: its JSON, the timeline with its critical path, and the topology with its cut."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from simulator.scenario.explain_json import explanation_json
from simulator.scenario.folder import keep
from simulator.scenario.output import save_figures, write_folder
from simulator.scenario.run_pictures import cut_picture, timeline_picture

if TYPE_CHECKING:
    from simulator.scenario.explain import Explanation


def write_explanation(explanation: Explanation, folder: Path, *, force: bool = False) -> list[Path]:
    """Write explain.json, timeline.png and .svg, topology.png and .svg, and the scenario.

    Parameters
    ----------
    explanation : Explanation
    folder : Path
        New or empty, unless `force`.
    force : bool
        Overwrite what is there.

    Raises
    ------
    OutputError
        If the folder is in use or cannot be written.
    """

    def fill(home: Path) -> None:
        (home / "explain.json").write_text(explanation_json(explanation), encoding="utf-8")
        cut = None if explanation.bounds is None else explanation.bounds.cut
        figures = {
            "timeline": timeline_picture(explanation.result),
            "topology": cut_picture(explanation.result, cut),
        }
        save_figures(figures, home)
        keep(explanation.result.scenario, home, folder)

    return write_folder(folder, fill, force=force)
