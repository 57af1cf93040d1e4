"""Compiled planar robots with sliding joints: results, ranges, statuses in C, conservation of energy."""

import math
import subprocess

import numpy as np
import pytest
from c_compilers import WARNINGS
from planar_pairs import evaluate, functions, pair_of, state_of
from scipy.integrate import solve_ivp

import elastogen

BUILD = ("forward_dynamics", "mass_matrix", "kinetic_energy", "potential_energy", "forward_kinematics")


@pytest.fixture(scope="module")
def sliding():
    plan = pair_of("R", "Pa", "smooth")
    return plan, elastogen.build_model(plan.description("rpa"), outputs=BUILD)


@pytest.fixture(scope="module")
def telescopic():
    plan = pair_of("R", "Pb", "smooth")
    return plan, elastogen.build_model(plan.description("rpb"), outputs=BUILD)


def test_compiled_is_its_programs(sliding):
    plan, model = sliding
    found = functions(elastogen.load(plan.description("rpa")), ("mass_matrix", "forward_dynamics"))
    rng = np.random.default_rng(1)
    for _ in range(20):
        q, qd, F = state_of(plan, rng)
        np.testing.assert_allclose(model.mass_matrix(q), evaluate(found, "mass_matrix", q=q), rtol=0, atol=1e-14)
        expected = evaluate(found, "forward_dynamics", q=q, qd=qd, F=F)
        np.testing.assert_allclose(model.forward_dynamics(q, qd, F), expected, rtol=0, atol=1e-12 * np.abs(expected).max())
        assert model.elements(q).tolist() == [plan.inside(q)[1]]


def test_out_of_range_is_refused(sliding):
    plan, model = sliding
    q, qd, F = state_of(plan, np.random.default_rng(1))
    for wrong in (-1e-9, 0.8 + 1e-9, math.nan):
        q[plan.starts[1]] = wrong
        assert model.elements(q).tolist() == [-1]
        with pytest.raises(elastogen.ModelError, match=r"joint joint2 is at q\[5\] = .* at most 0.8 m"):
            model.mass_matrix(q)
        with pytest.raises(elastogen.ModelError, match="joint2"):
            model.forward_dynamics(q, qd, F)
    states = np.tile(q, (3, 1))
    states[::2, plan.starts[1]] = 0.2
    results = model.forward_dynamics(states, 0 * qd, 0 * F, on_failure="nan")
    assert np.isnan(results).all(axis=1).tolist() == [False, True, False]


def test_status_in_c(sliding, tmp_path):
    """The functions return -2 with zero outputs out of range, and tell the elements."""
    _, model = sliding
    source = next(path for path in model.c_files if path.suffix == ".c")
    program = """
    #include "rpa.h"
    int main(void) {
        double q[RPA_NQ] = {0}, M[RPA_NQ * RPA_NQ];
        int k[1];
        q[5] = 0.9; M[0] = 1.0;
        if (rpa_mass_matrix(&rpa_params_nominal, q, M) != RPA_ERROR_OUT_OF_RANGE || M[0] != 0.0) return 1;
        if (rpa_elements(&rpa_params_nominal, q, k) != RPA_ERROR_OUT_OF_RANGE || k[0] != -1) return 2;
        q[5] = 0.4;
        if (rpa_elements(&rpa_params_nominal, q, k) != 0 || k[0] != 1) return 3;
        q[5] = 0.41;
        if (rpa_elements(&rpa_params_nominal, q, k) != 0 || k[0] != 2) return 4;
        return rpa_mass_matrix(&rpa_params_nominal, q, M);
    }
    """
    (tmp_path / "main.c").write_text(program)
    warnings = [flag for flag in WARNINGS if flag != "-Wfloat-equal"]  # main compares with an exact zero
    command = ["cc", *warnings, "-O1", f"-I{source.parent}", str(source), "main.c", "-lm"]
    subprocess.run([*command, "-o", "main"], cwd=tmp_path, check=True)
    assert subprocess.run([tmp_path / "main"], check=False).returncode == 0


def _free_motion(model, q, qd, end):
    zero = np.zeros(model.nq)

    def slope(t, state):
        n = model.nq
        return np.concatenate([state[n:], model.forward_dynamics(state[:n], state[n:], zero)])

    return solve_ivp(slope, (0, end), np.concatenate([q, qd]), "DOP853", rtol=1e-11, atol=1e-12)


def _energy(model, state):
    q, qd = state[: model.nq], state[model.nq :]
    return float(model.kinetic_energy(q, qd) + model.potential_energy(q))


@pytest.mark.parametrize("kind", ["sliding", "telescopic"])
def test_free_motion_conserves_energy(kind, request):
    plan, model = request.getfixturevalue(kind)
    q, qd = np.zeros(plan.nq), np.zeros(plan.nq)
    q[[plan.starts[0], plan.starts[1]]] = [0.3, 0.43]
    q[-2:] = [0.01, 0.03]
    qd[[plan.starts[0], plan.starts[1]]] = [0.5, 0.4]
    solution = _free_motion(model, q, qd, 0.05)
    energies = [_energy(model, state) for state in solution.y.T]
    assert abs(solution.y[plan.starts[1], -1] - 0.43) > 0.01
    np.testing.assert_allclose(energies, energies[0], rtol=0, atol=1e-9 * abs(energies[0]))
