"""Derivatives of inverse and forward dynamics by positions, velocities and forces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from elastogen.generator.algorithms.composite_bodies import gravity_by_composites
from elastogen.generator.algorithms.force_derivatives import forces_by_q
from elastogen.generator.algorithms.newton_euler import outward
from elastogen.generator.algorithms.solving.factorization import Factorization
from elastogen.generator.algorithms.solving.solution_columns import solution_columns
from elastogen.generator.functions.catalogue import Derived, Entry, Formulation, Looped, Outputs, flat
from elastogen.generator.functions.dynamics import bias, solution, unloaded_forces
from elastogen.generator.functions.loops.closing import FREE, forced
from elastogen.generator.functions.loops.dynamics import closed_forward_derivatives, closed_inverse_derivatives
from elastogen.generator.functions.mass_and_coriolis import coriolis_matrix, mass
from elastogen.generator.functions.variants import Variant
from elastogen.generator.program.arguments import matrix
from elastogen.generator.program.columns import Loops
from elastogen.generator.program.differentiate import jacobian
from elastogen.generator.program.graph import Value
from elastogen.generator.program.substitute import replacing, substitute
from elastogen.generator.spatial.vectors import Mat

SMALL = 10  # coordinates, up to which both ways are compared
SMALLEST_LOOP = 7  # coordinates from which the columns of a solution become a loop (measured)


def _by_differentiation(variant: Variant, qdd: Sequence[Value]) -> tuple[Mat, Mat]:
    """dF/dq and dF/dqd by forward differentiation of Newton-Euler."""
    forces = unloaded_forces(variant)
    given, n = variant.input("qdd"), variant.size
    blocks = []
    for rows in (variant.by_position(forces), jacobian(variant.graph, forces, variant.input("qd"))):
        values = flat([variant.free(row) for row in rows])
        if [value.ref for value in qdd] != [value.ref for value in given]:
            values = substitute(variant.graph, values, replacing(given, qdd))
        blocks.append([values[start : start + n] for start in range(0, n * n, n)])
    return blocks[0], blocks[1]


def _by_composite_bodies(variant: Variant, qdd: Sequence[Value]) -> tuple[Mat, Mat]:
    """The same by recursion; springs, friction and the user's own terms are differentiated."""
    q, qd = variant.input("q"), variant.input("qd")
    mechanism, placed = variant.mechanism, variant.place(q)
    motions = outward(mechanism, placed, q, qd, qdd, [-g for g in mechanism.gravity])
    bodies = forces_by_q(mechanism, placed, motions, q, qd, qdd, variant.moment)
    others = variant.resistances(q, qd)
    by_q, by_qd = (jacobian(variant.graph, others, x) for x in (q, qd))
    C = _coriolis(variant)
    return (
        [[a + b for a, b in zip(row, own, strict=True)] for row, own in zip(bodies, by_q, strict=True)],
        [[2 * c + b for c, b in zip(row, own, strict=True)] for row, own in zip(C, by_qd, strict=True)],
    )


def _coriolis(variant: Variant) -> Mat:
    """C from composite bodies."""
    values, n = coriolis_matrix(variant).outputs[0], variant.size
    return [list(values[start : start + n]) for start in range(0, n * n, n)]


def _bias_of_composite_bodies(variant: Variant) -> list[Value]:
    """C qd + G, springs and friction: cheaper than Newton-Euler, since the derivatives need C and the bodies anyway."""
    q, qd = variant.input("q"), variant.input("qd")
    weights = gravity_by_composites(variant.mechanism, variant.place(q), q)
    result = []
    for row, weight, resistance in zip(_coriolis(variant), weights, variant.resistances(q, qd), strict=True):
        total = weight + resistance
        for c, rate in zip(row, qd, strict=True):
            total = total + c * rate
        result.append(total)
    return result


_Derivatives = Callable[[Variant, Sequence[Value]], tuple[Mat, Mat]]
_Bias = Callable[[Variant], Sequence[Value]]


