"""What happens when a resource is gone: a working directory that was removed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import elastogen

GONE = """
import os, sys, tempfile
import elastogen
folder = tempfile.mkdtemp()
os.chdir(folder)
os.rmdir(folder)
"""


def run_without_directory(code: str, cache: Path) -> str:
    environment = {**os.environ, "ELASTOGEN_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, "-c", GONE + code], capture_output=True, text=True, env=environment, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout.strip()


@pytest.mark.skipif(os.name != "posix", reason="a working directory cannot be removed there")
def test_builtin_robots_need_no_working_directory(cache_dir: Path) -> None:
    assert run_without_directory("print(elastogen.load('two_link').name)", cache_dir) == "two_link"
    code = "print(elastogen.build_model('two_link', outputs=['gravity_vector']).nq)"
    assert run_without_directory(code, cache_dir) == "2"


@pytest.mark.skipif(os.name != "posix", reason="a working directory cannot be removed there")
@pytest.mark.parametrize(
    "call",
    [
        "elastogen.build_model('two_link', outputs=['gravity_vector'], cache_dir='cache')",
        "elastogen.generate('two_link', 'out')",
        "elastogen.load('arm.yaml')",
    ],
)
def test_relative_paths_are_refused_without_one(call: str, cache_dir: Path) -> None:
    said = run_without_directory(f"try:\n    {call}\nexcept elastogen.ElastogenError as error: print(error)", cache_dir)
    assert said


@pytest.mark.parametrize("outputs", [np.array(1.0), np.array("mass_matrix"), 3.0, object()])
def test_outputs_that_are_no_names_are_refused(outputs: object) -> None:
    with pytest.raises(elastogen.OutputError, match=r"outputs: got .*, expected names of functions"):
        elastogen.build_model("two_link", outputs=outputs)  # type: ignore[arg-type]
