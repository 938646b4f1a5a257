"""Settings of Sphinx for the documentation; tools/site/build.py calls it."""

import re
from typing import Any

import ridgepoint

project = "Ridgepoint"
author = "Ridgepoint's authors"
project_copyright = author
version = release = ridgepoint.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.extlinks", "sphinx.ext.napoleon"]
extlinks = {
    "doi": ("https://doi.org/%s", "doi:%s"),
    "arxiv": ("https://arxiv.org/abs/%s", "arXiv:%s"),
}
root_doc = "index"
highlight_language = "text"
smartquotes = False  # -- is the beginning of an option
suppress_warnings = ["config.cache"]

# Markdown as forges show it; a link to a heading is one to its words.
myst_heading_anchors = 4
myst_enable_extensions: list[str] = []

# Docstrings are NumPy's; types stand in them, with units and shapes.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "show-inheritance": False}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_preprocess_types = False

html_theme = "furo"
html_title = f"Ridgepoint {release}"
html_static_path: list[str] = []
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}

_REFERENCE = re.compile(r"^\.\. (\[\d+\]) ")


def _with_plain_references(*event: Any) -> None:
    """Make references plain text: a page has many docstrings, and each counts its own from 1."""
    lines: list[str] = event[-1]
    changed: list[str] = []
    is_reference = False
    for line in lines:
        begins = _REFERENCE.match(line)
        if is_reference and not begins and line.startswith("   "):
            changed[-1] += f" {line.strip()}"
            continue
        is_reference = begins is not None
        if begins:
            changed += ["", f"{begins[1]} {line[begins.end() :]}"]
        else:
            changed.append(re.sub(r"(\[\d+\])_", r"\1", line))
    lines[:] = changed


def setup(app: Any) -> None:
    """Change docstrings before napoleon reads them."""
    app.connect("autodoc-process-docstring", _with_plain_references, priority=100)
