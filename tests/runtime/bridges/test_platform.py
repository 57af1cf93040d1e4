"""The platform on six legs through bridges, from a closed configuration: values, and derivatives along closed motions."""

from __future__ import annotations

import numpy as np
import pytest

import elastogen

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def moving() -> tuple[elastogen.Model, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The model, a state in which the loops are closed, forces of the drives, and the closed velocities for theirs."""
    model, rng = elastogen.build_model("six_leg_platform"), np.random.default_rng(0)
    q = model.close_loops(model.neutral())
    q = model.close_loops(model.integrate(q, np.asarray(model.driven_map(q)) @ (0.02 * rng.standard_normal(6))))
    G, F = np.asarray(model.driven_map(q)), np.zeros(model.nv)
    F[list(model.driven)] = rng.uniform(-5, 5, 6)
    return model, q, G @ (0.3 * rng.standard_normal(6)), F, G


def test_crocoddyl(moving) -> None:
    pytest.importorskip("crocoddyl", reason="Crocoddyl is not installed: make bridges")
    model, q, qd, F, G = moving
    action, state = model.to_crocoddyl(dt=None), np.concatenate([q, qd])
    data, u = action.createData(), F[list(model.driven)]
    action.calc(data, state, u)
    action.calcDiff(data, state, u)
    assert np.allclose(data.xout, model.forward_dynamics(q, qd, F), rtol=1e-12, atol=1e-12)
    rng, h = np.random.default_rng(1), 1e-5
    for _ in range(3):
        along, faster = G @ (0.3 * rng.standard_normal(6)), 0.3 * rng.standard_normal(model.nv)

        def ahead(s: float, along: np.ndarray = along, faster: np.ndarray = faster) -> np.ndarray:
            return np.asarray(model.forward_dynamics(model.integrate(q, s * along), qd + s * faster, F))

        difference = (8 * (ahead(h) - ahead(-h)) - (ahead(2 * h) - ahead(-2 * h))) / (12 * h)
        found = data.Fx @ np.concatenate([along, faster])
        assert np.abs(found - difference).max() < 1e-8 * np.abs(difference).max()


def test_gymnasium(moving) -> None:
    pytest.importorskip("gymnasium", reason="Gymnasium is not installed: make bridges")
    model, q, *_ = moving
    env = model.to_gymnasium(dt=0.005, start=q)
    start, _ = env.reset(seed=0)
    assert np.abs(model.evaluate("loop_residual", q=start[: model.nq])).max() < 1e-9
    action = 0.05 * env.action_space.sample()
    seen, *_ = env.step(action)
    F = np.zeros(model.nv)
    F[list(model.driven)] = action
    motion = model.simulate(start[: model.nq], start[model.nq :], t=[0, 0.005], F=F, method="rk4", step=0.005)
    assert np.allclose(seen, np.concatenate([motion.q[-1], motion.qd[-1]]), rtol=1e-9, atol=1e-9)


def test_casadi(moving) -> None:
    """What all six legs and the platform store, by q: of the tree, so that any direction counts."""
    ca = pytest.importorskip("casadi", reason="CasADi is not installed: make bridges")
    model, q, qd, *_ = moving
    energy, x, v = model.to_casadi("kinetic_energy"), ca.MX.sym("q", model.nq), ca.MX.sym("v", model.nv)
    value = energy(x, v)
    momentum = ca.Function("p", [x, v], [value, ca.gradient(value, v), ca.hessian(value, v)[0]])
    found = [np.array(each) for each in momentum(q, qd)]
    M = np.asarray(model.mass_matrix(q))
    assert found[0].item() == pytest.approx(model.kinetic_energy(q, qd), rel=1e-13)
    assert np.allclose(found[1].ravel(), M @ qd, rtol=1e-11, atol=1e-12)
    assert np.allclose(found[2], M, rtol=1e-11, atol=1e-12)
