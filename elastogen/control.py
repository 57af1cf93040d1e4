"""Controllers of the real-time loop, and what designs their gains: ``from elastogen.control import lqr``."""

from __future__ import annotations

from elastogen.runtime.loop.controllers import (
    ComputedTorqueLaw,
    Controller,
    Feedforward,
    PDGravity,
    StateFeedback,
    UserController,
    closed_loop,
    lqr,
    vibrations,
)

__all__ = [
    "ComputedTorqueLaw",
    "Controller",
    "Feedforward",
    "PDGravity",
    "StateFeedback",
    "UserController",
    "closed_loop",
    "lqr",
    "vibrations",
]
