"""How Sphinx builds the manual: `make docs`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from docs.generated import fill

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "collsim"
author = "the collsim authors"
project_copyright = author

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_click"]
exclude_patterns = ["_build", "_static"]
nitpicky = True
# words of numpydoc types ("sequence of int", "ndarray of shape (N,)") are no links
nitpick_ignore_regex = [("py:class", ".*")]
suppress_warnings = ["ref.python"]

myst_heading_anchors = 4
myst_enable_extensions = ["deflist"]

toc_object_entries_show_parents = "hide"
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
napoleon_numpy_docstring = True
napoleon_google_docstring = False
napoleon_use_rtype = False

html_theme = "furo"
html_title = "collsim"
html_static_path = ["_static"]
html_css_files = ["wide.css"]
html_last_updated_fmt = None
html_copy_source = False
html_show_sphinx = False


def setup(app: Sphinx) -> None:
    """Fill the pages that tell of registries before they are parsed."""
    app.connect("source-read", fill)
