"""Kinetic and acceleration energies per link and by component."""

from __future__ import annotations

from collections.abc import Callable

from elastogen.generator.algorithms import energy_parts, reactions
from elastogen.generator.algorithms.energy_parts import NAMES
from elastogen.generator.functions.catalogue import Derived, Entry, Outputs
from elastogen.generator.functions.higher.energies_and_rates import HIGHEST_ENERGY
from elastogen.generator.functions.inner_forces import moving_links
from elastogen.generator.functions.variants import Variant
from elastogen.generator.program.arguments import MOTION, matrix
from elastogen.generator.robot.robot import Robot

COLUMNS = (*NAMES, "drive")


def parts(p: int) -> Callable[[Variant], Derived]:
    """The parts of the energy of order p (0: kinetic) of every link and its drive."""

    def derive(variant: Variant) -> Derived:
        motion = [variant.input(name) for name in MOTION[: p + 2]]
        mechanism, zero = variant.mechanism, variant.graph.value(0)
        found = energy_parts.energy_parts(mechanism, variant.place(motion[0]), motion, p)
        links = moving_links(variant)
        rows = [energy_parts.Parts(zero, zero, zero, zero, zero) for _ in links]
        for owner, bodies in zip(reactions.owners(mechanism, links), found, strict=True):
            for part in bodies if owner >= 0 else ():
                rows[owner] = rows[owner] + part
        names, values = variant.robot.velocity_names, []
        for row, joint in zip(rows, variant.robot.moving_joints, strict=True):
            driven = [names.index(coordinate.name(joint.name)) for coordinate in joint.type.velocities]
            rotors = [variant.drives[k].inertia * motion[-1][k] * motion[-1][k] * 0.5 for k in driven]
            values += [*row.values, sum(rotors, zero)]
        return Derived((values,))

    return derive


def _exact_tips(robot: Robot) -> bool:
    return all(link.flexible is None or link.flexible.tip != "linear" for link in robot.links)


def _outputs(unit: str) -> Outputs:
    doc = f"per moving joint, of its link: {', '.join(COLUMNS)}"
    return lambda v: (matrix("E", len(v.robot.moving_joints), len(COLUMNS), unit, doc),)


ENTRIES = tuple(
    Entry(name, brief, MOTION[: p + 2], _outputs(unit), (parts(p),), "physical", default=False, applies=_exact_tips,
          applies_to="only for robots whose tips rotate exactly: with linear tips there is no angular velocity")
    for p, name, brief, unit in (
        (0, "kinetic_energy_parts", "Kinetic energies by link and component; their sum is the kinetic energy.", "J"),
        *((p, f"acceleration_energy_parts_{p}",
           f"Acceleration energies of order {p} by link and component; their sum is the acceleration energy.", f"J/s^{2 * p}")
          for p in range(1, HIGHEST_ENERGY + 1)),
    )
)  # fmt: skip
