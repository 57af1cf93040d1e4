"""The observer of a robot with given sensors: its steady gain, its errors, and which motions it sees.

About a configuration at rest, with A_d, B_d of the linearized robot over a period, H of the sensors, unknown forces W on all
velocities and noise R, the covariance before a correction solves Riccati's equation (SciPy)

    P = A_d (P - P H^T (H P H^T + R)^-1 H P) A_d^T + B_d W B_d^T,    K = P H^T (H P H^T + R)^-1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from elastogen.runtime import real_numbers
from elastogen.runtime.errors import ModelError
from elastogen.runtime.functions.linear_analysis import held_step
from elastogen.runtime.functions.sensing.kalman_filter import KalmanFilter, channel_noise
from elastogen.runtime.interface.channel import Channel
from elastogen.runtime.interface.error import shortened
from elastogen.runtime.loop.observing.observer import Observer
from elastogen.runtime.model.model import Model
from elastogen.runtime.whole_files import file_path, replacing

Array = NDArray[np.float64]
ACCELERATION = 10.0  # [rad/s^2, m/s^2]: what a drive without a limit is taken to be made for
UNKNOWN = 0.02  # of a drive's force that the model does not know
ELSEWHERE = 1e-3  # of the same acceleration, on coordinates without drives: nothing is known exactly
DOUBLINGS = 60  # of the time: 2^60 steps
ENERGY = 1e-3  # [J] of the vibrations that sensors are asked to see
UNSEEN = 1e-9  # smallest singular value of Hautus' test, in scaled states, that counts as seen


@dataclass(frozen=True)
class SeenMode:
    """How well the sensors observe one natural motion."""

    hertz: float  # 0: a rigid motion
    coordinate: str  # that moves most, in units of its own
    signal: float  # largest reading over its noise, for a vibration of 1 mJ; of a rigid motion, for 1 mJ of kinetic energy
    sensor: str  # that reads it
    observable: bool
    error: float  # standard deviation of the estimated amplitude, in the unit of the coordinate; inf where it is not seen


@dataclass(frozen=True, eq=False)
class ObserverDesign:
    """An observer of a robot about a configuration; arrays are over errors of q, along the velocities, then of qd."""

    model: Model
    sensors: tuple[str, ...]
    asked: tuple[str, ...] | None  # as they were given; None: those of the robot
    channels: tuple[Channel, ...]
    q: Array
    hold: Array  # (nv,) forces of the drives that hold the robot there [N m, N]
    rate: float  # [Hz]
    force: Array  # (nv,) unknown forces, standard deviations
    noise: Array  # (readings,)
    modes: tuple[SeenMode, ...]
    gain: Array  # (2 nv, readings): x <- x + K (y - h(x))
    covariance: Array  # (2 nv, 2 nv) behind a correction
    poles: NDArray[np.complex128]  # of the errors, from sample to sample

    @property
    def settling(self) -> float:
        """Time constant of the slowest error [s]."""
        return float(-1.0 / (self.rate * np.log(np.abs(self.poles).max())))

    @property
    def errors(self) -> Array:
        """Standard deviations of the estimates (2 nv,)."""
        result: Array = np.sqrt(np.diag(self.covariance))
        return result

    def filter(self, q: ArrayLike, qd: ArrayLike, **options: Any) -> KalmanFilter:
        """Return a Kalman filter with these sensors, noise and forces: see :meth:`Model.ekf`."""
        return self.model.ekf(q, qd, force=self.force, noise=self.noise, sensors=self.asked, **options)

    def stage(self, **options: Any) -> Observer:
        """Return a loop's observer with these sensors, noise and forces, starting here: ``model.loop(observer=...)``."""
        given = {"sensors": self.asked, "force": self.force, "noise": self.noise, "q": self.q}
        return Observer(**{**given, **options})

    def page(self, path: str | Path) -> Path:
        """Write a page that needs no network: observed and unobserved motions, and the decay of errors."""
        from elastogen.observers.page import page

        target, text = file_path(path), page(self)
        with replacing(target) as scratch:
            scratch.write_text(text, encoding="utf-8")
        return target

    def table(self) -> str:
        """Return a readable table of observed and unobserved motions."""
        lines = [f"{self.model.name}: {', '.join(self.sensors)} at {self.rate:g} Hz, slowest error {self.settling:.3g} s", ""]
        lines.append(f"{'motion':<26}{'seen by':<28}{'signal/noise of 1 mJ':>22}{'error':>14}")
        for mode in self.modes:
            name = f"{mode.hertz:.4g} Hz ({mode.coordinate})" if mode.hertz else f"rigid ({mode.coordinate})"
            seen = mode.sensor if mode.observable else "nothing"
            lines.append(f"{name:<26}{seen:<28}{mode.signal:>22.3g}{mode.error:>14.3g}")
        lines += ["", f"{'coordinate':<26}{'error of q':>14}{'error of qd':>14}"]
        n = self.model.nv
        for k, name in enumerate(self.model.velocity_names):
            lines.append(f"{name:<26}{self.errors[k]:>14.3g}{self.errors[n + k]:>14.3g}")
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain data for JSON."""
        return {
            "robot": self.model.name,
            "rate": self.rate,
            "sensors": list(self.sensors),
            "channels": [
                {"name": c.name, "unit": c.unit, "noise": float(s)} for c, s in zip(self.channels, self.noise, strict=True)
            ],
            "q": self.q.tolist(),
            "force": self.force.tolist(),
            "modes": [vars(mode) for mode in self.modes],
            "gain": self.gain.tolist(),
            "errors": self.errors.tolist(),
            "poles": [[float(pole.real), float(pole.imag)] for pole in self.poles],
        }


def design_observer(
    model: Model,
    sensors: Sequence[str] | str | None = None,
    *,
    q: ArrayLike | None = None,
    rate: float = 1000.0,
    noise: ArrayLike | Mapping[str, float] | None = None,
    force: ArrayLike | None = None,
) -> ObserverDesign:
    """Design an observer about rest at ``q`` (None: no joint has moved), for readings at ``rate`` [Hz].

    ``sensors`` and ``noise`` are those of :meth:`Model.ekf`. ``force`` are standard deviations of unknown forces, (nv,) or
    those of the drives [N m, N], held for a period; None: 2 % of the drives' limits, or of what moves them with 10 rad/s^2.
    ModelError names motions that no sensor sees and that do not die out by themselves, and vibrations from half of the rate
    on that unknown forces lift above the noise of a sensor. Needs SciPy.
    """
    what = f"{model.name}: observer"
    if model.metadata.loops is not None:
        raise ModelError(f"{what}: robots with loops are not observed.")
    hertz = real_numbers.number(f"{what}: rate", rate, "a number of Hz above 0")
    if hertz <= 0.0:
        raise ModelError(f"{what}: rate={rate!r}, expected a number of Hz above 0.")
    place = np.asarray(model.neutral() if q is None else real_numbers.finite(f"{what}: q", q), dtype=float)
    if place.shape != (model.nq,):
        raise ModelError(f"{what}: q has shape {place.shape}, expected ({model.nq},).")
    n, zero = model.nv, np.zeros(model.nv)
    hold = np.asarray(model.inverse_dynamics(place, zero, zero), dtype=float)
    asked = None if sensors is None else (sensors,) if isinstance(sensors, str) else tuple(sensors)
    reading = model.measurement(place, zero, hold, sensors=asked)
    levels = channel_noise(reading.channels, noise, what)
    M = np.asarray(model.mass_matrix(place), dtype=float)
    unknown = _forces(model, M, force, what)
    A = np.asarray(model.linearize(place, zero, hold).A, dtype=float)
    Ad, Bd = _step(A, np.vstack([np.zeros((n, n)), np.linalg.inv(M)]), 1.0 / hertz)
    H = np.asarray(reading.H, dtype=float) / levels[:, None]  # in units of the noise
    scale = _sizes(M, model)
    _check_seen(model, Ad, H, scale, hertz, what)
    _check_rate(model, A, Bd * unknown, H, hertz, what)
    P, K = _riccati(Ad, H, Bd * unknown, scale, what)
    keep = np.eye(2 * n) - K @ H
    after = keep @ P @ keep.T + K @ K.T
    return ObserverDesign(
        model=model,
        asked=asked,
        sensors=tuple(dict.fromkeys(channel.sensor for channel in reading.channels)),
        channels=reading.channels,
        q=place,
        hold=hold,
        rate=hertz,
        force=unknown,
        noise=levels,
        modes=_modes(model, place, H, after, reading.channels),
        gain=K / levels,
        covariance=after,
        poles=np.linalg.eigvals(Ad @ keep).astype(np.complex128),
    )


def _step(A: Array, B: Array, dt: float) -> tuple[Array, Array]:
    Ad, Bd = held_step(A, B, dt)
    return np.asarray(Ad, dtype=np.float64), np.asarray(Bd, dtype=np.float64)


def _forces(model: Model, M: Array, given: ArrayLike | None, what: str) -> Array:
    n, drives = model.nv, list(model.driven)
    typical = np.where(np.isfinite(model.force_limits), model.force_limits, ACCELERATION * np.diag(M))
    result: Array = ELSEWHERE * ACCELERATION * np.diag(M)
    if given is None:
        result[drives] = UNKNOWN * typical[drives]
        return result
    values = real_numbers.finite(f"{what}: force", given)
    if values.shape not in ((), (n,), (len(drives),)) or (values < 0.0).any():
        raise ModelError(f"{what}: force={shortened(given)}, expected one, {len(drives)} (drives) or {n} numbers from 0.")
    if values.shape == (n,):
        return np.asarray(values, dtype=float)
    result[drives] = values
    return result


def _sizes(M: Array, model: Model) -> Array:
    """Return the sizes of states of some energy; they make different units comparable."""
    inverse = 1.0 / np.sqrt(np.diag(M))
    return np.concatenate([inverse, inverse])


def _check_seen(model: Model, Ad: Array, H: Array, scale: Array, rate: float, what: str) -> None:
    """Apply Hautus' test: every motion that does not decay must be observed."""
    poles = np.linalg.eigvals(Ad)
    S = np.diag(scale)
    rows = H @ S
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
    for pole in poles[np.abs(poles) > 1.0 - 1e-9]:
        moved = np.diag(1.0 / scale) @ (pole * np.eye(len(Ad)) - Ad) @ S
        sizes, vectors = np.linalg.svd(np.vstack([moved, rows]))[1:]
        if sizes[-1] > UNSEEN:
            continue
        shape = np.abs(vectors[-1])
        name = (*model.velocity_names, *(f"the velocity of {name}" for name in model.velocity_names))[int(np.argmax(shape))]
        hertz = abs(np.angle(pole)) * rate / (2.0 * np.pi)
        kind = f"at {hertz:.3g} Hz" if hertz > 1e-6 else "a rigid one"
        raise ModelError(
            f"{what}: the motion of {name} ({kind}) is seen by no sensor and does not die out. "
            "Fix: a sensor that reads it, for example 'encoders' or a gauge on its link; or damping."
        )


