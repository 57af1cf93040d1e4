"""Any flexible body by the lumped masses of a finite-element mesh: ``type: lumped_masses``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from elastogen.generator.beams.piecewise import as_fraction, to_scalar
from elastogen.generator.description.file.fields import FrameSection, NameField, ScalarField, Section, VectorField
from elastogen.generator.description.file.flexible_file import MAX_MODES, FlexibleSection, InterfaceSection, SquareField
from elastogen.generator.description.flexible.given_numbers import GivenNumbers, check_names, stiffness_matrix
from elastogen.generator.description.flexible.kind import DescribedLink, FlexibleKind
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody
from elastogen.generator.robot.robot import Matrix, Scalar, Vector


class NodeSection(Section):
    """A lumped mass of a finite-element mesh and its displacement in every mode."""

    mass: ScalarField = Field(description="[kg]")
    position: VectorField = Field(description="undeformed, in the link frame [m]")
    displacements: tuple[VectorField, ...] = Field(description="one per mode")


class TipMotionSection(Section):
    """A mode of a body given by lumped masses: its name, and how the tip moves in it."""

    name: NameField
    tip_displacement: VectorField
    tip_rotation: VectorField = (0, 0, 0)


class LumpedSection(FlexibleSection):
    """Any flexible body by the lumped masses of a mesh and its mode shapes at them."""

    type: Literal["lumped_masses"]
    modes: tuple[TipMotionSection, ...] = Field(min_length=1, max_length=MAX_MODES)
    nodes: tuple[NodeSection, ...] = Field(min_length=1)
    stiffness: SquareField = Field(description="modes x modes")
    tip_frame: FrameSection = Field(default=FrameSection(), description="undeformed tip in the link frame")
    interfaces: dict[NameField, InterfaceSection] = Field(
        default={}, description="further places that carry joints; a joint of the same name sits there"
    )


class LumpedMassesKind(FlexibleKind[LumpedSection]):
    """A body of point masses with its mode shapes at them, from a mesh."""

    # ---- 1. in a robot file

    name = "lumped_masses"
    section = LumpedSection

    def tip_frame(self, section: LumpedSection) -> FrameSection:
        """As the file gives it."""
        return section.tip_frame

    def interface_frames(self, section: LumpedSection) -> Mapping[str, FrameSection]:
        """As the file gives them."""
        return {name: given.frame for name, given in section.interfaces.items()}

    # ---- 2. coordinates and units (those of the modes, which the file does not say), 3. standard data

    def body(self, link: DescribedLink[LumpedSection]) -> FlexibleBody:
        """Sums over the nodes."""
        return _lumped_body(link)


def _lumped_body(link: DescribedLink[LumpedSection]) -> FlexibleBody:
    """Return the body of point masses: every integral is a sum over the nodes."""
    section, where, read = link.section, link.where, GivenNumbers(link.parameters)
    names = tuple(mode.name for mode in section.modes)
    check_names(names, where)
    size = len(names)
    masses: list[Scalar] = []
    functions: list[list[Scalar]] = []  # per node: 1, the position, the displacements
    for i, node in enumerate(section.nodes):
        here = where.at("nodes", i)
        if len(node.displacements) != size:
            raise here.at("displacements").error(
                f"{len(node.displacements)} displacements", f"{size}, one per mode", "complete the table"
            )
        masses.append(as_fraction(read.scalar(node.mass, here.at("mass"))))
        vectors = [read.vector(node.position, here.at("position"))]
        vectors += [read.vector(d, here.at("displacements", j)) for j, d in enumerate(node.displacements)]
        functions.append([1, *(as_fraction(entry) for vector in vectors for entry in vector)])

    def integral(a: int, b: int) -> Scalar:
        return to_scalar(sum(m * f[a] * f[b] for m, f in zip(masses, functions, strict=True)))

    def block(a: int, b: int) -> Matrix:
        """Function 0 is the position, 1 + n the field n."""
        return tuple(tuple(integral(1 + 3 * a + i, 1 + 3 * b + j) for j in range(3)) for i in range(3))

    def first(a: int) -> Vector:
        return (integral(0, 1 + 3 * a), integral(0, 2 + 3 * a), integral(0, 3 + 3 * a))

    numbers = range(1, size + 1)
    modes = [(mode, where.at("modes", i)) for i, mode in enumerate(section.modes)]
    return FlexibleBody(
        coordinates=names,
        monomials=tuple((j,) for j in range(size)),
        mass=integral(0, 0),
        first_moments=first(0),
        second_moments=block(0, 0),
        field_integrals=tuple(first(n) for n in numbers),
        field_position_integrals=tuple(block(n, 0) for n in numbers),
        field_field_integrals=tuple(tuple(block(n, m) for m in numbers) for n in numbers),
        stiffness=stiffness_matrix(section.stiffness, size, read, where.at("stiffness")),
        damping=tuple((0,) * size for _ in range(size)),
        tip_pose=link.tip_pose,
        tip_displacements=tuple(read.vector(m.tip_displacement, h.at("tip_displacement")) for m, h in modes),
        tip_rotations=tuple(read.vector(m.tip_rotation, h.at("tip_rotation")) for m, h in modes),
        tip=section.rotation,
        others=read.interfaces(section.interfaces, link.poses, range(size), size, where.at("interfaces")),
    )
