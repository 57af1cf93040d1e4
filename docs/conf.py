"""Sphinx: the pages of this folder, the robot-file reference from the schema, the API from docstrings (make docs)."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

from reference_pages import write_pages  # noqa: E402 (the folder is on the path now)

import elastogen  # noqa: E402

project = "elastogen"
author = "the elastogen authors"
version = release = elastogen.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["README.md"]  # the beginning of index.md
html_theme = "alabaster"
html_theme_options = {"description": "Fast, dependency-free C for robot dynamics", "page_width": "1100px"}
myst_heading_anchors = 4
autodoc_typehints = "description"
autodoc_member_order = "bysource"
suppress_warnings = ["myst.xref_missing"]  # links out of this folder, which tests/front_door/test_links.py follows

write_pages(ROOT / "docs" / "generated")
