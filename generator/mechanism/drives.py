"""What drives add to the rows of the equations of motion, beside the bodies.

Friction that grows with load, as that of gears does, depends on the force that the drive holds, and so on accelerations. Let L
be a row of the equation of motion without the friction of this joint: inertia with that of the rotor, Coriolis forces, weight,
springs, dampers, own terms and wrenches. With s = tanh(qd / coulomb_velocity), f(qd) the friction that does not depend on load,
k = load s and w = load_width,

    F = L + f(qd) + k sqrt(L^2 + w^2),

which ``inverse_dynamics`` evaluates. It rises with L, as |k| < 1, and is solved for L in closed form:

    L = (F' - k sqrt(F'^2 + (1 - k^2) w^2)) / (1 - k^2),   F' = F - f(qd),

which is what ``forward_dynamics`` begins with. So both are explicit, smooth, and inverse to each other to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from elastogen.generator.program.graph import Value
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.program.operations import Op
from elastogen.generator.robot.robot import Robot


@dataclass(frozen=True)
class Drive:
    """What a joint's drive adds to its row of the equations of motion, as values; elastic coordinates have none."""

    inertia: Value  # gear_ratio^2 * motor_inertia [kg m^2] or [kg]
    viscous: Value  # this and the following as in Actuation
    coulomb: Value
    coulomb_velocity: Value
    offset: Value
    stribeck: Value
    stribeck_velocity: Value
    viscous_asymmetry: Value
    coulomb_asymmetry: Value
    load: Value
    load_width: Value

    def sign(self, rate: Value) -> Value:
        """Smoothed: tanh(qd / coulomb_velocity)."""
        return rate.graph.tanh(rate / self.coulomb_velocity)

    def stribeck_share(self, rate: Value) -> Value:
        """exp(-(qd / stribeck_velocity)^2)."""
        ratio = rate / self.stribeck_velocity
        return rate.graph.elementary(Op.EXP, -(ratio * ratio))

    def dry_friction(self, rate: Value) -> Value:
        """What does not depend on load, without the viscous friction, which is part of the damping matrix."""
        sliding = self.coulomb
        if not self.stribeck.is_zero:
            sliding = sliding + self.stribeck * self.stribeck_share(rate)
        total = self.offset
        if not sliding.is_zero:
            total = total + sliding * self.sign(rate)
        if not self.viscous_asymmetry.is_zero:
            total = total + self.viscous_asymmetry * rate * self.sign(rate)
        if not self.coulomb_asymmetry.is_zero:
            total = total + self.coulomb_asymmetry * self.sign(rate) * self.sign(rate)
        return total

    def _own(self, rate: Value) -> Value:
        return self.viscous * rate + self.dry_friction(rate)

    def loaded(self, row: Value, rate: Value) -> Value:
        """F from a row of the equation of motion that has all friction but that of the load."""
        return row if self.load.is_zero else row + self._of_load(row - self._own(rate), rate)

    def _of_load(self, load: Value, rate: Value) -> Value:
        return self.load * self.sign(rate) * rate.graph.sqrt(load * load + self.load_width * self.load_width)

    def unloaded(self, force: Value, rate: Value) -> Value:
        """Such a row from F: the inverse of ``loaded``."""
        return force if self.load.is_zero else force - self.load_friction(force, rate)

    def load_friction(self, force: Value, rate: Value) -> Value:
        """The friction of the load that F holds."""
        if self.load.is_zero:
            return self.load
        share, rest = self.load * self.sign(rate), force - self._own(rate)
        remaining = 1 - share * share  # above zero: load < 1
        root = rate.graph.sqrt(rest * rest + remaining * self.load_width * self.load_width)
        return share * (root - share * rest) / remaining


def drives(lower: Lowering, robot: Robot) -> tuple[Drive, ...]:
    """Per velocity, in the order of the joints: its own, its deflection's, those of the child's modes."""
    zero = lower.graph.value(0)
    names = [field.name for field in fields(Drive)][1:]
    none = Drive(zero, *(zero for _ in names))
    found: list[Drive] = []
    for joint in robot.joints:
        a = joint.actuation
        for _ in joint.type.velocities:
            ratio = lower.value(a.gear_ratio)
            reflected = lower.value(a.motor_inertia) * ratio * ratio
            found.append(Drive(reflected, *(lower.value(getattr(a, name)) for name in names)))
        if joint.elasticity is not None:
            found.append(none)
        flexible = robot.link(joint.child).flexible
        found += [none] * (0 if flexible is None else len(flexible.coordinates))
    return tuple(found)
