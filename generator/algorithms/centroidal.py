"""Centre of mass and momentum of all moving bodies in base components; bodies fixed to the base do not count.

The momentum about a point is the wrench that would start the motion in unit time from rest: Newton-Euler with the velocities in
the place of accelerations. Its matrix has the momenta of unit velocities (Orin, Goswami 2008). Rotors of drives count with
their links only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from elastogen.generator.algorithms.composite_bodies import composite_inertias
from elastogen.generator.algorithms.energies import first_moments
from elastogen.generator.algorithms.kinematics import Pose, poses
from elastogen.generator.algorithms.newton_euler import Placed, body_wrenches, carry_inward, outward
from elastogen.generator.mechanism.mechanism import Mechanism
from elastogen.generator.program.graph import Value
from elastogen.generator.spatial.vectors import Mat, Vec, add, cross, sub, times


@dataclass(frozen=True)
class MassCentre:
    """Mass [kg] and centre of mass [m] of everything that moves."""

    mass: Value
    place: Vec


def mass_centre(mechanism: Mechanism, placed: Sequence[Placed], q: Sequence[Value]) -> MassCentre:
    """Return the first moments divided by the mass."""
    mass, first = first_moments(mechanism, placed, q)
    return MassCentre(mass, [x / mass for x in first])


def momentum_matrix(mechanism: Mechanism, placed: Sequence[Placed], q: Sequence[Value], centre: MassCentre) -> Mat:
    """Return 6 x nv: linear momentum, and angular momentum about the centre of mass, of unit velocities."""
    zero = mechanism.graph.value(0)
    found = poses(mechanism, placed)
    composite = composite_inertias(mechanism, placed, q)
    A = [[zero] * mechanism.size for _ in range(6)]

    def put(pose: Pose, shares: Sequence[tuple[int, Value]], force: Vec, moment: Vec) -> None:
        linear = times(pose.R, force)
        angular = add(times(pose.R, moment), cross(sub(pose.p, centre.place), linear))
        for coordinate, share in shares:
            for row, value in enumerate((*linear, *angular)):
                A[row][coordinate] = A[row][coordinate] + share * value

    for frame, pose, body in zip(mechanism.frames, found, composite, strict=True):
        with mechanism.graph.section(f"{frame.label}: momentum of its unit velocities"):
            for shares, wrench in zip(frame.shares, frame.motion.inertia_wrenches(frame.at(q), body), strict=True):
                put(pose, shares, *wrench)
            if frame.elastic is not None:
                own = frame.elastic.moved(q).unit_wrenches()
                for coordinate, wrench in zip(frame.elastic.coordinates, own, strict=True):
                    put(pose, [(coordinate, mechanism.graph.value(1))], *wrench)
    return A


def total_wrench(
    mechanism: Mechanism,
    placed: Sequence[Placed],
    q: Sequence[Value],
    qd: Sequence[Value],
    qdd: Sequence[Value],
    centre: MassCentre,
    moment: str,
) -> list[Value]:
    """Return force, and moment about the centre of mass, for the motion of all bodies: the rate of their momentum."""
    zero = mechanism.graph.value(0)
    motions = outward(mechanism, placed, q, qd, qdd, [zero] * 3)
    total = [[zero] * 3, [zero] * 3]

    def gather(index: int, force: Vec, torque: Vec) -> None:
        place_ = placed[index]
        if mechanism.frames[index].parent < 0:
            linear = place_.rotation.outward(force)
            arm = sub(place_.position, centre.place)
            total[0] = add(total[0], linear)
            total[1] = add(total[1], add(place_.rotation.outward(torque), cross(arm, linear)))

    carry_inward(mechanism, placed, body_wrenches(mechanism, motions, q, qd, qdd, moment), gather)
    return [*total[0], *total[1]]
