"""Sphinx: the pages of this folder, the tutorials with their pictures, robot files from the schema, the API (make docs)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

from reference_pages import parameters, write_pages  # noqa: E402 (the folder is on the path now)

import elastogen  # noqa: E402

project = "elastogen"
author = "the elastogen authors"
copyright = "the elastogen authors"
version = release = elastogen.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_gallery.gen_gallery", "sphinx_design", "sphinx_copybutton"]
myst_enable_extensions = ["colon_fence"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["README.md", "tutorials/*"]  # the beginning of index.md; what sphinx-gallery turns into pages
html_theme = "furo"
html_title = f"elastogen {release}"
myst_heading_anchors = 4
autodoc_typehints = "signature"  # the sentences about parameters are in the text below
autodoc_typehints_format = "short"
maximum_signature_line_length = 90  # then each parameter has a line
autodoc_member_order = "bysource"
suppress_warnings = ["myst.xref_missing"]  # links out of this folder, which tests/front_door/test_links.py follows

sphinx_gallery_conf = {  # executes the scripts and keeps what they print and draw; -D plot_gallery=0 leaves that out
    "examples_dirs": "tutorials",
    "gallery_dirs": "generated/tutorials",
    "filename_pattern": r"/\d_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "write_computation_times": False,
    "capture_repr": (),  # what scripts print is shown, not what their last lines return
    "remove_config_comments": True,
}

write_pages(ROOT / "docs" / "generated")


def signature_for_users(app: Any, what: str, name: str, thing: Any, options: Any, signature: str | None, returns: str) -> Any:
    """Without the parameters of constructors that the text does not name: others make these objects."""
    made_by_others = what == "class" and not any(f"``{each}``" in (thing.__doc__ or "") for each in parameters(thing))
    return ("", None) if made_by_others else None


def setup(app: Any) -> None:
    """Sphinx calls this."""
    app.connect("autodoc-process-signature", signature_for_users)