def _check_rate(model: Model, A: Array, G: Array, H: Array, hertz: float, what: str) -> None:
    """Refuse vibrations from half of the rate on that unknown forces G lift above the noise of the sensors."""
    from scipy.linalg import eig

    values, left, right = eig(A, left=True, right=True)
    for k in np.argsort(np.abs(values.imag)):
        turn = float(values[k].imag)
        if turn < np.pi * hertz:
            continue
        lost = -np.expm1(2.0 * values[k].real / hertz)  # of its energy, between two readings
        kicked = np.linalg.norm(left[:, k].conj() @ G) / abs(np.vdot(left[:, k], right[:, k]))
        signal = np.sqrt(2.0 / max(float(lost), 1e-12)) * kicked * np.abs(H @ right[:, k]).max()
        if signal > 1.0:
            name = model.velocity_names[int(np.argmax(np.abs(right[: model.nv, k])))]
            found, enough = turn / (2.0 * np.pi), np.ceil(turn / np.pi) + 1.0
            raise ModelError(
                f"{what}: rate={hertz:g} Hz cannot follow the vibration of {name} at {found:.3g} Hz, which unknown "
                f"forces lift to {signal:.3g} times the noise of a sensor. Fix: rate={enough:g} or more; "
                "or a robot without this mode."
            )


