"""Every kind of joint, alone and in random trees, against Pinocchio."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

pin = pytest.importorskip("pinocchio")

from pinocchio_trees import SEVERAL, SINGLE, close, states, tree  # noqa: E402

import elastogen  # noqa: E402
from elastogen.generator.functions.derivation import derive_model  # noqa: E402
from elastogen.generator.functions.function import Function  # noqa: E402

KINDS = (*SINGLE, *SEVERAL)
NAMES = (
    "inverse_dynamics", "forward_dynamics", "mass_matrix", "coriolis_matrix", "coriolis_vector", "gravity_vector", "jacobian",
    "jacobian_tip", "jacobian_rate", "forward_kinematics", "kinetic_energy", "potential_energy", "frame_velocities",
    "frame_accelerations", "inverse_dynamics_derivatives",
)  # fmt: skip
TREES = {
    "all": tree(1, KINDS),
    "twice": tree(3, ("spherical", "floating", "universal", "spherical"), chain=True),
}


@cache
def functions(name: str) -> dict[str, Function]:
    robot = elastogen.load(TREES[name].file)
    more = ("integrate", "difference", "configuration_rate", "neutral", "random_configuration")
    return {f.name: f for f in derive_model(robot, (*NAMES, *more)).functions}


def evaluator(name: str, q: Any, qd: Any, qdd: Any) -> Callable[..., Any]:
    state = {"q": q, "qd": qd, "qdd": qdd, "F": qdd}

    def value(function: str, output: str, **more: Any) -> Any:
        return functions(name)[function].evaluate({**state, **more})[output]

    return value


@pytest.mark.parametrize("name", TREES)
def test_names_and_sizes(name: str) -> None:
    robot, model = elastogen.load(TREES[name].file), TREES[name].model
    assert (len(robot.coordinate_names), len(robot.velocity_names)) == (model.nq, model.nv)
    if name == "twice":
        assert robot.coordinate_names[3:8] == ("j1.qw", "j2.x", "j2.y", "j2.z", "j2.qx")
        assert robot.velocity_names[2:7] == ("j1.wz", "j2.vx", "j2.vy", "j2.vz", "j2.wx")


@pytest.mark.parametrize("name", TREES)
def test_dynamics(name: str) -> None:
    model = TREES[name].model
    data = model.createData()
    for q, qd, qdd in states(TREES[name], 5):
        value = evaluator(name, q, qd, qdd)
        close(value("inverse_dynamics", "F"), pin.rnea(model, data, q, qd, qdd), 100)
        close(value("forward_dynamics", "qdd"), pin.aba(model, data, q, qd, qdd), 1000)
        M = np.array(pin.crba(model, data, q))
        M = np.triu(M) + np.triu(M, 1).T
        close(value("mass_matrix", "M"), M, 10)
        bias, gravity = pin.nonLinearEffects(model, data, q, qd), pin.computeGeneralizedGravity(model, data, q)
        close(value("gravity_vector", "G"), gravity, 100)
        close(value("coriolis_vector", "c"), bias - gravity, 100)
        close(value("coriolis_matrix", "C") @ qd, bias - gravity, 100)
        close(value("coriolis_matrix", "C"), pin.computeCoriolisMatrix(model, data, q, qd), 100)
        close(value("kinetic_energy", "T"), pin.computeKineticEnergy(model, data, q, qd), 10)
        close(value("potential_energy", "V"), pin.computePotentialEnergy(model, data, q), 100)


@pytest.mark.parametrize("name", TREES)
def test_rate_of_the_mass_matrix_less_two_coriolis_is_skew(name: str) -> None:
    model, h = TREES[name].model, 1e-5
    for q, qd, qdd in states(TREES[name], 4):
        value = evaluator(name, q, qd, qdd)
        M = [value("mass_matrix", "M", q=pin.integrate(model, q, s * h * qd)) for s in (-2, -1, 1, 2)]
        rate = (M[0] - 8 * M[1] + 8 * M[2] - M[3]) / (12 * h)
        N = rate - 2 * value("coriolis_matrix", "C")
        assert np.abs(N + N.T).max() < 1e-7 * np.abs(rate).max()


@pytest.mark.parametrize("name", TREES)
def test_kinematics(name: str) -> None:
    model = TREES[name].model
    data = model.createData()
    last = model.njoints - 1
    for q, qd, qdd in states(TREES[name], 6):
        value = evaluator(name, q, qd, qdd)
        pin.computeJointJacobiansTimeVariation(model, data, q, qd)
        pin.forwardKinematics(model, data, q, qd, qdd)
        close(value("forward_kinematics", "T")[-1], data.oMi[last].homogeneous)
        close(value("jacobian", "J"), pin.getJointJacobian(model, data, last, pin.LOCAL_WORLD_ALIGNED))
        close(value("jacobian_tip", "J"), pin.getJointJacobian(model, data, last, pin.LOCAL))
        close(value("jacobian_rate", "Jd"), pin.getJointJacobianTimeVariation(model, data, last, pin.LOCAL_WORLD_ALIGNED), 10)
        close(value("frame_velocities", "v")[-1], pin.getVelocity(model, data, last, pin.LOCAL_WORLD_ALIGNED).vector, 10)
        a = pin.getClassicalAcceleration(model, data, last, pin.LOCAL_WORLD_ALIGNED).vector
        close(value("frame_accelerations", "a")[-1], a, 100)


@pytest.mark.parametrize("name", TREES)
def test_derivatives_along_the_velocities(name: str) -> None:
    model = TREES[name].model
    data = model.createData()
    for q, qd, qdd in states(TREES[name], 3):
        value = evaluator(name, q, qd, qdd)
        by_q, by_qd, _ = pin.computeRNEADerivatives(model, data, q, qd, qdd)
        close(value("inverse_dynamics_derivatives", "dF_dq"), by_q, 1000)
        close(value("inverse_dynamics_derivatives", "dF_dqd"), by_qd, 1000)


@pytest.mark.parametrize("name", TREES)
def test_configurations(name: str) -> None:
    model = TREES[name].model
    rng = np.random.default_rng(5)
    tools = functions(name)
    close(tools["neutral"].evaluate({})["neutral_q"], pin.neutral(model))
    for scale in (0.0, 1e-9, 1e-4, 1.0, 2.5):
        q, other = (state[0] for state in states(TREES[name], 2))
        v = rng.uniform(-1, 1, model.nv) * scale
        moved = tools["integrate"].evaluate({"q": q, "v": v})["moved"]
        close(moved, pin.integrate(model, q, v))
        back = tools["difference"].evaluate({"q0": q, "q1": moved})["apart"]
        np.testing.assert_allclose(back, pin.difference(model, q, moved), rtol=1e-9, atol=1e-14)
        flipped = pin.difference(model, q, other)
        close(tools["difference"].evaluate({"q0": q, "q1": other})["apart"], flipped)
        rate = tools["configuration_rate"].evaluate({"q": q, "qd": v})["dq"]
        h = 1e-6
        numeric = (pin.integrate(model, q, h * v) - pin.integrate(model, q, -h * v)) / (2 * h)
        np.testing.assert_allclose(rate, numeric, atol=1e-8)
    drawn = tools["random_configuration"].evaluate({"u": rng.uniform(size=model.nq)})["drawn"]
    assert pin.isNormalized(model, drawn, 1e-12)
    assert np.abs(drawn).max() < 3.2
