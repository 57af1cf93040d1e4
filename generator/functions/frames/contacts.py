"""Functions of the catalogue: a robot whose frames touch something, with a mask of the contacts that are active.

With J the rows of all contacts in base axes and a = 1 for active ones, 0 for others, accelerations and forces of contact follow
from M qdd + bias = F + J^T lambda and J qdd + dJ/dt qd = 0 (Featherstone 2008, 8.3 and 11.1):

    A lambda = -(J qdd_0 + dJ/dt qd),   A = J M^-1 J^T,   qdd = qdd_0 + M^-1 J^T lambda,   qdd_0 = M^-1 (F - bias)

One program serves all masks: rows of contacts that are not active are those of the identity. A row whose pivot is below
``REDUNDANT`` of its diagonal follows from the rows before it, and carries nothing: accelerations stay unique.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from elastogen.generator.algorithms import kinematics, point_accelerations, points, sheared_kinematics
from elastogen.generator.algorithms.newton_euler import Placed, outward, place
from elastogen.generator.algorithms.solving.factorization import Factorization, factorize
from elastogen.generator.functions import dynamics
from elastogen.generator.functions.catalogue import Derived, Entry, unless_sheared
from elastogen.generator.functions.variants import Variant
from elastogen.generator.program.arguments import vector
from elastogen.generator.program.differentiate import time_derivative
from elastogen.generator.program.graph import Value
from elastogen.generator.robot.robot import Robot
from elastogen.generator.spatial.vectors import Mat, combination_scalar
from elastogen.runtime.interface.argument import Argument

CONTACTS = "contacts"
REDUNDANT = 1e-6  # pivot over diagonal; float keeps six digits of A, and bodies that touch differ by less than this
SINGULAR = 1e-9  # the same of what carries the base


def _placed(variant: Variant) -> list[Placed]:
    """The frames with those of the contacts, which a beam carries inside."""
    return place(variant.pointed, variant.input("q"), merge=variant.merge)


def _sheared_jacobians(variant: Variant) -> list[Mat]:
    q = variant.input("q")
    found = kinematics.poses(variant.pointed, _placed(variant))
    at = [kinematics.link_pose(variant.pointed, found, point.frame) for point in variant.pointed.points]
    return [sheared_kinematics.jacobian(variant.graph, each, q) for each in at]


@unless_sheared(_sheared_jacobians)
def _jacobians(variant: Variant) -> list[Mat]:
    q = variant.input("q")
    found = kinematics.poses(variant.pointed, _placed(variant))
    return [points.jacobian(variant.pointed, found, q, point.frame) for point in variant.pointed.points]


@dataclass(frozen=True)
class _Rows:
    """The rows of all contacts: which contact and component each is, and its row of the Jacobian."""

    of: list[tuple[int, int]]
    J: Mat
    active: list[Value]  # per row: 1 or 0

    @classmethod
    def made(cls, variant: Variant) -> _Rows:
        contacts, flags = variant.robot.contacts, variant.input("active", len(variant.robot.contacts))
        of = [(k, component) for k, contact in enumerate(contacts) for component in range(contact.rows)]
        jacobians = [[variant.free(row) for row in J] for J in _jacobians(variant)]
        return cls(of, [jacobians[k][component] for k, component in of], [flags[k] for k, _ in of])

    def times(self, values: Sequence[Value]) -> list[Value]:
        """J times a vector over the velocities."""
        return [combination_scalar(values[0].graph, row, values) for row in self.J]

    def forces(self, count: int, values: Sequence[Value]) -> list[Value]:
        """Force and moment of every contact, (contacts, 6)."""
        found = [values[0].graph.value(0)] * (6 * count)
        for (k, component), value in zip(self.of, values, strict=True):
            found[6 * k + component] = value
        return found


def _differentiated_bias(variant: Variant, rows: _Rows) -> list[Value]:
    q, qd = variant.input("q"), variant.input("qd")
    return time_derivative(variant.graph, rows.times(qd), [(q, variant.mechanism.rates(q, qd))])


def _bias(variant: Variant, rows: _Rows) -> list[Value]:
    """dJ/dt qd of every row: accelerations of the frames where qdd = 0."""
    if variant.mechanism.has_linear_tips:
        return _differentiated_bias(variant, rows)
    q, qd, zeros = variant.input("q"), variant.input("qd"), variant.zeros()
    placed = _placed(variant)
    motions = outward(variant.pointed, placed, q, qd, zeros, variant.zeros(3))
    carriers = point_accelerations.Carriers(variant.pointed, placed, motions, q, qd, zeros)
    twists = point_accelerations.FORMULATIONS[0](carriers)
    return [(*twists[k].linear, *twists[k].angular)[component] for k, component in rows.of]


def _carried(variant: Variant, rows: _Rows, factors: Factorization, right: Sequence[Value]) -> tuple[list[Value], Mat]:
    """lambda of A lambda = right for the active rows, 0 for the others; and the columns of M^-1 J^T."""
    with variant.graph.section("inertia at the contacts"):
        columns = [factors.solve(row) for row in rows.J]
        A = [[combination_scalar(variant.graph, row, column) for column in columns] for row in rows.J]
    with variant.graph.section("forces of the contacts"):
        return _solved(variant, A, rows.active, right), columns


def _solved(variant: Variant, A: Mat, active: Sequence[Value], right: Sequence[Value]) -> list[Value]:
    """A x = b by A = L D L^T, where rows that are not active, or follow from others, have x = 0."""
    n, graph = len(A), variant.graph
    zero = graph.value(0)
    L = [[zero] * n for _ in range(n)]
    reciprocals: list[Value] = []
    H = [[A[r][c] if c <= r else zero for c in range(n)] for r in range(n)]
    for k in range(n):
        independent = graph.choose(REDUNDANT * A[k][k] - H[k][k], active[k], 0)  # 1 where it decides something
        pivot = graph.choose(0.5 - independent, H[k][k], 1)
        reciprocals.append(independent / pivot)
        for r in range(k + 1, n):
            L[r][k] = H[r][k] * reciprocals[k]
        for r in range(k + 1, n):
            for c in range(k + 1, r + 1):
                H[r][c] = H[r][c] - L[r][k] * H[c][k]
    y = list(right)
    for k in range(n):
        for c in range(k):
            y[k] = y[k] - L[k][c] * y[c]
    x = [value * reciprocal for value, reciprocal in zip(y, reciprocals, strict=True)]
    for k in reversed(range(n)):
        for r in range(k + 1, n):
            x[k] = x[k] - L[r][k] * x[r]
    return x


def _moved(start: Sequence[Value], columns: Mat, carried: Sequence[Value]) -> list[Value]:
    """The start and what contacts add: M^-1 J^T lambda."""
    found = list(start)
    for column, value in zip(columns, carried, strict=True):
        found = [x + c * value for x, c in zip(found, column, strict=True)]
    return found


def contact_dynamics(variant: Variant) -> Derived:
    """Accelerations and forces of contact."""
    rows = _Rows.made(variant)
    free, factors = dynamics.acceleration(variant)
    right = [-(x + b) for x, b in zip(rows.times(free), _bias(variant, rows), strict=True)]
    carried, columns = _carried(variant, rows, factors, right)
    return Derived((_moved(free, columns, carried), rows.forces(len(variant.robot.contacts), carried)), factors.pivots)


def contact_impulse(variant: Variant) -> Derived:
    """Velocities after an impact, and its impulses: J qd_after = -e n (n . v) with v = J qd, in all active contacts."""
    rows, contacts = _Rows.made(variant), variant.robot.contacts
    qd, restitution = variant.input("qd"), variant.input("restitution", len(contacts))
    v = rows.times(qd)
    normal: dict[int, Value] = {}
    for (k, component), value in zip(rows.of, v, strict=True):
        if component < 3:
            normal[k] = normal.get(k, variant.graph.value(0)) + contacts[k].normal[component] * value
    right = [
        -(value + restitution[k] * normal[k] * contacts[k].normal[component]) if component < 3 else -value
        for (k, component), value in zip(rows.of, v, strict=True)
    ]
    _, factors = dynamics.solution(variant, variant.zeros())
    carried, columns = _carried(variant, rows, factors, right)
    return Derived((_moved(qd, columns, carried), rows.forces(len(contacts), carried)), factors.pivots)


def contact_inverse_dynamics(variant: Variant) -> Derived:
    """Forces of the drives, and the least forces of contact (sum of squares) with which nothing else must push the base."""
    rows, graph = _Rows.made(variant), variant.graph
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
    return _touches(robot) and any(not v.driven and not v.elastic for v in robot.velocities)


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