def _inverse(derivatives: _Derivatives) -> Formulation:
    def formulation(variant: Variant) -> Derived:
        """dF/dq, dF/dqd, dF/dqdd = M."""
        by_q, by_qd = derivatives(variant, variant.input("qdd"))
        blocks = (by_q, by_qd, mass(variant))
        return Derived(tuple(flat(block) for block in (_loaded(variant, blocks) if variant.has_load_friction else blocks)))

    return formulation


def _loaded(variant: Variant, blocks: Sequence[Mat]) -> list[Mat]:
    """Derivatives of F by the chain rule, from those of its rows without load friction."""
    graph, qd = variant.graph, variant.input("qd")
    rows = [graph.input(f"row[{k}]") for k in range(variant.size)]
    F = variant.loaded(rows, qd)
    given = unloaded_forces(variant)
    slopes = []
    for by in (rows, qd):
        values = [line[k] for k, line in enumerate(jacobian(graph, F, by))]
        slopes.append(substitute(graph, values, replacing(rows, given)))
    found = [[[slope * x for x in row] for slope, row in zip(slopes[0], block, strict=True)] for block in blocks]
    for k, slope in enumerate(slopes[1]):
        found[1][k][k] = found[1][k][k] + slope
    return found


@dataclass(frozen=True)
class FirstDerivatives:
    """Forward dynamics and its first derivatives."""

    qdd: list[Value]
    by_q: Mat
    by_qd: Mat
    by_force: Mat
    factors: Factorization
    forces_by_q: Mat
    forces_by_qd: Mat


def _of_accelerations(variant: Variant, derivatives: _Derivatives, forces: _Bias) -> FirstDerivatives:
    """d qdd/dx = -M^-1 dF/dx at the accelerations of F; d qdd/dF = M^-1.

    With load friction, F is the force without it; its slopes by qd and F act row by row.
    """
    n, rest, F, qd = variant.size, forces(variant), variant.input("F"), variant.input("qd")
    rows = variant.unloaded(F, qd)
    qdd, factors = solution(variant, [f - r for f, r in zip(rows, rest, strict=True)])

    def solved(rows: Mat) -> Mat:
        columns = [factors.solve([row[column] for row in rows]) for column in range(n)]
        return [[-columns[column][row] for column in range(n)] for row in range(n)]

    by_q, by_qd = derivatives(variant, qdd)
    by_force = _inverse_of_mass(variant, factors)
    if variant.has_load_friction:
        slopes = [[line[k] for k, line in enumerate(jacobian(variant.graph, rows, by))] for by in (qd, F)]
        by_qd = [[x - slopes[0][r] if r == c else x for c, x in enumerate(row)] for r, row in enumerate(by_qd)]
        by_force = [[x * slope for x, slope in zip(row, slopes[1], strict=True)] for row in by_force]
    return FirstDerivatives(qdd, solved(by_q), solved(by_qd), by_force, factors, by_q, by_qd)


def first_derivatives(variant: Variant) -> FirstDerivatives:
    """First derivatives of forward dynamics, by recursion if possible."""
    return first_derivatives_by(variant)[-1](variant)


def first_derivatives_by(variant: Variant) -> tuple[Callable[[Variant], FirstDerivatives], ...]:
    """Ways to derive them: differentiation for every robot; recursion for rigid ones, cheaper for large ones."""
    if not variant.mechanism.moves_by_screws:
        return (_accelerations_by_differentiation,)
    recursion = _accelerations_by_composite_bodies
    return (_accelerations_by_differentiation, recursion) if variant.size <= SMALL else (recursion,)


def _accelerations_by_differentiation(variant: Variant) -> FirstDerivatives:
    return _of_accelerations(variant, _by_differentiation, bias)


