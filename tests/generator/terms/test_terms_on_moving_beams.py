"""Own terms of every kind on robots whose joints slide along beams, or beams through joints: gradients and derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy
from plain_programs import PlainPrograms

import elastogen


def beams(second: str, slide: str) -> elastogen.Robot:
    """A turning beam with a second one that slides on it (Pa) or through its end (Pb)."""
    shared = {"mass_per_length": 0.5, "EI": 20, "elements": 2}
    links = [{"joint": "R", "length": 0.8, **shared}, {"joint": second, "length": 0.6, "gamma": 0.3, "slide": slide, **shared}]
    return elastogen.load({"elastogen": 1, "name": "moving", "planar": {"links": links, "gravity": [0.5, -9.81]}})


def slope(f: Callable[[float], Any]) -> Any:
    """df/dh at zero by differences of sixth order."""
    h = 1e-3
    return sum(w * (f(k * h) - f(-k * h)) for k, w in ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60))) / h


@pytest.mark.parametrize(("second", "slide"), [("Pa", "smooth"), ("Pa", "nodal"), ("Pb", "smooth")])
def test_terms(second: str, slide: str) -> None:
    plain = beams(second, slide)
    s = elastogen.symbols(plain)
    p, v = s.position("tip"), s.velocity("tip")
    robot = (
        plain.with_terms(name="spring", potential=20 * (p.dot(p) + 0.1) ** sympy.Rational(3, 4) + s.rotation("tip")[0, 0])
        .with_terms(name="drag", dissipation=0.3 * (v.dot(v) + 0.01) ** sympy.Rational(3, 2))
        .with_terms(name="push", forces={"joint2": -sympy.tanh(s.velocity_of("joint2")), "tip": sympy.Matrix([1, 2, v[0]])})
    )
    own, without = PlainPrograms(robot), PlainPrograms(plain)
    n = len(plain.coordinates)
    rng = np.random.default_rng(1)
    q = 0.01 * rng.normal(size=n)
    q[plain.coordinate_names.index("joint2")] = 0.27
    qd, qdd = 0.3 * rng.normal(size=(2, n))
    free = np.array([1.0] * n)
    if slide == "nodal":  # coordinates of the element inside the joint are clamped
        free = (without("mass_matrix", q=q) != np.eye(n)).any(axis=0).astype(float)
    q, qd, qdd = q * free, qd * free, qdd * free

    def tip(q: Any) -> Any:
        return without("forward_kinematics", q=q)[-1]

    units = np.diag(free)
    moves = np.array([slope(lambda h, e=e: tip(q + h * e)) for e in units])  # dT/dq
    T = tip(q)
    J, position = moves[:, :3, 3].T, T[:3, 3]
    stored = 30 * (position @ position + 0.1) ** -0.25 * (J.T @ position) + moves[:, 0, 0]
    np.testing.assert_allclose(own("gravity_vector", q=q) - without("gravity_vector", q=q), stored, rtol=1e-9, atol=1e-9)
    velocity = J @ qd
    lost = 0.9 * (velocity @ velocity + 0.01) ** 0.5 * (J.T @ velocity) - J.T @ [1, 2, velocity[0]]
    lost[plain.coordinate_names.index("joint2")] += np.tanh(qd[plain.coordinate_names.index("joint2")])
    difference = own("friction_forces", q=q, qd=qd) - without("friction_forces", q=q, qd=qd)
    np.testing.assert_allclose(difference, lost, rtol=1e-9, atol=1e-9)
    F, plain_F = (programs("inverse_dynamics", q=q, qd=qd, qdd=qdd) for programs in (own, without))
    np.testing.assert_allclose(F - plain_F, stored + lost, rtol=1e-9, atol=1e-9)
    by_q, by_qd, _ = own("inverse_dynamics_derivatives", q=q, qd=qd, qdd=qdd)
    for k, e in enumerate(units):
        if free[k]:
            expected = slope(lambda h, e=e: own("inverse_dynamics", q=q + h * e, qd=qd, qdd=qdd))
            np.testing.assert_allclose(by_q[:, k], expected, rtol=1e-8, atol=1e-7)
            expected = slope(lambda h, e=e: own("inverse_dynamics", q=q, qd=qd + h * e, qdd=qdd))
            np.testing.assert_allclose(by_qd[:, k], expected, rtol=1e-8, atol=1e-8)
