"""Interfaces of a solid: which nodes a joint holds, and how they hold its frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from elastogen.generator.robot.location import Location
from elastogen.generator.solids.solid import Array, Elements, Indices

NEAR = 0.25  # of the solid's diagonal: a joint farther outside is a mistake
PATCH = 0.15  # of the diagonal: what is taken around the nearest node where there is neither bore nor face
LEAST_FACE = 0.005  # of the diagonal's square: area of a face that counts as one
FACE = 0.25  # of the diagonal: radius in which a face counts as around the axis
SAME_PLANE = 0.01  # of the diagonal
ROUND = 1.15  # radii of one bore, from the smallest
COVERED = 7  # of twelve sectors that a bore must have
NOWHERE = np.zeros((0, 3))

Choice: TypeAlias = Callable[[Elements], Indices]
"""Picks the nodes of an interface."""
Flags: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.bool_]]"
Given: TypeAlias = "dict[str, tuple[float, ...]]"
"""How the nodes of an interface are given: what it is called in a file, and numbers; see ``chosen``."""


@dataclass(frozen=True)
class Wanted:
    """An interface as it is asked for: where its frame is, and how its nodes are found."""

    name: str
    place: Array  # origin of its frame [m], in the link frame
    axis: Array | None  # of its joint, a unit vector in the link frame
    given: Given | None  # None: the bore or face around the axis
    averaging: bool
    where: Location

    def patch(self, diagonal: float, others: Array) -> float:
        """Radius [m] of what is taken where there is neither bore nor face."""
        apart = np.linalg.norm(others - self.place, axis=1).min(initial=np.inf)
        return min(PATCH * diagonal, 0.45 * float(apart))

    def radius(self, diagonal: float, others: Array) -> float:
        """Of its round place [m]: elements are to be smaller than that; 0 where its nodes are found otherwise."""
        if self.given is None:
            return self.patch(diagonal, others)
        ((form, numbers),) = self.given.items()
        return float(numbers[6 if form == "cylinder" else 3]) if form in ("cylinder", "sphere") else 0.0


@dataclass(frozen=True)
class Clamped:
    """An interface on a mesh: its nodes, and the map R from a small motion of its frame to theirs."""

    name: str
    place: Array
    nodes: Indices
    averaging: bool
    how: str  # the nodes were found, in words

    def rigid(self, nodes: Array) -> Array:
        """R, (3 k, 6): displacements of the nodes by a shift and a rotation of the frame."""
        return rigid_motions(nodes[self.nodes] - self.place)


def rigid_motions(offsets: Array) -> Array:
    """(3 k, 6): what shifts along and rotations about x, y, z through the origin do to points there."""
    found = np.zeros((len(offsets), 3, 6))
    found[:, :, :3] = np.eye(3)
    x, y, z = offsets.T
    found[:, 0, 4], found[:, 0, 5] = z, -y
    found[:, 1, 3], found[:, 1, 5] = -z, x
    found[:, 2, 3], found[:, 2, 4] = y, -x
    return found.reshape(-1, 6)


def held(wanted: Wanted, elements: Elements, others: Array = NOWHERE) -> Clamped:
    """The nodes of an interface; what touches none, or too few to hold a frame, is refused with the nearest place.

    ``others`` are the origins of the other interfaces [m]: what nobody gave stays nearer to its own.
    """
    if wanted.given is not None:
        nodes, how = chosen(wanted.given, wanted.where)(elements), "as given"
    else:
        nodes, how = _around(wanted, elements, others)
    if not len(nodes):
        nearest, off = _missed(wanted, elements.nodes)
        raise wanted.where.error(
            "a place that touches no node of the mesh",
            "nodes on the solid",
            f"move it: the nearest node, at {_shown(nearest)}, is {off}; or make the elements smaller (size:)",
        )
    scatter = np.linalg.svd(elements.nodes[nodes] - elements.nodes[nodes].mean(axis=0), compute_uv=False)
    if len(nodes) < 3 or scatter[1] < 1e-6 * max(scatter[0], 1e-12):
        raise wanted.where.error(
            f"{len(nodes)} nodes on a line, near {_shown(elements.nodes[nodes[0]])}",
            "at least three nodes that are not on one line",
            "make the place larger, or the elements smaller (size:)",
        )
    return Clamped(wanted.name, wanted.place, np.sort(nodes), wanted.averaging, f"{how}, {len(nodes)} nodes")


def _missed(wanted: Wanted, nodes: Array) -> tuple[Array, str]:
    """The node that is nearest to a place, and how far off it is."""
    ((form, numbers),) = (wanted.given or {"sphere": tuple(wanted.place)}).items()
    offsets = nodes - np.array(numbers[:3])
    if form == "plane":
        distance, of = np.abs(offsets @ np.array(numbers[3:])), "the plane"
    else:
        distance, of = np.linalg.norm(offsets, axis=1), "its point"
    nearest = int(distance.argmin())
    return nodes[nearest], f"{distance[nearest]:.4g} m from {of}"


def chosen(given: Given, where: Location) -> Choice:
    """Of {plane: point and normal}, {cylinder: point, axis, radius, length}, {sphere: point, radius} or {nodes: numbers}."""
    ((form, numbers),) = given.items()
    values = np.array(numbers)
    if form == "plane":
        return on_plane(values[:3], values[3:])
    if form == "cylinder":
        return in_cylinder(values[:3], values[3:6], values[6], values[7])
    if form == "sphere":
        return in_sphere(values[:3], values[3])
    return by_number(values.astype(np.int64), where.at("nodes"))


def on_plane(point: Array, normal: Array) -> Choice:
    """Nodes on a plane."""
    return lambda e: np.flatnonzero(np.abs((e.nodes - point) @ normal) <= _tolerance(e))


def in_cylinder(point: Array, axis: Array, radius: float, length: float) -> Choice:
    """Nodes in or on a cylinder around the point: half of its length on either side."""

    def choose(e: Elements) -> Indices:
        along = (e.nodes - point) @ axis
        across = np.linalg.norm(e.nodes - point - along[:, None] * axis, axis=1)
        inside = (across <= radius + _tolerance(e)) & (np.abs(along) <= length / 2 + _tolerance(e))
        return np.flatnonzero(inside)

    return choose


def in_sphere(point: Array, radius: float) -> Choice:
    """Nodes in or on a sphere."""
    return lambda e: np.flatnonzero(np.linalg.norm(e.nodes - point, axis=1) <= radius + _tolerance(e))


def by_number(numbers: Indices, where: Location) -> Choice:
    """Nodes by their numbers in the file, from 1."""

    def choose(e: Elements) -> Indices:
        missing = np.setdiff1d(numbers, e.numbers)
        if len(missing):
            expected = f"numbers of corners of elements, up to {int(e.numbers.max())}"
            raise where.error(missing.tolist()[:5], expected, "take the file's own numbers of nodes")
        found: Indices = np.flatnonzero(np.isin(e.numbers, numbers))
        return found

    return choose


def _tolerance(e: Elements) -> float:
    return 1e-6 * float(np.linalg.norm(np.ptp(e.nodes, axis=0)))


def _around(wanted: Wanted, e: Elements, others: Array) -> tuple[Indices, str]:
    """The bore around the joint's axis, else the face across it, else a patch where the axis meets the surface.

    Of what has no axis, as the tip: the flat face that it lies in, else the bore that it lies in, along an axis of the link.
    """
    diagonal = float(np.linalg.norm(np.ptp(e.nodes, axis=0)))
    outside, distance = _nearest(e.nodes, wanted.place)
    if distance > NEAR * diagonal:
        raise wanted.where.error(
            f"its frame at {_shown(wanted.place)}, {distance:.4g} m away from the solid, nearest at {_shown(outside)}",
            f"a joint within {NEAR * diagonal:.3g} m of it",
            "check scale and pose of the file, or say which nodes it holds: interfaces: "
            f"{{{wanted.name}: {{sphere: {{point: [...], radius: ...}}}}}}",
        )
    if len(e.surface):
        found = _Skin.around(e, wanted.place, others).seat(wanted.axis)
        if found is not None:
            return found
    patch, outer = wanted.patch(diagonal, others), np.flatnonzero(_on_surface(e))
    offset = e.nodes[outer] - wanted.place
    if wanted.axis is not None:
        along = offset @ wanted.axis
        round_it = np.linalg.norm(offset - along[:, None] * wanted.axis, axis=1) <= patch
        if round_it.any():
            at = along[round_it][np.argmin(np.abs(along[round_it]))]
            this = outer[round_it & (np.abs(along - at) <= patch)]
            return this, f"patch of {patch:.3g} m around the axis, {at:+.4g} m from the joint"
    nearest = offset[np.argmin(np.linalg.norm(offset, axis=1))]
    return outer[np.linalg.norm(offset - nearest, axis=1) <= patch], f"patch of {patch:.3g} m around the nearest point"


@dataclass(frozen=True)
class _Skin:
    """The triangles of a surface as seen from the origin of a frame."""

    surface: Indices
    offset: Array  # (m, 6, 3): of their nodes
    middles: Array  # (m, 3)
    normals: Array  # outwards
    areas: Array
    diagonal: float
    others: Array  # (k, 3): origins of the other interfaces

    @staticmethod
    def around(e: Elements, place: Array, others: Array) -> _Skin:
        """Of a solid."""
        offset = e.nodes[e.surface] - place
        crossed = np.cross(offset[:, 1] - offset[:, 0], offset[:, 2] - offset[:, 0])
        areas = np.linalg.norm(crossed, axis=1) / 2
        diagonal = float(np.linalg.norm(np.ptp(e.nodes, axis=0)))
        middles, normals = offset[:, :3].mean(axis=1), crossed / (2 * areas[:, None])
        return _Skin(e.surface, offset, middles, normals, areas, diagonal, others - place)

    def seat(self, axis: Array | None) -> tuple[Indices, str] | None:
        """The bore or face that a frame sits on, in words, too."""
        if axis is not None:
            return self._bore(axis) or self._face(axis)
        bores = (self._bore(each, through=True) for each in np.eye(3))
        return self._own_face() or next((found for found in bores if found is not None), None)

    def _bore(self, axis: Array, *, through: bool = False) -> tuple[Indices, str] | None:
        """The narrowest bore around an axis; one that goes ``through`` the frame's origin, or begins there."""
        along = self.middles @ axis
        radial = self.middles - along[:, None] * axis
        radius = np.linalg.norm(radial, axis=1)
        inward = np.einsum("ij,ij->i", self.normals, radial) / np.maximum(radius, 1e-12 * self.diagonal)
        bore = (np.abs(self.normals @ axis) < 0.35) & (inward < -0.8)
        bore &= (np.abs(along) < NEAR * self.diagonal) & (radius < FACE * self.diagonal)
        while bore.any():
            smallest = float(radius[bore].min())
            this = bore & (radius <= ROUND * smallest)
            ends = self.offset[this][:, :3] @ axis
            near = SAME_PLANE * self.diagonal
            passes = not through or (ends.min() <= near and ends.max() >= -near)
            if passes and _sectors(radial[this], axis) >= COVERED:
                return np.unique(self.surface[this]), f"bore of radius {float(np.median(radius[this])):.4g} m"
            bore &= ~this
        return None

    def _face(self, axis: Array) -> tuple[Indices, str] | None:
        """The nearest face across an axis."""
        along = self.middles @ axis
        radius = np.linalg.norm(self.middles - along[:, None] * axis, axis=1)
        across = np.abs(self.normals @ axis) > 0.95
        flat = across & (radius < FACE * self.diagonal) & (np.abs(along) < NEAR * self.diagonal)
        if not flat.any():
            return None
        at = along[flat][np.argmin(np.abs(along[flat]))]
        plane = across & (np.abs(along - at) < SAME_PLANE * self.diagonal)
        this = plane & flat
        if self.areas[this].sum() <= LEAST_FACE * self.diagonal**2:
            return None
        return self._whole(this, plane, f"face across the axis, {at:+.4g} m from the joint")

    def _own_face(self) -> tuple[Indices, str] | None:
        """The largest flat face whose plane goes through the frame's origin and that surrounds it."""
        level = np.abs(np.einsum("ij,ij->i", self.middles, self.normals)) < SAME_PLANE * self.diagonal
        left = level & (np.linalg.norm(self.middles, axis=1) < FACE * self.diagonal)
        best, most = None, LEAST_FACE * self.diagonal**2
        while left.any():
            normal = self.normals[np.flatnonzero(left)[np.argmax(self.areas[left])]]
            plane = level & (self.normals @ normal > 0.999)
            this = left & plane
            nodes = self.offset[this].reshape(-1, 3)
            nodes = nodes[np.linalg.norm(nodes, axis=1) > 1e-6 * self.diagonal]
            if self.areas[this].sum() > most and _sectors(nodes, normal) >= COVERED:
                best, most = (this, plane), float(self.areas[this].sum())
            left &= ~this
        return None if best is None else self._whole(*best, "flat face that its frame lies in")

    def _whole(self, near: Flags, plane: Flags, how: str) -> tuple[Indices, str]:
        """The connected faces in a plane whose parts ``near`` the frame are known: whole, unless they reach to others."""
        corners = self.surface[:, :3]
        found, grown = near & False, near
        touched = np.zeros(int(corners.max()) + 1, dtype=bool)
        while (grown > found).any():
            found = grown
            touched[corners[found]] = True
            grown = plane & touched[corners].any(axis=1)
        offset = self.offset[found].reshape(-1, 1, 3)
        ours = np.linalg.norm(offset, axis=2)
        if (np.linalg.norm(offset - self.others, axis=2) < ours).any():
            return np.unique(self.surface[near]), f"{how}, as far as {FACE * self.diagonal:.3g} m: it reaches to another place"
        return np.unique(self.surface[found]), how


def _on_surface(e: Elements) -> Flags:
    found = np.full(len(e.nodes), not len(e.surface))  # of matrices without elements: any node
    found[e.surface.ravel()] = True
    return found


def _sectors(radial: Array, axis: Array) -> int:
    first = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    first /= np.linalg.norm(first)
    angle = np.arctan2(radial @ np.cross(axis, first), radial @ first)
    return len(np.unique(np.floor((angle + np.pi) / (np.pi / 6)).astype(int) % 12))


def _nearest(nodes: Array, place: Array) -> tuple[Array, float]:
    distance = np.linalg.norm(nodes - place, axis=1)
    return nodes[int(distance.argmin())], float(distance.min())


def _shown(place: Array) -> str:
    return "[" + ", ".join(f"{x:.4g}" for x in place) + "] m"
