"""The controllers of a loop and their gains. The loop runs them in C; here they are plain data.

Gains are numbers for all driven coordinates, or arrays over the driven ones, or over all coordinates; kp and kd are at least
0, those of a :class:`UserController` are as its function takes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime import real_numbers
from elastogen.runtime.errors import ModelError
from elastogen.runtime.loop.laws.registry import Kinds
from elastogen.runtime.loop.stability import Feedback, LinearRobot, sampled_limit, stable_bandwidth
from elastogen.runtime.model.model import Model


@dataclass(frozen=True, eq=False)
class Controller:
    """What all controllers share; None: gains for 20 rad/s, critically damped, or the most that is stable with a margin."""

    kp: ArrayLike | None = None
    kd: ArrayLike | None = None
    name: ClassVar[str] = ""

    def inertia(self, robot: LinearRobot) -> NDArray[np.float64]:
        """What the gains of a bandwidth are multiplied with, (nv,)."""
        return np.abs(np.diag(robot.mass))

    def feedback(self, robot: LinearRobot, kp: NDArray[Any], kd: NDArray[Any]) -> Feedback | None:
        """-dF/dq and -dF/dqd of the controller about rest, (nv, nv); None: unknown."""
        joints = np.zeros(robot.mass.shape)
        joints[robot.driven, robot.driven] = 1.0
        return joints * kp, joints * kd

    def memory(self, library: Any) -> Any:
        """What the law is handed as its context, a pointer of the library's; None: what it needs is the loop's own."""
        return None


class PDGravity(Controller):
    """F = G(q) + kp e + kd de/dt + F_ref; kp in [N m/rad, N/m], kd in [N m s/rad, N s/m]."""

    name: ClassVar[str] = "pd_gravity"

    def feedback(self, robot: LinearRobot, kp: NDArray[Any], kd: NDArray[Any]) -> Feedback | None:
        """PD, and the weights at the measured configuration."""
        joints = np.zeros(robot.mass.shape)
        joints[robot.driven, robot.driven] = 1.0
        return joints @ (np.diag(kp) - robot.gravity), joints * kd


class ComputedTorqueLaw(Controller):
    """F = inverse dynamics of qdd_ref + kp e + kd de/dt, + F_ref; kp in [1/s^2], kd in [1/s]: e'' + kd e' + kp e = 0.

    On a robot with elastic coordinates, the driven ones are made to follow at the present elastic state.
    """

    name: ClassVar[str] = "computed_torque"

    def inertia(self, robot: LinearRobot) -> NDArray[np.float64]:
        """Gains are accelerations."""
        return np.ones(len(robot.names))

    def feedback(self, robot: LinearRobot, kp: NDArray[Any], kd: NDArray[Any]) -> Feedback | None:
        """F = S (M a + K dq + D dq') with a the joints' accelerations; S lets what has no drive move freely."""
        driven, passive = list(robot.driven), robot.passive
        S = np.zeros(robot.mass.shape)
        S[driven, driven] = 1.0
        joints = S.copy()
        if passive:
            coupling, own = robot.mass[np.ix_(passive, driven)], robot.mass[np.ix_(passive, passive)]
            S[np.ix_(driven, passive)] = -np.linalg.solve(own, coupling).T
        seen = S @ robot.mass @ joints
        return seen * kp - S @ robot.stiffness, seen * kd - S @ robot.damping


class Feedforward(Controller):
    """F = inverse dynamics of the reference + kp e + kd de/dt + F_ref; gains as of :class:`PDGravity`.

    Elastic coordinates are put in the equilibrium of the reference motion: under its weights and accelerations and the
    inertia of the bending itself, with the velocity and the acceleration that the motion's jerk and snap bring.
    So the drives expect the bending.
    """

    name: ClassVar[str] = "feedforward"


@dataclass(frozen=True, eq=False)
class StateFeedback(Controller):
    """F = F_ref - K (q - q_ref, qd - qd_ref); ``feedforward`` adds the inverse dynamics of the reference.

    ``K`` is (driven, 2 nv), for example from :func:`lqr`, or (nv, 2 nv). With quaternions q - q_ref is difference(q_ref, q).
    """

    K: ArrayLike | None = None
    feedforward: bool = True
    name: ClassVar[str] = "state_feedback"

    def gain_at(self, model: Model, q: NDArray[Any]) -> ArrayLike | None:
        """K in a configuration."""
        return self.K

    def feedback(self, robot: LinearRobot, kp: NDArray[Any], kd: NDArray[Any]) -> Feedback | None:
        """K itself."""
        n, K = len(robot.names), np.asarray(self.K, dtype=float)
        full = np.zeros((n, 2 * n))
        full[list(robot.driven)] = K if len(K) == len(robot.driven) else K[list(robot.driven)]
        return full[:, :n], full[:, n:]


@dataclass(frozen=True, eq=False)
class UserController(Controller):
    """A controller of the user's own, in C: compiled with the model (controller_source=), or a function at an address.

    ``function`` is an address, a cffi or ctypes pointer to ``int f(void *context, const <name>_loop_view_t *, real *F)``;
    None takes the one that was compiled in. ``context`` is passed to it; ``values`` are view->tuning->user, changed by
    ``loop.set_gains(values=...)``.
    """

    function: Any = None
    context: Any = None
    values: ArrayLike = ()
    name: ClassVar[str] = "user"

    def feedback(self, robot: LinearRobot, kp: NDArray[Any], kd: NDArray[Any]) -> Feedback | None:
        """Return None: unknown."""
        return None


BY_NAME = Kinds()  # classes by name, from the registry


BANDWIDTH = 20.0  # [rad/s] of default gains, where the robot and the rate allow it


def default_gains(
    controller: Controller, robot: LinearRobot, period: float, wanted: float = BANDWIDTH
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """kp, kd and the bandwidths [rad/s] that they stand for, (nv,) each, critically damped: kp = m w^2, kd = 2 m w.

    The bandwidths are 20 rad/s, or the greatest at which the loop of the linearized robot, sampled with the period [s], is
    stable with twice these gains.
    """
    inertia = controller.inertia(robot)
    scaled = bool(np.allclose(inertia, np.abs(np.diag(robot.mass))))  # gains are forces
    limit = sampled_limit(robot, period) if scaled else np.full(len(inertia), np.inf)

    def feedback(w: NDArray[np.float64], factor: float) -> Feedback:
        known = controller.feedback(robot, factor * inertia * w**2, factor * inertia * 2.0 * w)
        assert known is not None, controller.name
        return known

    found = stable_bandwidth(robot, feedback, wanted, limit, period)
    if found is None:
        raise ModelError(
            f"loop: no gains make {controller.name} stable at {1.0 / period:g} Hz, not even slow ones. Fix: a higher rate=, "
            "damping of the links, inertia of the motors, or another controller."
        )
    return inertia * found**2, inertia * 2.0 * found, found


def mass_by_columns(model: Model, q: NDArray[Any]) -> NDArray[np.float64]:
    """The mass matrix from inverse dynamics alone: its columns are forces of unit accelerations, (nv, nv)."""
    zero, unit = np.zeros(model.nv), np.eye(model.nv)
    still = np.asarray(model.inverse_dynamics(q, zero, zero), dtype=float)
    columns: NDArray[np.float64] = np.asarray(model.inverse_dynamics(q, zero, unit), dtype=float) - still
    return np.ascontiguousarray(columns.T)


def stiffness_by_columns(model: Model, q: NDArray[Any], step: float = 1e-5) -> NDArray[np.float64]:
    """dF/dq at rest by central differences, (nv, nv): elastic stiffness and that of gravity.

    Columns of elastic coordinates only, the others are zero: a sliding joint may be at the end of its beam.
    """
    if model.dtype == np.float32:
        step = 1e-2
    zero, shift = np.zeros(model.nv), step * np.eye(model.nv)
    shift[[k for k in range(model.nv) if k not in model.elastic]] = 0.0
    more = np.asarray(model.inverse_dynamics(model.integrate(q, shift), zero, zero), dtype=float)
    less = np.asarray(model.inverse_dynamics(model.integrate(q, -shift), zero, zero), dtype=float)
    columns: NDArray[np.float64] = (more - less) / (2.0 * step)
    return np.ascontiguousarray(columns.T)


def damping_by_columns(model: Model, q: NDArray[Any], step: float = 1e-5) -> NDArray[np.float64]:
    """dF/dqd at rest by central differences, (nv, nv): damping of links and friction of joints."""
    if model.dtype == np.float32:
        step = 1e-2
    zero, speed = np.zeros(model.nv), step * np.eye(model.nv)
    more, less = (np.asarray(model.inverse_dynamics(q, v, zero), dtype=float) for v in (speed, -speed))
    columns: NDArray[np.float64] = (more - less) / (2.0 * step)
    return np.ascontiguousarray(columns.T)


def lqr(A: ArrayLike, B: ArrayLike, Q: ArrayLike, R: ArrayLike) -> NDArray[np.float64]:
    """Gain K of u = -K x that minimizes the integral of x^T Q x + u^T R u for dx/dt = A x + B u.

    The stabilizing solution of the Riccati equation A^T P + P A - P B R^-1 B^T P + Q = 0 comes from the stable
    eigenvectors of the Hamiltonian matrix. ``Q`` and ``R`` may be given by their diagonals. For a robot at rest:

    >>> lin = model.linearize(q, zero, F); K = lqr(lin.A, lin.B, Q, R)
    """
    A, B = _system("lqr", A, B)
    n, m = B.shape
    Q, R = _weight("Q", Q, n), _weight("R", R, m)
    if not (np.linalg.eigvalsh(0.5 * (R + R.T)) > 0.0).all():
        raise ModelError(f"lqr: R: got {R.tolist()}, expected a positive definite weight: every force has its price.")
    S = B @ np.linalg.solve(R, B.T)
    values, vectors = np.linalg.eig(np.block([[A, -S], [-Q, -A.T]]))
    stable = np.flatnonzero(values.real < -1e-10 * np.abs(values).max())
    if stable.size != n:
        raise ModelError(
            f"lqr: the Hamiltonian matrix has {stable.size} stable eigenvalues, expected {n}: a motion that no drive reaches "
            "and nothing damps, or one that Q does not weigh. Fix: weigh all positions in Q, or add damping."
        )
    basis = vectors[:, stable]
    try:
        P = np.real(np.linalg.solve(basis[:n].T, basis[n:].T).T)
    except np.linalg.LinAlgError:
        raise ModelError("lqr: no drive reaches a motion that grows by itself. Fix: other columns of B.") from None
    K: NDArray[np.float64] = np.linalg.solve(R, B.T @ (0.5 * (P + P.T)))
    return K


def closed_loop(A: ArrayLike, B: ArrayLike, K: ArrayLike) -> NDArray[np.complex128]:
    """Poles of dx/dt = (A - B K) x [1/s], slowest vibrations first."""
    A, B = _system("closed_loop", A, B)
    K = real_numbers.finite("closed_loop: K", K)
    if K.shape != B.shape[::-1]:
        raise ModelError(f"closed_loop: K has shape {K.shape}, expected {B.shape[::-1]}.")
    poles = np.linalg.eigvals(A - B @ K)
    return poles[np.argsort(np.abs(poles))].astype(np.complex128)


def vibrations(poles: ArrayLike) -> list[tuple[float, float]]:
    """Frequency [rad/s] and damping ratio of each vibration among poles, lowest first, as input shapers take them."""
    expected = "a row of finite numbers [1/s]"
    try:
        given = np.asarray(poles)
    except (TypeError, ValueError) as error:
        raise ModelError(f"vibrations: poles: got {poles!r}, expected {expected}.") from error
    if given.dtype.kind not in "iufc" or given.ndim != 1 or not np.isfinite(given).all():
        raise ModelError(f"vibrations: poles: got {poles!r}, expected {expected}.")
    rising = [pole for pole in given if pole.imag > 1e-9 * abs(pole)]
    return sorted((float(abs(pole)), float(-pole.real / abs(pole))) for pole in rising)


def _system(what: str, A: ArrayLike, B: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The matrices of dx/dt = A x + B u, (n, n) and (n, m)."""
    A, B = real_numbers.finite(f"{what}: A", A), real_numbers.finite(f"{what}: B", B)
    if A.ndim != 2 or B.ndim != 2 or not B.size or A.shape != (len(B), len(B)):
        raise ModelError(f"{what}: A has shape {A.shape} and B {B.shape}, expected (n, n) and (n, m).")
    return A, B


def _weight(name: str, given: ArrayLike, size: int) -> NDArray[np.float64]:
    weight = real_numbers.finite(f"lqr: {name}", given)
    if weight.shape in ((), (size,)):
        weight = np.diag(np.broadcast_to(weight, (size,)))
    if weight.shape != (size, size):
        raise ModelError(f"lqr: {name} has shape {weight.shape}, expected ({size},) or ({size}, {size}).")
    return weight
