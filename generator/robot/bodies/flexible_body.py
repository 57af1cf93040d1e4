"""The standard data of a flexible body, which every kind of flexible link becomes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elastogen.generator.beams.damping_parts import DampingParts
    from elastogen.generator.beams.integrals import ShapedBeam
    from elastogen.generator.robot.robot import Matrix, Scalar, Vector
    from elastogen.generator.solids.request import Found

TIP = "tip"  # the interface that every flexible body has


@dataclass(frozen=True)
class Centreline:
    """The axis of a beam in the plane x, y, along which a joint can slide: the shape fields there, piece by piece.

    On piece i, from breaks[i] to breaks[i + 1], with t going from 0 to 1, component c (x, y) of field n is the polynomial
    sum_k pieces[i][n][c][k] t^k.
    """

    length: Scalar  # [m]
    breaks: tuple[float, ...]  # places x / length
    pieces: tuple[tuple[tuple[tuple[Scalar, ...], tuple[Scalar, ...]], ...], ...]
    smooth: bool = False  # whether every field is one function on all pieces


@dataclass(frozen=True)
class Telescope:
    """A uniform beam that slides through its joint: the part outside, of length d, is flexible.

    ``nodal`` clamps (paper 003, 4.3): all nodes, the first one too, have coordinates, and those of the element inside
    the joint vanish. Else the clamp is the material point inside the joint, and equal elements divide the part outside.
    Then ``foreshortening`` belongs to the part outside, and ``damping`` lists exponents e and matrices D_e of a damping
    sum_e d^(e + p_i + p_j) D_e that adds to the body's constant one, with p = 1 for slopes, else 0; a single one may have
    cheaper parts, with the stiffness K of EI = d = 1. With nodal clamps ``held_damping`` may have a
    matrix for each element inside the joint, which also adds to the constant one.

    ``modes`` are those of a reduced beam, one per column: deflections and slopes at the free nodes in turn, as functions of eta
    from 0 to 1 along the part outside, whatever its length. Empty: the coordinates are nodal.
    """

    length: Scalar  # [m]
    mass_per_length: Scalar  # [kg/m]
    EI: Scalar  # [N m^2]
    elements: int
    nodal: bool
    foreshortening: bool = False
    damping: tuple[tuple[int, Matrix], ...] = ()
    clamped_damping: tuple[Matrix, ...] = ()
    modes: tuple[tuple[float, ...], ...] = ()
    damping_parts: DampingParts | None = field(default=None, metadata={"later": True})

    @property
    def moves_tip(self) -> bool:
        """Whether the tip moves in the link frame when d does and the elastic coordinates do not."""
        return self.foreshortening or bool(self.modes)


@dataclass(frozen=True)
class Reduction:
    """How the modes of a beam were computed: the number of elements, and the error of each frequency."""

    elements: int
    errors: tuple[float, ...]  # relative, against a mesh twice as fine


@dataclass(frozen=True)
class Interface:
    """A frame of a flexible body that moves with its material and carries further links."""

    name: str  # of the joint that sits there, or TIP
    pose: Matrix  # undeformed, in the link frame, 4 x 4
    displacements: Matrix  # b_n there, fields x 3, in link axes
    rotations: Matrix  # rotation vector per unit coordinate, coordinates x 3, in link axes
    x: Scalar | None = None  # of a beam, place along it [m]


@dataclass(frozen=True)
class FlexibleBody:
    """The standard data of a flexible body, clamped in its link frame.

    A material point r of the undeformed body is at ``r + sum_n c_n(x) b_n(r)``, where x are the elastic coordinates, b_n the
    shape fields and c_n their coefficients: a coordinate x_j for a mode, a product x_j x_k for a second-order field
    (foreshortening). ``monomials[n]`` lists the coordinates in c_n: (j,) or (j, k). All integrals are over the undeformed
    body, in the axes of the link frame and about its origin. Links further out are attached to one of the ``interfaces``, by
    default the tip.
    """

    coordinates: tuple[str, ...]  # names of the elastic coordinates
    monomials: tuple[tuple[int, ...], ...]
    mass: Scalar  # int dm [kg]
    first_moments: Vector  # int r dm [kg m]
    second_moments: Matrix  # int r r^T dm, 3 x 3 [kg m^2]
    field_integrals: Matrix  # int b_n dm, fields x 3
    field_position_integrals: tuple[Matrix, ...]  # int b_n r^T dm, per field 3 x 3 (row: b, column: r)
    field_field_integrals: tuple[tuple[Matrix, ...], ...]  # int b_n b_m^T dm, per pair of fields 3 x 3
    stiffness: Matrix  # coordinates x coordinates
    damping: Matrix  # coordinates x coordinates
    tip_pose: Matrix  # undeformed tip frame in the link frame, 4 x 4
    tip_displacements: Matrix  # b_n at the tip, fields x 3, in link axes
    tip_rotations: Matrix  # rotation vector of the tip per unit coordinate, coordinates x 3, in link axes
    tip: str = "exponential"  # rotation of the tip: exp{delta x} ("exponential") or E + {delta x} ("linear", 000 (66))
    centreline: Centreline | None = None  # of a beam in the plane x, y
    telescope: Telescope | None = None  # of a beam on a telescopic joint; the integrals are those with all of it outside
    reduction: Reduction | None = None  # of finite elements that were reduced to their lowest modes
    units: tuple[str, ...] = ()  # of the elastic coordinates; none where they are those of the modes in given data
    beam: ShapedBeam | None = field(default=None, compare=False, repr=False)  # what the integrals were computed from
    damping_parts: DampingParts | None = field(default=None, metadata={"later": True})  # where they cost less than the matrix
    others: tuple[Interface, ...] = field(default=(), metadata={"later": True})  # interfaces beside the tip
    solid: Found | None = field(default=None, compare=False, repr=False)  # the mesh that the integrals were computed from

    @property
    def interfaces(self) -> tuple[Interface, ...]:
        """All interfaces, the tip first."""
        x = None if self.beam is None else self.tip_pose[0][3]
        return (Interface(TIP, self.tip_pose, self.tip_displacements, self.tip_rotations, x), *self.others)

    def interface(self, name: str) -> Interface:
        """The interface of that name; "" is the tip."""
        return next(place for place in self.interfaces if place.name == (name or TIP))

    @property
    def clamp_moves(self) -> bool:
        """Whether its joint moves the clamp along it: then the joint's coordinate deforms it as well."""
        return self.telescope is not None and not self.telescope.nodal

    @property
    def tip_moves(self) -> bool:
        """Whether the tip moves in the link frame when the clamp does and the elastic coordinates do not."""
        return self.clamp_moves and self.telescope is not None and self.telescope.moves_tip

    @property
    def foreshortened(self) -> bool:
        """Whether the body has displacements of second order, which stiffen it when it spins."""
        moving = self.telescope is not None and self.telescope.foreshortening
        return moving or any(len(monomial) > 1 for monomial in self.monomials)
