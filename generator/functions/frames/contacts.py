"""Functions for contacts: frames that touch something, with a mask of the active ones.

With J the rows of all contacts in base axes, accelerations and contact forces follow from M qdd + bias = F + J^T lambda and
J qdd + dJ/dt qd = 0 (Featherstone 2008, 8.3 and 11.1):

    A lambda = -(J qdd_0 + dJ/dt qd),   A = J M^-1 J^T,   qdd = qdd_0 + M^-1 J^T lambda,   qdd_0 = M^-1 (F - bias)

One program serves all masks: inactive contacts have rows of the identity. Rows that follow from others carry no force, and
accelerations stay unique.
"""

from __future__ import annotations

from collections.abc import Mapping

from elastogen.generator.algorithms.solving.factorization import factorize
from elastogen.generator.functions import dynamics
from elastogen.generator.functions.catalogue import Derived, Entry, unless_closed
from elastogen.generator.functions.frames import closed_contacts
from elastogen.generator.functions.frames.contact_rows import ContactRows, carried_forces, contact_bias, impact, moved
from elastogen.generator.functions.variants import Variant
from elastogen.generator.loops.analysis import analysis_of
from elastogen.generator.program.arguments import vector
from elastogen.generator.robot.robot import Robot
from elastogen.generator.spatial.vectors import combination_scalar
from elastogen.runtime.interface.argument import Argument

CONTACTS = "contacts"
SINGULAR = 1e-9  # relative to its diagonal: a smaller pivot counts as zero


@unless_closed(closed_contacts.contact_dynamics)
def contact_dynamics(variant: Variant) -> Derived:
    """Accelerations and contact forces."""
    rows = ContactRows.made(variant)
    free, factors = dynamics.acceleration(variant)
    right = [-(x + b) for x, b in zip(rows.times(free), contact_bias(variant, rows), strict=True)]
    carried, columns = carried_forces(variant, rows, factors, right)
    return Derived((moved(free, columns, carried), rows.forces(len(variant.robot.contacts), carried)), factors.pivots)


@unless_closed(closed_contacts.contact_impulse)
def contact_impulse(variant: Variant) -> Derived:
    """Velocities after an impact, and its impulses: J qd_after = -e n (n . v), v = J qd, in all active contacts."""
    rows, qd = ContactRows.made(variant), variant.input("qd")
    right = impact(variant, rows, rows.times(qd))
    _, factors = dynamics.solution(variant, variant.zeros())
    carried, columns = carried_forces(variant, rows, factors, right)
    return Derived((moved(qd, columns, carried), rows.forces(len(variant.robot.contacts), carried)), factors.pivots)


@unless_closed(closed_contacts.contact_inverse_dynamics)
def contact_inverse_dynamics(variant: Variant) -> Derived:
    """Drive forces, and the smallest contact forces (least squares) that carry the base."""
    rows, graph = ContactRows.made(variant), variant.graph
    tree = dynamics.unloaded_forces(variant)
    free = [k for k, velocity in enumerate(variant.robot.velocities) if not velocity.driven and not velocity.elastic]
    with graph.section("forces of the contacts"):
        own = [[row[k] * flag for k in free] for row, flag in zip(rows.J, rows.active, strict=True)]
        columns = [list(column) for column in zip(*own, strict=True)]
        N = [[combination_scalar(graph, r, c) for c in columns] for r in columns]
        factors = factorize(N, list(range(-1, len(free) - 1)))
        x = factors.solve([tree[k] for k in free])
        carried = [combination_scalar(graph, row, x) for row in own]
    with graph.section("forces of the drives"):
        F = []
        for k in range(variant.size):
            pushed = combination_scalar(graph, [row[k] for row in rows.J], carried)
            F.append(graph.value(0) if k in free else tree[k] - pushed)
    pivots = [pivot - SINGULAR * N[k][k] for k, pivot in enumerate(factors.pivots)]
    return Derived((variant.loaded(F, variant.input("qd")), rows.forces(len(variant.robot.contacts), carried)), pivots)


def _inputs(variant: Variant) -> Mapping[str, Argument]:
    n = len(variant.robot.contacts)
    return {
        "active": Argument("active", (n,), "1", "per contact: 1 where it touches, 0 where it does not"),
        "restitution": Argument("restitution", (n,), "1", "per contact: speed along the normal after over before, 0 to 1"),
    }


def _forces(variant: Variant, name: str, unit: str, doc: str) -> Argument:
    return Argument(name, (len(variant.robot.contacts), 6), unit, f"per contact: {doc} on the robot, in base components")


def _touches(robot: Robot) -> bool:
    return bool(robot.contacts)


def _floats(robot: Robot) -> bool:
    """Whether some velocities are determined neither by drives nor by loops, so that contacts can carry them."""
    free = {k for k, v in enumerate(robot.velocities) if not v.driven and not v.elastic} if _touches(robot) else set[int]()
    return bool(free & {*analysis_of(robot).choice.independent}) if free and robot.loops else bool(free)


_WHERE = "only for robots with contacts: build_model(robot, contacts=['foot'])"
_FORCE, _ACC = "N m or N", "rad/s^2 or m/s^2"

ENTRIES = (
    Entry("contact_dynamics", "Accelerations for driving forces F while the active contacts hold, and the forces in them.",
          ("q", "qd", "F", "active"),
          lambda v: (vector("qdd", v.size, _ACC, "accelerations"), _forces(v, "contact_forces", "N, N m", "force and moment")),
          (contact_dynamics,), CONTACTS, applies=_touches, applies_to=_WHERE, own_inputs=_inputs),
    Entry("contact_impulse", "Velocities after the active contacts have hit something at rest, and the impulses in them.",
          ("q", "qd", "active", "restitution"),
          lambda v: (vector("qd_after", v.size, "rad/s or m/s", "velocities after the impact"),
                     _forces(v, "impulses", "N s, N m s", "impulse and its moment")),
          (contact_impulse,), CONTACTS, applies=_touches, applies_to=_WHERE, own_inputs=_inputs),
    Entry("contact_inverse_dynamics",
          "Driving forces of a motion of a robot with a free base, and the least forces of the active contacts that carry it.",
          ("q", "qd", "qdd", "active"),
          lambda v: (vector("F", v.size, _FORCE, "driving forces"), _forces(v, "contact_forces", "N, N m", "force and moment")),
          (contact_inverse_dynamics,), CONTACTS, applies=_floats,
          applies_to=f"{_WHERE}, whose base is free", own_inputs=_inputs),
)  # fmt: skip
