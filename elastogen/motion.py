"""Trajectories, input shapers and motions of the tip: ``from elastogen.motion import quintic, zvd, tip_inversion``."""

from __future__ import annotations

from elastogen.runtime.motion.profiles import bang_bang, bang_bang_input, s_curve, trapezoidal
from elastogen.runtime.motion.shaping import Shaper, zv, zvd
from elastogen.runtime.motion.trajectory import Trajectory, cubic, four_three_four, quintic, septic
from elastogen.tip_control.causal import causal_tip_inversion
from elastogen.tip_control.fastest_move import fastest_tip_move
from elastogen.tip_control.inversion import TipMotion, tip_inversion

__all__ = [
    "Shaper",
    "TipMotion",
    "Trajectory",
    "bang_bang",
    "bang_bang_input",
    "causal_tip_inversion",
    "cubic",
    "fastest_tip_move",
    "four_three_four",
    "quintic",
    "s_curve",
    "septic",
    "tip_inversion",
    "trapezoidal",
    "zv",
    "zvd",
]
