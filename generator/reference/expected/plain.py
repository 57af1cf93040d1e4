"""Expected values of the plain functions, from a description's own numbers or by identities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from elastogen.generator.reference.closed_loops import Closed
from elastogen.generator.reference.evaluated import Evaluated
from elastogen.generator.reference.matrix_series import MatrixSeries
from elastogen.generator.reference.own_terms import OwnTerms
from elastogen.generator.reference.quantities import Quantities, Sized

Array = npt.NDArray[np.float64]
Found: TypeAlias = Sequence[Array]
"""Outputs of a function, each (states, ...)."""
Difference: TypeAlias = tuple[Array, Array, "Array | float"]
"""What was found, what is expected, and the size that errors are relative to."""
Expectation: TypeAlias = Callable[[Quantities, Found], list[Difference]]


def _frames(evaluated: Evaluated, of: Quantities) -> list[MatrixSeries]:
    return [*(evaluated.links[link.name] for link in of.of.robot.links[1:]), evaluated.tip]


def coefficient(series: MatrixSeries, power: int, shape: tuple[int, ...]) -> Array:
    """The coefficient of t^power, for all states."""
    value = series.values[power] if power < series.width else np.zeros((4, 4))
    return np.broadcast_to(value, (*shape, 4, 4))


def stacked(evaluated: Evaluated, of: Quantities, power: int) -> Array:
    """Coefficients of all frames (states, frames, 4, 4)."""
    shape = (len(of.at("q")),)
    return np.stack([coefficient(frame, power, shape) for frame in _frames(evaluated, of)], axis=1)


def _reach(poses: Array) -> float:
    return max(1.0, float(np.abs(poses[..., :3, 3]).max(initial=0.0)))


def spin(dR: Array, R: Array) -> Array:
    """The skew part of dR R^-1 as a vector."""
    S = dR @ np.linalg.inv(R)
    return np.stack([S[..., 2, 1] - S[..., 1, 2], S[..., 0, 2] - S[..., 2, 0], S[..., 1, 0] - S[..., 0, 1]], axis=-1) / 2


def forward_kinematics(of: Quantities, found: Found) -> list[Difference]:
    """Poses."""
    poses = stacked(of.moving, of, 0)
    return [(found[0], poses, _reach(poses))]


def transform_rate(order: int) -> Expectation:
    """Time derivatives of poses."""

    def check(of: Quantities, found: Found) -> list[Difference]:
        evaluated = of.along(*("q", "qd", "qdd", "q3", "q4")[: order + 1])
        factor = float(np.prod(np.arange(1, order + 1)))
        expected = factor * stacked(evaluated, of, order)
        return [(found[0], expected, max(1.0, float(np.abs(expected).max())))]

    return check


def tip_jacobian(of: Quantities) -> tuple[Array, Array]:
    """The Jacobian of the tip in base components, and its rotation."""
    shape = (len(of.at("q")), of.n)
    T, dT = (coefficient(of.unit.tip, power, shape) for power in (0, 1))
    J = np.concatenate([dT[..., :3, 3], spin(dT[..., :3, :3], T[..., :3, :3])], axis=-1)
    return np.swapaxes(J, -1, -2), T[:, 0, :3, :3]


def tip_jacobian_rate(of: Quantities) -> Array:
    """Its time derivative in base components."""
    shape = (len(of.at("q")), of.n)
    tip = of.unit_rates.tip
    R, dR = (coefficient(tip, power, shape)[..., :3, :3] for power in (0, 1))
    slopes = tip.slopes if tip.slopes is not None else [np.zeros((4, 4))] * 2
    U, dU = (np.broadcast_to(slopes[k] if k < len(slopes) else np.zeros((4, 4)), (*shape, 4, 4)) for k in (0, 1))
    back = np.linalg.inv(R)
    S = dU[..., :3, :3] @ back - U[..., :3, :3] @ back @ dR @ back
    angular = np.stack([S[..., 2, 1] - S[..., 1, 2], S[..., 0, 2] - S[..., 2, 0], S[..., 1, 0] - S[..., 0, 1]], axis=-1) / 2
    return np.swapaxes(np.concatenate([dU[..., :3, 3], angular], axis=-1), -1, -2)


def in_axes(R: Array, rows: Array) -> Array:
    """R^T of linear and angular rows (..., 6, n)."""
    back = np.swapaxes(R, -1, -2)
    return np.concatenate([back @ rows[..., :3, :], back @ rows[..., 3:, :]], axis=-2)


def jacobian(of: Quantities, found: Found) -> list[Difference]:
    """In base components."""
    J, _ = tip_jacobian(of)
    return [(found[0], J, max(1.0, float(np.abs(J).max())))]


def jacobian_tip(of: Quantities, found: Found) -> list[Difference]:
    """In tip components."""
    J, R = tip_jacobian(of)
    return [(found[0], in_axes(R, J), max(1.0, float(np.abs(J).max())))]


def jacobian_rate(of: Quantities, found: Found) -> list[Difference]:
    """In base components."""
    J = tip_jacobian_rate(of)
    return [(found[0], J, max(1.0, float(np.abs(J).max())))]


def jacobian_rate_tip(of: Quantities, found: Found) -> list[Difference]:
    """In tip components."""
    J, R = tip_jacobian_rate(of), tip_jacobian(of)[1]
    return [(found[0], in_axes(R, J), max(1.0, float(np.abs(J).max())))]


def _velocities(of: Quantities, order: int) -> tuple[Array, Array]:
    """Velocities or accelerations (states, frames, 6), and rotations."""
    T, dT, ddT = (stacked(of.moving, of, power) for power in range(3))
    R, dR, ddR = T[..., :3, :3], dT[..., :3, :3], 2 * ddT[..., :3, :3]
    if order == 1:
        return np.concatenate([dT[..., :3, 3], spin(dR, R)], axis=-1), R
    back = np.linalg.inv(R)
    S = ddR @ back - dR @ back @ dR @ back
    turn = np.stack([S[..., 2, 1] - S[..., 1, 2], S[..., 0, 2] - S[..., 2, 0], S[..., 1, 0] - S[..., 0, 1]], axis=-1) / 2
    return np.concatenate([2 * ddT[..., :3, 3], turn], axis=-1), R


def tip_motion(of: Quantities) -> Array:
    """Accelerations of the tip (states, 6)."""
    return _velocities(of, 2)[0][:, -1]


def frame_motion(order: int, *, local: bool) -> Expectation:
    """Velocities or accelerations of all frames."""

    def check(of: Quantities, found: Found) -> list[Difference]:
        expected, R = _velocities(of, order)
        if local:
            expected = in_axes(R, expected[..., None])[..., 0]
        return [(found[0].reshape(expected.shape), expected, max(1.0, float(np.abs(expected).max())))]

    return check


# ---- dynamics


def own_terms(of: Quantities) -> OwnTerms | None:
    """The user's own, if there are any."""
    return OwnTerms(of.of, of.at("q"), of.at("qd")) if of.of.robot.terms else None


