"""The emitted C of robots with loops: strict compilers in both precisions, and the same bytes in every run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from c_compilers import COMPILERS, WARNINGS
from test_loop_descriptions import FOUR_BAR

import elastogen

NIGHTLY = [pytest.param(*case, marks=pytest.mark.nightly) for case in (("fixed", "double"), ("floating", "float"))]


@pytest.mark.parametrize(("base", "precision"), [("fixed", "float"), ("floating", "double"), *NIGHTLY])
def test_strict_compilers(base: str, precision: str, tmp_path: Path) -> None:
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


PROGRAM = """
#include "linkage_loops.h"
#include <stdio.h>
int main(void)
{
    linkage_real_t q[3] = {0.3, 0.5, 1.0}, gap = 1.0;
    const unsigned char held[3] = {1, 0, 0}, both[3] = {1, 1, 0};
    linkage_loops_workspace_t w;
    int status = linkage_close_loops(&linkage_params_nominal, held, 1e-13, q, &gap, &w);
    printf("%d %.17g %.17g %.17g %.3g\\n", status, q[0], q[1], q[2], gap);
    q[1] = 0.5;
    status = linkage_close_loops(&linkage_params_nominal, both, 1e-13, q, &gap, &w);
    printf("%d %.17g %.17g %.17g %.3g\\n", status, q[0], q[1], q[2], gap);
    q[0] = 0.0;
    q[1] = 3.14159265358979312;
    q[2] = 3.14159265358979312;
    status = linkage_close_loops(&linkage_params_nominal, NULL, 1e-13, q, &gap, &w);
    printf("%d %.17g %.17g %.17g %.3g\\n", status, q[0], q[1], q[2], gap);
    linkage_real_t qd[3] = {2.0, 5.0, 7.0};
    q[0] = 0.3, q[1] = 0.5, q[2] = 1.0;
    (void)linkage_close_loops(&linkage_params_nominal, held, 1e-13, q, &gap, &w);
    status = linkage_close_velocities(&linkage_params_nominal, held, q, qd, &w);
    printf("%d %.17g %.17g %.17g 0\\n", status, qd[0], qd[1], qd[2]);
    const unsigned char all[3] = {1, 1, 1};
    qd[1] += 1.0;
    printf("%d 0 0 0 0\\n", linkage_close_velocities(&linkage_params_nominal, all, q, qd, &w));
    qd[1] /= 0.0;
    printf("%d 0 0 0 0\\n", linkage_close_velocities(&linkage_params_nominal, NULL, q, qd, &w));
    return 0;
}
"""


@pytest.mark.parametrize("outputs", [[], ["closed_configuration"]], ids=["newton", "explicit"])
def test_loops_are_closed_in_c(outputs: list[str], tmp_path: Path) -> None:
    elastogen.generate(FOUR_BAR, tmp_path, outputs=["loop_residual", "loop_jacobian", *outputs])
    assert ("robot_loops_explicit" in (tmp_path / "linkage_loops.c").read_text().replace("linkage_", "robot_")) == bool(outputs)
    (tmp_path / "main.c").write_text(PROGRAM)
    sources = [str(tmp_path / name) for name in ("main.c", "linkage.c", "linkage_loops.c")]
    command = [COMPILERS[0], "-std=c99", "-O1", *sources, "-lm", "-o", str(tmp_path / "main")]
    subprocess.run(command, check=True)
    lines = subprocess.run([str(tmp_path / "main")], check=True, capture_output=True, text=True).stdout.split("\n")
    found = [[float(word) for word in line.split()] for line in lines[:3]]
    model = elastogen.build_model(FOUR_BAR, outputs=["loop_residual", "loop_jacobian"])
    assert [row[0] for row in found] == [0, 1, 0]
    assert found[0][1] == 0.3
    for row in (found[0], found[2]):
        assert abs(model.loop_residual(row[1:4])).max() < 1e-12
    assert found[1][1:3] == [0.3, 0.5]
    assert 0.01 < found[1][4] < 0.1  # the gap that remains
    rates = [[float(word) for word in line.split()] for line in lines[3:6]]
    assert [row[0] for row in rates] == [0, 1, -1]  # closed; held, and so open; not finite
    J, qd = model.loop_jacobian(found[0][1:4]), np.array(rates[0][1:4])
    assert qd[0] == 2.0
    np.testing.assert_allclose(J @ qd, 0, atol=1e-13)


EVENT = """
#include "linkage_simulate.h"
#include <stdio.h>

static int open(void *context, linkage_real_t t, linkage_real_t *q, linkage_real_t *qd)
{
    (void)context, (void)t;
    q[1] += 0.01;
    qd[2] += 0.3;
    return 1;
}

int main(void)
{
    static linkage_sim_workspace_t workspace;
    const linkage_real_t q0[3] = {%s}, qd0[3] = {0.0, 0.0, 0.0}, times[2] = {0.0, 1e-3};
    linkage_real_t q[6], qd[6];
    const linkage_sim_record_t record = {q, qd, NULL, NULL, NULL, NULL, NULL};
    linkage_sim_input_t input = {0};
    linkage_sim_options_t options = {0};
    linkage_sim_control_t control = {0};
    options.method = LINKAGE_SIM_METHOD_RK4;
    options.step = 1e-3;
    options.event = open;
    const int status =
        linkage_simulate(&linkage_params_nominal, &input, &options, q0, qd0, 2, times, &record, &workspace, &control);
    printf("%%d %%.17g %%.17g %%.17g %%.17g %%.17g %%.17g\\n", status, q[3], q[4], q[5], qd[3], qd[4], qd[5]);
    return 0;
}
"""


def test_an_event_that_opens_loops_does_not_leave_them_open(tmp_path: Path) -> None:
    model = elastogen.build_model(FOUR_BAR, outputs=["loop_residual", "loop_jacobian"])
    start = model.close_loops([0.3, 0.5, 1.0])
    elastogen.generate(FOUR_BAR, tmp_path, outputs="simulation")
    (tmp_path / "main.c").write_text(EVENT % ", ".join(repr(float(x)) for x in start))
    sources = ["main.c", *(path.name for path in tmp_path.glob("linkage*.c"))]
    subprocess.run([COMPILERS[0], "-std=c99", "-O1", *sources, "-lm", "-o", "main"], check=True, cwd=tmp_path)
    done = subprocess.run([str(tmp_path / "main")], check=True, capture_output=True, text=True).stdout
    status, *state = (float(word) for word in done.split())
    assert status == 0
    assert abs(np.array(state[:3]) - start).max() > 1e-3  # the event has moved it
    assert abs(model.loop_residual(state[:3])).max() < 1e-10
    assert abs(model.loop_jacobian(state[:3]) @ state[3:]).max() < 1e-10
