"""Ready-made laws as own functions of a robot: each adds one function, which is emitted as C and runs in loop and simulation.

    robot = elastogen.laws.cartesian_impedance(robot, stiffness=[400, 400], damping=[40, 40], axes="xy")
    model.loop(controller="cartesian_impedance")

They chain: a law whose ``output`` is "F_raw" can go through :func:`notch`, which gives F.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy
from numpy.typing import ArrayLike

from elastogen.generator.description.symbols import symbols
from elastogen.generator.robot.robot import Robot
from elastogen.runtime import real_numbers
from elastogen.runtime.errors import ModelError

AXES = "xyz"


def cartesian_impedance(
    robot: Robot,
    stiffness: ArrayLike,
    damping: ArrayLike,
    *,
    axes: str = AXES,
    posture_stiffness: ArrayLike = 0.0,
    posture_damping: ArrayLike = 0.0,
    regular: float = 1e-6,
    name: str = "cartesian_impedance",
    output: str = "F",
) -> Robot:
    """A spring and a damper between the tip and the tip of the reference, and a posture that the tip does not feel.

    F = G(q) + J^T (K (x(q_ref) - x(q)) - D J qd) + N (kn (q_ref - q) - dn qd),   N = 1 - J^T L J M^-1,
    L = (J M^-1 J^T + regular)^-1: torques N t accelerate the tip by no more than ``regular`` [1/kg] allows. ``stiffness`` [N/m]
    and ``damping`` [N s/m] are numbers or one for each of ``axes`` (of the base frame), those of the posture [N m/rad],
    [N m s/rad] numbers or one for each coordinate. For robots without quaternions.
    """
    what = "cartesian_impedance"
    _plain(robot, what)
    rows = _axes(axes, what)
    s = symbols(robot)
    n = len(s.q)
    K, D = (_diagonal(what, key, value, len(rows)) for key, value in (("stiffness", stiffness), ("damping", damping)))
    posture = {"posture_stiffness": posture_stiffness, "posture_damping": posture_damping}
    kn, dn = (_diagonal(what, key, value, n) for key, value in posture.items())
    if not real_numbers.number(f"{what}: regular", regular) > 0.0:
        raise ModelError(f"{what}: regular={regular!r}, expected a number above 0 [1/kg].")
    q_ref = s.input("q_ref", n)
    J = s.f.jacobian(s.q).extract(rows, list(range(n)))
    x, goal = (sympy.Matrix(s.f.forward_kinematics(q)[-1][:3, 3]).extract(rows, [0]) for q in (s.q, q_ref))
    F = s.f.gravity_vector(s.q) + J.T * (K * (goal - x) - D * J * s.qd)
    if any(kn) or any(dn):
        torque = kn * (q_ref - s.q) - dn * s.qd
        M = s.f.mass_matrix(s.q)
        mobility = J * s.f.solve(M, J.T) + sympy.Float(regular) * sympy.eye(len(rows))
        F += torque - J.T * s.f.solve(mobility, J * s.f.solve(M, torque))
    doc = f"Cartesian impedance of the tip along {axes}, with a posture behind it."
    return robot.with_function(name, inputs={"q_ref": n}, outputs={output: F}, doc=doc)


def pi_law(
    robot: Robot,
    kp: ArrayLike,
    ki: ArrayLike,
    kd: ArrayLike = 0.0,
    *,
    leak: float = 0.0,
    name: str = "pi_law",
    output: str = "F",
) -> Robot:
    """Proportional, integral and derivative action on every driven joint, with gravity compensation.

    F = G(q) + kp e + ki z + kd (qd_ref - qd),   z' = e - leak z,   e = q_ref - q: ``kp`` [N m/rad], ``ki`` [N m/(rad s)],
    ``kd`` [N m s/rad] are numbers or one for each coordinate; ``leak`` [1/s] lets the integral forget. For robots without
    quaternions.
    """
    what = "pi_law"
    _plain(robot, what)
    s = symbols(robot)
    n = len(s.q)
    driven = sympy.diag(*(int(velocity.driven) for velocity in robot.velocities))
    P, integral, D = (driven * _diagonal(what, key, value, n) for key, value in (("kp", kp), ("ki", ki), ("kd", kd)))
    if real_numbers.number(f"{what}: leak", leak) < 0.0:
        raise ModelError(f"{what}: leak={leak!r}, expected a number from 0 [1/s].")
    q_ref, qd_ref, z = (s.input(key, n) for key in ("q_ref", "qd_ref", "z"))
    e = driven * (q_ref - s.q)
    F = s.f.gravity_vector(s.q) + P * e + integral * z + D * (qd_ref - s.qd)
    outputs = {output: F, "z_rate": e - sympy.Float(leak) * z}
    return robot.with_function(
        name, inputs={"q_ref": n, "qd_ref": n}, states={"z": n}, outputs=outputs, doc="PID with gravity compensation."
    )


def notch(
    robot: Robot,
    hertz: float,
    rate: float,
    *,
    width: float = 0.5,
    signal: str = "F_raw",
    name: str = "notch",
    output: str = "F",
) -> Robot:
    """A notch filter of the forces ``signal`` of the function before it: what vibrates at ``hertz`` does not pass.

    (s^2 + w^2) / (s^2 + width w s + w^2) at ``rate`` [Hz] by the bilinear transformation that keeps w exact: the frequency
    itself is blocked, at rest everything passes. States in the transposed direct form, two for each coordinate.
    """
    what = "notch"
    f, fs, b = (real_numbers.number(f"{what}: {key}", v) for key, v in (("hertz", hertz), ("rate", rate), ("width", width)))
    if not 0.0 < f < 0.5 * fs or b <= 0.0:
        raise ModelError(
            f"{what}: hertz={hertz!r}, rate={rate!r}, width={width!r}, expected 0 < hertz < rate / 2 and a width above 0."
        )
    n = len(robot.velocities)
    s = symbols(robot)
    u, z1, z2 = (s.input(key, n) for key in (signal, "z1", "z2"))
    t = np.tan(np.pi * f / fs)
    whole = 1.0 + b * t + t * t
    numbers = ((1 + t * t) / whole, 2 * (t * t - 1) / whole, (1 - b * t + t * t) / whole)
    b0, b1, a2 = (sympy.Float(float(value)) for value in numbers)
    y = b0 * u + z1
    outputs = {output: y, "z1_next": b1 * u - b1 * y + z2, "z2_next": b0 * u - a2 * y}
    doc = f"Notch filter at {f:g} Hz for a loop of {fs:g} Hz."
    return robot.with_function(name, inputs={signal: n}, states={"z1": n, "z2": n}, outputs=outputs, doc=doc)


def _plain(robot: Robot, what: str) -> None:
    if robot.has_quasi_velocities:
        raise ModelError(f"{what}: {robot.name} has quaternions, expected joints of one number each.")


def _axes(axes: str, what: str) -> list[int]:
    if not isinstance(axes, str) or not axes or len(set(axes)) < len(axes) or not set(axes) <= set(AXES):
        raise ModelError(f"{what}: axes={axes!r}, expected some of x, y and z, for example 'xy'.")
    return [AXES.index(axis) for axis in axes]


def _diagonal(what: str, key: str, given: Any, size: int) -> sympy.Matrix:
    values = real_numbers.finite(f"{what}: {key}", given)
    if values.shape not in ((), (size,)) or (values < 0.0).any():
        raise ModelError(f"{what}: {key}={given!r}, expected one or {size} numbers from 0.")
    return sympy.diag(*(sympy.Float(float(value)) for value in np.broadcast_to(values, (size,))))