def _sized(found: Array, expected: Sized) -> list[Difference]:
    return [(found, expected.value, expected.size)]


def own(name: str) -> Expectation:
    """The description's quantity of that name, each number relative to the terms of its sum."""
    return lambda of, found: _sized(found[0], getattr(of, name))


def resistances(of: Quantities) -> Sized:
    """Elastic forces, friction and own terms."""
    own, total = own_terms(of), of.resistances
    if own is None:
        return total
    added = (own.potential[1] + own.other_forces) * of.free
    return Sized(total.value + added, total.size + np.abs(added))


def tree_forces(of: Quantities, qdd: Array) -> Sized:
    """The forces of accelerations on a tree, without load friction."""
    rest, bodies = resistances(of), of.inverse_dynamics(qdd)
    return Sized(bodies.value - of.resistances.value + rest.value, bodies.size + rest.size)


def driving_forces(of: Quantities, qdd: Array | None = None) -> Sized:
    """All forces for accelerations, of a tree or of the drives of a mechanism."""
    acceleration = of.at("qdd") if qdd is None else qdd
    if of.of.robot.loops:
        return of.loaded(Closed(of).drive_forces(tree_forces(of, acceleration)))
    return of.loaded(tree_forces(of, acceleration))


def mass_matrix(of: Quantities, found: Found) -> list[Difference]:
    """M, each entry relative to the diagonal."""
    diagonal = np.sqrt(np.abs(np.einsum("skk->sk", of.mass)))
    return [(found[0], of.mass, diagonal[:, :, None] * diagonal[:, None, :])]


def gravity_vector(of: Quantities, found: Found) -> list[Difference]:
    """Weights, and the user's own potentials."""
    own, expected = own_terms(of), of.gravity_vector
    added = own.potential[1] * of.free if own is not None else np.zeros_like(expected.value)
    return [(found[0], expected.value + added, expected.size + np.abs(added))]


def friction_forces(of: Quantities, found: Found) -> list[Difference]:
    """Friction, with the user's own forces without potential."""
    own, expected = own_terms(of), of.friction_forces
    if own is None:
        return _sized(found[0], expected)
    added = own.other_forces * of.free
    return [(found[0], expected.value + added, expected.size + np.abs(added))]


def inverse_dynamics(of: Quantities, found: Found) -> list[Difference]:
    """All forces."""
    return _sized(found[0], driving_forces(of))


def forward_dynamics(of: Quantities, found: Found) -> list[Difference]:
    """The forces of the accelerations are those that were given."""
    if of.of.robot.loops:
        return Closed(of).judged(found[0], of.unloaded(of.at("F")), tree_forces(of, found[0]))
    expected = driving_forces(of, found[0])
    force, some = of.at("F"), ~of.singular
    return [(expected.value[some], force[some], (expected.size + np.abs(force))[some])]


