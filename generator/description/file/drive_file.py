"""What a robot file says of a joint's drive: limits, motor, friction."""

from __future__ import annotations

from pydantic import Field

from elastogen.generator.description.file.fields import ScalarField, Section


class LimitsSection(Section):
    """Range of a joint's motion."""

    lower: ScalarField | None = Field(default=None, description="[rad] or [m]")
    upper: ScalarField | None = Field(default=None, description="[rad] or [m]")
    velocity: ScalarField | None = Field(default=None, description="[rad/s] or [m/s]")
    effort: ScalarField | None = Field(default=None, description="[N m] or [N]")


class MotorSection(Section):
    """The joint's motor: it adds gear_ratio^2 * inertia to the joint."""

    inertia: ScalarField = Field(default=0, description="of the rotor, motor side [kg m^2]")
    gear_ratio: ScalarField = Field(default=1, description="motor turns per joint turn, or [rad/m] for a prismatic joint")


class FrictionSection(Section):
    """Friction on the joint side, a function of the velocity and of the load that the drive holds."""

    viscous: ScalarField = Field(default=0, description="[N m s/rad] or [N s/m]")
    coulomb: ScalarField = Field(default=0, description="[N m] or [N]")
    coulomb_velocity: ScalarField = Field(default=0.01, description="width of the smoothed sign [rad/s] or [m/s]")
    offset: ScalarField = Field(default=0, description="at any velocity: bias of the force or current sensor [N m] or [N]")
    stribeck: ScalarField = Field(default=0, description="what Coulomb friction has more near rest [N m] or [N]")
    stribeck_velocity: ScalarField = Field(default=0.1, description="where that has fallen to 1/e [rad/s] or [m/s]")
    viscous_asymmetry: ScalarField = Field(default=0, description="viscous friction more forward, less backward")
    coulomb_asymmetry: ScalarField = Field(default=0, description="Coulomb friction more forward, less backward [N m] or [N]")
    load: ScalarField = Field(default=0, description="Coulomb friction per force that the drive holds, 0 <= load < 1 [-]")
    load_width: ScalarField = Field(default=0.01, description="below it the load counts smoothly [N m] or [N]")
