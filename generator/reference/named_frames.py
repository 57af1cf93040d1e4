"""Poses of named frames of a description along a motion: links, the tip, and the robot's points."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from elastogen.generator.beams.natural_frequencies import numeric
from elastogen.generator.beams.sections import CrossSection, section_at
from elastogen.generator.program.numbers.jets import Jet
from elastogen.generator.reference.description import Description
from elastogen.generator.reference.evaluated import Evaluated
from elastogen.generator.reference.local_poses import combined, planar, product, tip_pose
from elastogen.generator.reference.matrix_series import MatrixSeries
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody
from elastogen.generator.robot.frames import TIP
from elastogen.generator.robot.robot import Point

Array = npt.NDArray[np.float64]


class Frames:
    """The frames of a description along one motion."""

    def __init__(self, of: Description, evaluated: Evaluated) -> None:
        self.of, self.evaluated = of, evaluated
        self.width = evaluated.q[0].data.shape[-1] if evaluated.q else 1

    def pose(self, name: str) -> MatrixSeries:
        """Of a frame by name, as frame_names has them."""
        links = self.evaluated.links
        if name in links:
            return links[name]
        return self.evaluated.tip if name == TIP else self.point(next(p for p in self.of.robot.points if p.name == name))

    def point(self, point: Point) -> MatrixSeries:
        """Of a point of the robot."""
        of = self.of
        pose = of.array(point.pose)
        if point.joint:
            return self.evaluated.seats[point.joint] @ MatrixSeries.constant(pose)
        body = of.robot.link(point.link).flexible
        at = self.evaluated.links[point.link]
        if body is None or (body.beam is None and body.solid is None):
            return at @ MatrixSeries.constant(pose)
        along = np.eye(4)
        along[:, 3] = pose[:, 3]
        own, x = self.coordinates(point.link)
        if body.beam is None:
            return self._on_solid(body, at, pose, x)
        if body.clamp_moves:
            s = float(pose[0, 3])
            moving = of.moving_beam(point.link)
            assert moving is not None
            shift = moving.section(own, x, s)
            section = planar(shift[0] + Jet.constant(s, self.width), shift[1], shift[2])
        else:
            section = self._section(point, body, x)
        rest = np.array(pose)
        rest[0, 3] = 0.0
        return at @ section @ MatrixSeries.constant(rest)

    def coordinates(self, link: str) -> tuple[Jet, list[Jet]]:
        """The coordinates of the joint that carries a flexible link, if any, and of the link."""
        index = next(k for k, joint in enumerate(self.of.robot.joints) if joint.child == link)
        place, q = self.of.places[index], self.evaluated.q
        own = q[place.q[0]] if len(place.q) else Jet.constant(0.0, self.width)
        return own, [q[k] for k in place.elastic[0]]

    def section_numbers(self, point: Point) -> CrossSection:
        """The motion of a point's section on a beam per unit of each field and coordinate."""
        body = self.of.robot.link(point.link).flexible
        assert body is not None
        assert body.beam is not None
        found: CrossSection = self.of.once(
            f"section {point.name}", lambda: section_at(body.beam, point.pose[0][3], self.of.robot.parameters)
        )
        return found

    def _section(self, point: Point, body: FlexibleBody, x: list[Jet]) -> MatrixSeries:
        held = self.of.beams[point.link]
        assert held is not None
        section, of = self.section_numbers(point), self.of
        shifts, turns = of.array(section.displacements).reshape(-1, 3), of.array(section.rotations).reshape(-1, 3)
        shifts = shifts.copy()  # along x they begin where the joint holds the beam
        ends = [of.array(each.tip_displacements).reshape(-1, 3)[:, 0] for each in (body, held)]
        shifts[:, 0] -= ends[0] - ends[1]
        amplitudes = [product([x[j] for j in monomial], x[0]) for monomial in body.monomials]
        start = (of.number(point.pose[0][3]), 0.0, 0.0)
        p = [Jet.constant(start[k], self.width) + combined(amplitudes, shifts[:, k], self.width) for k in range(3)]
        delta = [combined(x, turns[:, k], self.width) for k in range(3)]
        return tip_pose(p, delta, linear=body.tip == "linear", planar=not turns[:, :2].any())

    def _on_solid(self, body: FlexibleBody, at: MatrixSeries, pose: Array, x: list[Jet]) -> MatrixSeries:
        from elastogen.generator.solids.material_points import point_on  # with its extra

        material = point_on(body, pose[:3, 3])
        amplitudes = [product([x[j] for j in monomial], x[0]) for monomial in body.monomials]
        p = [Jet.constant(float(material.place[k]), self.width) + combined(amplitudes, material.displacements[:, k], self.width)
             for k in range(3)]  # fmt: skip
        delta = [combined(x, material.rotations[:, k], self.width) for k in range(3)]
        rest = np.array(pose)
        rest[:3, 3] -= material.place
        moved = tip_pose(p, delta, linear=body.tip == "linear", planar=not material.rotations[:, :2].any())
        return at @ moved @ MatrixSeries.constant(rest)

    def strain(self, point: Point) -> Jet:
        """The reading of a point's gauge."""
        assert point.strain is not None
        body = self.of.robot.link(point.link).flexible
        assert body is not None
        if body.beam is None:
            from elastogen.generator.solids.material_points import material_point  # with its extra

            assert body.solid is not None
            numbers = numeric(point.pose, self.of.robot.parameters)
            axis = numbers[:3, "xyz".index(point.strain.direction)]
            strains = material_point(body.solid, numbers[:3, 3]).strains
            return combined(self.coordinates(point.link)[1], np.array([axis @ s @ axis for s in strains]), self.width)
        y, z, stretch = self.bending(point)
        offset = Jet.constant(self.of.number(point.strain.offset), self.width)
        return stretch - offset * (y if point.strain.direction == "y" else z)

    def stress(self, point: Point) -> Array:
        """Hooke's law with Lame's constants, as a tensor (..., 3, 3) in the axes of a point on a solid."""
        from elastogen.generator.solids.material_points import material_point  # with its extra

        body = self.of.robot.link(point.link).flexible
        assert body is not None
        assert body.solid is not None
        E, nu = body.solid.report["E"], body.solid.report["nu"]
        shear = E / (2 * (1 + nu))
        volume = 2 * shear * nu / (1 - 2 * nu)
        pose = numeric(point.pose, self.of.robot.parameters)
        x = np.stack([jet.data[..., 0, 0] for jet in self.coordinates(point.link)[1]], axis=-1)
        strain = np.einsum("...k,kab->...ab", x, material_point(body.solid, pose[:3, 3]).strains)
        sigma = 2 * shear * strain + volume * np.trace(strain, axis1=-2, axis2=-1)[..., None, None] * np.eye(3)
        found: Array = pose[:3, :3].T @ sigma @ pose[:3, :3]
        return found

    def bending(self, point: Point) -> tuple[Jet, Jet, Jet]:
        """w'' in y and in z, u' of the beam at a point."""
        body = self.of.robot.link(point.link).flexible
        own, x = self.coordinates(point.link)
        zero = Jet.constant(0.0, self.width)
        moving = None if body is None or not body.clamp_moves else self.of.moving_beam(point.link)
        if moving is not None:
            return moving.curvature(own, x, self.of.number(point.pose[0][3])), zero, zero
        section = self.section_numbers(point)
        bent = self.of.array(section.curvatures).reshape(-1, 2)
        stretches = self.of.array(section.stretches)
        y, z, u = (combined(x, numbers, self.width) for numbers in (bent[:, 0], bent[:, 1], stretches))
        return y, z, u
