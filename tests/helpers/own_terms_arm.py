"""two_link with terms of its own, and the same terms on paper."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy

import elastogen
from elastogen.generator.robot.robot import Robot

ANCHOR = np.array([0.3, 1.4])  # [m] of the spring, in the plane x, y
K, L0, C, FC, FS, VS, A, W = 80.0, 0.4, 0.7, 2.0, 3.5, 0.2, 1.5, 3.0


def arm() -> Robot:
    """two_link with a spring to the elbow, drag on the tip, Stribeck friction, a cable and a shaken shoulder."""
    robot = elastogen.load("two_link", live=["m2"])
    s = elastogen.symbols(robot)
    k, c = sympy.Symbol("k"), sympy.Symbol("c")  # not real on purpose: the name is what counts
    x, y, _ = s.position("lower")
    length = sympy.sqrt((x - ANCHOR[0]) ** 2 + (y - ANCHOR[1]) ** 2)
    robot = robot.with_terms(name="balance", potential=k / 2 * (length - L0) ** 2, parameters={"k": K}, live=["k"])
    speed = sympy.sqrt(s.velocity("tip").dot(s.velocity("tip")) + sympy.Rational(1, 10**6))
    robot = robot.with_terms(name="drag", dissipation=c / 3 * speed**3, parameters={"c": C})
    rate = s.velocity_of("elbow")
    stribeck = (FC + (FS - FC) * sympy.exp(-((rate / VS) ** 2))) * sympy.tanh(rate / 0.05)
    robot = robot.with_terms(name="stribeck", forces={"elbow": -stribeck})
    return robot.with_terms(
        name="shaken", forces={"shoulder": A * sympy.sin(W * s.t), "tip": sympy.Matrix([s.coordinate("elbow"), 2, 0])}
    )


def by_hand(q: Any, qd: Any, t: float) -> tuple[Any, Any, Any]:
    """V, dV/dq and dR/dqd - Q on paper."""
    s1, c1, s12, c12 = np.sin(q[0]), np.cos(q[0]), np.sin(q[0] + q[1]), np.cos(q[0] + q[1])
    p, J1 = np.array([c1, s1]), np.array([[-s1, 0.0], [c1, 0.0]])
    J = J1 + np.array([[-s12, -s12], [c12, c12]])
    length = np.linalg.norm(p - ANCHOR)
    v = J @ qd
    drag = C * np.sqrt(v @ v + 1e-6) * v
    friction = (FC + (FS - FC) * np.exp(-((qd[1] / VS) ** 2))) * np.tanh(qd[1] / 0.05)
    spring = J1.T @ (K * (length - L0) / length * (p - ANCHOR))
    other = J.T @ drag + np.array([-A * np.sin(W * t), friction]) - J.T @ np.array([q[1], 2.0])
    return K / 2 * (length - L0) ** 2, spring, other
