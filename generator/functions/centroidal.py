"""Functions of the whole robot: centre of mass and momentum."""

from __future__ import annotations

from elastogen.generator.algorithms import centroidal
from elastogen.generator.functions.catalogue import Derived, Entry, flat
from elastogen.generator.functions.variants import Variant
from elastogen.generator.program.arguments import matrix, vector
from elastogen.generator.program.graph import Graph
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.robot.robot import Robot


def _centre(variant: Variant) -> centroidal.MassCentre:
    q = variant.input("q")
    return centroidal.mass_centre(variant.mechanism, variant.place(q), q)


def center_of_mass(variant: Variant) -> Derived:
    """sum m r_C / sum m."""
    return Derived((_centre(variant).place,))


def centroidal_momentum_matrix(variant: Variant) -> Derived:
    """A with A qd the momentum."""
    q = variant.input("q")
    A = centroidal.momentum_matrix(variant.mechanism, variant.place(q), q, _centre(variant))
    return Derived((flat([variant.free(row) for row in A]),))


def center_of_mass_jacobian(variant: Variant) -> Derived:
    """The linear rows of the momentum matrix, per mass."""
    q, centre = variant.input("q"), _centre(variant)
    A = centroidal.momentum_matrix(variant.mechanism, variant.place(q), q, centre)
    return Derived(([value / centre.mass for row in A[:3] for value in variant.free(row)],))


def centroidal_momentum(variant: Variant) -> Derived:
    """The wrench that would start the motion in unit time: Newton-Euler from rest."""
    q, qd = variant.input("q"), variant.input("qd")
    placed, rest = variant.place(q), variant.zeros()
    return Derived((centroidal.total_wrench(variant.mechanism, placed, q, rest, qd, _centre(variant), variant.moment),))


def centroidal_momentum_rate(variant: Variant) -> Derived:
    """The wrench of the motion; the velocity of the centre is parallel to the momentum and adds nothing."""
    q, qd, qdd = (variant.input(name) for name in ("q", "qd", "qdd"))
    return Derived(
        (centroidal.total_wrench(variant.mechanism, variant.place(q), q, qd, qdd, _centre(variant), variant.moment),)
    )


def _moves_mass(robot: Robot) -> bool:
    """Whether any moving link has mass: without it there is no centre of mass."""
    number = Lowering(Graph(), robot).scalar
    heavy = {link.name for link in robot.links if any(number(body.mass) != 0 for body in (link.body, link.tip_body))}
    heavy |= {link.name for link in robot.links if link.flexible is not None}
    heavy |= {robot.tip} if number(robot.payload.mass) != 0 else set()
    moving: set[str] = set()
    for joint in robot.joints:
        if joint.type.moves or joint.parent in moving or robot.link(joint.child).flexible is not None:
            moving.add(joint.child)
    return bool(heavy & moving)


def _moves_mass_in_frames(robot: Robot) -> bool:
    return _moves_mass(robot) and all(link.flexible is None or link.flexible.tip != "linear" for link in robot.links)


_WHERE = "base components, without the base"
_ROWS = "linear (3), angular about the centre of mass (3), base components"

ENTRIES = (
    Entry("center_of_mass", "Centre of mass of everything that moves; the mass of a fixed base does not count.", ("q",),
          lambda v: (vector("com", 3, "m", _WHERE),), (center_of_mass,), "kinematic", explore=True, default=False,
          applies=_moves_mass, applies_to="only for robots that move mass"),
    *(
        Entry(name, brief, inputs, outputs, (formulation,), "physical", default=False, applies=_moves_mass_in_frames,
              applies_to="only for robots that move mass, without linear tips")
        for name, brief, inputs, outputs, formulation in (
            ("center_of_mass_jacobian", "Jacobian of the centre of mass: its velocity is J qd.", ("q",),
             lambda v: (matrix("J", 3, v.size, "m, 1 or m/rad", _WHERE),), center_of_mass_jacobian),
            ("centroidal_momentum", "Linear momentum, and angular momentum about the centre of mass.", ("q", "qd"),
             lambda v: (vector("h", 6, "kg m/s, kg m^2/s", _ROWS),), centroidal_momentum),
            ("centroidal_momentum_matrix", "Matrix A of the centroidal momentum A qd.", ("q",),
             lambda v: (matrix("A", 6, v.size, "kg, kg m, kg m^2", _ROWS),), centroidal_momentum_matrix),
            ("centroidal_momentum_rate", "Rate of the centroidal momentum: force and moment that the motion needs.",
             ("q", "qd", "qdd"), lambda v: (vector("dh", 6, "N, N m", _ROWS),), centroidal_momentum_rate),
        )
    ),
)  # fmt: skip