def _riccati(Ad: Array, H: Array, G: Array, scale: Array, what: str) -> tuple[Array, Array]:
    """Solve for P before a correction, and for K, in scaled states."""
    from scipy.linalg import solve_discrete_are

    S, T = np.diag(scale), np.diag(1.0 / scale)
    A, C = T @ Ad @ S, H @ S
    Q = T @ G @ G.T @ T
    try:
        P = solve_discrete_are(A.T, C.T, Q, np.eye(len(C)))
    except (np.linalg.LinAlgError, ValueError) as error:
        found = _doubled(A.T, C.T @ C, Q)
        if found is None:
            raise ModelError(
                f"{what}: no steady observer was found ({error}). Fix: noise and forces of more similar sizes, or sensors "
                "that see all motions."
            ) from None
        P = found
    P = S @ P @ S
    K = np.linalg.solve(H @ P @ H.T + np.eye(len(H)), H @ P).T
    if np.abs(np.linalg.eigvals(Ad @ (np.eye(len(Ad)) - K @ H))).max() >= 1.0:
        raise ModelError(f"{what}: the observer is not stable. Fix: other sensors, or larger forces.")
    return P, K


def _doubled(A: Array, G: Array, Q: Array) -> Array | None:
    """Solve X = A^T X (1 + G X)^-1 A + Q by steps that double the time, where an ordered Schur form is ill-conditioned.

    Undamped vibrations that unknown forces hardly move lie next to the unit circle. None where it does not end.
    """
    one, X = np.eye(len(A)), Q
    for _ in range(DOUBLINGS):
        try:
            W = np.linalg.solve(one + G @ X, np.hstack([A, G]))
        except np.linalg.LinAlgError:
            return None
        forward, spread = W[:, : len(A)], W[:, len(A) :]
        step = A.T @ X @ forward
        if not np.all(np.isfinite(step)):
            return None
        A, G, X = A @ forward, G + A @ spread @ A.T, X + (step + step.T) / 2
        if np.abs(step).max() <= 1e-15 * np.abs(X).max():
            return np.asarray(X)
    return None


