"""The emitted C of robots with loops: strict compilers in both precisions, and the same bytes in every run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from c_compilers import COMPILERS, WARNINGS
from test_loop_descriptions import FOUR_BAR

import elastogen


@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_strict_compilers(precision: str, base: str, tmp_path: Path) -> None:
    files = elastogen.generate({**FOUR_BAR, "base": base}, tmp_path, precision=precision, outputs=["default", "simulation"])
    assert files
    for compiler in COMPILERS:
        for source in sorted(tmp_path.glob("linkage*.c")):
            command = [compiler, *WARNINGS, "-O1", "-c", str(source), "-o", str(tmp_path / "out.o")]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr


def test_the_same_bytes_with_another_hash_seed(tmp_path: Path) -> None:
    code = (
        "import sys, elastogen; sys.path.insert(0, sys.argv[2]); from test_loop_descriptions import FOUR_BAR; "
        "elastogen.generate(FOUR_BAR, sys.argv[1], outputs=['forward_dynamics', 'loop_jacobian', 'inverse_dynamics'])"
    )
    texts = []
    for seed in ("1", "2"):
        folder = tmp_path / seed
        environment = {"PYTHONHASHSEED": seed, "PATH": "/usr/bin:/bin", "ELASTOGEN_CACHE_DIR": str(tmp_path / "cache")}
        command = [sys.executable, "-c", code, str(folder), str(Path(__file__).parent)]
        subprocess.run(command, check=True, env=environment, cwd=Path(__file__).resolve().parents[3])
        texts.append((folder / "linkage.c").read_bytes())
    assert texts[0] == texts[1]
