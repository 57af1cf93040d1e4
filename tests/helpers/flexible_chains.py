"""Random chains with bending, torsion and extension modes, their motions, and energies of any order."""

from __future__ import annotations

import numpy as np
from flexible_reference import constant, power
from plain_programs import PlainPrograms, program
from robots_for_tests import random_axis, random_body, random_pose

from elastogen.generator.algorithms import affine
from elastogen.generator.beams.integrals import Beam, Mode, beam_body
from elastogen.generator.joints import kinds
from elastogen.generator.program.arguments import MOTION, input_argument
from elastogen.generator.program.program import Program
from elastogen.generator.program.taylor import derivative_name
from elastogen.generator.robot.robot import Body, Joint, Link, Robot
from elastogen.runtime.interface.argument import Argument

EXACT = 1e-11


def random_chain(seed: int, links: int, most_modes: int) -> Robot:
    """R and T joints; every link rigid or a beam with up to ``most_modes`` modes in any direction."""
    rng = np.random.default_rng((seed, 31))
    made, joints = [Link("base")], []
    for number in range(1, links + 1):
        kind = (kinds.REVOLUTE, kinds.PRISMATIC)[int(rng.random() < 0.35)]
        name, count = f"link{number}", int(rng.integers(0, most_modes + 1))
        joints.append(
            Joint(
                f"j{number}", kind, made[-1].name, name, axis=random_axis(rng), before=random_pose(rng)
            )
        )  # fmt: skip
        if count == 0:
            made.append(Link(name, random_body(rng)))
            continue
        curves = {direction: constant(float(rng.uniform(20, 60))) for direction in ("y", "z", "torsion", "extension")}
        density = constant(float(rng.uniform(0.5, 2)))
        beam = Beam(
            round(float(rng.uniform(0.4, 1.0)), 3),
            density,
            curves,
            inertia_y=constant(0.002),
            inertia_z=constant(0.003),
            rotary_inertia=bool(rng.random() < 0.5),
            foreshortening=bool(rng.random() < 0.3),
        )
        modes, used = [], {}
        for k in range(count):
            direction = ("y", "z", "y", "torsion", "extension")[rng.integers(5)]
            used[direction] = used.get(direction, 0) + 1
            first = 1 if direction in ("torsion", "extension") else 2
            modes.append(Mode(f"m{k}", direction, power(first + used[direction] - 1)))
        made.append(Link(name, flexible=beam_body(beam, modes), tip_body=random_body(rng)))
    return Robot(
        f"chain{seed}",
        tuple(made),
        tuple(joints),
        gravity=tuple(float(g) for g in rng.normal(scale=5, size=3)),
        tip=made[-1].name,
        tool=random_pose(rng),
        payload=random_body(rng) if rng.random() < 0.3 else Body(),
    )


def random_motion(robot: Robot, seed: int, orders: int) -> np.ndarray:
    """Time derivatives 0, 1, ... of the coordinates; deflections are small, as those of beams are."""
    rng = np.random.default_rng((seed, 77))
    scale = np.array([0.1 if coordinate.elastic else 1.0 for coordinate in robot.coordinates])
    return scale * rng.uniform(-1, 1, (orders, len(scale)))


class Energies(PlainPrograms):
    """Energies of any order as programs, in trace form."""

    def energy(self, p: int) -> Program:
        names = [derivative_name(k) for k in range(p + 2)]
        value = affine.energy(self.variant.mechanism, [self.variant.input(name) for name in names], p)
        inputs = [Argument(name, (self.size,), "", "") for name in names]
        return program(self.variant.graph, inputs, [(Argument("E", (), "", ""), [value])])

    @property
    def forces(self) -> Program:
        """Inertia forces M qdd + C qd."""
        q, qd, qdd = (self.variant.input(name) for name in MOTION[:3])
        values = self.variant.forces(q, qd, qdd, self.variant.zeros(3))
        inputs = [input_argument(name, self.size, self.size) for name in MOTION[:3]]
        return program(self.variant.graph, inputs, [(Argument("Q", (self.size,), "", ""), values)])
