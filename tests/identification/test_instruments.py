"""Instrumental variables by the simulated robot: noise of positions biases least squares, and these less."""

from __future__ import annotations

import numpy as np
import pytest

import elastogen

pytest.importorskip("scipy")


def noisy(seed, noise):
    """A run of two_link with noise of positions only, sampled at 200 Hz."""
    model = elastogen.build_model("two_link", outputs=["inverse_dynamics"])
    t = np.arange(0, 20, 0.005)
    q, qd, qdd = (np.zeros((len(t), 2)) for _ in range(3))
    rng = np.random.default_rng(3)
    for k in range(2):
        for w in (1.3, 3.1, 6.7, 9.9):
            a, p = 0.5 * rng.uniform(0.5, 1) / w, rng.uniform(0, 6)
            q[:, k] += a * np.sin(w * t + p)
            qd[:, k] += a * w * np.cos(w * t + p)
            qdd[:, k] -= a * w * w * np.sin(w * t + p)
    F = model.inverse_dynamics(q, qd, qdd) + 1.5 * qd
    return {"time": t, "q": q + noise * np.random.default_rng(seed).normal(size=q.shape), "F": F}


def test_instruments_take_the_bias_away():
    how = {"parameters": ["inertia", "viscous"], "cutoff": 20.0, "prior": 5.0}
    errors = {"least_squares": [], "instrumental": []}
    true = elastogen.build_model("two_link", outputs=["mass_matrix"])
    q = np.array([0.3, 0.8])
    for method, found in errors.items():
        result = elastogen.identify("two_link", noisy(1, 2e-3), method=method, **how)
        M = elastogen.build_model(result.robot, outputs=["mass_matrix"]).mass_matrix(q)
        found.append(np.abs(M / true.mass_matrix(q) - 1).max())
    assert errors["least_squares"][0] > 0.03  # what noise of the accelerations does
    assert errors["instrumental"][0] < 0.4 * errors["least_squares"][0]


def test_without_noise_both_are_the_same():
    how = {"parameters": ["viscous"], "cutoff": 20.0}
    values = [
        elastogen.identify("two_link", noisy(0, 0.0), method=method, **how)["joints.elbow.friction.viscous"].value
        for method in ("least_squares", "instrumental")
    ]
    assert values == pytest.approx([1.5, 1.5], rel=1e-3)


def test_what_is_wrong_is_said():
    with pytest.raises(elastogen.ElastogenError, match="instrumental"):
        elastogen.identify("two_link", noisy(0, 0.0), method="iv")
    with pytest.raises(elastogen.ElastogenError, match="consistent"):
        elastogen.identify("two_link", noisy(0, 0.0), method="instrumental", consistent=False)
