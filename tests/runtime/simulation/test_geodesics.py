"""Geodesics between configurations with quaternions: against Pinocchio's interpolation, their limits, and as C."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_compilers import COMPILERS, WARNINGS

import elastogen
from elastogen.build.files.geodesic import render_geodesics, write_geodesics
from elastogen.generator.robot.errors import BuildError
from elastogen.runtime.motion.geodesics import geodesics

pin = pytest.importorskip("pinocchio")

from pinocchio_trees import tree  # noqa: E402

TREE = tree(5, ("floating", "revolute", "spherical"), chain=True)


@pytest.fixture(scope="module")
def model(cache_dir: Path) -> elastogen.Model:
    return elastogen.build_model(TREE.file, outputs=["integrate", "difference"])


@pytest.fixture(scope="module")
def points() -> Any:
    rng = np.random.default_rng(2)
    return np.array([pin.integrate(TREE.model, pin.neutral(TREE.model), rng.uniform(-1, 1, 10)) for _ in range(3)])


def test_quintics_on_geodesics(model: elastogen.Model, points: Any) -> None:
    path = geodesics(model, points, [1.0, 2.0, 2.5])
    for t in (1.0, 1.3, 1.9, 2.0, 2.2, 2.5, 7.0):
        start, end, T = (0, 1.0, 1.0) if t < 2 else (1, 2.0, 0.5)
        s = min((t - end) / T, 1.0)
        law, slope, bend = 10 * s**3 - 15 * s**4 + 6 * s**5, 30 * s**2 - 60 * s**3 + 30 * s**4, 60 * s - 180 * s**2 + 120 * s**3
        found = path.at(t)
        np.testing.assert_allclose(found.q, pin.interpolate(TREE.model, points[start], points[start + 1], law), atol=1e-12)
        way = pin.difference(TREE.model, points[start], points[start + 1])
        np.testing.assert_allclose(found.qd, slope / T * way, atol=1e-12)
        np.testing.assert_allclose(found.qdd, bend / T**2 * way, atol=1e-11)
    samples = path.sample(1000)
    moved = pin.difference(TREE.model, samples.q[300], samples.q[302]) / 2e-3
    np.testing.assert_allclose(moved, samples.qd[301], atol=2e-5)  # velocities are those of the positions


@pytest.mark.parametrize("limits", [{"velocity": 2.0, "acceleration": np.linspace(1, 5, 10)},
                                    {"velocity": np.linspace(1, 3, 10), "acceleration": 4.0, "jerk": 40.0}])  # fmt: skip
def test_limits_are_kept_and_one_is_reached(model: elastogen.Model, points: Any, limits: dict[str, Any]) -> None:
    samples = geodesics(model, points, **limits).sample(2000)
    used = [np.abs(rate).max(axis=0) / limits[name] for name, rate in (("velocity", samples.qd), ("acceleration", samples.qdd))]
    assert np.max(used) <= 1 + 1e-9
    assert np.max(used) > 0.999
    np.testing.assert_allclose(samples.q[-1], points[-1], atol=1e-12)
    assert not samples.qd[-1].any()


def test_wrong_arguments(model: elastogen.Model, points: Any, arm: elastogen.Model) -> None:
    for arguments, options, says in (
        ((points[:, :9], [0, 1, 2]), {}, r"\(m, 12\)"), ((points, [0, 2, 1]), {}, "ascend"),
        ((points,), {}, "neither times nor"),
        ((points, [0, 1, 2]), {"velocity": 1.0}, "one of them"), ((points,), {"velocity": 0, "acceleration": 1}, "positive"),
        ((points,), {"velocity": [1, 2], "acceleration": 1}, "10 numbers"),
        ((points[[0, 0]],), {"velocity": 1, "acceleration": 1}, "nothing to move"),
    ):  # fmt: skip
        with pytest.raises(elastogen.ModelError, match=says):
            geodesics(model, *arguments, **options)
    line = geodesics(arm, [[0.0, 1.0], [0.5, -1.0]], [0.0, 1.0])  # straight lines without quaternions
    np.testing.assert_allclose(line.at(0.5).q, [0.25, 0.0], atol=1e-14)
    with pytest.raises(BuildError, match="write_trajectory"):
        render_geodesics(line, "line")


MAIN = """
#include <stdio.h>
#include "{robot}.h"
#include "reach_path.h"
int main(void)
{{
    for (int k = 0; k <= 30; ++k) {{
        double q[12], qd[10], qdd[10];
        reach_path_eval(&{robot}_params_nominal, 0.1 * k, q, qd, qdd);
        for (int i = 0; i < 12; ++i) printf("%.17g ", q[i]);
        for (int i = 0; i < 10; ++i) printf("%.17g ", qd[i]);
        for (int i = 0; i < 10; ++i) printf("%.17g ", qdd[i]);
        printf("\\n");
    }}
    return 0;
}}
"""


def test_emitted_paths(model: elastogen.Model, points: Any, tmp_path: Path) -> None:
    path = geodesics(model, points, [0.5, 1.5, 2.5])
    elastogen.generate(TREE.file, tmp_path, outputs=["integrate"])
    written = write_geodesics(path, tmp_path, "reach")
    sources = [str(tmp_path / f"{model.name}.c"), *(str(file) for file in written if file.suffix == ".c")]
    for compiler in COMPILERS:
        subprocess.run([compiler, *WARNINGS, "-fsyntax-only", *sources], cwd=tmp_path, check=True)
    (tmp_path / "main.c").write_text(MAIN.format(robot=model.name))
    subprocess.run([COMPILERS[0], "-std=c99", "main.c", *sources, "-lm", "-o", "main"], cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout
    found = np.array([[float(x) for x in line.split()] for line in printed.splitlines()])
    expected = path.at(0.1 * np.arange(31))
    np.testing.assert_allclose(found, np.hstack([expected.q, expected.qd, expected.qdd]), rtol=1e-12, atol=1e-13)
