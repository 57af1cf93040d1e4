"""Numbers of bodies whose modes were computed elsewhere: their scalars, vectors, matrices, names, stiffness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from elastogen.generator.description.file.fields import ScalarField, VectorField
from elastogen.generator.description.file.flexible_file import InterfaceSection, SquareField
from elastogen.generator.robot.bodies.flexible_body import Interface
from elastogen.generator.robot.expressions import parse_scalar
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.robot import Matrix, Parameter, Scalar, Vector


class GivenNumbers:
    """Parses scalars, vectors and matrices of a section."""

    def __init__(self, parameters: Mapping[str, Parameter]) -> None:
        self.parameters = parameters

    def scalar(self, given: ScalarField, where: Location) -> Scalar:
        """A number or an expression."""
        return parse_scalar(given, self.parameters, where)

    def vector(self, given: VectorField, where: Location) -> Vector:
        """Three of them."""
        x, y, z = (self.scalar(entry, where.at(i)) for i, entry in enumerate(given))
        return (x, y, z)

    def matrix(self, given: Sequence[Sequence[ScalarField]], where: Location) -> Matrix:
        """Rows of them."""
        return tuple(tuple(self.scalar(entry, where.at(i, j)) for j, entry in enumerate(row)) for i, row in enumerate(given))

    def interfaces(
        self,
        sections: Mapping[str, InterfaceSection],
        poses: Mapping[str, Matrix],
        order: Sequence[int],
        size: int,
        where: Location,
    ) -> tuple[Interface, ...]:
        """Further places of a body; ``order`` has the places of its fields in the file, ``size`` counts coordinates."""
        found = []
        for name, section in sections.items():
            here = where.at(name)
            for key, count in (("displacements", len(order)), ("rotations", size)):
                given = len(getattr(section, key))
                if given != count:
                    raise here.at(key).error(f"{given} vectors", f"{count}, one per mode", "complete the table")
            moves = self.matrix(tuple(section.displacements[i] for i in order), here.at("displacements"))
            found.append(Interface(name, poses[name], moves, self.matrix(section.rotations, here.at("rotations"))))
        return tuple(found)


def stiffness_matrix(given: SquareField, size: int, read: GivenNumbers, where: Location) -> Matrix:
    """The stiffness matrix, one row and column per mode."""
    if len(given) != size:
        raise where.error(f"{len(given)} rows", f"{size} rows and columns, one per mode", "complete the matrix")
    return read.matrix(given, where)


def check_names(names: tuple[str, ...], where: Location) -> None:
    """Refuse a body without modes, and names of modes that occur twice."""
    if not names:
        raise where.at("modes").error([], "at least one mode with a name", "give the modes names")
    for i, name in enumerate(names):
        if name in names[:i]:
            raise where.at("modes").error(name, "names of modes that occur once", "rename one of them")
