"""Dynamic functions of the catalogue: M qdd + C qd + D qd + Q_e + G + friction = F."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from elastogen.generator.algorithms import affine, energies, kinematics, sheared_kinematics
from elastogen.generator.algorithms.composite_bodies import gravity_by_composites, mass_matrix_by_composites
from elastogen.generator.algorithms.newton_euler import Load, place
from elastogen.generator.algorithms.solving import articulated_bodies
from elastogen.generator.algorithms.solving.factorization import Factorization, factorize
from elastogen.generator.functions.catalogue import Derived, Entry, Formulation, Outputs, flat, unless_closed, unless_sheared
from elastogen.generator.functions.loops.by_legs import closed_forward_formulations, closed_inverse_formulations
from elastogen.generator.functions.loops.closing import FREE, follows_drives, forced
from elastogen.generator.functions.loops.dynamics import closed_inverse_dynamics, closed_inverse_dynamics_of_drives
from elastogen.generator.functions.mass_and_coriolis import (
    coriolis_formulations,
    coriolis_matrix,
    coriolis_matrix_by_differentiation,
    coriolis_vector,
    mass,
    mass_matrix,
    mass_matrix_by_columns,
)
from elastogen.generator.functions.variants import Variant
from elastogen.generator.mechanism.mechanism import Mechanism
from elastogen.generator.program.arguments import matrix, scalar, vector
from elastogen.generator.program.graph import Value
from elastogen.generator.spatial.vectors import add, cross


def gravity_vector(variant: Variant) -> Derived:
    """G = dV/dq: forces that hold the robot at rest."""
    q, zeros = variant.input("q"), variant.zeros()
    weights = variant.forces(q, zeros, zeros, variant.mechanism.gravity)
    return Derived(([g + own for g, own in zip(weights, variant.own_potential_forces(q), strict=True)],))


def gravity_vector_by_composites(variant: Variant) -> Derived:
    """G from the composite bodies, where no link bends."""
    if not variant.mechanism.moves_by_screws or variant.elastic_bodies:
        return gravity_vector(variant)
    q = variant.input("q")
    weights = gravity_by_composites(variant.mechanism, variant.place(q), q)
    return Derived(([g + own for g, own in zip(weights, variant.own_potential_forces(q), strict=True)],))


def inertia_forces(variant: Variant) -> Derived:
    """M qdd + C qd."""
    return Derived((variant.forces(variant.input("q"), variant.input("qd"), variant.input("qdd"), variant.zeros(3)),))


@unless_closed(closed_inverse_dynamics)
def inverse_dynamics(variant: Variant) -> Derived:
    """All driving forces, with friction, stiffness and damping."""
    return Derived((driving_forces(variant),))


def driving_forces(variant: Variant, loads: Sequence[Load] = ()) -> list[Value]:
    """F under loads."""
    return variant.loaded(unloaded_forces(variant, loads), variant.input("qd"))


def unloaded_forces(variant: Variant, loads: Sequence[Load] = ()) -> list[Value]:
    """F without load friction: linear in the accelerations."""
    q, qd = variant.input("q"), variant.input("qd")
    forces = variant.forces(q, qd, variant.input("qdd"), variant.mechanism.gravity, loads)
    return [f + r for f, r in zip(forces, variant.resistances(q, qd), strict=True)]


def load_friction_forces(variant: Variant) -> Derived:
    """The friction that grows with the loads in F."""
    with variant.graph.section("friction of loads"):
        rows = zip(variant.drives, variant.input("F"), variant.input("qd"), strict=True)
        return Derived((variant.free([drive.load_friction(force, rate) for drive, force, rate in rows]),))


def friction_forces(variant: Variant) -> Derived:
    """D qd and Coulomb friction: what dissipates energy."""
    return Derived((variant.friction(variant.input("q"), variant.input("qd")),))


def _sheared_payload_forces(variant: Variant) -> Derived:
    q, wrench = variant.input("q"), variant.input("wrench", 6)
    placed = variant.place(q)
    return Derived((sheared_kinematics.payload_forces(variant.mechanism, placed, q, wrench[:3], wrench[3:]),))


@unless_sheared(_sheared_payload_forces)
def payload_forces(variant: Variant) -> Derived:
    """Q_SU = J^T w of a wrench on the tip (002 (25)) in tip components, by a recursion from the tip inward."""
    q = variant.input("q")
    placed = variant.place(q)
    wrench = variant.input("wrench", 6)
    force, moment = wrench[:3], wrench[3:]
    result = variant.zeros()
    tip = variant.mechanism.link_frames[-1]
    force, moment = tip.rotation.outward(force), tip.rotation.outward(moment)
    moment = add(moment, cross(tip.position, force))
    for index in variant.mechanism.ancestors(tip.frame):
        frame, place_ = variant.mechanism.frames[index], placed[index]
        with variant.graph.section(f"{frame.label}: force"):
            own = frame.motion.project(frame.at(q), force, moment)
            for coordinate, value in frame.scatter(own):
                result[coordinate] = result[coordinate] + value
            force = place_.rotation.outward(force)
            moment = add(place_.rotation.outward(moment), cross(place_.position, force))
    return Derived((variant.free(result),))


def _factorized(variant: Variant) -> Factorization:
    """M, with coordinates for the slots of windows if possible: then it is nearly diagonal."""
    mechanism = variant.separate
    free: dict[int, Value] = {}
    if mechanism is None or mechanism.has_linear_tips:
        M, mechanism = mass(variant), variant.mechanism
    else:
        q = mechanism.extended(variant.input("q"))
        M = mass_matrix_by_composites(mechanism, place(mechanism, q, merge=variant.merge), q)
        actual = mechanism.actual
        own = variant.with_drive_inertia([[M[r][c] for c in actual] for r in actual])
        for r, i in enumerate(actual):
            for c, j in enumerate(actual):
                M[i][j] = own[r][c]
        free = {actual[k]: 1 - clamped for k, clamped in variant.clamped.items()}
        for slot in sorted(set(range(mechanism.size)) - set(actual)):
            for k, share in free.items():
                M[slot][k] = M[k][slot] = share * M[k][slot]
    with variant.graph.section("factorization of the mass matrix"):
        return factorize(M, mechanism.coordinate_parents, mechanism.separate, free, _bodies(mechanism))


def _bodies(mechanism: Mechanism) -> list[tuple[int, ...]]:
    """The elastic coordinates of each flexible body, where no joint slides on one."""
    if any(frame.window is not None for frame in mechanism.frames) or mechanism.separate:
        return []
    bodies = [frame.elastic.coordinates for frame in mechanism.frames if frame.elastic is not None]
    return [body for body in bodies if body]  # one without modes is rigid


def bias(variant: Variant, loads: Sequence[Load] = ()) -> list[Value]:
    """All forces that do not depend on accelerations (load friction does)."""
    q, qd = variant.input("q"), variant.input("qd")
    forces = variant.forces(q, qd, variant.zeros(), variant.mechanism.gravity, loads)
    return [f + r for f, r in zip(forces, variant.resistances(q, qd), strict=True)]


def accelerating_forces(variant: Variant, loads: Sequence[Load] = ()) -> list[Value]:
    """F minus all forces that do not depend on accelerations, and minus load friction."""
    rest, rows = bias(variant, loads), variant.unloaded(variant.input("F"), variant.input("qd"))
    return [f - r for f, r in zip(rows, rest, strict=True)]


def acceleration(variant: Variant) -> tuple[list[Value], Factorization]:
    """The accelerations under F, and the factorization of M."""
    return solution(variant, accelerating_forces(variant))


def solution(variant: Variant, right: Sequence[Value]) -> tuple[list[Value], Factorization]:
    """The accelerations of the masses alone under these forces, and the factorization of M."""
    factors = _factorized(variant)
    with variant.graph.section("solution for the accelerations"):
        return factors.solve(right), factors


def solution_by_articulated_bodies(variant: Variant, right: Sequence[Value]) -> Derived:
    """The same by articulated bodies, without M."""
    q = variant.input("q")
    drives = [drive.inertia for drive in variant.drives]
    solution, pivots = articulated_bodies.solve(variant.mechanism, variant.place(q), q, drives, right)
    return Derived((solution,), pivots)


def elastic_inverse_dynamics(variant: Variant) -> Derived:
    """Driving forces for given joint accelerations at the present elastic state; no force acts on elastic coordinates.

    Joints without drives, such as a free base, count as elastic. The elastic rows M_ee xdd + M_ej qdd_j + bias_e = 0 give the
    elastic accelerations, then the joint rows the forces.
    """
    elastic = [k for k in range(variant.size) if not variant.driven[k]]
    joints = [k for k in range(variant.size) if variant.driven[k]]
    M = mass(variant)
    rest = bias(variant)
    qdd = variant.input("qdd")
    with variant.graph.section("elastic accelerations"):
        pivots: list[Value] = []
        if elastic:
            right = []
            for k in elastic:
                total = -rest[k]
                for j in joints:
                    total = total - M[k][j] * qdd[j]
                right.append(total)
            bodies = [[elastic.index(k) for k in body if k in elastic] for body in _bodies(variant.mechanism)]
            chain = _inner_chain(variant, elastic)
            factors = factorize([[M[r][c] for c in elastic] for r in elastic], chain, bodies=bodies)
            pivots = factors.pivots
            for k, value in zip(elastic, factors.solve(right), strict=True):
                qdd[k] = value
    with variant.graph.section("driving forces"):
        F = variant.zeros()
        for j in joints:
            F[j] = rest[j]
            for k in range(variant.size):
                F[j] = F[j] + M[j][k] * qdd[k]
        return Derived((variant.loaded(F, variant.input("qd")), qdd), pivots)


def _inner_chain(variant: Variant, kept: list[int]) -> list[int]:
    """For each kept coordinate the index of the next one inward; -1 if there is none."""
    parents = variant.mechanism.coordinate_parents
    chain = []
    for k in kept:
        inner = parents[k]
        while inner >= 0 and inner not in kept:
            inner = parents[inner]
        chain.append(kept.index(inner) if inner >= 0 else -1)
    return chain


def forward_dynamics(variant: Variant) -> Derived:
    """Accelerations: M^-1 (F - bias) by factorization along the tree."""
    qdd, factors = acceleration(variant)
    return Derived((qdd,), factors.pivots)


def forward_dynamics_by_articulated_bodies(variant: Variant) -> Derived:
    """Accelerations: M^-1 (F - bias) by articulated bodies, without M."""
    return solution_by_articulated_bodies(variant, accelerating_forces(variant))


def mass_matrix_solve(variant: Variant) -> Derived:
    """M^-1 b."""
    factors = _factorized(variant)
    return Derived((factors.solve(variant.input("b")),), factors.pivots)


def mass_matrix_solve_by_articulated_bodies(variant: Variant) -> Derived:
    """M^-1 b without M."""
    return solution_by_articulated_bodies(variant, variant.input("b"))


def solving_formulations(
    factorization: Formulation,
    articulated: Formulation,
    closed: Callable[[Variant], tuple[Formulation, ...]] | None = None,
) -> Callable[[Variant], tuple[Formulation, ...]]:
    """Factorization costs the cube of the longest chain, articulated bodies its length; the costs meet at ten joints.

    With flexible links, which have many coordinates each, they can meet at one: both are tried. Robots with loops take
    ``closed`` where the closed mechanism is meant.
    """

    def formulations(variant: Variant) -> tuple[Formulation, ...]:
        if variant.robot.loops and closed is not None:
            return closed(variant)
        depth, flexible = variant.mechanism.depth, bool(variant.elastic_bodies)
        if variant.clamped or not articulated_bodies.applies_to(variant.mechanism) or (depth < 8 and not flexible):
            return (factorization,)
        return (factorization, articulated) if depth <= 24 else (articulated,)

    return formulations


@unless_sheared(lambda variant: affine.energy(variant.mechanism, (variant.input("q"), variant.input("qd")), 0))
def _energy_of_bodies(variant: Variant) -> Value:
    q, qd = variant.input("q"), variant.input("qd")
    velocities, _ = kinematics.local_motions(variant.mechanism, variant.place(q), q, qd, variant.zeros())
    return energies.kinetic_energy(variant.mechanism, velocities, q, qd)


def kinetic_energy(variant: Variant) -> Derived:
    """1/2 qd^T M qd by recursion."""
    qd, total = variant.input("qd"), _energy_of_bodies(variant)
    for drive, rate in zip(variant.drives, qd, strict=True):
        total = total + drive.inertia * rate * rate * 0.5
    return Derived(([total],))


def potential_energy(variant: Variant) -> Derived:
    """Energy of the weights and of the deformation, and the user's own potentials."""
    q = variant.input("q")
    weights = energies.potential_energy(variant.mechanism, variant.place(q), q)
    return Derived(([weights + variant.strain_energy(q) + variant.own_potential(q)],))


