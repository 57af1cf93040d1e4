"""Gravity compensation with friction: what a robot that is led by hand, or moves slowly, needs of its model."""

from __future__ import annotations

from typing import ClassVar

from elastogen.runtime.loop.controllers import PDGravity


class GravityFriction(PDGravity):
    """F = G(q) + friction(qd_ref) + kp e + kd de/dt + F_ref; gains as of :class:`PDGravity`, both may be zero.

    friction(v) are the forces of the joints' drives at the velocity of the reference, viscous v + coulomb tanh(v /
    coulomb_velocity): that of the measured velocity would feed noise back, and make a joint without a brake of its own creep.
    """

    name: ClassVar[str] = "gravity_friction"
