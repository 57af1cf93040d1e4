"""Derivatives of inverse and forward dynamics by positions, velocities and forces."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from elastogen.generator.algorithms.coriolis import coriolis_matrix
from elastogen.generator.algorithms.force_derivatives import forces_by_q
from elastogen.generator.algorithms.newton_euler import outward
from elastogen.generator.functions.catalogue import Derived, Entry, Outputs, Way, flat
from elastogen.generator.functions.dynamics import acceleration, inverse_dynamics
from elastogen.generator.functions.mass_and_coriolis import mass
from elastogen.generator.functions.variants import Variant
from elastogen.generator.program.arguments import matrix
from elastogen.generator.program.differentiate import jacobian
from elastogen.generator.program.graph import Value
from elastogen.generator.program.substitute import replacing, substitute
from elastogen.generator.spatial.vectors import Mat


def _by_differentiation(variant: Variant, qdd: Sequence[Value]) -> tuple[Mat, Mat]:
    """dF/dq and dF/dqd by forward differentiation of Newton-Euler."""
    forces = inverse_dynamics(variant).outputs[0]
    given, n = variant.input("qdd"), variant.size
    blocks = []
    for rows in (variant.by_position(forces), jacobian(variant.graph, forces, variant.input("qd"))):
        values = flat([variant.free(row) for row in rows])
        if [value.ref for value in qdd] != [value.ref for value in given]:
            values = substitute(variant.graph, values, replacing(given, qdd))
        blocks.append([values[start : start + n] for start in range(0, n * n, n)])
    return blocks[0], blocks[1]


def _by_composite_bodies(variant: Variant, qdd: Sequence[Value]) -> tuple[Mat, Mat]:
    """The same by recursion; what springs, friction and the user's own terms add is differentiated."""
    q, qd = variant.input("q"), variant.input("qd")
    mechanism, placed = variant.mechanism, variant.place(q)
    motions = outward(mechanism, placed, q, qd, qdd, [-g for g in mechanism.gravity])
    bodies = forces_by_q(mechanism, placed, motions, q, qd, qdd, variant.moment)
    C = coriolis_matrix(mechanism, placed, [motion.omega for motion in motions], qd)
    others = variant.resistances(q, qd)
    by_q, by_qd = (jacobian(variant.graph, others, x) for x in (q, qd))
    return (
        [[a + b for a, b in zip(row, own, strict=True)] for row, own in zip(bodies, by_q, strict=True)],
        [[2 * c + b for c, b in zip(row, own, strict=True)] for row, own in zip(C, by_qd, strict=True)],
    )


_Derivatives = Callable[[Variant, Sequence[Value]], tuple[Mat, Mat]]


def _inverse(derivatives: _Derivatives) -> Way:
    def way(variant: Variant) -> Derived:
        """dF/dq, dF/dqd, dF/dqdd = M."""
        by_q, by_qd = derivatives(variant, variant.input("qdd"))
        return Derived((flat(by_q), flat(by_qd), flat(mass(variant))))

    return way


def _forward(derivatives: _Derivatives) -> Way:
    def way(variant: Variant) -> Derived:
        """d qdd/dx = -M^-1 dF/dx at the accelerations that F gives; d qdd/dF = M^-1."""
        n = variant.size
        qdd, factors = acceleration(variant)
        columns: list[list[Value]] = []
        for rows in derivatives(variant, qdd):
            columns += ([-x for x in factors.solve([row[column] for row in rows])] for column in range(n))
        for column in range(n):
            columns.append(factors.solve(variant.free(variant.graph.value(1 if row == column else 0) for row in range(n))))
        blocks = [columns[start : start + n] for start in (0, n, 2 * n)]
        outputs = tuple([block[column][row] for row in range(n) for column in range(n)] for block in blocks)
        return Derived(outputs, factors.pivots)

    return way


def _ways(make: Callable[[_Derivatives], Way]) -> tuple[Way, Callable[[Variant], tuple[Way, ...]]]:
    """The way that every robot has, and the choice: the recursion is for rigid robots, and cheaper for large ones."""
    differentiation, recursion = make(_by_differentiation), make(_by_composite_bodies)

    def choice(variant: Variant) -> tuple[Way, ...]:
        if not variant.mechanism.moves_by_screws:
            return (differentiation,)
        return (differentiation, recursion) if variant.size <= 10 else (recursion,)

    return differentiation, choice


inverse_dynamics_derivatives, _ways_of_inverse = _ways(_inverse)
forward_dynamics_derivatives, _ways_of_forward = _ways(_forward)
_FORCE, _ACC = "N m or N", "rad/s^2 or m/s^2"


def _squares(*rows: tuple[str, str, str]) -> Outputs:
    return lambda v: tuple(matrix(name, v.size, v.size, unit, doc) for name, unit, doc in rows)


ENTRIES = (
    Entry("inverse_dynamics_derivatives", "Derivatives of the driving forces by q, qd and qdd.", ("q", "qd", "qdd"),
          _squares(("dF_dq", _FORCE + " per rad or m", "by coordinates"),
                   ("dF_dqd", _FORCE + " per rad/s or m/s", "by velocities"),
                   ("dF_dqdd", "kg m^2, kg m, kg", "by accelerations: M")),
          (inverse_dynamics_derivatives,), "dynamic", default=False, ways_for=_ways_of_inverse),
    Entry("forward_dynamics_derivatives", "Derivatives of the accelerations by q, qd and F.", ("q", "qd", "F"),
          _squares(("dqdd_dq", _ACC + " per rad or m", "by coordinates"),
                   ("dqdd_dqd", _ACC + " per rad/s or m/s", "by velocities"),
                   ("dqdd_dF", "1/(kg m^2), 1/(kg m), 1/kg", "by forces: inverse of M")),
          (forward_dynamics_derivatives,), "dynamic", default=False, ways_for=_ways_of_forward),
)  # fmt: skip
