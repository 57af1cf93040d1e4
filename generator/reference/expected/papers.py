"""Expected matrices of papers 001, 002 and 003, by their products with enough directions to distinguish them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

import numpy as np

from elastogen.generator.beams.piecewise import common
from elastogen.generator.beams.sections import part_of, section_at
from elastogen.generator.reference.directions import along, direction
from elastogen.generator.reference.evaluated import BodySeries
from elastogen.generator.reference.expected.plain import (
    Difference,
    Expectation,
    Found,
    coefficient,
    forward_kinematics,
    in_axes,
    payload_forces,
    stacked,
    tip_jacobian,
    tip_motion,
)
from elastogen.generator.reference.quantities import Array, Quantities
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody


def _scaled(found: Array, expected: Array) -> list[Difference]:
    return [(found, expected, max(1.0, float(np.abs(expected).max(initial=0.0))))]


# ---- second derivatives of poses


def second_partials(of: Quantities, found: Found) -> list[Difference]:
    """A_ijk v_j v_k is the second derivative of the poses along v."""
    v = direction((len(of.at("q")), of.n), np.random.default_rng(11)) * of.free
    slope = along(of, {"q": v}, lambda at: [stacked(at.along("q"), at, 0)], order=2)
    total = np.einsum("sfjkrc,sj,sk->sfrc", found[0], v, v)
    size = np.einsum("sfjkrc,sj,sk->sfrc", np.abs(found[0]), np.abs(v), np.abs(v))
    return [(total, slope.values[0], size + 1.0 + slope.off[0] / 1e-9)]


def operators(of: Quantities, found: Found) -> list[Difference]:
    """U_i = T^-1 dT/dq_i of the link that q_i moves."""
    rows = []
    for joint, place in zip(of.of.robot.joints, of.of.places, strict=True):
        for k in place.v:
            pose = of.unit.links[joint.child]
            T, dT = (coefficient(pose, power, (len(of.at("q")), of.n))[:, k] for power in (0, 1))
            rows.append(np.linalg.inv(T) @ dT)
    return _scaled(found[0], np.stack(rows, axis=1))


# ---- quadratic forms in the velocities


def _squares(of: Quantities, value: Callable[[Quantities], Array], v: Array) -> tuple[Array, Array]:
    """A quadratic function at v, and at unit velocities (states, n, ...)."""
    zero = np.zeros_like(v)
    still = {name: np.repeat(x, of.n + 1, axis=0) for name, x in of.states.items()}
    rates = np.concatenate([v[:, None], np.broadcast_to(np.diag(of.free), (len(v), of.n, of.n))], axis=1)
    still |= {"qd": rates.reshape(-1, of.n), "qdd": np.repeat(zero, of.n + 1, axis=0)}
    found = value(of.elsewhere(still))
    found = found.reshape(len(v), of.n + 1, *found.shape[1:])
    return found[:, 0], found[:, 1:]


def _tip_bias(at: Quantities) -> Array:
    return tip_motion(at)


def _forces(at: Quantities) -> Array:
    return at.coriolis_vector.value


def squared(value: Callable[[Quantities], Array], *, own: bool = False) -> Expectation:
    """Columns are the function at unit velocities."""

    def check(of: Quantities, found: Found) -> list[Difference]:
        _, units = _squares(of, value, of.at("qd"))
        expected = np.swapaxes(units, -1, -2)
        return _scaled(found[0], in_axes(tip_jacobian(of)[1], expected) if own else expected)

    return check


def mixed(value: Callable[[Quantities], Array], *, own: bool = False) -> Expectation:
    """Columns times products of velocities are the remainder without the squares."""

    def check(of: Quantities, found: Found) -> list[Difference]:
        v = of.at("qd")
        whole, units = _squares(of, value, v)
        left = whole - np.einsum("skr,sk->sr", units, v**2)
        if own:
            left = in_axes(tip_jacobian(of)[1], left[..., None])[..., 0]
        products = np.stack([v[:, i] * v[:, j] for i in range(of.n) for j in range(i + 1, of.n)], axis=-1)
        total = np.einsum("src,sc->sr", found[0], products)
        size = np.einsum("src,sc->sr", np.abs(found[0]), np.abs(products))
        return [(total, left, size + np.abs(whole) + max(1.0, float(np.abs(units).max(initial=0.0))))]

    return check


def acceleration_matrix(of: Quantities, found: Found) -> list[Difference]:
    """1/2 qd^T D qd is the acceleration energy without accelerations."""
    still = of.elsewhere({**of.states, "qdd": np.zeros_like(of.states["qdd"])})
    energy, qd = still.energy(still.moving, 2), of.at("qd")
    total = 0.5 * np.einsum("si,sij,sj->s", qd, found[0], qd)
    size = 0.5 * np.einsum("si,sij,sj->s", np.abs(qd), np.abs(found[0]), np.abs(qd))
    return [(total, energy.value, size + energy.size)]


def driving_forces(of: Quantities, found: Found) -> list[Difference]:
    """dm^2 {[M qdd + V] dtheta + tau Q_g} + tau s(dm) Q_SU (002 (29), (30))."""
    dm, dtheta, tau = (of.states[name].reshape(-1, 1) for name in ("delta_m", "delta_theta", "tau"))
    ((_, load, size),) = payload_forces(of, [np.zeros(())])
    inertia, weight = of.inertia_forces, of.gravity_vector
    own, share = dm**2, tau * (1 - dm * (dm + 1) / 2)
    value = own * (inertia.value * dtheta + tau * -weight.value) + share * load
    sizes = own * (inertia.size * np.abs(dtheta) + np.abs(tau) * weight.size) + np.abs(share) * size
    return [(found[0], value * of.free, sizes)]


# ---- matrix exponentials


def _single(of: Quantities) -> bool:
    """Whether every exponential is the motion of one joint by its one coordinate."""
    robot = of.of.robot
    plain = all(len(j.type.coordinates) <= 1 and j.coupling is None and j.elasticity is None for j in robot.joints)
    return plain and all(link.flexible is None for link in robot.links)


def _moving(of: Quantities) -> list[tuple[str, str, int]]:
    """Child, parent and coordinate of the joints that move."""
    pairs = zip(of.of.robot.joints, of.of.places, strict=True)
    return [(joint.child, joint.parent, place.q[0]) for joint, place in pairs if len(place.q)]


def _at_zero(of: Quantities) -> Quantities:
    return of.elsewhere({**of.states, "q": np.zeros_like(of.states["q"])})


def exponential_operators(of: Quantities, found: Found) -> list[Difference]:
    """A_i = dT/dq_i T^-1 at zero configuration."""
    if not _single(of):
        return []
    zero, rows = _at_zero(of), []
    for child, _, k in _moving(of):
        T, dT = (coefficient(zero.unit.links[child], power, (len(of.at("q")), of.n))[:, k] for power in (0, 1))
        rows.append(dT @ np.linalg.inv(T))
    return _scaled(found[0], np.stack(rows, axis=1))


def inverse_poses(of: Quantities, found: Found) -> list[Difference]:
    """Of all frames."""
    inverses: Array = np.linalg.inv(stacked(of.moving, of, 0)).astype(np.float64)
    return _scaled(found[0], inverses)


def exponential_factors(of: Quantities, found: Found) -> list[Difference]:
    """The motion that every joint adds to its parent's, from the zero configuration."""
    if not _single(of):
        return []
    zero, shape, rows = _at_zero(of), (len(of.at("q")),), []

    def gone(link: str) -> Array:
        now, before = (coefficient(each.moving.links[link], 0, shape) for each in (of, zero))
        return now @ np.linalg.inv(before)

    for child, parent, _ in _moving(of):
        rows.append(np.linalg.inv(gone(parent)) @ gone(child))
    return _scaled(found[0], np.stack(rows, axis=1))


