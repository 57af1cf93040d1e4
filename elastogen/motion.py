"""Trajectories and input shapers: ``from elastogen.motion import quintic, zvd``."""

from __future__ import annotations

from elastogen.runtime.motion.profiles import bang_bang, bang_bang_input, s_curve, trapezoidal
from elastogen.runtime.motion.shaping import Shaper, zv, zvd
from elastogen.runtime.motion.trajectory import Trajectory, cubic, four_three_four, quintic, septic

__all__ = [
    "Shaper",
    "Trajectory",
    "bang_bang",
    "bang_bang_input",
    "cubic",
    "four_three_four",
    "quintic",
    "s_curve",
    "septic",
    "trapezoidal",
    "zv",
    "zvd",
]
