"""Flexible bodies from elsewhere: standard input data, or the lumped masses of a finite-element mesh."""

from __future__ import annotations

from collections.abc import Mapping

from elastogen.generator.beams.piecewise import as_fraction, to_scalar
from elastogen.generator.description.file.fields import ScalarField, VectorField
from elastogen.generator.description.file.flexible_file import LumpedSection, Matrix3Field, SquareField, StandardDataSection
from elastogen.generator.robot.expressions import parse_scalar
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.robot import ZERO3, FlexibleBody, Matrix, Parameter, Scalar, Vector


class _Reader:
    """Parses scalars, vectors and matrices of a section."""

    def __init__(self, parameters: Mapping[str, Parameter]) -> None:
        self.parameters = parameters

    def scalar(self, given: ScalarField, where: Location) -> Scalar:
        return parse_scalar(given, self.parameters, where)

    def vector(self, given: VectorField, where: Location) -> Vector:
        x, y, z = (self.scalar(entry, where.at(i)) for i, entry in enumerate(given))
        return (x, y, z)

    def matrix(self, given: Matrix3Field | SquareField, where: Location) -> Matrix:
        return tuple(tuple(self.scalar(entry, where.at(i, j)) for j, entry in enumerate(row)) for i, row in enumerate(given))


def standard_body(
    section: StandardDataSection, tip_pose: Matrix, parameters: Mapping[str, Parameter], where: Location
) -> FlexibleBody:
    """Return the body that the integrals describe; modes come first, second-order fields after them."""
    read = _Reader(parameters)
    order = sorted(range(len(section.modes)), key=lambda i: section.modes[i].of is not None)
    fields = [section.modes[i] for i in order]
    places = [where.at("modes", i) for i in order]
    names = tuple(mode.name for mode in fields if mode.name is not None)
    _check_names(names, where)
    monomials: list[tuple[int, ...]] = []
    for n, (mode, here) in enumerate(zip(fields, places, strict=True)):
        for name in mode.of or ():
            if name not in names:
                raise here.at("of").error(name, f"names of modes ({', '.join(names)})", "name two modes of this body")
        monomials.append((n,) if mode.of is None else tuple(sorted(names.index(name) for name in mode.of)))
    products = _products(section, order, read, where.at("products"))
    size = len(names)
    return FlexibleBody(
        coordinates=names,
        monomials=tuple(monomials),
        mass=read.scalar(section.mass, where.at("mass")),
        first_moments=read.vector(section.first_moments, where.at("first_moments")),
        second_moments=read.matrix(section.second_moments, where.at("second_moments")),
        field_integrals=tuple(
            read.vector(mode.integral, here.at("integral")) for mode, here in zip(fields, places, strict=True)
        ),
        field_position_integrals=tuple(
            read.matrix(mode.position_integral, here.at("position_integral")) for mode, here in zip(fields, places, strict=True)
        ),
        field_field_integrals=products,
        stiffness=_stiffness(section.stiffness, size, read, where.at("stiffness")),
        damping=tuple((0,) * size for _ in range(size)),
        tip_pose=tip_pose,
        tip_displacements=tuple(
            read.vector(mode.tip_displacement, here.at("tip_displacement")) for mode, here in zip(fields, places, strict=True)
        ),
        tip_rotations=tuple(
            read.vector(mode.tip_rotation, here.at("tip_rotation")) for mode, here in zip(fields[:size], places, strict=False)
        ),
        tip=section.rotation,
    )


def _products(section: StandardDataSection, order: list[int], read: _Reader, where: Location) -> tuple[tuple[Matrix, ...], ...]:
    """The matrices int b_n b_m^T dm; the file gives one of (n, m) and (m, n), the other is its transpose."""
    count = len(order)
    found: dict[tuple[int, int], Matrix] = {}
    for p, product in enumerate(section.products):
        here = where.at(p)
        if any(not 1 <= n <= count for n in product.fields):
            raise here.at("fields").error(list(product.fields), f"positions in `modes`, 1 to {count}", "count the modes from 1")
        n, m = (order.index(i - 1) for i in product.fields)
        if (n, m) in found:
            raise here.at("fields").error(list(product.fields), "every pair of fields once", "remove one of them")
        matrix = read.matrix(product.integral, here.at("integral"))
        found[m, n] = tuple(tuple(matrix[j][i] for j in range(3)) for i in range(3))
        found[n, m] = matrix
    return tuple(tuple(found.get((n, m), ZERO3) for m in range(count)) for n in range(count))


def lumped_body(section: LumpedSection, tip_pose: Matrix, parameters: Mapping[str, Parameter], where: Location) -> FlexibleBody:
    """Return the body of point masses: every integral is a sum over the nodes."""
    read = _Reader(parameters)
    names = tuple(mode.name for mode in section.modes)
    _check_names(names, where)
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
        stiffness=_stiffness(section.stiffness, size, read, where.at("stiffness")),
        damping=tuple((0,) * size for _ in range(size)),
        tip_pose=tip_pose,
        tip_displacements=tuple(read.vector(m.tip_displacement, h.at("tip_displacement")) for m, h in modes),
        tip_rotations=tuple(read.vector(m.tip_rotation, h.at("tip_rotation")) for m, h in modes),
        tip=section.rotation,
    )


def _stiffness(given: SquareField, size: int, read: _Reader, where: Location) -> Matrix:
    if len(given) != size:
        raise where.error(f"{len(given)} rows", f"{size} rows and columns, one per mode", "complete the matrix")
    return read.matrix(given, where)


def _check_names(names: tuple[str, ...], where: Location) -> None:
    if not names:
        raise where.at("modes").error([], "at least one mode with a name", "give the modes names")
    for i, name in enumerate(names):
        if name in names[:i]:
            raise where.at("modes").error(name, "names of modes that occur once", "rename one of them")