def _accelerations_by_composite_bodies(variant: Variant) -> FirstDerivatives:
    return _of_accelerations(variant, _by_composite_bodies, _bias_of_composite_bodies)


def _forward(first: Callable[[Variant], FirstDerivatives]) -> Formulation:
    def formulation(variant: Variant) -> Derived:
        """d qdd/dq, d qdd/dqd, d qdd/dF."""
        found = first(variant)
        outputs = (flat(found.by_q), flat(found.by_qd), flat(found.by_force))
        return Derived(outputs, found.factors.pivots, _solved_in_loops(variant, found))

    return formulation


def _solved_in_loops(variant: Variant, found: FirstDerivatives) -> Looped | None:
    """The same, with loops only for the solutions."""
    loops = Loops(variant.graph)
    if variant.size < SMALLEST_LOOP:
        return None
    solved = solution_columns(loops, found.factors, (found.forces_by_q, found.forces_by_qd))
    if solved is None:
        return None
    return Looped((flat(solved[0]), flat(solved[1]), flat(found.by_force)), found.factors.pivots, tuple(loops.columns))


def _inverse_of_mass(variant: Variant, factors: Factorization) -> Mat:
    """M^-1, with zeros for clamped coordinates."""
    if not variant.clamped and not factors.windows:
        return factors.inverse()
    one, zero, n = variant.graph.value(1), variant.graph.value(0), variant.size
    columns = [factors.solve(variant.free(one if row == column else zero for row in range(n))) for column in range(n)]
    return [list(row) for row in zip(*columns, strict=True)]


def _formulations(
    differentiation: Formulation, recursion: Formulation, closed: Formulation
) -> Callable[[Variant], tuple[Formulation, ...]]:
    """Differentiation works for every robot; the recursion for rigid ones, and is cheaper for large ones."""

    def choice(variant: Variant) -> tuple[Formulation, ...]:
        if variant.robot.loops:
            return (closed,)
        if not variant.mechanism.moves_by_screws:
            return (differentiation,)
        return (differentiation, recursion) if variant.size <= SMALL else (recursion,)

    return choice


inverse_dynamics_derivatives = _inverse(_by_differentiation)
forward_dynamics_derivatives = _forward(_accelerations_by_differentiation)
_formulations_of_inverse = _formulations(
    inverse_dynamics_derivatives, _inverse(_by_composite_bodies), closed_inverse_derivatives
)
_formulations_of_forward = _formulations(
    forward_dynamics_derivatives, _forward(_accelerations_by_composite_bodies), closed_forward_derivatives
)
_FORCE, _ACC = "N m or N", "rad/s^2 or m/s^2"


def _squares(*rows: tuple[str, str, str]) -> Outputs:
    return lambda v: tuple(matrix(name, v.size, v.size, unit, doc) for name, unit, doc in rows)


ENTRIES = (
    Entry("inverse_dynamics_derivatives", "Derivatives of the driving forces by q, qd and qdd.", ("q", "qd", "qdd"),
          _squares(("dF_dq", _FORCE + " per rad or m", "by coordinates"),
                   ("dF_dqd", _FORCE + " per rad/s or m/s", "by velocities"),
                   ("dF_dqdd", "kg m^2, kg m, kg", "by accelerations: M")),
          (inverse_dynamics_derivatives,), "dynamic", default=False, formulations_for=_formulations_of_inverse,
          applies=forced, applies_to=FREE),
    Entry("forward_dynamics_derivatives", "Derivatives of the accelerations by q, qd and F.", ("q", "qd", "F"),
          _squares(("dqdd_dq", _ACC + " per rad or m", "by coordinates"),
                   ("dqdd_dqd", _ACC + " per rad/s or m/s", "by velocities"),
                   ("dqdd_dF", "1/(kg m^2), 1/(kg m), 1/kg", "by forces: inverse of M")),
          (forward_dynamics_derivatives,), "dynamic", default=False, formulations_for=_formulations_of_forward),
)  # fmt: skip
