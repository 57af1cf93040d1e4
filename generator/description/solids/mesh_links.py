"""Makes links flexible by their meshes: what each carries is known, so they are made from the tips of the robot inward."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from elastogen.generator.beams.natural_frequencies import carried_body, numeric
from elastogen.generator.description.files import Files
from elastogen.generator.description.flexible.check import MOST_DENSE_PRODUCTS, check_body, check_products
from elastogen.generator.description.flexible.kind import DescribedLink
from elastogen.generator.description.section_values import SectionValues
from elastogen.generator.description.solids.geometry_file import geometry, matrices, results
from elastogen.generator.description.solids.mesh import MeshKind
from elastogen.generator.description.solids.mesh_file import ClampedSection, MeshSection
from elastogen.generator.description.solids.standard_input_file import standard_body
from elastogen.generator.robot.bodies.flexible_body import TIP, FlexibleBody
from elastogen.generator.robot.expressions import nominal
from elastogen.generator.robot.location import Location, did_you_mean
from elastogen.generator.robot.robot import Body, Joint, Link, Matrix, Robot
from elastogen.generator.solids.geometry import MESHES, Geometry
from elastogen.generator.solids.given.matrices import Matrices
from elastogen.generator.solids.given.results import GivenResults
from elastogen.generator.solids.interfaces import Given, Wanted, rigid_motions
from elastogen.generator.solids.materials import ALIASES, MATERIALS, Material
from elastogen.generator.solids.mesher import check_extra
from elastogen.generator.solids.reduced_body import reduced_body
from elastogen.generator.solids.request import Request, find
from elastogen.generator.solids.solid import Array

OTHER_MASS = 0.1  # relative: a solid that differs by more from the mass that the link has is reported


@dataclass(frozen=True)
class MeshLink:
    """A link that a mesh makes flexible."""

    section: MeshSection
    where: Location
    replaces: bool  # the link's own body is the solid's: that of another description. Else it is a rigid hub beside it


def with_meshes(robot: Robot, links: Mapping[str, MeshLink], values: SectionValues, folder: Path, files: Files) -> Robot:
    """The robot with these links flexible; joints on them are placed in the link frames, as on rigid links."""
    for link in reversed(robot.links):
        if link.name in links:
            robot = _Made(robot, link, links[link.name], values).robot(folder, files)
    return robot


class _Made:
    """One link becoming flexible."""

    def __init__(self, robot: Robot, link: Link, given: MeshLink, values: SectionValues) -> None:
        self.before, self.link, self.section, self.where = robot, link, given.section, given.where
        self.replaces, self.values = given.replaces, values
        if self.section.standard_input is None:
            check_extra(self.where)
        own = [joint for joint in robot.joints if joint.child == link.name]
        if not own or own[0].type.feeds_child:
            expected = "a link on a joint that holds its origin"
            raise self.where.error(link.name, expected, "carry it by a (fixed) joint" if not own else "use type: elements")
        self.joint, self.children = own[0], [joint for joint in robot.joints if joint.parent == link.name]
        self._check_names()
        self.tip_body = values.body(self.section.tip, self.where.at("tip"))
        has_body = nominal(self.tip_body.mass, values.parameters) > 0
        self.ends = link.name == robot.tip or TIP in self.section.interfaces or has_body
        if not self.ends and not self.children:
            fix = "give interfaces: {tip: {sphere: {point: [...], radius: ...}}}"
            raise self.where.error("a link without a joint or the robot's tip on it", "something that it carries", fix)

    def _check_names(self) -> None:
        known = [self.joint.name, *(joint.name for joint in self.children), TIP]
        for name in self.section.interfaces:
            if name not in known:
                fix = did_you_mean(name, known, "name the link's own joint, one on it, or tip")
                raise self.where.at("interfaces", name).error(name, f"one of {', '.join(known)}", fix)

    def robot(self, folder: Path, files: Files) -> Robot:
        """The robot with the flexible link."""
        seats = [self._wanted(joint.name, joint.before, joint) for joint in self.children]
        if self.ends:
            seats.append(self._wanted(TIP, self._tool(), None))
        clamp = self._wanted(self.joint.name, None, self.joint)
        if self.section.standard_input is None:
            body = self._reduced(clamp, seats, folder, files)
        else:
            body = standard_body(self.section, clamp, seats, self.values, folder, files, self.where)
        tip = seats[-1].name
        places = {seat.name: seat.place for seat in seats}
        self._check_mass(float(body.mass))
        check_body(body, self.values.parameters, self.where)
        described = DescribedLink(self.section, self.tip_body, body.tip_pose, self.values.parameters, self.where)
        if self.section.damping is not None or self.section.standard_input is None:  # that has its own
            body = MeshKind().damped(described, body)
        hub = Body() if self.replaces else self.link.body
        made = Link(self.link.name, hub, body, self.tip_body)

        def moved(joint: Joint) -> Joint:
            if joint.parent != self.link.name:
                return joint
            seat = TIP if joint.name == tip else joint.name
            return replace(joint, before=_from(joint.before, places[joint.name]), interface=seat)

        ours = self.before.tip == self.link.name
        return replace(
            self.before,
            links=tuple(made if link is self.link else link for link in self.before.links),
            joints=tuple(moved(joint) for joint in self.before.joints),
            tool=_from(self.before.tool, places[TIP]) if ours else self.before.tool,
        )

    def _reduced(self, clamp: Wanted, seats: list[Wanted], folder: Path, files: Files) -> FlexibleBody:
        """The solid in few coordinates, with interfaces for all that it carries."""
        request = Request(
            geometry=self._geometry(folder, files),
            material=self._material(),
            mass=self._mass(),
            size=self._number("size"),
            count=self.section.elements,
            clamp=clamp,
            seats=tuple(seats),
            loads={seat.name: self._load(seat) for seat in seats},
            modes=self.section.modes,
            below=self._number("frequency"),
            where=self.where,
            shortened=self.section.foreshortening,
            cells=self._cells(folder, files),
        )
        if request.shortened and request.modes is not None:
            check_products([request.modes], "take fewer modes", self.where, MOST_DENSE_PRODUCTS)
        found = find(request)
        places, tip = {seat.name: seat.place for seat in seats}, seats[-1].name
        body = reduced_body(found.integrals, found.stiffness, places, found.motions, tip, self.section.rotation)
        return replace(body, solid=found)

    def _geometry(self, folder: Path, files: Files) -> Geometry | Matrices | GivenResults:
        if self.section.results is not None:
            return results(self.section, self.values, folder, files, self.where)
        if self.section.matrices is not None:
            return matrices(self.section, self.values, folder, files, self.where)
        return geometry(self.section, self.before, self.link.name, self.values, folder, files, self.where)

    def _cells(self, folder: Path, files: Files) -> Geometry | None:
        """The elements of given matrices."""
        if self.section.matrices is None or self.section.file is None:
            return None
        found = geometry(self.section, self.before, self.link.name, self.values, folder, files, self.where)
        if not found.is_mesh:
            expected = f"the tetrahedra between the nodes of matrices ({', '.join(MESHES)})"
            raise self.where.at("file").error(self.section.file, expected, "name the file that the matrices were computed of")
        return found

    def _number(self, key: str) -> float | None:
        given = getattr(self.section, key)
        if given is None:
            return None
        number = nominal(self.values.scalar(given, self.where.at(key)), self.values.parameters)
        if not 0 < number < float("inf"):
            raise self.where.at(key).error(given, "a number above zero", f"give {key} in SI units")
        return number

    def _material(self) -> Material | None:
        section, here = self.section.material, self.where.at("material")
        if section is None:
            return None
        known = None if section.name is None else MATERIALS[ALIASES.get(section.name, section.name)]
        values: dict[str, Any] = {
            key: nominal(self.values.scalar(given, here.at(key)), self.values.parameters)
            for key in ("E", "nu", "density")
            if (given := getattr(section, key)) is not None
        }
        material = Material(**values) if known is None else replace(known, **values)
        if not 1e5 <= material.E <= 2e12:
            fix = "give E in pascals, 70e9 for aluminium"
            raise here.at("E").error(material.E, "Young's modulus, 1e5 to 2e12 Pa", fix)
        if not -0.99 <= material.nu <= 0.49:
            fix = "nearly incompressible materials need other elements"
            raise here.at("nu").error(material.nu, "Poisson's ratio, up to 0.49", fix)
        if not 25 <= material.density <= 30000:  # foam to osmium; below are those in g/cm^3
            raise here.at("density").error(material.density, "25 to 30000 kg/m^3", "give density in kg/m^3, 2700 for aluminium")
        return material

    def _own_mass(self) -> float:
        return nominal(self.link.body.mass, self.values.parameters) if self.replaces else 0.0

    def _mass(self) -> float | None:
        given, here = self.section.mass, self.where.at("mass")
        if given is None or given == "mesh":
            return None
        if given == "link":
            if self._own_mass() <= 0:
                raise here.error("link", "a link of another description, with a mass", "give the number [kg]")
            return self._own_mass()
        return self._number("mass")

    def _check_mass(self, mass: float) -> None:
        own = self._own_mass()
        if own > 0 and self.section.mass is None and abs(mass / own - 1) > OTHER_MASS:
            raise self.where.at("mass").error(
                f"a solid of {mass:.4g} kg, a link of {own:.4g} kg",
                f"masses within {OTHER_MASS:.0%}",
                "say mass: link to scale the density, mass: mesh to take the solid's, or the measured number; check scale, too",
            )

    def _tool(self) -> Matrix:
        """The frame of the tip in the link: the robot's, or where its nodes are."""
        if self.before.tip == self.link.name:
            return self.before.tool
        held = self.section.interfaces.get(TIP, ClampedSection())
        place = next((getattr(held, form) for form in ("plane", "cylinder", "sphere") if getattr(held, form) is not None), None)
        if place is None:
            fix = "interfaces: {tip: {sphere: {point: [...], radius: ...}}}"
            raise self.where.at("interfaces", TIP).error("nothing", "the place of the tip", fix)
        x, y, z = self.values.vector(place.point, self.where.at("interfaces", TIP, "point"))
        return ((1, 0, 0, x), (0, 1, 0, y), (0, 0, 1, z), (0, 0, 0, 1))

    def _wanted(self, name: str, frame: Matrix | None, joint: Joint | None) -> Wanted:
        """An interface; the link's own joint is in the origin, its axis seen from behind it."""
        known, here = self.values.parameters, self.where.at("interfaces", name)
        pose = np.eye(4) if frame is None else numeric(frame, known)
        axis = None
        if joint is not None and "axis" in joint.type.takes and joint.type.moves:
            turn = pose[:3, :3] if frame is not None else numeric(joint.after, known)[:3, :3].T
            axis = turn @ numeric((joint.axis,), known)[0]
        held = self.section.interfaces.get(name, ClampedSection())
        return Wanted(name, pose[:3, 3].copy(), axis, self._given(held, here), held.kind == "average", here)

    def _given(self, held: ClampedSection, here: Location) -> Given | None:
        known = self.values.parameters

        def vector(given: object, where: Location, unit: bool = False) -> Array:
            found: Array = numeric((self.values.vector(given, where),), known)[0]  # type: ignore[arg-type]
            length = float(np.linalg.norm(found))
            if unit and not length > 0:
                raise where.error(found.tolist(), "a direction", "give a vector that is not zero")
            return found / length if unit else found

        def length(given: object, where: Location) -> float:
            found = nominal(self.values.scalar(given, where), known)  # type: ignore[arg-type]
            if not found > 0:
                raise where.error(found, "a length above zero [m]", "give it in metres")
            return float(found)

        if held.plane is not None:
            inside, plane = here.at("plane"), held.plane
            normal = vector(plane.normal, inside.at("normal"), unit=True)
            return {"plane": (*vector(plane.point, inside.at("point")), *normal)}
        if held.cylinder is not None:
            inside, round_ = here.at("cylinder"), held.cylinder
            axis = vector(round_.axis, inside.at("axis"), unit=True)
            sizes = length(round_.radius, inside.at("radius")), length(round_.length, inside.at("length"))
            return {"cylinder": (*vector(round_.point, inside.at("point")), *axis, *sizes)}
        if held.sphere is not None:
            inside, ball = here.at("sphere"), held.sphere
            return {"sphere": (*vector(ball.point, inside.at("point")), length(ball.radius, inside.at("radius")))}
        return None if held.nodes is None else {"nodes": held.nodes}

    def _load(self, seat: Wanted) -> Array:
        """6 x 6 inertia at the interface of what it carries at the zero configuration."""
        if seat.name == TIP:
            only = [joint for joint in self.before.joints if joint.parent != self.link.name]
            tip_pose = replace(self.tip_body, com=_shifted(self.tip_body, seat.place))
            alone = replace(self.link, tip_body=tip_pose)
            return _at(carried_body(replace(self.before, joints=tuple(only)), alone), seat.place)
        only = [joint for joint in self.before.joints if joint.parent != self.link.name or joint.name == seat.name]
        elsewhere = self.before.tip if self.before.tip != self.link.name else ""
        alone = replace(self.link, tip_body=Body())
        return _at(carried_body(replace(self.before, joints=tuple(only), tip=elsewhere), alone), seat.place)


def _shifted(body: Body, place: Array) -> tuple[float, float, float]:
    x, y, z = (float(c) + float(p) for c, p in zip(body.com, place, strict=True))
    return (x, y, z)


def _at(body: Body, place: Array) -> Array:
    """The inertia of a rigid body of the link's frame, for shifts and turns of a point of it."""
    mass, com, tensor = float(body.mass), np.array(body.com, dtype=float), np.array(body.inertia, dtype=float)
    R = rigid_motions((com - place)[None, :]).reshape(3, 6)
    found: Array = mass * R.T @ R
    found[3:, 3:] += tensor
    return found


def _from(frame: Matrix, place: Array) -> Matrix:
    """A frame of the link as seen from an interface that is parallel to it."""
    return (*((*row[:3], row[3] - float(p)) for row, p in zip(frame[:3], place, strict=True)), frame[3])
