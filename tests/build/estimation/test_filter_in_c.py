"""The emitted Kalman filter: strict compilers, sanitizers, symbols, the same bytes twice, and the numbers of Python."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from c_compilers import COMPILERS, WARNINGS
from gauged_arms import two_flexible_links

import elastogen

MAIN = r"""
#include "gauged_ekf.h"
#include <stdio.h>

static gauged_ekf_t ekf; /* all zero */

int main(void)
{
    const gauged_real_t zero[GAUGED_NV] = {0};
    const gauged_real_t position[GAUGED_NV] = {REAL(1e-3), REAL(1e-3), REAL(1e-3), REAL(1e-3)};
    const gauged_real_t velocity[GAUGED_NV] = {REAL(1e-2), REAL(1e-2), REAL(1e-2), REAL(1e-2)};
    const gauged_real_t F[GAUGED_NV] = {REAL(1.0), REAL(0.0), REAL(-0.5), REAL(0.0)};
    const gauged_real_t y[GAUGED_EKF_NY] = {REAL(1e-4), REAL(-2e-4), REAL(3e-6)};
    gauged_ekf_init(&ekf, zero, zero, position, velocity);
    ekf.force[0] = REAL(0.05);
    ekf.force[2] = REAL(0.02);
    ekf.noise[0] = REAL(1e-4);
    ekf.noise[1] = REAL(1e-4);
    ekf.noise[2] = REAL(2e-6);
    for (int k = 0; k < 50; ++k) {
        if (gauged_ekf_step(&ekf, &gauged_params_nominal, F, y, REAL(1e-3)) != GAUGED_EKF_OK) {
            return 1;
        }
    }
    for (int i = 0; i < GAUGED_NQ; ++i) {
        printf("%.17g %.17g\n", (double)ekf.q[i], (double)ekf.qd[i]);
    }
    return gauged_ekf_step(&ekf, &gauged_params_nominal, F, y, REAL(-1.0)) == GAUGED_EKF_ERROR ? 0 : 2;
}
"""


def run(*command: object, cwd: Path) -> str:
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("precision", ["double", "float"])
def test_the_filter_in_c(precision: str, tmp_path: Path) -> None:
    robot = elastogen.load(two_flexible_links()).with_sensors("encoders", "gauge1")
    for folder in ("one", "two"):
        elastogen.generate(robot, tmp_path / folder, outputs=["estimation"], precision=precision)
    one, two = tmp_path / "one", tmp_path / "two"
    assert (one / "gauged_ekf.c").read_bytes() == (two / "gauged_ekf.c").read_bytes()
    number = "x ## F" if precision == "float" else "x"
    (one / "main.c").write_text(f"#define REAL(x) {number}\n{MAIN}", encoding="ascii")
    for compiler in COMPILERS:
        run(compiler, *WARNINGS, "-O2", "-c", "gauged_ekf.c", "gauged.c", cwd=one)
    symbols = run("nm", "gauged_ekf.o", cwd=one)
    kinds = {line.split()[-1]: line.split()[-2] for line in symbols.splitlines()}
    assert not [name for name, kind in kinds.items() if kind in "dDbB"]
    assert all(name.startswith("gauged_") for name, kind in kinds.items() if kind == "T")
    foreign = {name for name, kind in kinds.items() if kind == "U" and not name.startswith("gauged_")}
    assert foreign <= {"sqrt", "sqrtf", "fmaxf", "memset", "memcpy", "memmove"}  # gcc and clang write these three themselves
    (one / "user.cpp").write_text('#include "gauged_ekf.h"\n', encoding="ascii")
    run("g++", "-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-c", "user.cpp", cwd=one)
    flags = ("-std=c99", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    run("gcc", *flags, "main.c", "gauged.c", "gauged_ekf.c", "-lm", "-o", "main", cwd=one)
    found = np.array([[float(word) for word in line.split()] for line in run("./main", cwd=one).splitlines()])
    model = elastogen.build_model(robot, outputs=["estimation"], precision=precision)
    ekf = model.ekf([0] * 4, [0] * 4, force=[0.05, 0, 0.02, 0], noise=[1e-4, 1e-4, 2e-6])
    ekf.run([1.0, 0.0, -0.5, 0.0], np.tile([1e-4, -2e-4, 3e-6], (50, 1)), 1e-3)
    tolerance = 1e-12 if precision == "double" else 1e-4
    assert found == pytest.approx(np.stack([ekf.q, ekf.qd], axis=1), rel=tolerance, abs=tolerance * np.abs(found).max())
