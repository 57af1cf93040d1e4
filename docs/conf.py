"""Sphinx: the pages of this folder, the tutorials with their pictures, robot files from the schema, the API (make docs)."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

from reference_pages import write_pages  # noqa: E402 (the folder is on the path now)

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
autodoc_typehints = "description"
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
