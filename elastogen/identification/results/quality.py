"""How well computed forces fit measured ones: relative errors, whiteness of what is left, and whether friction is in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from elastogen.identification.measurements.read_table import Array
from elastogen.identification.measurements.signals import Motion

LAGS = 10  # of the test of whiteness
BINS = 12  # of velocity, for the test of friction
DOUBTFUL = 1e-3  # p-values below are reported


@dataclass(frozen=True)
class RunQuality:
    """Relative RMS of computed less measured forces of one run, both through the low pass."""

    source: str
    total: float  # of all joints together, |error| / |F|
    joints: tuple[float, ...]
    moving: float  # without the times at which a joint rests: no function of q, qd, qdd knows the friction that holds it
    seconds: float
    resting: float  # share of the samples of joints that rest
    held: float = float("nan")  # as total, resting joints held by friction of the direction that they came from


def run_quality(motions: Sequence[Motion], computed: Sequence[Array], holding: Sequence[Array]) -> RunQuality:
    """Of the pieces of one run; ``computed`` forces are not yet filtered, nor those that hold joints at rest in addition."""
    errors, held = (
        np.concatenate([motion.compared(F) - motion.measured for motion, F in zip(motions, forces, strict=True)])
        for forces in (computed, [F + hold for F, hold in zip(computed, holding, strict=True)])
    )
    measured = np.concatenate([motion.measured for motion in motions])
    moves = np.concatenate([motion.counts for motion in motions])
    norms = np.maximum(np.linalg.norm(measured, axis=0), 1e-300)
    return RunQuality(
        motions[0].source,
        float(np.linalg.norm(errors) / np.linalg.norm(measured)),
        tuple(float(x) for x in np.linalg.norm(errors, axis=0) / norms),
        float(np.linalg.norm(errors * moves) / max(float(np.linalg.norm(measured * moves)), 1e-300)),
        float(sum(motion.time[-1] - motion.time[0] for motion in motions)),
        float(1.0 - moves.mean()),
        float(np.linalg.norm(held) / np.linalg.norm(measured)),
    )


def whiteness(residuals: Sequence[Array]) -> tuple[float, ...]:
    """p-values of Ljung and Box (1978) per joint: small where residuals remember each other."""
    found = []
    for joint in range(residuals[0].shape[1]):
        x = np.concatenate([residual[:, joint] for residual in residuals])
        x = x[x != 0]
        if len(x) <= 2 * LAGS or not np.any(x):
            found.append(1.0)
            continue
        rho = np.array([float(x[:-lag] @ x[lag:]) for lag in range(1, LAGS + 1)]) / float(x @ x)
        Q = len(x) * (len(x) + 2) * float(np.sum(rho**2 / (len(x) - np.arange(1, LAGS + 1))))
        found.append(float(chi2.sf(Q, LAGS)))
    return tuple(found)


def friction_test(motions: Sequence[Motion], residuals: Sequence[Array], inflation: Array) -> tuple[float, ...]:
    """p-values per joint: small where the mean residual differs between velocities, as a wrong law of friction leaves it."""
    found = []
    for joint in range(residuals[0].shape[1]):
        v = np.concatenate([motion.qd[motion.rows, joint] for motion in motions])
        r = np.concatenate([residual[:, joint] for residual in residuals])
        moves = np.concatenate([motion.counts[:, joint] for motion in motions]) > 0
        v, r = v[moves], r[moves]
        variance = float(r @ r) / max(len(r), 1) * float(inflation[joint])
        if len(r) < 4 * BINS or variance <= 0:
            found.append(1.0)
            continue
        edges = np.quantile(v, np.linspace(0, 1, BINS + 1)[1:-1])
        place = np.searchsorted(edges, v)
        sums = np.bincount(place, r, BINS)
        counts = np.bincount(place, minlength=BINS)
        statistic = float(np.sum(sums[counts > 0] ** 2 / counts[counts > 0]) / variance)
        found.append(float(chi2.sf(statistic, int((counts > 0).sum()) - 1)))
    return tuple(found)