def exponential_arguments(of: Quantities, found: Found) -> list[Difference]:
    """The coordinates themselves."""
    if not _single(of):
        return []
    chosen = [k for _, _, k in _moving(of)]
    identity = np.broadcast_to(np.eye(of.n)[chosen], (len(of.at("q")), len(chosen), of.n))
    return [*_scaled(found[0], of.at("q")[:, chosen]), *_scaled(found[1], identity)]


def _on_the_way(of: Quantities) -> list[int]:
    parents = {joint.child: joint.parent for joint in of.of.robot.joints}
    way = {of.of.robot.tip}
    link = of.of.robot.tip
    while link in parents:
        link = parents[link]
        way.add(link)
    return [k for child, _, k in _moving(of) if child in way]


def exponential_differentials(of: Quantities, found: Found) -> list[Difference]:
    """Derivatives of the tip's pose by the coordinates on its way."""
    if not _single(of):
        return []
    slopes = coefficient(of.unit.tip, 1, (len(of.at("q")), of.n))
    return _scaled(found[0], slopes[:, _on_the_way(of)])


def exponential_second_differentials(of: Quantities, found: Found) -> list[Difference]:
    """A_jm v_j v_m is the second derivative of the tip's pose along v."""
    if not _single(of):
        return []
    v = direction((len(of.at("q")), of.n), np.random.default_rng(12)) * of.free
    slope = along(of, {"q": v}, lambda at: [coefficient(at.along("q").tip, 0, (len(at.at("q")),))], order=2)
    own = v[:, _on_the_way(of)]
    total = np.einsum("sjkrc,sj,sk->src", found[0], own, own)
    size = np.einsum("sjkrc,sj,sk->src", np.abs(found[0]), np.abs(own), np.abs(own))
    return [(total, slope.values[0], size + 1.0 + slope.off[0] / 1e-9)]


