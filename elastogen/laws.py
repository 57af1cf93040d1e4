"""Ready-made laws as own functions of a robot: each adds one function, which is emitted as C and runs in loop and simulation.

    robot = elastogen.laws.cartesian_impedance(robot, stiffness=[400, 400], damping=[40, 40], axes="xy")
    model.loop(controller="cartesian_impedance")

They chain: a law whose ``output`` is "F_raw" can go through :func:`notch`, which gives F.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy
from numpy.typing import ArrayLike

from elastogen.generator.description.symbols import symbols
from elastogen.generator.robot.robot import Robot
from elastogen.runtime import real_numbers
from elastogen.runtime.errors import ModelError
from elastogen.runtime.functions.linear_analysis import held_step
from elastogen.runtime.interface.error import shortened

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


def admittance(
    robot: Robot,
    mass: ArrayLike,
    damping: ArrayLike,
    stiffness: ArrayLike,
    rate: float,
    *,
    axes: str = AXES,
    bandwidth: float = 60.0,
    posture_stiffness: ArrayLike = 0.0,
    posture_damping: ArrayLike = 0.0,
    regular: float = 1e-6,
    signal: str = "F_ext",
    name: str = "admittance",
    output: str = "F",
) -> Robot:
    """The tip yields to forces like a mass with damper and spring; the posture of the arm does not move it.

    m d'' + c d' + k d = f along each of ``axes`` (of the base frame), exact from sample to sample at ``rate`` [Hz], and

    F = h(q, qd) - tau + J^T L (x_d'' + 2 w (x_d' - x') + w^2 (x_d - x) - J' qd) + N (kn (q_ref - q) - dn qd),

    x_d = x(q_ref) + d, h = inverse dynamics without acceleration, L = (J M^-1 J^T + regular)^-1, N = 1 - J^T L J M^-1, w =
    ``bandwidth`` [rad/s]. tau are the joint forces ``signal`` of a function before it in the chain, for example of
    :func:`disturbance_observer`, and f = L J M^-1 tau is what they are at the tip. ``mass`` [kg], ``damping`` [N s/m] and
    ``stiffness`` [N/m] are numbers or one for each axis. For robots without quaternions whose coordinates all have drives.
    """
    what = "admittance"
    _plain(robot, what)
    if not all(velocity.driven for velocity in robot.velocities):
        raise ModelError(f"{what}: {robot.name} has coordinates without drives, expected a rigid arm.")
    rows = _axes(axes, what)
    s = symbols(robot)
    n, m = len(s.q), len(rows)
    given = {"mass": mass, "damping": damping, "stiffness": stiffness}
    values = [_diagonal(what, key, value, m) for key, value in given.items()]
    posture = {"posture_stiffness": posture_stiffness, "posture_damping": posture_damping}
    kn, dn = (_diagonal(what, key, value, n) for key, value in posture.items())
    above = {"mass": min(values[0].diagonal()), "bandwidth": bandwidth, "rate": rate, "regular": regular}
    for key, value in above.items():
        if not real_numbers.number(f"{what}: {key}", float(value) if key == "mass" else value) > 0.0:
            raise ModelError(f"{what}: {key}={value!r}, expected a number above 0.")
    w = sympy.Float(float(bandwidth))
    q_ref, qd_ref, qdd_ref, tau = (s.input(key, n) for key in ("q_ref", "qd_ref", "qdd_ref", signal))
    d, v = (s.input(key, m) for key in ("way", "speed"))

    def tip(q: Any, qd: Any) -> tuple[Any, Any, Any]:
        """Return the position of the tip, its Jacobian, and its acceleration without joint accelerations."""
        J = s.f.jacobian(q).extract(rows, list(range(n)))
        turning = s.f.jacobian_rate(q, qd).extract(rows, list(range(n))) * qd
        return sympy.Matrix(s.f.forward_kinematics(q)[-1][:3, 3]).extract(rows, [0]), J, turning

    (x, J, turning), (goal, J_ref, turning_ref) = tip(s.q, s.qd), tip(q_ref, qd_ref)
    M = s.f.mass_matrix(s.q)
    mobility = J * s.f.solve(M, J.T) + sympy.Float(regular) * sympy.eye(m)
    f = s.f.solve(mobility, J * s.f.solve(M, tau))
    wanted = values[0].inv() * (f - values[1] * v - values[2] * d) + J_ref * qdd_ref + turning_ref
    wanted += 2 * w * (J_ref * qd_ref + v - J * s.qd) + w * w * (goal + d - x)
    F = s.f.inverse_dynamics(s.q, s.qd, sympy.zeros(n, 1)) - tau + J.T * s.f.solve(mobility, wanted - turning)
    if any(kn) or any(dn):
        torque = kn * (q_ref - s.q) - dn * s.qd
        F += torque - J.T * s.f.solve(mobility, J * s.f.solve(M, torque))
    steps = [_held([float(value[k, k]) for value in values], 1.0 / float(rate)) for k in range(m)]
    moved = [[sum(A[i, j] * part[k] for j, part in enumerate((d, v, f))) for k, A in enumerate(steps)] for i in range(2)]
    outputs = {output: F, "way_next": sympy.Matrix(moved[0]), "speed_next": sympy.Matrix(moved[1])}
    doc = f"Admittance of the tip along {axes}, with a posture behind it."
    inputs = {"q_ref": n, "qd_ref": n, "qdd_ref": n, signal: n}
    return robot.with_function(name, inputs=inputs, states={"way": m, "speed": m}, outputs=outputs, doc=doc)


def disturbance_observer(
    robot: Robot,
    bandwidth: ArrayLike,
    rate: float,
    *,
    signal: str | None = "F_raw",
    name: str = "disturbance_observer",
    output: str = "F",
    estimate: str = "F_ext",
) -> Robot:
    """Joint forces that the model does not know, from the momentum, and a command without them.

    tau = b (M(q) qd - z),   z' = F + (C + C^T) qd - h(q, qd) + tau,   F = ``signal`` - tau,

    with h = inverse dynamics without acceleration and F the force of the last cycle until now: tau follows what acts as
    tau' = b (acting - tau). ``bandwidth`` b [rad/s] is a number or one for each coordinate, below the loop's ``rate`` [Hz].
    ``signal`` is the force of the function before it in the chain; None: it gives the estimate only, for laws behind it. What
    the loop's limits cut counts as a disturbance. For robots without quaternions.
    """
    what = "disturbance_observer"
    _plain(robot, what)
    s = symbols(robot)
    n = len(s.q)
    b = _diagonal(what, "bandwidth", bandwidth, n)
    hertz = real_numbers.number(f"{what}: rate", rate)
    if not all(0 < value < hertz for value in b.diagonal()):
        raise ModelError(f"{what}: bandwidth={bandwidth!r}, rate={rate!r}, expected 0 < bandwidth < rate.")
    dt = sympy.Float(1.0 / hertz)
    driven = sympy.diag(*(int(velocity.driven) for velocity in robot.velocities))
    z = s.input("z", n) + dt * driven * s.input("F_last", n)
    C = s.f.coriolis_matrix(s.q, s.qd)
    known = (C + C.T) * s.qd - s.f.inverse_dynamics(s.q, s.qd, sympy.zeros(n, 1))
    tau = b * (s.f.mass_matrix(s.q) * s.qd - z)
    outputs = {estimate: tau, "z_next": z + dt * (known + tau)}
    inputs = {"F_last": n}
    if signal is not None:
        outputs[output] = driven * (s.input(signal, n) - tau)
        inputs[signal] = n
    doc = "Forces that the model does not know, by the momentum."
    return robot.with_function(name, inputs=inputs, states={"z": n}, outputs=outputs, doc=doc)


def lqi(robot: Robot, K: ArrayLike, Ki: ArrayLike, *, leak: float = 0.0, name: str = "lqi", output: str = "F") -> Robot:
    """State feedback with the integral of the driven coordinates' errors: no constant force leaves an error.

    F = inverse dynamics of the reference - K (q - q_ref, qd - qd_ref) - Ki z,   z' = S (q - q_ref) - leak z,

    S picks the d driven coordinates. ``K`` (d, 2 nv) and ``Ki`` (d, d) are those of ``lqr`` for (q, qd, z): see
    :func:`with_integral`; ``leak`` [1/s] lets the integral forget. With elastic coordinates it needs the loop's observer, or
    sensors for them. For robots without quaternions.
    """
    what = "lqi"
    _plain(robot, what)
    s = symbols(robot)
    n = len(s.q)
    rows = [k for k, velocity in enumerate(robot.velocities) if velocity.driven]
    gains = {"K": (K, (len(rows), 2 * n)), "Ki": (Ki, (len(rows), len(rows)))}
    parts = []
    for key, (given, shape) in gains.items():
        values = real_numbers.finite(f"{what}: {key}", given)
        if values.shape != shape:
            raise ModelError(f"{what}: {key} has shape {values.shape}, expected {shape}.")
        parts.append(sympy.Matrix(len(rows), shape[1], [sympy.Float(float(value)) for value in values.ravel()]))
    if real_numbers.number(f"{what}: leak", leak) < 0.0:
        raise ModelError(f"{what}: leak={leak!r}, expected a number from 0 [1/s].")
    q_ref, qd_ref, qdd_ref, z = (
        s.input(k, size) for k, size in (("q_ref", n), ("qd_ref", n), ("qdd_ref", n), ("z", len(rows)))
    )
    e = sympy.Matrix([*(s.q - q_ref), *(s.qd - qd_ref)])
    feedback = parts[0] * e + parts[1] * z
    F = sympy.Matrix(s.f.inverse_dynamics(q_ref, qd_ref, qdd_ref))
    for place, k in enumerate(rows):
        F[k] -= feedback[place]
    outputs = {output: F, "z_rate": sympy.Matrix([e[k] for k in rows]) - sympy.Float(float(leak)) * z}
    inputs = {"q_ref": n, "qd_ref": n, "qdd_ref": n}
    doc = "State feedback with integral action."
    return robot.with_function(name, inputs=inputs, states={"z": len(rows)}, outputs=outputs, doc=doc)


def with_integral(A: ArrayLike, B: ArrayLike, driven: Sequence[int]) -> tuple[Any, Any]:
    """A and B of (q, qd, z), z' = q of the driven coordinates: ``lqr`` of them gives [K, Ki] of :func:`lqi`."""
    a, b = (real_numbers.finite(f"with_integral: {key}", value) for key, value in (("A", A), ("B", B)))
    rows = [int(k) for k in driven]
    if a.ndim != 2 or a.shape[0] != a.shape[1] or b.shape[:1] != a.shape[:1] or not all(0 <= k < len(a) // 2 for k in rows):
        raise ModelError(f"with_integral: A {a.shape}, B {b.shape}, driven={rows}, expected (2 nv, 2 nv), (2 nv, d), indices.")
    size, count = len(a), len(rows)
    whole = np.zeros((size + count, size + count))
    whole[:size, :size] = a
    whole[size + np.arange(count), rows] = 1.0
    return whole, np.vstack([b, np.zeros((count, b.shape[1]))])


def _held(numbers: Sequence[float], dt: float) -> Any:
    """Return the matrix (2, 3) that maps (d, v, f) to (d, v) after dt with f held: m d'' + c d' + k d = f, exactly."""
    mass, damping, stiffness = numbers
    A = np.array([[0.0, 1.0], [-stiffness / mass, -damping / mass]])
    Ad, Bd = held_step(A, np.array([[0.0], [1.0 / mass]]), dt)
    return np.hstack([Ad, Bd])


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
        raise ModelError(f"{what}: {key}={shortened(given)}, expected one or {size} numbers from 0.")
    return sympy.diag(*(sympy.Float(float(value)) for value in np.broadcast_to(values, (size,))))
