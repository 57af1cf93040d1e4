"""Inertia matrices of flexible links (000 (90)-(94)): integrals of {a x} {b x}^T over the beam, in the frame of the link.

With P = int a b^T dm they are tr(P) E - P^T, so they follow from the integrals of any flexible body.
"""

from __future__ import annotations

from collections.abc import Sequence

from elastogen.generator.functions.catalogue import Derived, Entry
from elastogen.generator.functions.variants import Variant
from elastogen.generator.program.graph import Value
from elastogen.generator.program.lowering import Lowering
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody
from elastogen.generator.robot.robot import Matrix, Robot
from elastogen.runtime.interface.argument import Argument


def _bodies(robot: Robot) -> list[FlexibleBody]:
    found = (robot.link(joint.child).flexible for joint in robot.joints)
    return [body for body in found if body is not None and body.coordinates]


def _has_constant_integrals(robot: Robot) -> bool:
    bodies = _bodies(robot)
    return bool(bodies) and all(body.telescope is None for body in bodies)


def inertia_matrices(variant: Variant) -> Derived:
    """I_r, I_rd and I_dd of every flexible link and its coordinates."""
    lower, graph, bodies = Lowering(variant.graph, variant.robot), variant.graph, _bodies(variant.robot)
    nothing = [graph.value(0)] * 9

    def crossed(P: Matrix) -> list[Value]:
        """int {a x} {b x}^T dm = tr(P) E - P^T."""
        entries = [[graph.value(lower.scalar(entry)) for entry in row] for row in P]
        trace = entries[0][0] + entries[1][1] + entries[2][2]
        return [(trace if r == c else 0) - entries[c][r] for r in range(3) for c in range(3)]

    def field(body: FlexibleBody, coordinate: int) -> int:
        return body.monomials.index((coordinate,))

    def turned(P: Matrix) -> Matrix:
        return tuple(zip(*P, strict=True))

    I_r = [value for body in bodies for value in crossed(body.second_moments)]
    I_rd: list[Value] = []
    I_dd: list[Value] = []
    owners = [(body, j) for body in bodies for j in range(len(body.coordinates))]
    for body, j in owners:
        I_rd += crossed(turned(body.field_position_integrals[field(body, j)]))  # int r d^T dm
        for other, k in owners:
            same = other is body
            I_dd += crossed(body.field_field_integrals[field(body, j)][field(body, k)]) if same else nothing
    return Derived((I_r, I_rd, I_dd))


def _outputs(variant: Variant) -> Sequence[Argument]:
    bodies = _bodies(variant.robot)
    m = sum(len(body.coordinates) for body in bodies)
    return (
        Argument("I_r", (len(bodies), 3, 3), "kg m^2", "int {r x} {r x}^T dm of each flexible link's beam (000 (94))"),
        Argument("I_rd", (m, 3, 3), "kg m^2 per unit", "int {r x} {d_j x}^T dm of each elastic coordinate (000 (90), (91))"),
        Argument("I_dd", (m, m, 3, 3), "kg m^2 per unit^2", "int {d_j x} {d_k x}^T dm, 0 between links (000 (92), (93))"),
    )


ENTRIES = (
    Entry(
        "link_inertia_matrices",
        "Inertia matrices I_r, I_rd, I_dd of the beams of flexible links, about their frames.",
        (),
        lambda v: tuple(_outputs(v)),
        (inertia_matrices,),
        "plain",
        default=False,
        applies=_has_constant_integrals,
        applies_to="only for robots with flexible links, none of which slides through its joint",
    ),
)
