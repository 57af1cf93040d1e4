"""The matrices of paper 002 for robots with beams that slide through their joints: against the recursions."""

from functools import cache

import numpy as np
import pytest

import elastogen
from elastogen.generator.algorithms.acceleration_matrices import pairs
from elastogen.generator.functions.derivation import derive_model

ROD = {"joint": "R", "length": 0.3, "rigid": True, "mass": 0.7, "inertia": 0.01}
BEAM = {"joint": "Pb", "gamma": 0.4, "length": 0.8, "mass_per_length": 0.35, "EI": 0.17, "elements": 2}
KINDS = {
    "smooth": {},
    "modes": {"elements": 6, "reduce_to": 2, "foreshortening": True},
    "nodal": {"slide": "nodal", "elements": 3},
}
FUNCTIONS = ("mass_matrix", "coriolis_vector", "gravity_vector", "acceleration_energy_1", "payload_forces", "jacobian_rate",
             "trace_mass_matrix", "trace_coriolis_vector", "acceleration_matrix", "coriolis_coefficients",
             "centrifugal_coefficients", "driving_forces", "transform_partials", "jacobian", "jacobian_coriolis",
             "jacobian_centrifugal")  # fmt: skip


@cache
def programs(kind):
    chain = {"links": [ROD, {**BEAM, **KINDS[kind]}], "gravity": [0.3, -9.81], "payload": {"mass": 0.2, "inertia": 0.001}}
    robot = elastogen.load({"elastogen": 1, "name": "tele", "planar": chain})
    return robot, {function.name: function for function in derive_model(robot, FUNCTIONS).functions}


@pytest.mark.filterwarnings("ignore::elastogen.generator.robot.errors.RobotWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_matrices_of_a_telescopic_robot(kind):
    robot, found = programs(kind)
    n = len(robot.coordinates)
    rng = np.random.default_rng(71)
    state = {name: rng.uniform(-0.3, 0.3, n) for name in ("q", "qd", "qdd")}
    state["q"][1] = 0.5
    state |= {"wrench": rng.normal(size=6), "delta_m": -1.0, "delta_theta": 1.0, "tau": -1.0}

    def value(name):
        return next(iter(found[name].evaluate({a.name: state[a.name] for a in found[name].inputs}).values()))

    def close(one, other, tolerance=1e-11):
        np.testing.assert_allclose(one, other, rtol=0, atol=tolerance * np.abs(other).max())

    qd, qdd = state["qd"], state["qdd"]
    if kind == "nodal":  # element 2 of 3 is inside: nodes 1 and 2 are clamped
        qd, qdd = qd.copy(), qdd.copy()
        qd[4:8] = qdd[4:8] = 0.0
    products = np.array([qd[i] * qd[j] for i, j in pairs(n)])
    M, V, D = value("trace_mass_matrix"), value("trace_coriolis_vector"), value("acceleration_matrix")
    close(M, value("mass_matrix"))
    close(V, value("coriolis_vector"))
    close(value("coriolis_coefficients") @ products + value("centrifugal_coefficients") @ qd**2, V)
    close(0.5 * qdd @ M @ qdd + V @ qdd + 0.5 * qd @ D @ qd, value("acceleration_energy_1"))
    active = -value("gravity_vector")
    forces = np.where(np.isin(np.arange(n), [4, 5, 6, 7]) & (kind == "nodal"), 0.0, M @ qdd)
    close(value("driving_forces"), forces + V - active - value("payload_forces"))
    rate = value("jacobian_coriolis") @ products + value("jacobian_centrifugal") @ qd**2
    close(rate, value("jacobian_rate") @ qd)
    close(value("transform_partials")[-1, :, :3, 3].T, value("jacobian")[:3])