def transfer_factors(of: Quantities, found: Found) -> list[Difference]:
    """Their product is the column of the linear Jacobian."""
    if not _single(of):
        return []
    product = np.einsum("siab,sibc,sicd,sid->sia", *found)
    J = np.swapaxes(tip_jacobian(of)[0][:, :3], -1, -2)[:, _on_the_way(of)]
    return _scaled(product, J)


# ---- finite elements


def _elements(of: Quantities) -> list[tuple[str, FlexibleBody, Fraction, Fraction]]:
    """Link, body, and ends of each element."""
    found = []
    for joint in of.of.robot.joints:
        body = of.of.robot.link(joint.child).flexible
        if body is None or body.beam is None or body.clamp_moves or body.centreline is None:
            continue
        curves = common(*(mode.shape for mode in body.beam.modes))
        found += [(joint.child, body, start, end) for start, end in pairwise(curves[0].breaks)]
    return found


def element_masses(of: Quantities, found: Found) -> list[Difference]:
    """int dr/dq_i . dr/dq_j dm over an element; not of beams that a joint moves through from node to node."""
    elements = _elements(of)
    if len(elements) != found[0].shape[1] or any(body.telescope is not None for _, body, _, _ in elements):
        return []
    bodies, rows = {b.link: b for b in of.unit.bodies if b.kind == "flexible"}, []
    for link, body, start, end in elements:
        P = bodies[link].P.values[1]
        own = BodySeries(bodies[link].P, of.of.integrals(part_of(body.beam, start, end)))  # type: ignore[arg-type]
        flat = [x.reshape(*x.shape[:-2], -1) for x in (own.weighted(P), P)]
        rows.append(flat[0] @ np.swapaxes(flat[1], -1, -2))
    expected = np.stack(rows, axis=1)
    return [(found[0], expected, max(1e-300, float(np.abs(expected).max())))]


def element_stiffnesses(of: Quantities, found: Found) -> list[Difference]:
    """They add up to the stiffness of the links."""
    if any(body.telescope is not None for _, body, _, _ in _elements(of)):
        return []
    K = np.zeros((len(of.at("q")), of.n, of.n))
    for joint, place in zip(of.of.robot.joints, of.of.places, strict=True):
        if any(link == joint.child for link, _, _, _ in _elements(of)):
            own = list(place.elastic[1])
            K[:, own[0] : own[-1] + 1, own[0] : own[-1] + 1] = of.stiffness[:, own[0] : own[-1] + 1, own[0] : own[-1] + 1]
    return [(found[0].sum(axis=1), K, max(1e-300, float(np.abs(K).max())))]


def element_shapes(of: Quantities, found: Found) -> list[Difference]:
    """w at places of every element is that of the section there."""
    elements = _elements(of)
    rows: list[Difference] = []
    if len(elements) != found[0].shape[1] or any(body.telescope is not None for _, body, _, _ in elements):
        return []
    robot, count = of.of.robot, len(of.at("q"))
    for e, (link, body, start, end) in enumerate(elements):
        index = next(k for k, joint in enumerate(robot.joints) if joint.child == link)
        own = list(of.of.places[index].elastic[1])
        for share in (Fraction(1, 5), Fraction(2, 3)):
            s = start + (end - start) * share
            section = section_at(body.beam, s * body.beam.beam.length, robot.parameters)  # type: ignore[union-attr, arg-type]
            shifts = of.of.array(section.displacements).reshape(-1, 3)
            expected = np.zeros((count, of.n))
            for j, k in enumerate(own):
                expected[:, k] = shifts[body.monomials.index((j,))][1:].sum() if (j,) in body.monomials else 0.0
            powers = np.array([float(share) ** k for k in range(found[0].shape[3])])
            rows.append((np.einsum("sjk,k->sj", found[0][:, e], powers), expected, 1.0))
    return rows


PAPERS: dict[str, Expectation] = {
    "transform_second_partials": second_partials,
    "joint_operators": operators,
    "jacobian_coriolis": mixed(_tip_bias),
    "jacobian_coriolis_tip": mixed(_tip_bias, own=True),
    "jacobian_centrifugal": squared(_tip_bias),
    "jacobian_centrifugal_tip": squared(_tip_bias, own=True),
    "coriolis_coefficients": mixed(_forces),
    "centrifugal_coefficients": squared(_forces),
    "acceleration_matrix": acceleration_matrix,
    "driving_forces": driving_forces,
    "driving_forces_by_coefficients": driving_forces,
    "exponential_operators": exponential_operators,
    "exponential_factors": exponential_factors,
    "exponential_arguments": exponential_arguments,
    "exponential_transforms": forward_kinematics,
    "exponential_inverses": inverse_poses,
    "exponential_differentials": exponential_differentials,
    "exponential_second_differentials": exponential_second_differentials,
    "exponential_transfer_factors": transfer_factors,
    "element_mass_matrices": element_masses,
    "element_stiffness_matrices": element_stiffnesses,
    "element_shapes": element_shapes,
}
"""By the names of the catalogue."""
