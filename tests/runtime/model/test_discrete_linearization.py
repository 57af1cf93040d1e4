"""The step of the linearized robot, in Python and in C, against scipy's exponential of a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from loop_setup import BENDER
from scipy.linalg import expm

import elastogen
from elastogen.runtime.functions.linear_analysis import held_step


def by_expm(A: np.ndarray, B: np.ndarray, dt: float) -> tuple[np.ndarray, np.ndarray]:
    n, m = B.shape
    whole = np.zeros((n + m, n + m))
    whole[:n, :n], whole[:n, n:] = A, B
    step = expm(whole * dt)
    return step[:n, :n], step[:n, n:]


@pytest.fixture(scope="module")
def free(cache_dir) -> elastogen.Model:
    """A floating hub with a hinge: quaternions."""
    hub, rod = ({"name": name, "mass": 2, "com": [0.2, 0, 0], "inertia": [0.1, 0.2, 0.3]} for name in ("hub", "rod"))
    joints = [{"name": "hinge", "type": "revolute"}]
    robot = {"elastogen": 1, "name": "hinged", "base": "floating", "links": [hub, rod], "joints": joints}
    return elastogen.build_model(robot, outputs=["forward_dynamics_derivatives", "integrate", "difference"])


@pytest.mark.parametrize("name", ["two_link", "bender", "free"])
@pytest.mark.parametrize("dt", [1e-4, 1e-3, 0.05])
def test_it_is_the_exponential(name: str, dt: float, rng, request) -> None:
    """About motions, too; to 1e-12 of the largest entry."""
    model = request.getfixturevalue(name)
    q = np.asarray(model.integrate(model.neutral(), 0.3 * rng.standard_normal(model.nv)))
    qd, F = rng.standard_normal(model.nv), np.zeros(model.nv)
    F[list(model.driven)] = rng.standard_normal(len(model.driven))
    found = model.discrete_linearization(q, qd, F, dt)
    lin = model.linearize(q, qd, F)
    A, B = by_expm(lin.A, lin.B, dt)
    np.testing.assert_allclose(found.A, A, rtol=0, atol=1e-12 * np.abs(A).max())
    np.testing.assert_allclose(found.B, B, rtol=0, atol=1e-12 * np.abs(B).max())
    assert (found.dt, found.driven) == (dt, tuple(model.driven))
    A_d, _ = found
    assert A_d is found.A


@pytest.mark.parametrize("dt", [1e-3, 0.05])
def test_stiff_links_are_as_exact(dt: float) -> None:
    """Frequencies from 1 to 3000 rad/s: without balancing 5e-10 of the largest entry."""
    w, mix = np.array([1.0, 40.0, 700.0, 3000.0]), np.linalg.qr(np.vander([1.0, 2.0, 3.0, 5.0]))[0]
    A, B = np.zeros((8, 8)), np.zeros((8, 1))
    A[:4, 4:], A[4:, :4], A[4:, 4:] = np.eye(4), -mix.T @ np.diag(w**2) @ mix, -mix.T @ np.diag(0.02 * w) @ mix
    B[4:, 0] = [1.0, -2.0, 100.0, 3.0]
    for found, expected in zip(held_step(A, B, dt), by_expm(A, B, dt), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    both = held_step(np.array([A, 0 * A]), np.array([B, B]), dt)
    np.testing.assert_allclose(both[0][1], np.eye(8), rtol=0, atol=1e-13)
    np.testing.assert_allclose(both[1][1], dt * B, rtol=1e-13, atol=0)


def spatial_linkage() -> dict[str, Any]:
    """A crank and a rocker, and between them a rod on two ball joints, which also spins about itself."""
    shape = {"mass": 1.5, "com": [0.2, 0.03, -0.01], "inertia": [0.02, 0.05, 0.06]}
    return {
        "elastogen": 1,
        "name": "linkage",
        "links": [{"name": name, **shape} for name in ("crank", "rod", "rocker")],
        "joints": [
            {"name": "drive", "type": "revolute", "axis": [0, 0, 1], "parent": "base", "child": "crank"},
            {"name": "ball", "type": "spherical", "parent": "crank", "child": "rod", "placement": {"xyz": [0.3, 0, 0]}},
            {"name": "swing", "type": "revolute", "axis": [0, 1, 0.3], "parent": "base", "child": "rocker",
             "placement": {"xyz": [0.9, 0.5, 0.2]}},
        ],
        "loops": [
            {"name": "pin", "type": "spherical", "a": {"link": "rod", "xyz": [0.8, 0, 0]},
             "b": {"link": "rocker", "xyz": [0.4, 0, 0]}},
        ],
    }  # fmt: skip


def test_mechanisms_with_ball_joints_about_motions(cache_dir) -> None:
    """Against states beside the motion that keep the loop closed, which the robot moves on from; batches, too."""
    outputs = ["forward_dynamics", "forward_dynamics_derivatives", "loop_residual", "loop_jacobian", "loop_bias"]
    model = elastogen.build_model(spatial_linkage(), outputs=[*outputs, "integrate", "difference"])
    rng = np.random.default_rng(3)
    q = model.close_loops(model.neutral())
    _, sizes, V = np.linalg.svd(model.loop_jacobian(q))
    qd = V[len(sizes) :].T @ rng.standard_normal(model.nv - len(sizes))
    F = np.zeros(model.nv)
    F[list(model.driven)] = 2.0
    found = model.linearize(q, qd, F)
    assert found.coordinates is not None
    inside, count = list(found.coordinates), len(found.coordinates)
    others = [k for k in range(model.nv) if k not in inside]

    def beside(x):
        """The state with these independent displacements and velocities more."""
        way = np.zeros(model.nv)
        way[inside] = x[:count]
        for _ in range(8):
            place = model.integrate(q, way)
            J = model.loop_jacobian(place)
            way[others] -= np.linalg.solve(J[:, others], model.evaluate("loop_residual", q=place))
        v = qd.copy()
        v[inside] += x[count:]
        v[others] = -np.linalg.solve(J[:, others], J[:, inside] @ v[inside])
        return model.integrate(q, way), v

    def after(q, v, dt):
        a = model.forward_dynamics(q, v, F)
        middle = model.forward_dynamics(model.integrate(q, dt / 2 * v), v + dt / 2 * a, F)
        return model.integrate(q, dt * (v + dt / 2 * a)), v + dt * middle

    def rate(dt):
        first, columns = after(q, qd, dt), []
        for x in 1e-5 * np.eye(2 * count):
            ends = [after(*beside(sign * x), dt) for sign in (1, -1)]
            pair = [np.concatenate([model.difference(first[0], e)[inside], v[inside]]) for e, v in ends]
            columns.append((pair[0] - pair[1]) / 2e-5)
        return (np.array(columns).T - np.eye(2 * count)) / dt

    h = 4e-4
    A = (8 * rate(h / 4) - 6 * rate(h / 2) + rate(h)) / 3
    np.testing.assert_allclose(found.A, A, rtol=0, atol=2e-6 * np.abs(A).max())
    batch = model.discrete_linearization(np.array([q, q]), np.array([qd, 0 * qd]), F, 0.01)
    expected = by_expm(found.A, found.B, 0.01)
    for one, other in zip(batch, expected, strict=True):
        np.testing.assert_allclose(one[0], other, rtol=0, atol=1e-12 * np.abs(other).max())


def test_batches_have_their_axes(two_link, rng) -> None:
    q, qd, F = rng.standard_normal((3, 4, 5, 2))
    found = two_link.discrete_linearization(q, qd, F, 0.01)
    assert (found.A.shape, found.B.shape) == ((4, 5, 4, 4), (4, 5, 4, 2))
    one = two_link.discrete_linearization(q[2, 3], qd[2, 3], F[2, 3], 0.01)
    np.testing.assert_allclose(found.A[2, 3], one.A, rtol=1e-12, atol=1e-14)


def test_it_is_what_the_robot_does(two_link) -> None:
    """Small deviations from rest, simulated: the error falls with their square."""
    q, zero, dt = np.array([0.3, -0.4]), np.zeros(2), 0.05
    F = two_link.gravity_vector(q)
    A, B = two_link.discrete_linearization(q, zero, F, dt)
    errors = []
    for size in (1e-2, 1e-3):
        x, u = size * np.array([1.0, -2.0, 3.0, 1.0]), size * np.array([4.0, -1.0])
        state = np.concatenate([q + x[:2], x[2:]])
        for _ in range(200):  # Runge-Kutta, forces held
            h = dt / 200
            stages = []
            for reach in (0.0, 0.5, 0.5, 1.0):
                y = state + reach * h * (stages[-1] if stages else 0.0)
                stages.append(np.concatenate([y[2:], two_link.forward_dynamics(y[:2], y[2:], F + u)]))
            state = state + h / 6 * (stages[0] + 2 * stages[1] + 2 * stages[2] + stages[3])
        errors.append(np.abs(state - np.concatenate([q, zero]) - A @ x - B @ u).max())
    assert errors[1] < 0.02 * errors[0]


@pytest.mark.parametrize("dt", [0, -1e-3, np.nan, np.inf, "x", None, [1e-3]])
def test_wrong_steps_are_named(two_link, dt) -> None:
    with pytest.raises(elastogen.ModelError, match="discrete_linearization: dt"):
        two_link.discrete_linearization([0, 0], [0, 0], [0, 0], dt)


def test_a_state_without_numbers_and_a_step_beyond_all_digits_are_named(two_link) -> None:
    """At rest two_link has no stiffness here: A_d grows as dt only. A thousand squarings had made zeros of it."""
    with pytest.raises(elastogen.ModelError, match="no numbers about this state, expected finite q"):
        two_link.discrete_linearization([np.nan, 0], [0, 0], [0, 0], 1e-3)
    with pytest.raises(elastogen.ModelError, match="beyond their digits"):
        two_link.discrete_linearization([0, 0], [0, 0], [0, 0], 1e300)
    A, _ = two_link.discrete_linearization([0, 0], [0, 0], [0, 0], 1e6)
    np.testing.assert_allclose(A, np.block([[np.eye(2), 1e6 * np.eye(2)], [np.zeros((2, 2)), np.eye(2)]]), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("precision", ["double", "float"])
def test_c_does_the_same(precision: str, cache_dir, rng) -> None:
    library = elastogen.build_loop(BENDER, precision=precision)
    ffi, lib, n = library.ffi, library.lib, library.model.nv
    real = np.dtype("f8" if precision == "double" else "f4")
    discrete = ffi.new("eg_loop_discrete_t *")
    for dt, stiff in ((1e-4, 20), (1e-2, 20), (0.3, 20), (1e-3, 1e6)):
        A, B = rng.standard_normal((2 * n, 2 * n)).astype(real), rng.standard_normal((2 * n, n)).astype(real)
        A[n:] *= 20
        if stiff > 20:  # a link's frequencies up to 2000 rad/s
            A[n:, :n] = -stiff * np.diag(np.arange(1, n + 1))
            A[:n, :n], A[:n, n:] = 0, np.eye(n)
        pointers = [ffi.cast(f"eg_real_t (*)[{m.shape[1]}]", ffi.from_buffer(m)) for m in (A, B)]
        assert lib.eg_loop_discretize(discrete, *pointers, dt) == 0
        step = np.frombuffer(ffi.buffer(discrete.step), real).reshape(2 * n, 3 * n)
        expected = np.hstack(by_expm(A.astype(float), B.astype(float), float(real.type(dt))))
        tolerance = (1e-12 if precision == "double" else 2e-4) * np.abs(expected).max()
        np.testing.assert_allclose(step, expected, rtol=0, atol=tolerance)
    assert lib.eg_loop_discretize(discrete, *pointers, 1e6) != 0
    A[:] = 0
    A[:n, n:] = np.eye(n)  # nothing but its digits limits the step
    pointers = [ffi.cast(f"eg_real_t (*)[{m.shape[1]}]", ffi.from_buffer(m)) for m in (A, B)]
    assert [lib.eg_loop_discretize(discrete, *pointers, dt) != 0 for dt in (1e2, 1e15)] == [False, True]
