"""The public modules: what the documentation lists, without what derives or builds."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import elastogen
from elastogen.command_line import main

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("name", ["control", "motion"])
def test_a_module_has_the_names_that_are_listed(name: str) -> None:
    page = (ROOT / "docs" / "shipping" / "stable-api.md").read_text(encoding="utf-8")
    (line,) = re.findall(rf"^`elastogen\.{name}`: ((?:.+\n)*)", page, re.M)
    module = import_module(f"elastogen.{name}")
    assert sorted(re.findall(r"`(\w+)`", line)) == sorted(module.__all__)
    assert all(getattr(module, public) is not None for public in module.__all__)
    code = f"import sys, elastogen.{name}; print(*sorted({{'sympy', 'scipy', 'elastogen.generator'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_lqr_of_a_double_integrator() -> None:
    """Closed form: K = [1, sqrt(3)] for Q = I, R = 1."""
    gain = import_module("elastogen.control").lqr([[0.0, 1.0], [0.0, 0.0]], [[0.0], [1.0]], [1.0, 1.0], [1.0])
    assert np.allclose(gain, [[1.0, np.sqrt(3.0)]], rtol=1e-12)


def test_short_reprs() -> None:
    model = elastogen.build_model("two_link", outputs="simulation", cflags="-O0")
    result = model.simulate([0.1, 0.2], t=0.1, samples=11)
    assert repr(result) == f"Simulation('two_link', {result.method}, 11 samples to 0.1 s, OK)"
    batch = model.simulate(np.zeros((3, 2)), t=0.1, samples=11)
    assert "3 motions, 11 samples" in repr(batch)
    assert len(repr(model.parameters)) < 400


def test_the_word_of_python_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    for word in ("--F", "--input"):
        assert main(["simulate", "two_link", word, "sine:1"]) == 2
        assert "sine" in capsys.readouterr().err
