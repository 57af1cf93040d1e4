"""What drives add to the rows of the equations of motion, beside the bodies."""

from __future__ import annotations

from dataclasses import dataclass

from elastogen.generator.program.graph import Value
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.robot.robot import Robot


@dataclass(frozen=True)
class Drive:
    """What a joint's drive adds to its row of the equations of motion, as values; elastic coordinates have none."""

    inertia: Value  # gear_ratio^2 * motor_inertia [kg m^2] or [kg]
    viscous: Value
    coulomb: Value
    coulomb_velocity: Value

    def coulomb_friction(self, rate: Value) -> Value:
        """Smoothed: coulomb * tanh(qd / coulomb_velocity)."""
        return self.coulomb if self.coulomb.is_zero else self.coulomb * rate.graph.tanh(rate / self.coulomb_velocity)


def drives(lower: Lowering, robot: Robot) -> tuple[Drive, ...]:
    """Per velocity, in the order of the joints: its own, its deflection's, those of the child's modes."""
    zero = lower.graph.value(0)
    none = Drive(zero, zero, zero, zero)
    found: list[Drive] = []
    for joint in robot.joints:
        a = joint.actuation
        for _ in joint.type.velocities:
            ratio = lower.value(a.gear_ratio)
            reflected = lower.value(a.motor_inertia) * ratio * ratio
            found.append(Drive(reflected, lower.value(a.viscous), lower.value(a.coulomb), lower.value(a.coulomb_velocity)))
        if joint.elasticity is not None:
            found.append(none)
        flexible = robot.link(joint.child).flexible
        found += [none] * (0 if flexible is None else len(flexible.coordinates))
    return tuple(found)
