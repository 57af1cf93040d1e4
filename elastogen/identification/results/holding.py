"""Friction that holds resting joints: no function of q, q', q'' knows it, but the motion before the rest does.

A joint that comes to rest keeps a part of the friction of the direction that it came from: nothing reverses it. The part
is estimated from the rests of the runs that the identification saw, one number for all joints.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elastogen.identification.measurements.read_table import Array
from elastogen.identification.measurements.signals import Motion

BEFORE = 0.15  # [s] before a rest that tell its direction


def came_from(motion: Motion) -> Array:
    """(n, joints): the sign of the velocity before a rest, during it; elsewhere and in the first rest of a run zero."""
    step = float(motion.time[1] - motion.time[0])
    width = max(2, round(BEFORE / step))
    found = np.zeros(motion.qd.shape)
    for k, rests in enumerate(motion.resting.T):
        edges = np.flatnonzero(np.diff(np.concatenate([[0.0], rests, [0.0]])))
        for start, stop in edges.reshape(-1, 2):
            if start >= width:
                found[start:stop, k] = np.sign(motion.qd[start - width : start, k].mean())
    return found


def held_part(motions: Sequence[Motion], residuals: Sequence[Array], levels: Sequence[Array], noise: Array) -> float:
    """The part of sliding friction ``levels`` (n, joints) that holds: 0 to 1, 0 where no joint rests after moving.

    ``residuals`` are measured less computed forces (n, joints), both through the low pass.
    """
    above = below = 0.0
    for motion, residual, level in zip(motions, residuals, levels, strict=True):
        x, y = came_from(motion) * level / noise, residual / noise
        above, below = above + float(np.sum(x * y)), below + float(np.sum(x * x))
    return float(np.clip(above / below, 0.0, 1.0)) if below > 0 else 0.0
