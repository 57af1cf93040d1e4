"""Gains over the workspace: the table against SciPy's interpolation, and a motion against an integration of its own."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate
from scipy.interpolate import RegularGridInterpolator

import elastogen
from elastogen.control import ScheduledFeedback, lqr, scheduled_lqr
from elastogen.runtime.loop.loop import Loop
from elastogen.runtime.loop.plants import Simulated

KNOTS = ([-1.0, 0.0, 0.4, 1.5], [-2.0, 0.5, 2.0])


def interpolated(K, q):
    """The table at q, its ends held."""
    inside = [np.clip(x, row[0], row[-1]) for x, row in zip(q, KNOTS, strict=True)]
    return RegularGridInterpolator(KNOTS, K)(inside)[0]


@pytest.mark.parametrize("precision", ["double", "float"])
def test_the_table_is_interpolated_and_its_ends_are_held(precision: str, cache_dir) -> None:
    library = elastogen.build_loop("two_link", precision=precision)
    rng = np.random.default_rng(2)
    K = rng.uniform(-9.0, 9.0, (4, 3, 2, 4))
    law = ScheduledFeedback(K=K, coordinates=("shoulder", "elbow"), knots=KNOTS, feedforward=False)
    places = [*rng.uniform([-1, -2], [1.5, 2], (6, 2)), (-3.0, 0.1), (0.2, 3.0), (0.4, 0.5), (1.5, -2.0), (0.0, 2.0)]
    for q in places:
        loop = Loop(library, controller=law, plant=Simulated(q, [0.3, -0.2]))
        loop.set_reference([0.1, 0.2], seconds=0.0)
        loop.step()
        expected = -interpolated(K, q) @ [q[0] - 0.1, q[1] - 0.2, 0.3, -0.2]
        tolerance = 1e-12 if precision == "double" else 1e-4
        np.testing.assert_allclose(loop.read()["F"][0], expected, rtol=tolerance, atol=tolerance)


def test_a_motion_is_that_of_an_integration_of_its_own(cache_dir) -> None:
    """solve_ivp from sample to sample with the gains of SciPy; one axis of one knot is state feedback."""
    model = elastogen.build_model("two_link")
    law = scheduled_lqr(model, ["shoulder", "elbow"], KNOTS, lambda q: (np.diag([900.0, 900.0, 9.0, 9.0]), np.eye(2)))
    assert np.ptp(np.asarray(law.K), axis=(0, 1)).max() > 0.5  # they do differ
    plant = Simulated([0.3, 1.0])
    loop = model.loop(controller=law, plant=plant, rate=500.0)
    goal = np.array([-0.2, 0.2])
    loop.set_reference(goal)
    q, qd = np.array([0.3, 1.0]), np.zeros(2)
    zero = np.zeros(2)
    for _ in range(60):
        assert loop.step(), loop.status
        F = model.inverse_dynamics(goal, zero, zero) - interpolated(np.asarray(law.K), q) @ np.concatenate([q - goal, qd])
        np.testing.assert_allclose(loop.read()["F"][-1], F, rtol=1e-5, atol=1e-5)

        def rates(_, x, F=F):
            return np.concatenate([x[2:], model.forward_dynamics(x[:2], x[2:], F)])

        done = integrate.solve_ivp(rates, (0.0, 0.002), np.concatenate([q, qd]), rtol=1e-10, atol=1e-12).y[:, -1]
        q, qd = done[:2], done[2:]
    loop.step(1000)
    np.testing.assert_allclose(plant.q, goal, atol=2e-3)  # on its way still
    linear = model.linearize(goal, zero, model.inverse_dynamics(goal, zero, zero))
    one = scheduled_lqr(model, ["elbow"], [[0.2]], lambda q: (np.eye(4), np.eye(2)), goal)
    np.testing.assert_allclose(np.asarray(one.K)[0], lqr(linear.A, linear.B, np.eye(4), np.eye(2)))


def test_wrong_schedules_are_named(library) -> None:
    K = np.zeros((2, 2, 4))
    for changed, message in [
        ({"K": None}, "without K"),
        ({"K": np.zeros((3, 2, 4))}, "K has shape"),
        ({"coordinates": ("elbw",)}, "elbow"),
        ({"coordinates": ()}, "1 to 3"),
        ({"knots": ([0.0, 0.0],)}, "increasing"),
        ({"knots": ([0.0, 1.0], [0.0])}, "knots"),
    ]:
        law = ScheduledFeedback(**{"K": K, "coordinates": ("elbow",), "knots": ([0.0, 1.0],), **changed})
        with pytest.raises(elastogen.ModelError, match=message):
            Loop(library, controller=law)
