"""Exports in single precision: float throughout, as beside ``generate``, and files that fit together."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from c_compilers import COMPILERS, WARNINGS
from golden_files import CASES

import elastogen
from elastogen.build.export import project
from elastogen.generator.functions.derivation import ModelDerivation, derive_model

NAME = "golden_sliding"
OUTPUTS = ["simulation"]


_KEPT: dict[Any, ModelDerivation] = {}  # by outputs: all tests are about one robot


@pytest.fixture(autouse=True)
def _derived_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def known(robot: Any, outputs: Any, frames: Any, **options: Any) -> ModelDerivation:
        if outputs not in _KEPT:
            _KEPT[outputs] = derive_model(robot, outputs, frames, **options)
        return _KEPT[outputs]

    monkeypatch.setattr(project, "derive_model", known)


@pytest.mark.parametrize("format", ["c", "cpp", "cmake", "arduino", "platformio", "zephyr"])
def test_float_is_float_in_every_format(format: str, tmp_path: Path) -> None:
    files = elastogen.export(CASES[NAME][0], tmp_path, format=format, outputs=OUTPUTS, precision="float").files
    endings = ("", "_simulate", "_switch")
    texts = [path.read_text() for path in files if path.name in {f"{NAME}{end}.{kind}" for end in endings for kind in "ch"}]
    assert len(texts) == 6
    assert not any(re.search(r"\bdouble\b", text) for text in texts)


def test_with_a_loop_all_files_compile(tmp_path: Path) -> None:
    """The loop passes elements in float, and so do the integrators (they called it with double)."""
    files = elastogen.export(CASES[NAME][0], tmp_path, outputs=OUTPUTS, precision="float", loop=True).files
    sources = [path.name for path in files if path.suffix == ".c" and path.parent == tmp_path and "_thread" not in path.name]
    assert {f"{NAME}_simulate.c", f"{NAME}_switch.c", f"{NAME}_loop.c"} <= {*sources}
    for compiler in COMPILERS[:1]:
        done = subprocess.run([compiler, *WARNINGS, "-fsyntax-only", *(name for name in sources if "_shared" not in name)],
                              cwd=tmp_path, capture_output=True, text=True, check=False)  # fmt: skip
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("format", ["python"])
def test_what_simulates_by_itself_keeps_its_state_in_double(format: str, tmp_path: Path) -> None:
    files = elastogen.export(CASES[NAME][0], tmp_path, format=format, outputs=OUTPUTS, precision="float").files
    (header,) = (path.read_text() for path in files if path.name == f"{NAME}_simulate.h")
    assert "const double *times" in header
