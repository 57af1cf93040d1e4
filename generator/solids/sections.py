"""The part of a solid on one side of a plane: its mass integrals, exact for elements that the plane cuts, too."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from elastogen.generator.robot.bodies.flexible_body import FlexibleBody
from elastogen.generator.solids.reduced_body import mass_data
from elastogen.generator.solids.request import Found
from elastogen.generator.solids.solid import EDGES, Array, Indices, quadrature

ON = 1e-9  # of the solid's diagonal: an interface this near to the plane is on it


@dataclass(frozen=True)
class Cut:
    """What hangs on a plane through a solid: the part on the side that is not clamped, and the interfaces there."""

    part: FlexibleBody
    interfaces: frozenset[str]
    ahead: bool  # whether that is the side to which the normal points


def can_be_cut(body: FlexibleBody) -> bool:
    """Whether the parts of a body are known: of matrices, and of what others reduced, they are not."""
    return body.solid is not None and len(body.solid.tetrahedra) > 0


def cut(body: FlexibleBody, place: Array, normal: Array) -> Cut:
    """The cut by the plane through ``place``; the link frame is the clamp, and frames on the plane are beyond it."""
    found = body.solid
    assert found is not None
    near = ON * float(np.linalg.norm(np.ptp(found.nodes, axis=0)))
    ahead = bool(-place @ normal <= near)
    side, least = (normal, -near) if ahead else (-normal, near)
    origins = {each.name: np.array([float(row[3]) for row in each.pose[:3]]) for each in body.interfaces}
    beyond = frozenset(name for name, origin in origins.items() if (origin - place) @ side >= least)
    part = replace(body, **mass_data(part_beyond(found, place, side), len(body.coordinates)), others=(), solid=None)
    return Cut(part, beyond, ahead)


def part_beyond(found: Found, place: Array, normal: Array) -> dict[str, Array]:
    """The integrals of ``reduced_body.integrals``, over the side of the plane to which the normal points."""
    cells, density = found.tetrahedra, float(found.report["density"])
    corners = found.nodes[cells[:, :4]]
    volumes = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1])) / 6
    fields = np.concatenate([found.shapes, found.second], axis=2)
    pieces, elements, shares = _pieces((corners - place) @ normal)
    k, first = fields.shape[2], found.shapes.shape[2]
    totals: dict[str, Array] = {
        "mass": np.array(0.0), "first": np.zeros(3), "second": np.zeros((3, 3)), "fields": np.zeros((k, 3)),
        "positions": np.zeros((k, 3, 3)), "products": np.zeros((first, first, 3, 3)),
    }  # fmt: skip
    for place_in, weight in quadrature(4):  # products of shapes
        L = place_in @ pieces  # barycentric in their elements
        dm = density * weight * shares * volumes[elements]
        r = np.einsum("pa,pax->px", L, corners[elements])
        N = np.concatenate([L * (2 * L - 1), np.stack([4 * L[:, a] * L[:, b] for a, b in EDGES], axis=1)], axis=1)
        b = np.einsum("pa,paxk->pkx", N, fields[cells[elements]])
        weighted = b * dm[:, None, None]
        totals["mass"] += dm.sum()
        totals["first"] += dm @ r
        totals["second"] += (r * dm[:, None]).T @ r
        totals["fields"] += weighted.sum(axis=0)
        totals["positions"] += (weighted.reshape(len(b), -1).T @ r).reshape(k, 3, 3)
        flat, other = (array[:, :first].reshape(len(b), -1) for array in (b, weighted))
        totals["products"] += (flat.T @ other).reshape(first, 3, first, 3).transpose(0, 2, 1, 3)
    return totals


def _pieces(ahead: Array) -> tuple[Array, Indices, Array]:
    """Tetrahedra of which the part consists: corners (p, 4, 4), barycentric in their elements; elements; shares of volume.

    ``ahead`` has the distances (t, 4) of the elements' corners. A share is negative where a corner is cut off.
    """
    inside = ahead >= 0
    count = inside.sum(axis=1)
    pieces, elements = [np.eye(4)] * int((count >= 3).sum()), np.flatnonzero(count >= 3).tolist()
    signs = [1.0] * len(pieces)
    for number in np.flatnonzero((count > 0) & (count < 4)).tolist():
        d = ahead[number]
        front, behind = np.flatnonzero(inside[number]).tolist(), np.flatnonzero(~inside[number]).tolist()

        def between(a: int, b: int, d: Array = d) -> Array:
            t = d[a] / (d[a] - d[b])
            found: Array = (1 - t) * np.eye(4)[a] + t * np.eye(4)[b]
            return found

        if len(front) == 2:  # a prism, in three
            (a, b), (c, e) = front, behind
            ends = [np.eye(4)[a], between(a, c), between(a, e), np.eye(4)[b], between(b, c), between(b, e)]
            made = [np.stack([ends[k] for k in four]) for four in ((0, 1, 2, 5), (0, 1, 4, 5), (0, 3, 4, 5))]
        else:  # one corner, in front or cut off
            (apex,), rest = (front, behind) if len(front) == 1 else (behind, front)
            made = [np.stack([np.eye(4)[apex], *(between(apex, other) for other in rest)])]
        pieces += made
        elements += [number] * len(made)
        signs += [1.0 if len(front) < 3 else -1.0] * len(made)
    stacked = np.array(pieces).reshape(-1, 4, 4)
    return stacked, np.array(elements, dtype=np.int64), np.array(signs) * np.abs(np.linalg.det(stacked))
