"""A folder with the box of mesh_arms.py."""

import pytest
from mesh_arms import solid


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the box, and a cache of its own."""
    monkeypatch.setenv("ELASTOGEN_CACHE_DIR", str(tmp_path / "cache"))
    solid().export(tmp_path / "box.stl")
    return tmp_path
