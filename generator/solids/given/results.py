"""What another program computed of a solid: modes and static cases, whose shapes are the reduction's basis.

The stiffness between shapes follows from the results alone: K u is w^2 M u of a mode, and of a static case the internal
forces that were written with it. The mass is that of the elements and the material's density.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from elastogen.generator.robot.location import Location
from elastogen.generator.solids.given.calculix_results import Results, read_results
from elastogen.generator.solids.given.matrices import UNITS
from elastogen.generator.solids.interfaces import Clamped
from elastogen.generator.solids.materials import Material
from elastogen.generator.solids.solid import EDGES, Array, Elements, Solid, quadratic_elements
from elastogen.generator.solids.surfaces import check_size

STILL = 1e-5  # relative: nodes that move by less are held; files have six digits
SAME_MASS = 0.03  # relative: modes are scaled to the mass matrix, which must be ours
SAME_STIFFNESS = 0.02
APART = 1e-6  # relative, squared: what of a shape must be left beside the others


@dataclass(frozen=True)
class GivenShapes:
    """Displacements of all nodes (3n, m), independent of each other, and the stiffness between them."""

    fields: Array
    stiffness: Array
    where: Location

    def check_held(self, clamp: Clamped) -> None:
        """Refuse shapes that move where the link is clamped."""
        moved = np.abs(self.fields.reshape(-1, 3, self.fields.shape[1])[clamp.nodes]).max()
        if moved > STILL * np.abs(self.fields).max():
            raise self.where.error(
                f"shapes that move the nodes of {clamp.name}, by {moved / np.abs(self.fields).max():.2g} of the largest",
                "results of a body that is held at the link's own joint",
                f"hold these nodes in the analysis (*BOUNDARY), or say which are held: interfaces: {{{clamp.name}: ...}}",
            )


@dataclass(frozen=True)
class GivenResults:
    """The content of a file of results, its units, and its pose in the link."""

    data: bytes
    units: str
    pose: tuple[tuple[float, ...], ...]
    where: Location = field(default=Location(""), compare=False)

    @property
    def plain(self) -> list[Any]:
        """What it is beside the content, as plain data."""
        return ["results", self.units, self.pose]

    @cached_property
    def _read(self) -> Results:
        try:
            found = read_results(self.data.decode("utf-8", "replace"))
        except (ValueError, IndexError) as problem:
            fix = "*NODE FILE with U (and RF in static steps) writes it; as text, not binary"
            raise self.where.at("file").error(str(problem)[:200], "results of CalculiX (.frd)", fix) from None
        if not any(case.frequency is not None for case in found.cases):
            raise self.where.at("file").error("no modes", "displacements of a *FREQUENCY step", "add *FREQUENCY, *NODE FILE, U")
        bare = [k for k, case in enumerate(found.cases, 1) if case.frequency is None and case.forces is None]
        if bare:
            raise self.where.at("file").error(
                f"result {bare[0]}, a static case without forces", "forces with the displacements", "write *NODE FILE, U, RF"
            )
        if all(case.frequency is not None for case in found.cases):
            self.where.at("file").warn(
                "modes alone",
                "static cases, too, with forces where the link carries others",
                "add *STATIC steps with unit loads there: modes of the link alone miss what a load does",
            )
        return found

    def elements(self, material: Material) -> Elements:
        """The elements of the file, in the link frame."""
        found, pose = self._read, np.array(self.pose, dtype=float)
        placed = found.places * UNITS[self.units][0] @ pose[:3, :3].T + pose[:3, 3]
        check_size(placed, self.where.at("file"))
        solid = Solid.of(placed, found.tetrahedra[:, :4])
        made = quadratic_elements(solid, material)
        return Elements(made.nodes, made.mass, made.stiffness, made.surface, made.tetrahedra, found.numbers[solid.numbers - 1])

    def shapes(self, elements: Elements) -> GivenShapes:
        """The basis, over the nodes of the elements."""
        from scipy.sparse import eye, kron

        length, mass, _ = UNITS[self.units]
        rotation = np.array(self.pose, dtype=float)[:3, :3]
        M = kron(elements.mass, eye(3), format="csr")
        fields, forces, modes = [], [], list[int]()
        for k, case in enumerate(self._read.cases):
            u = self._on_nodes(case.displacements, elements, middle=True) @ rotation.T * length
            fields.append(u.ravel())
            if case.frequency is not None:
                modes.append(k)
                fields[-1] = fields[-1] / (length * np.sqrt(mass))  # scaled to the mass in other units
                forces.append((2 * np.pi * case.frequency) ** 2 * (M @ fields[-1]))
            else:
                assert case.forces is not None
                per = mass * length  # a second is a second
                forces.append((self._on_nodes(case.forces, elements, middle=False) @ rotation.T * per).ravel())
        U, F = np.array(fields).T, np.array(forces).T
        self._check_mass(np.einsum("ij,ij->j", U[:, modes], M @ U[:, modes]))
        cases = [*modes, *(k for k in range(U.shape[1]) if k not in modes)]  # exact to many digits first
        U, F = _apart(U[:, cases], F[:, cases], M)
        K, first = U.T @ F, len(modes)
        K[:first, first:] = K[first:, :first].T  # by the mass, where the file's forces have six digits
        ours = U.T @ (elements.stiffness @ U)
        apart = float(np.abs(K - ours).max() / np.abs(ours).max())
        if apart > SAME_STIFFNESS:
            self.where.at("file").warn(
                f"a stiffness that differs by {apart:.1%} from that of the material",
                "the material of the analysis",
                "stresses are those of the material here; check E and nu where there is one material",
            )
        return GivenShapes(U, (K + K.T) / 2, self.where.at("file"))

    def _on_nodes(self, given: Array, elements: Elements, *, middle: bool) -> Array:
        """Values of the file's nodes on those of the elements; between two corners the mean, or nothing, if there is none."""
        found = self._read
        cells = np.full((len(elements.nodes), 2), -1)
        values = np.zeros((len(elements.nodes), 3))
        order = {int(number): k for k, number in enumerate(found.numbers)}
        corners = np.array([order[int(number)] for number in elements.numbers])
        values[: len(corners)] = given[corners]
        between: dict[tuple[int, int], int] = {}
        for row in found.tetrahedra:
            for (a, b), node in zip(EDGES, row[4:], strict=True):
                between[min(row[a], row[b]), max(row[a], row[b])] = int(node)
        for position, (a, b) in enumerate(EDGES):
            cells[elements.tetrahedra[:, 4 + position]] = np.sort(corners[elements.tetrahedra[:, [a, b]]], axis=1)
        for k in range(len(corners), len(cells)):
            node = between[int(cells[k, 0]), int(cells[k, 1])]
            if node >= 0:
                values[k] = given[node]
            elif middle:
                values[k] = given[cells[k]].mean(axis=0)
        return values

    def _check_mass(self, masses: Array) -> None:
        """CalculiX scales modes to a mass of one."""
        worst = float(masses[np.argmax(np.abs(masses - 1))])
        if abs(worst - 1) > SAME_MASS:
            raise self.where.error(
                f"modes of mass {worst:.4g} by the material's density",
                "one, to which the program scales modes",
                "check units and density; bodies of several materials need matrices (K and M)",
            )


def _apart(U: Array, F: Array, M: Any) -> tuple[Array, Array]:
    """Orthogonal shapes of mass one (Gram and Schmidt), each without those before it, and their forces."""
    shapes, forces = np.zeros((len(U), 0)), np.zeros((len(U), 0))
    for u, f in zip(U.T, F.T, strict=True):
        size = np.sqrt(u @ (M @ u))
        v, g = u / size, f / size
        for _ in range(2):
            share = shapes.T @ (M @ v)
            v, g = v - shapes @ share, g - forces @ share
        left = float(v @ (M @ v))
        if left > APART:
            shapes, forces = np.column_stack([shapes, v / np.sqrt(left)]), np.column_stack([forces, g / np.sqrt(left)])
    return shapes, forces