def solution(of: Quantities, forces: Array) -> Array:
    """x of M x = forces; zeros where M is singular."""
    M = np.where(of.singular[:, None, None], np.eye(of.n), of.mass)
    found: Array = np.linalg.solve(M, (forces * of.free)[..., None])[..., 0].astype(np.float64)
    return found


def mass_matrix_solve(of: Quantities, found: Found) -> list[Difference]:
    """M x = b."""
    b, x = of.states["b"], found[0]
    size = np.einsum("sij,sj->si", np.abs(of.mass), np.abs(x))
    some = ~of.singular
    return [((np.einsum("sij,sj->si", of.mass, x) * of.free)[some], (b * of.free)[some], (size + np.abs(b))[some])]


def stiffness_matrix(of: Quantities, found: Found) -> list[Difference]:
    """K of robots with a constant K, without tangents of own terms."""
    if of.of.robot.terms or any(of.of.moving_beam(joint.child) is not None for joint in of.of.robot.joints):
        return []
    K = of.stiffness * of.free * of.free[:, None]
    return [(found[0], np.broadcast_to(K, (len(of.at("q")), of.n, of.n)), max(1e-300, float(np.abs(K).max())))]


def damping_matrix(of: Quantities, found: Found) -> list[Difference]:
    """D, without tangents of own terms."""
    if of.of.robot.terms:
        return []
    return [(found[0], of.damping, max(1e-300, float(np.abs(of.damping).max())))]


def payload_forces(of: Quantities, found: Found) -> list[Difference]:
    """J^T w, w in tip components."""
    J, R = tip_jacobian(of)
    Jt = in_axes(R, J)
    w = of.states["wrench"]
    return [(found[0], np.einsum("srk,sr->sk", Jt, w), np.einsum("srk,sr->sk", np.abs(Jt), np.abs(w)) + 1e-300)]


def kinetic_energy(of: Quantities, found: Found) -> list[Difference]:
    """T."""
    return _sized(found[0], of.energy(of.moving, 1, of.at("qd")))


def potential_energy(of: Quantities, found: Found) -> list[Difference]:
    """Weights, deformation, own potentials."""
    own, expected = own_terms(of), of.weight_energy + of.strain_energy
    added = own.potential[0] if own is not None else np.zeros_like(expected.value)
    return [(found[0], expected.value + added, expected.size + np.abs(added))]


def acceleration_energy(order: int) -> Expectation:
    """1/2 int |d^(p+1) r/dt^(p+1)|^2 dm."""

    def check(of: Quantities, found: Found) -> list[Difference]:
        names = ("q", "qd", "qdd", "q3", "q4", "q5")[: order + 2]
        return _sized(found[0], of.energy(of.along(*names), order + 1, of.at(names[-1])))

    return check


def configuration_rate(of: Quantities, found: Found) -> list[Difference]:
    """dq/dt."""
    series = of.of.series([of.at("q"), of.at("qd")])
    expected = np.stack([np.broadcast_to(jet.data[..., 0, 1], (len(of.at("q")),)) for jet in series], axis=-1)
    return [(found[0], expected, max(1.0, float(np.abs(expected).max())))]


EXPECTATIONS: dict[str, Expectation] = {
    "forward_kinematics": forward_kinematics,
    "jacobian": jacobian,
    "jacobian_tip": jacobian_tip,
    "jacobian_rate": jacobian_rate,
    "jacobian_rate_tip": jacobian_rate_tip,
    "frame_velocities": frame_motion(1, local=False),
    "frame_velocities_local": frame_motion(1, local=True),
    "frame_accelerations": frame_motion(2, local=False),
    "frame_accelerations_local": frame_motion(2, local=True),
    "mass_matrix": mass_matrix,
    "trace_mass_matrix": mass_matrix,
    "coriolis_matrix": own("coriolis_matrix"),
    "coriolis_vector": own("coriolis_vector"),
    "trace_coriolis_vector": own("coriolis_vector"),
    "stiffness_matrix": stiffness_matrix,
    "damping_matrix": damping_matrix,
    "elastic_forces": own("elastic_forces"),
    "gravity_vector": gravity_vector,
    "friction_forces": friction_forces,
    "inertia_forces": own("inertia_forces"),
    "payload_forces": payload_forces,
    "inverse_dynamics": inverse_dynamics,
    "forward_dynamics": forward_dynamics,
    "mass_matrix_solve": mass_matrix_solve,
    "kinetic_energy": kinetic_energy,
    "potential_energy": potential_energy,
    "strain_energy": own("strain_energy"),
    **{f"acceleration_energy_{p}": acceleration_energy(p) for p in range(1, 5)},
    **{f"transform_rate_{p}": transform_rate(p) for p in range(1, 5)},
    "configuration_rate": configuration_rate,
}
"""By the names of the catalogue."""