def strain_energy(variant: Variant) -> Derived:
    """U of flexible links and joints."""
    return Derived(([variant.strain_energy(variant.input("q"))],))


def elastic_forces(variant: Variant) -> Derived:
    """Q_e = dU/dq."""
    return Derived((variant.elastic_forces(variant.input("q")),))


def stiffness_matrix(variant: Variant) -> Derived:
    """K of flexible links and joints."""
    return Derived((flat(variant.stiffness(variant.input("q"))),))


def damping_matrix(variant: Variant) -> Derived:
    """D: damping of flexible links and joints, viscous friction of the joints."""
    return Derived((flat(variant.damping(variant.input("q"))),))


_FORCE, _ACC = "N m or N", "rad/s^2 or m/s^2"


def _square(name: str, unit: str, doc: str) -> Outputs:
    return lambda v: (matrix(name, v.size, v.size, unit, doc),)


def _vector(name: str, unit: str, doc: str) -> Outputs:
    return lambda v: (vector(name, v.size, unit, doc),)


def _stiffness_note(variant: Variant) -> str:
    """The header's sentence about K, and about its dependence on q."""
    if not variant.depends_on_elements:
        return "constant"
    if all(body.has_constant_coefficients for body in variant.elastic_bodies):
        return "of the elements outside of the joints at q"
    return "of the parts outside of the joints at q; K q lacks the elastic force along their slides: use elastic_forces"