def _modes(model: Model, q: Array, H: Array, P: Array, channels: Sequence[Channel]) -> tuple[SeenMode, ...]:
    """Return every natural motion, what the sensors read of it, and how well its amplitude is known."""
    found = model.modes(q)
    M = np.asarray(model.mass_matrix(q), dtype=float)
    n, result = model.nv, []
    for k, rate in enumerate(found.frequencies):
        shape = found.shapes[:, k]  # of unit modal mass
        moves = int(np.argmax(np.abs(shape)))
        fast = float(abs(rate))
        by_q, by_qd = H[:, :n] @ shape, H[:, n:] @ shape
        size = np.sqrt(2.0 * ENERGY)
        signals = size * (np.hypot(by_q / fast, by_qd) if fast > 0.0 else np.hypot(by_q, by_qd))
        best = int(np.argmax(np.abs(signals)))
        row = np.concatenate([M @ shape, np.zeros(n)])  # the amplitude, from the displacements
        error = float(np.sqrt(max(row @ P @ row, 0.0)) * abs(shape[moves]))
        seen = bool(np.abs(signals[best]) > 1e-9)
        name = model.velocity_names[moves]
        result.append(
            SeenMode(
                fast / (2.0 * np.pi), name, float(abs(signals[best])), channels[best].name, seen, error if seen else np.inf
            )
        )
    return tuple(result)
