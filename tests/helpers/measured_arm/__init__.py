"""An arm of two links with friction, and runs that were measured on it: forces with noise."""

from __future__ import annotations

import numpy as np

import elastogen

ARM = """\
elastogen: 1
name: arm
gravity: [0, 0, -9.81]
links:
  - {name: base}
  - {name: upper, mass: 3.0, com: [0.2, 0.02, 0.01], inertia: [0.02, 0.06, 0.07]}
  - {name: lower, mass: 2.0, com: [0.15, -0.01, 0.03], inertia: [0.012, 0.05, 0.05]}
joints:
  - {name: shoulder, type: revolute, axis: [0, 1, 0], friction: {viscous: 0.8, coulomb: 1.1}, motor: {inertia: 0.1}}
  - {name: elbow, type: revolute, axis: [0, 1, 0], placement: {xyz: [0.4, 0, 0]},
     friction: {viscous: 0.2, coulomb: 0.6}, motor: {inertia: 0.02}}
"""


def moved(t, seed):
    rng = np.random.default_rng(seed)
    w = 2 * np.pi * np.arange(1, 6) / 10.0
    a, b = rng.normal(size=(2, 5, 2)) * 0.35 / np.arange(1, 6)[:, None] ** 0.5
    s, c = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    return s @ a + c @ b, (c * w) @ a - (s * w) @ b, -(s * w**2) @ a - (c * w**2) @ b


def measured(text, seed=0, noise=0.02):
    model = elastogen.build_model(elastogen.load(content(text)), outputs=["inverse_dynamics"])
    t = np.arange(0, 20, 0.01)
    q, qd, qdd = moved(t, seed)
    F = model.inverse_dynamics(q, qd, qdd)
    F = F + noise * F.std(axis=0) * np.random.default_rng(seed + 100).standard_normal(F.shape)
    return {"time": t, "q": q, "qd": qd, "qdd": qdd, "F": F}


def content(text):
    from ruamel.yaml import YAML

    return YAML(typ="safe").load(text)
