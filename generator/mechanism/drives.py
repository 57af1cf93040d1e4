"""What drives, springs and dampers add to the rows of the equations of motion, beside the bodies."""

from __future__ import annotations

from dataclasses import dataclass

from elastogen.generator.program.graph import Value
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.robot.robot import Robot
from elastogen.generator.sliding.elements_inside import Indicators
from elastogen.generator.spatial.vectors import Mat


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


@dataclass(frozen=True)
class Elasticity:
    """Stiffness K and damping D over all coordinates; viscous friction of the joints is part of D."""

    K: Mat
    D: Mat


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


def elasticity(lower: Lowering, robot: Robot, inside: Indicators) -> Elasticity:
    """Blocks of the flexible links and joints on the diagonal of K and D."""
    zero, n = lower.graph.value(0), len(robot.velocities)
    K, D = ([[zero] * n for _ in range(n)] for _ in range(2))
    start = 0
    for joint in robot.joints:
        for _ in joint.type.velocities:
            D[start][start] = lower.value(joint.actuation.viscous)
            start += 1
        if joint.elasticity is not None:
            K[start][start] = lower.value(joint.elasticity.stiffness)
            D[start][start] = lower.value(joint.elasticity.damping)
            start += 1
        body = robot.link(joint.child).flexible
        if body is not None:
            for r in range(len(body.coordinates)):
                for c in range(len(body.coordinates)):
                    K[start + r][start + c] = zero if body.clamp_moves else lower.value(body.stiffness[r][c])
                    D[start + r][start + c] = lower.value(body.damping[r][c])
                    for k, held in enumerate(body.telescope.held_damping if body.telescope is not None else (), 1):
                        D[start + r][start + c] = D[start + r][start + c] + inside.of(joint.name)[k] * lower.value(held[r][c])
            start += len(body.coordinates)
    return Elasticity(K, D)
