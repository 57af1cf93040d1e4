"""A compiled model with a floating base and a ball joint: configurations, shapes, and simulation on the manifold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import elastogen

pin = pytest.importorskip("pinocchio")

from pinocchio_trees import Tree, tree  # noqa: E402

from elastogen.runtime.functions.kernel import FEWEST_PER_THREAD  # noqa: E402
from elastogen.runtime.motion.geodesics import geodesics  # noqa: E402

METHODS = {"tsit5": 1e-8, "rk4": 1e-11, "generalized_alpha": 1e-4}


@pytest.fixture(scope="module")
def pair() -> tuple[elastogen.Model, Tree]:
    made = tree(21, ("floating", "revolute", "spherical"), chain=True)
    return elastogen.build_model(made.file), made


def start(model: Any) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(8)
    return pin.integrate(model, pin.neutral(model), rng.uniform(-1, 1, model.nv)), rng.uniform(-1, 1, model.nv)


def test_sizes_and_names(pair: tuple[elastogen.Model, Tree]) -> None:
    model, made = pair
    assert (model.nq, model.nv) == (made.model.nq, made.model.nv) == (12, 10)
    assert len(model.coordinate_names) == 12
    assert len(model.velocity_names) == 10
    assert model.velocity_names[6:] == ("j2", "j3.wx", "j3.wy", "j3.wz")
    q, _v = start(made.model)
    assert model.mass_matrix(q).shape == (10, 10)
    with pytest.raises(elastogen.ModelError, match="shape"):
        model.inverse_dynamics(q, q, q)
    with pytest.raises(elastogen.ModelError, match="shape"):
        model.simulate(q, q, t=1.0)


def test_configurations(pair: tuple[elastogen.Model, Tree]) -> None:
    model, made = pair
    q, v = start(made.model)
    np.testing.assert_allclose(model.integrate(q, v), pin.integrate(made.model, q, v), atol=1e-14)
    np.testing.assert_allclose(model.difference(q, model.integrate(q, v)), v, atol=1e-13)
    np.testing.assert_array_equal(model.neutral(), pin.neutral(made.model))
    drawn = model.random_configuration(4, shape=(50,))
    assert drawn.shape == (50, 12)
    assert all(pin.isNormalized(made.model, row, 1e-12) for row in drawn)
    np.testing.assert_array_equal(drawn, model.random_configuration(4, shape=(50,)))
    assert np.abs(model.integrate(drawn, np.zeros(10)) - drawn).max() < 1e-15


def test_quaternions_are_made_unit(pair: tuple[elastogen.Model, Tree]) -> None:
    model, made = pair
    q, v = start(made.model)
    longer = q.copy()
    longer[3:7] *= 3.0
    np.testing.assert_allclose(model.inverse_dynamics(longer, v, v), model.inverse_dynamics(q, v, v), rtol=1e-13)
    assert abs(longer[3:7] @ longer[3:7] - 9.0) < 1e-12  # the caller's array stays
    with pytest.raises(elastogen.ModelError, match="expected a unit quaternion"):
        model.mass_matrix(0 * q)
    many = np.tile(longer, (2 * FEWEST_PER_THREAD, 1))
    for threads in (1, 2):  # whichever way leads to the C code
        J = model.evaluate("jacobian", q=many, threads=threads)
        np.testing.assert_allclose(J, np.broadcast_to(model.jacobian(q), J.shape), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("method", METHODS)
def test_free_flight(pair: tuple[elastogen.Model, Tree], method: str) -> None:
    """The centre of mass on a parabola, constant spin about it, constant energy, unit quaternions."""
    model, made = pair
    q, v = start(made.model)
    step = None if method == "tsit5" else 2e-3
    run = model.simulate(q, v, t=np.linspace(0, 1.0, 11), method=method, step=step)
    data, tolerance = made.model.createData(), METHODS[method]
    found = []
    for t, row, rates in zip(run.t, run.q, run.qd, strict=True):
        for first in (3, 8):
            assert abs(np.linalg.norm(row[first : first + 4]) - 1) < 1e-14
        pin.ccrba(made.model, data, row, rates)
        energy = pin.computeMechanicalEnergy(made.model, data, row, rates)
        mass = pin.computeTotalMass(made.model)
        fall = pin.centerOfMass(made.model, data, row) - 0.5 * made.model.gravity.linear * t**2
        found.append([*fall, *(data.hg.linear - mass * made.model.gravity.linear * t), *data.hg.angular, energy])
    rows = np.array(found)
    speed = rows[0, 3:6] / mass
    rows[:, :3] -= np.outer(run.t, speed)
    assert np.abs(rows - rows[0]).max() < tolerance * np.abs(rows[0]).max()
    assert np.abs(run.q[-1] - q).max() > 0.5


def test_linearization_about_a_motion(pair: tuple[elastogen.Model, Tree]) -> None:
    """d/dt of a displacement between neighbouring motions: the rate of d integrate(q, h v) / dq at h = 0, by Pinocchio."""
    model, made = pair
    q, v = start(made.model)
    A = model.linearize(q, v, np.zeros(10)).A
    h, weights = 1e-2, {-3: -1, -2: 9, -1: -45, 1: 45, 2: -9, 3: 1}
    rate = sum(weight * pin.dIntegrate(made.model, q, s * h * v)[0] for s, weight in weights.items()) / (60 * h)
    np.testing.assert_allclose(A[:10, :10], rate, atol=1e-11)
    np.testing.assert_array_equal(A[:10, 10:], np.eye(10))
    data = made.model.createData()
    by_q, by_v, _ = pin.computeABADerivatives(made.model, data, q, v, np.zeros(10))
    np.testing.assert_allclose(A[10:], np.hstack([by_q, by_v]), rtol=1e-10, atol=1e-10 * np.abs(by_q).max())


def test_forces_and_what_is_refused(pair: tuple[elastogen.Model, Tree]) -> None:
    model, made = pair
    q, v = start(made.model)
    hold = model.gravity_vector(q)
    run = model.simulate(q, t=1e-3, F=hold, samples=2)
    np.testing.assert_allclose(run.qd[-1], np.zeros(10), atol=1e-9)
    called = model.simulate(q, v, t=0.05, F=lambda t, x, xd: -0.1 * xd, samples=2)
    assert called.kinetic is not None
    assert called.ok
    slope = model.rhs(0.0, [*q, *v])
    np.testing.assert_allclose(slope[12:], model.forward_dynamics(q, v, np.zeros(10)), rtol=1e-12)
    with pytest.raises(elastogen.ModelError, match="floating or spherical"):
        model.simulate(q, t=1.0, F=elastogen.PD(q[:10], 1.0, 1.0))


def test_controllers_on_the_manifold(pair: tuple[elastogen.Model, Tree]) -> None:
    """Computed torque keeps to geodesics, e'' + kd e' + kp e = 0 from e = 0; PD comes to rest in a configuration."""
    model, made = pair
    q, v = start(made.model)
    goal = pin.integrate(made.model, q, 0.3 * v)
    path = geodesics(model, [q, goal], [0.0, 0.5])
    drives = np.ones(10, dtype=bool)
    law = elastogen.ComputedTorque(path, 100.0, 20.0, actuated=drives)
    run = model.simulate(q, t=np.linspace(0, 0.6, 7), F=law, rtol=1e-9, atol=1e-10)
    expected = path.at(run.t)
    apart = [pin.difference(made.model, a, b) for a, b in zip(expected.q, run.q, strict=True)]
    assert np.abs(apart).max() < 1e-7
    np.testing.assert_allclose(run.qd, expected.qd, atol=1e-6)
    longer = goal * [1, 1, 1, 2, 2, 2, 2, 1, 3, 3, 3, 3]  # quaternions are made unit
    held = model.simulate(q, t=6.0, F=elastogen.PD(longer, 30.0, 12.0, actuated=drives), samples=2)
    assert np.abs(pin.difference(made.model, goal, held.q[-1])).max() < 1e-3
    free = model.simulate(q, t=0.1, F=elastogen.PD(goal, 30.0, 8.0), samples=2)
    assert not free.F[:, :6].any()  # nothing drives the base
    assert free.F[:, 6:].any()
