"""Controllers of the real-time loop and the design of their gains: ``from elastogen.control import lqr``."""

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
from elastogen.runtime.loop.laws.gravity_friction import GravityFriction
from elastogen.runtime.loop.laws.scheduled_feedback import ScheduledFeedback, scheduled_lqr

__all__ = [
    "ComputedTorqueLaw",
    "Controller",
    "Feedforward",
    "GravityFriction",
    "PDGravity",
    "ScheduledFeedback",
    "StateFeedback",
    "UserController",
    "closed_loop",
    "lqr",
    "scheduled_lqr",
    "vibrations",
]