def _damping_note(variant: Variant) -> str:
    """The header's sentence about D."""
    return "at the present q" if variant.depends_on_elements else "constant"


def _elastic_note(variant: Variant) -> str:
    """How the elastic forces relate to K."""
    if all(body.has_constant_coefficients for body in variant.elastic_bodies):
        return ": K q"
    return ": K(q) q, and along the slides of telescopic links 1/2 q^T (dK/dd) q"


ENTRIES = (
    Entry("mass_matrix", "Mass matrix M(q), symmetric positive definite.", ("q",),
          _square("M", "kg m^2, kg m, kg", "mass matrix"), (mass_matrix, mass_matrix_by_columns), "dynamic", explore=True,
          any_moment=(mass_matrix,)),
    Entry("coriolis_matrix", "Coriolis matrix C(q, qd) of Christoffel symbols: dM/dt - 2C is skew.", ("q", "qd"),
          _square("C", "N m s, N s", "Coriolis matrix"), (coriolis_matrix, coriolis_matrix_by_differentiation), "dynamic",
          explore=True, any_moment=(coriolis_matrix,), formulations_for=coriolis_formulations),
    Entry("coriolis_vector", "Coriolis and centrifugal forces C(q, qd) qd.", ("q", "qd"),
          _vector("c", _FORCE, "Coriolis and centrifugal forces"), (coriolis_vector,), "dynamic"),
    Entry("stiffness_matrix", "Stiffness matrix K: the strain energy is 1/2 q^T K q.", (),
          lambda v: (matrix("K", v.size, v.size, "N m/rad, N/m", f"stiffness matrix, {_stiffness_note(v)}"),),
          (stiffness_matrix,), "plain"),
    Entry("damping_matrix", "Damping matrix D: viscous friction and structural damping.", (),
          lambda v: (matrix("D", v.size, v.size, "N m s/rad, N s/m", f"damping matrix, {_damping_note(v)}"),),
          (damping_matrix,), "plain"),
    Entry("elastic_forces", "Elastic forces Q_e(q) = dU/dq, U the strain energy.", ("q",),
          lambda v: (vector("Q", v.size, _FORCE, f"elastic forces{_elastic_note(v)}"),), (elastic_forces,), "plain"),
    Entry("gravity_vector", "Gravity forces G(q) = dV/dq, V the energy of the weights.", ("q",),
          _vector("G", _FORCE, "forces that balance the weights"), (gravity_vector, gravity_vector_by_composites), "dynamic"),
    Entry("friction_forces", "Forces of friction and damping, D qd and dry friction of the joints.", ("q", "qd"),
          _vector("R", _FORCE, "forces against the motion; their power R^T qd is lost"), (friction_forces,), "plain"),
    Entry("load_friction_forces", "Friction that grows with the loads that driving forces F hold, part of F.", ("qd", "F"),
          _vector("R", _FORCE, "part of F that the friction of the loads takes"), (load_friction_forces,), "plain",
          applies=lambda robot: robot.has_load_friction, applies_to="only for robots with friction.load in a joint"),
    Entry("inertia_forces", "Generalized inertia forces M(q) qdd + C(q, qd) qd.", ("q", "qd", "qdd"),
          _vector("Q", _FORCE, "inertia forces"), (inertia_forces,), "dynamic"),
    Entry("payload_forces", "Generalized forces Q_SU = J^T w of a wrench on the tip.", ("q", "wrench"),
          _vector("Q", _FORCE, "forces of the load"), (payload_forces,), "kinematic", default=False),
    Entry("inverse_dynamics", "Driving forces F = M qdd + C qd + D qd + Q_e + G + friction (Newton-Euler).",
          ("q", "qd", "qdd"), _vector("F", _FORCE, "driving forces"), (inverse_dynamics,), "dynamic",
          explore=True, largest=100, finalists=4, applies=forced, applies_to=FREE,
          formulations_for=lambda v: closed_inverse_formulations(v) if v.robot.loops else (inverse_dynamics,)),
    Entry("elastic_inverse_dynamics",
          "Driving forces for given joint accelerations at the present elastic state, and all accelerations then.",
          ("q", "qd", "qdd"),
          lambda v: (vector("F", v.size, _FORCE, "driving forces, zero on elastic coordinates"),
                     vector("acceleration", v.size, _ACC, "qdd with the elastic accelerations that follow")),
          (elastic_inverse_dynamics,), "dynamic", default=False, applies=follows_drives,
          applies_to="only where coordinates without drives follow: elastic ones, passive joints of trees, and of mechanisms "
          "whose drives determine the motion; use inverse_dynamics",
          formulations_for=lambda v: (closed_inverse_dynamics_of_drives if v.robot.loops else elastic_inverse_dynamics,)),
    Entry("forward_dynamics", "Accelerations qdd for given driving forces F.", ("q", "qd", "F"),
          _vector("qdd", _ACC, "accelerations"), (forward_dynamics,), "dynamic",
          formulations_for=solving_formulations(
              forward_dynamics, forward_dynamics_by_articulated_bodies, closed_forward_formulations)),
    Entry("mass_matrix_solve", "Solution x of M(q) x = b.", ("q", "b"),
          _vector("x", _ACC, "solution"), (mass_matrix_solve,), "dynamic", default=False,
          formulations_for=solving_formulations(mass_matrix_solve, mass_matrix_solve_by_articulated_bodies)),
    Entry("kinetic_energy", "Kinetic energy 1/2 qd^T M(q) qd.", ("q", "qd"),
          lambda v: (scalar("T", "J", "kinetic energy"),), (kinetic_energy,), "dynamic"),
    Entry("potential_energy", "Potential energy: weights (zero at the base origin) and deformation.", ("q",),
          lambda v: (scalar("V", "J", "potential energy"),), (potential_energy,), "kinematic"),
    Entry("strain_energy", "Strain energy U(q) of flexible links and joints, part of the potential energy.", ("q",),
          lambda v: (scalar("U", "J", "strain energy"),), (strain_energy,), "plain"),
)  # fmt: skip
