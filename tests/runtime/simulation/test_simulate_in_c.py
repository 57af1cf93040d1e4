"""The integrators in a C program of the user: strict compilers, sanitizers, events, every set of functions."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from c_compilers import COMPILERS, WARNINGS
from golden_files import CASES

import elastogen

MAIN = """
#include "two_link_simulate.h"
#include <math.h>
#include <stdio.h>

static int flips; /* how often the event has changed the state */

static int bounce(void *context, two_link_real_t t, two_link_real_t *q, two_link_real_t *qd)
{
    (void)context;
    int changed = 0;
    if ((q[0] < 0.0) && (qd[0] < 0.0)) {
        qd[0] = -qd[0];
        changed = 1;
        ++flips;
    }
    return (t > 1.5) ? -1 : changed;
}

int main(void)
{
    static two_link_sim_workspace_t workspace;
    const int methods[3] = {TWO_LINK_SIM_METHOD_RK4, TWO_LINK_SIM_METHOD_TSIT5, TWO_LINK_SIM_METHOD_GENERALIZED_ALPHA};
    const two_link_real_t q0[2] = {0.5, 0.3};
    const two_link_real_t qd0[2] = {0.0, 0.0};
    const two_link_real_t times[3] = {0.0, 0.5, 2.0};
    const two_link_real_t switches[2] = {0.0, 0.25};
    const two_link_real_t forces[4] = {1.0, 0.0, -1.0, 0.5};
    two_link_real_t q[6], qd[6], F[6], T[3], V[3], work[3], loss[3];
    const two_link_sim_record_t record = {q, qd, F, T, V, work, loss};
    int bad = 0;
    for (int k = 0; k < 3; ++k) {
        two_link_sim_input_t input = {0};
        two_link_sim_options_t options = {0};
        two_link_sim_control_t control = {0};
        input.rows = 2;
        input.times = switches;
        input.values = forces;
        options.method = methods[k];
        options.step = 1e-3;
        options.rtol = (sizeof(two_link_real_t) == 8u) ? 1e-9 : 1e-5;
        options.atol = options.rtol;
        options.rho_inf = 0.9;
        const int status = two_link_simulate(&two_link_params_nominal, &input, &options, q0, qd0, 3, times, &record,
            &workspace, &control);
        bad += (status != TWO_LINK_SIM_STATUS_OK) || (control.samples != 3u);
        bad += !(fabs((double)T[1] + V[1] - T[0] - V[0] - work[1] + loss[1]) < 1e-4);
        if (printf("%.6f %.6f\\n", q[2], q[3]) < 0) {
            bad += 1;
        }
        options.event = bounce;
        flips = 0;
        bad += two_link_simulate(&two_link_params_nominal, &input, &options, q0, qd0, 3, times, &record, &workspace,
                   &control) != TWO_LINK_SIM_STATUS_EVENT;
        bad += (control.samples != 2u) || (flips == 0) || !(control.time > 1.5);
        options.method = 99;
        bad += two_link_simulate(&two_link_params_nominal, &input, &options, q0, qd0, 3, times, &record, &workspace,
                   &control) != TWO_LINK_SIM_STATUS_ARGUMENT;
    }
    return bad;
}
"""


DOUBLE_FUNCTIONS = {"ceil", "pow", "sqrt"}


def doubles_in(binary: Path, nm: str = "nm") -> set[str]:
    """Functions of libm that compute in double, and those that do so in software, which an object file calls."""
    done = subprocess.run([nm, "-u", binary], capture_output=True, text=True, check=True)
    names = {line.split()[-1] for line in done.stdout.splitlines()}
    return {name for name in names if name in {*DOUBLE_FUNCTIONS, "fabs", "floor"} or name.startswith("__aeabi_d")}


@pytest.mark.parametrize("name", ["two_link", "golden_sliding"])
def test_float_is_float_everywhere(name: str, tmp_path: Path) -> None:
    """No double in a bundle in single precision: not in the text, not in the instructions, not on a Cortex-M4F."""
    files = elastogen.generate(CASES[name][0], tmp_path, outputs="simulation", precision="float").files
    sources = [path for path in files if path.suffix == ".c" and path.parent == tmp_path]
    endings = {path.stem.removeprefix(name) for path in sources}
    assert endings == {"", "_simulate"} | ({"_switch"} if name == "golden_sliding" else set())
    for path in (*sources, *(path for path in files if path.suffix == ".h")):
        assert not re.search(r"\bdouble\b", path.read_text()), path.name
    for source in sources:
        for compiler in COMPILERS:
            done = subprocess.run([compiler, *WARNINGS, "-O1", "-c", source.name, "-o", "host.o"],
                                  cwd=tmp_path, capture_output=True, text=True, check=False)  # fmt: skip
            assert done.returncode == 0, done.stderr
            assert not doubles_in(tmp_path / "host.o")
    if shutil.which("arm-none-eabi-gcc") is None:
        pytest.skip("arm-none-eabi-gcc is not installed: make emulator")
    for source in sources:
        flags = ["-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard", "-mthumb", "-std=c99", "-O2"]
        subprocess.run(["arm-none-eabi-gcc", *flags, "-c", source.name, "-o", "arm.o"], cwd=tmp_path, check=True)
        assert not doubles_in(tmp_path / "arm.o", "arm-none-eabi-nm")


@pytest.mark.parametrize("precision", ["double", "float"])
def test_the_integrators_in_a_program_of_the_user(precision: str, tmp_path: Path) -> None:
    """Strict compilers, sanitizers, events; the three methods agree."""
    elastogen.generate("two_link", tmp_path, outputs="simulation", precision=precision)
    (tmp_path / "main.c").write_text(MAIN)
    for compiler in COMPILERS:
        command = [compiler, *WARNINGS, "-O2" if compiler == "gcc" else "-O1", "-c", "two_link_simulate.c"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert bool(doubles_in(tmp_path / "two_link_simulate.o")) == (precision == "double")
    flags = ["-std=c99", "-O0", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    subprocess.run(
        ["gcc", *flags, "two_link.c", "two_link_simulate.c", "main.c", "-lm", "-o", "main"], cwd=tmp_path, check=True
    )
    done = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = np.array([[float(word) for word in line.split()] for line in done.stdout.splitlines()])
    assert np.ptp(lines, axis=0).max() < (2e-5 if precision == "double" else 2e-4)


@pytest.mark.parametrize("outputs", [["forward_dynamics"], ["forward_dynamics", "gravity_vector", "kinetic_energy"]])
def test_every_set_of_functions_compiles(outputs: list[str], tmp_path: Path) -> None:
    elastogen.generate("two_link", tmp_path, outputs=outputs)
    command = ["gcc", *WARNINGS, "-O1", "-c", "two_link_simulate.c"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    symbols = subprocess.run(["nm", "two_link_simulate.o"], cwd=tmp_path, capture_output=True, text=True, check=True)
    exported = {line.split()[-1] for line in symbols.stdout.splitlines() if line.split()[-2] == "T"}
    assert exported == {"two_link_simulate", "two_link_simulate_input"}
