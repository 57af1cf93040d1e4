"""A point of a solid: how every coordinate moves, rotates and strains it, from the element that it is in."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from elastogen.generator.robot.bodies.flexible_body import FlexibleBody
from elastogen.generator.solids.interfaces import rigid_motions
from elastogen.generator.solids.request import Found
from elastogen.generator.solids.solid import EDGES, Array

NEIGHBOURS = 60  # elements that are tried, nearest centres first
SAME = 1e-9  # of the solid's diagonal: a point this near to the frame of an interface is its origin
FAR = 0.05  # of the solid's diagonal: a point farther outside is not a point of it


@dataclass(frozen=True)
class MaterialPoint:
    """The point of a solid nearest to a place, and what a unit of each coordinate does there."""

    place: Array  # [m] in the link frame
    displacements: Array  # (k + p, 3): by every coordinate and, with foreshortening, every product of two
    rotations: Array  # (k, 3): half of the curl
    strains: Array  # (k, 3, 3): symmetric, in the axes of the link; empty where there are no elements


def point_on(body: FlexibleBody, place: Array) -> MaterialPoint:
    """The point of a solid nearest to a place; the middle of a bore, where an interface has its frame, moves with that.

    Strains are those of the nearest point.
    """
    found = body.solid
    assert found is not None
    material, near = material_point(found, place), SAME * float(np.linalg.norm(np.ptp(found.nodes, axis=0)))
    if np.linalg.norm(material.place - place) <= near:
        return material
    for each in body.interfaces:
        if np.linalg.norm([float(row[3]) - x for row, x in zip(each.pose[:3], place, strict=True)]) <= near:
            moved, rotated = (np.array(rows, dtype=float) for rows in (each.displacements, each.rotations))
            return replace(material, place=place, displacements=moved, rotations=rotated)
    if np.linalg.norm(place) <= near:  # where the link is clamped
        still = (np.zeros_like(array) for array in (material.displacements, material.rotations))
        return replace(material, place=place, displacements=next(still), rotations=next(still))
    return material


def material_point(found: Found, place: Array) -> MaterialPoint:
    """The nearest point of the elements; of matrices without elements the nearest node."""
    if not len(found.tetrahedra):
        return _of_nodes(found, place)
    corners = found.nodes[found.tetrahedra[:, :4]]
    near = np.argsort(np.linalg.norm(corners.mean(axis=1) - place, axis=1), kind="stable")[:NEIGHBOURS]
    best, element, share = np.inf, int(near[0]), np.full(4, 0.25)
    for number in near:
        edges = (corners[number, 1:] - corners[number, 0]).T
        inner = np.linalg.solve(edges, place - corners[number, 0])
        weights = np.maximum(np.array([1 - inner.sum(), *inner]), 0.0)
        weights /= weights.sum()
        distance = float(np.linalg.norm(weights @ corners[number] - place))
        if distance < best:
            best, element, share = distance, int(number), weights
    slopes = np.zeros((4, 3))  # of the barycentric coordinates
    slopes[1:] = np.linalg.inv((corners[element, 1:] - corners[element, 0]).T)
    slopes[0] = -slopes[1:].sum(axis=0)
    values = [w * (2 * w - 1) for w in share] + [4 * share[a] * share[b] for a, b in EDGES]
    gradients = [(4 * w - 1) * slope for w, slope in zip(share, slopes, strict=True)]
    gradients += [4 * (share[a] * slopes[b] + share[b] * slopes[a]) for a, b in EDGES]
    shapes = found.shapes[found.tetrahedra[element]]  # (10, 3, k)
    fields = np.concatenate([shapes, found.second[found.tetrahedra[element]]], axis=2)
    moved = np.einsum("a,ack->kc", np.array(values), fields)
    H = np.einsum("ab,ack->kcb", np.array(gradients), shapes)  # du_c / dx_b
    rotated = 0.5 * np.stack([H[:, 2, 1] - H[:, 1, 2], H[:, 0, 2] - H[:, 2, 0], H[:, 1, 0] - H[:, 0, 1]], axis=1)
    return MaterialPoint(share @ corners[element], moved, rotated, (H + H.transpose(0, 2, 1)) / 2)


def _of_nodes(found: Found, place: Array) -> MaterialPoint:
    """The nearest node, rotated as the rigid motion that fits its neighbours best."""
    order = np.argsort(np.linalg.norm(found.nodes - place, axis=1), kind="stable")
    around, count = order[:12], found.shapes.shape[2]
    R = rigid_motions(found.nodes[around] - found.nodes[order[0]])
    fitted = np.linalg.lstsq(R, found.shapes[around].reshape(-1, count), rcond=None)[0]
    fields = np.concatenate([found.shapes[order[0]], found.second[order[0]]], axis=1)
    return MaterialPoint(found.nodes[order[0]], fields.T, fitted[3:].T, np.zeros((0, 3, 3)))


def stresses_of(found: Found, strains: Array, axes: Array) -> Array:
    """(k, 6): Hooke's law for strains (k, 3, 3) of the link's axes, as xx, yy, zz, xy, yz, xz in other ``axes`` [Pa].

    Empty where the material is not known.
    """
    if not len(strains) or "E" not in found.report:
        return np.zeros((0, 6))
    E, nu = found.report["E"], found.report["nu"]
    own = axes.T @ strains @ axes
    mean = np.trace(own, axis1=1, axis2=2)[:, None, None] * np.eye(3)
    stress = E * nu / ((1 + nu) * (1 - 2 * nu)) * mean + E / (1 + nu) * own
    return np.stack([stress[:, a, b] for a, b in ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2))], axis=1)
