"""Checks of flexible links at the nominal values of the parameters: shapes, properties, possible integrals."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from elastogen.generator.beams.integrals import Beam, Direction, Mode
from elastogen.generator.beams.natural_frequencies import mass_matrix, numeric
from elastogen.generator.beams.piecewise import Curve, as_fraction
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody
from elastogen.generator.robot.expressions import LARGEST, SMALLEST, nominal
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.robot import ZERO3, Body, Parameter, Robot

CLAMPED = 1e-6  # deflection and slope at the clamp, relative to the largest of the shape
INDEPENDENT = 1e-12  # part of a shape (squared) that the shapes before it do not have
RELATIVE = 1e-9  # tolerance of symmetry and of positive semidefinite matrices, relative to their diagonals
MOST_PRODUCTS = 1000  # second-order fields of foreshortening: 22 elements in a plane; integrals grow with their square
MOST_DENSE_PRODUCTS = 200  # of modes, each of which overlaps all others: 19 in a plane
_SAMPLES = tuple(i / 8 for i in range(9))  # of each piece of a curve

Array = npt.NDArray[np.float64]

_KEYS = {"y": "EI_z", "z": "EI_y", "torsion": "GJ", "extension": "EA"}


def check_properties(
    beam: Beam, directions: Collection[Direction], parameters: Mapping[str, Parameter], where: Location
) -> None:
    """Refuse a beam without the mass, stiffness and section inertia that its directions need."""
    values = {p.symbol: as_fraction(p.value) for p in parameters.values()}

    def sampled(curve: Curve) -> list[float]:
        return _sampled(curve.substituted(values))

    _positive(sampled(beam.mass_per_length), where.at("mass_per_length"), "a mass per length above zero [kg/m]")
    for curve, key in ((beam.inertia_y, "inertia_y_per_length"), (beam.inertia_z, "inertia_z_per_length")):
        lowest = min(sampled(curve))
        if not lowest >= 0:
            raise where.at(key).error(lowest, "section inertias of zero or more [kg m]", "check its sign")
    for direction in sorted(directions):
        key = _KEYS[direction]
        if direction not in beam.stiffness:
            also = " (or EI)" if key.startswith("EI") else ""
            raise where.error(f"modes in {direction} without {key}", f"the stiffness {key}{also}", f"add {key}")
        shared = beam.stiffness.get("y") is beam.stiffness.get("z") and key.startswith("EI")  # both from the key EI
        _positive(sampled(beam.stiffness[direction]), where.at("EI" if shared else key), "a stiffness above zero")
    polar = max(sampled(beam.inertia_y + beam.inertia_z))
    if polar == 0 and "torsion" in directions:
        raise where.error("torsion without inertia of the sections", "polar_inertia_per_length above zero", "add it [kg m]")
    if polar == 0 and beam.rotary_inertia:
        raise where.at("rotary_inertia").error(
            "true without inertia of the sections", "polar_inertia_per_length above zero", "add it [kg m]"
        )


def check_shear(
    beam: Beam, directions: Collection[Direction], wanted: bool, parameters: Mapping[str, Parameter], where: Location
) -> None:
    """Refuse a beam that shears without the stiffness that resists it."""
    values = {p.symbol: as_fraction(p.value) for p in parameters.values()}
    bent = [direction for direction in ("y", "z") if direction in directions]
    if wanted and not bent:
        raise where.at("shear").error("true without bending", "modes or elements in y or z", "remove shear")
    for direction in bent if wanted else ():
        key = f"GA_{direction}"
        if direction not in beam.shear:
            raise where.error(
                f"shear: true without {key}",
                f"the shear stiffness {key} (or GA) = k G A, k = 5/6 for a rectangle [N]",
                f"add {key}",
            )
        both = beam.shear.get("y") is beam.shear.get("z")  # from the key GA
        _positive(
            _sampled(beam.shear[direction].substituted(values)), where.at("GA" if both else key), "a stiffness above zero"
        )


def check_clamped(mode: Mode, parameters: Mapping[str, Parameter], where: Location) -> None:
    """Refuse a shape that does not vanish at x = 0, in bending with its slope."""
    values = {p.symbol: as_fraction(p.value) for p in parameters.values()}
    shape = mode.shape.substituted(values)
    slope = shape.derivative() if mode.psi is None else mode.psi.substituted(values)
    size = max(abs(v) for v in _sampled(shape))
    if not (math.isfinite(size) and size > 0):
        raise where.error(f"mode {mode.name}: zero or infinite", "a shape that moves the beam", "correct the shape")
    steepest = max(abs(v) for v in _sampled(slope))
    if abs(float(shape.start)) > CLAMPED * size:
        raise where.error(
            f"mode {mode.name}: {float(shape.start):.6g} at x = 0",
            "a shape that vanishes at the clamped end",
            "start with (x/L)**2 in bending, with x/L in torsion or extension, or subtract the value at x = 0",
        )
    if mode.psi is not None and abs(float(slope.start)) > CLAMPED * steepest:
        raise where.error(
            f"mode {mode.name}: sections that turn by {float(slope.start):.6g} at x = 0",
            "a rotation that vanishes at the clamped end",
            "start with x/L**2, or subtract the value at x = 0",
        )
    if mode.direction in ("y", "z") and abs(float(slope.start)) > CLAMPED * steepest:
        raise where.error(
            f"mode {mode.name}: slope {float(slope.start):.6g} (per x/L) at x = 0",
            "a bending shape whose slope vanishes at the clamped end",
            "start with (x/L)**2, and check the sampled slopes",
        )


def check_products(shapes: Sequence[int], fix: str, where: Location, most: int = MOST_PRODUCTS) -> None:
    """Refuse foreshortening of so many bending shapes, by direction, that their products cannot be integrated in time."""
    fields = sum(count * (count + 1) // 2 for count in shapes)
    if fields > most:
        raise where.at("foreshortening").error(
            f"{sum(shapes)} bending shapes with {fields} products",
            f"at most {most} products",
            fix,
        )


def _positive(values: list[float], where: Location, expected: str) -> None:
    lowest, highest = min(values), max(values)
    if not (lowest >= 0 and SMALLEST <= highest <= LARGEST):
        given = lowest if not lowest >= 0 else highest
        raise where.error(given, expected, "check its sign, its unit and its run along x")


def _sampled(curve: Curve) -> list[float]:
    return [sum(float(c) * t**k for k, c in enumerate(piece)) for piece in curve.pieces for t in _SAMPLES]


def check_body(body: FlexibleBody, parameters: Mapping[str, Parameter], where: Location) -> None:
    """Refuse standard data of wrong size, and impossible modes, springs or dampers."""
    _check_sizes(body, where)
    if body.tip not in ("exponential", "linear"):
        raise where.at("rotation").error(body.tip, "exponential or linear", "choose one")
    stiffness, damping = numeric(body.stiffness, parameters), numeric(body.damping, parameters)
    mass = numeric(mass_matrix(body, Body()), parameters)
    for key, array in (("integrals", mass), ("stiffness", stiffness), ("damping", damping)):
        if not np.isfinite(array).all():
            raise where.at(key).error("not a number", "finite numbers in declared parameters", "check the description")
    for place in body.interfaces:
        seat = [numeric(m, parameters) for m in (place.pose, place.displacements, place.rotations)]
        if not np.isfinite(seat[0]).all():
            raise where.at(place.name).error("not a number", "finite numbers in declared parameters", "check the description")
        if not all(np.isfinite(array).all() for array in seat[1:]):
            expected = f"finite {place.name} displacements and rotations"
            raise where.at(place.name).error("not a number", expected, "check the description")
    total = nominal(body.mass, parameters)
    if not total > 0:
        raise where.at("mass").error(total, "a mass above zero [kg]", "give the mass of the flexible body")
    _check_independent(body, mass, where)
    _symmetric(stiffness, where.at("stiffness"), "a symmetric stiffness matrix")
    free = body.telescope is not None and body.telescope.nodal  # both ends are: what is clamped depends on the joint
    if not _definite(stiffness, RELATIVE if free else 0.0) or np.min(np.diag(stiffness)) <= 0:
        raise where.at("stiffness").error(
            stiffness.tolist(), "a positive definite stiffness matrix", "leave out rigid-body modes; check signs"
        )
    _symmetric(damping, where.at("damping"), "a symmetric damping matrix")
    if np.min(np.diag(damping)) < 0 or not _definite(damping, RELATIVE):
        raise where.at("damping").error(damping.tolist(), "a positive semidefinite damping matrix", "check signs")


def check_integrals(body: FlexibleBody, parameters: Mapping[str, Parameter], where: Location) -> None:
    """Refuse integrals that no mass distribution can have."""
    gram = _gram(body, parameters)
    if not np.isfinite(gram).all():
        raise where.at("integrals").error("not a number", "finite numbers in declared parameters", "check the description")
    _symmetric(gram, where.at("integrals"), "integrals with int b_n b_m^T dm the transpose of int b_m b_n^T dm")
    if not _definite(gram, RELATIVE):
        raise where.at("integrals").error(
            f"{_lowest_scaled(gram):.3g} as lowest eigenvalue of their scaled matrix",
            "integrals over a mass distribution: the matrix of int f g dm over 1, r and b_n has no negative eigenvalue",
            "check units, axes and the reference point (the link frame's origin), and that row means b, column r",
        )


def check_links(robot: Robot, where: Location) -> None:
    """Check the flexible links of a robot from any source."""
    for link in robot.links:
        if link.flexible is None:
            continue
        here = where.at("links", link.name, "flexible")
        if link is robot.links[0]:
            raise here.error(link.name, "a rigid base link", "carry the flexible link by a (fixed) joint on the base")
        check_body(link.flexible, robot.parameters, here)
        check_integrals(link.flexible, robot.parameters, here)


def _check_sizes(body: FlexibleBody, where: Location) -> None:
    coordinates, fields = len(body.coordinates), len(body.monomials)
    if coordinates == 0 or body.monomials[:coordinates] != tuple((j,) for j in range(coordinates)):
        raise where.at("monomials").error(
            body.monomials, "at least one mode, and first the fields (0,), (1,), ... of the modes in order", "reorder"
        )
    if any(not all(0 <= j < coordinates for j in m) or len(m) != 2 for m in body.monomials[coordinates:]):
        raise where.at("monomials").error(body.monomials, "pairs of coordinates behind the modes", "use (j, k)")
    if len(set(body.coordinates)) != coordinates:
        raise where.at("coordinates").error(body.coordinates, "names that occur once", "rename one")
    if body.units and len(body.units) != coordinates:
        raise where.at("units").error(body.units, f"one unit per coordinate ({coordinates}), or none", "complete the data")

    def shaped(name: str, matrix: Sequence[Sequence[object]], rows: int, columns: int) -> None:
        if len(matrix) != rows or any(len(row) != columns for row in matrix):
            raise where.at(name).error(f"{len(matrix)} rows", f"{rows} x {columns} numbers", "complete the data")

    shaped("second_moments", body.second_moments, 3, 3)
    shaped("field_integrals", body.field_integrals, fields, 3)
    if len(body.field_position_integrals) != fields or len(body.field_field_integrals) != fields:
        raise where.error("integrals of wrong number", f"one per field ({fields})", "complete the data")
    for matrix in body.field_position_integrals:
        shaped("field_position_integrals", matrix, 3, 3)
    for line in body.field_field_integrals:
        if len(line) != fields:
            raise where.at("field_field_integrals").error(len(line), f"{fields} matrices per field", "complete them")
        for matrix in line:
            if matrix is not ZERO3:
                shaped("field_field_integrals", matrix, 3, 3)
    shaped("stiffness", body.stiffness, coordinates, coordinates)
    shaped("damping", body.damping, coordinates, coordinates)
    shaped("tip_pose", body.tip_pose, 4, 4)
    shaped("tip_displacements", body.tip_displacements, fields, 3)
    shaped("tip_rotations", body.tip_rotations, coordinates, 3)
    for place in body.others:
        shaped(f"{place.name}.pose", place.pose, 4, 4)
        shaped(f"{place.name}.displacements", place.displacements, fields, 3)
        shaped(f"{place.name}.rotations", place.rotations, coordinates, 3)


def _gram(body: FlexibleBody, parameters: Mapping[str, Parameter]) -> Array:
    """The integrals of products of 1, r and the fields: 000's I (4 x 4), I_rd and I_dd in one matrix.

    Second-order fields without products, which are of third order and often left out, have no part in it.
    """
    own = body.field_field_integrals
    complete = [n for n, m in enumerate(body.monomials) if len(m) == 1 or numeric(own[n][n], parameters).any()]
    fields = len(complete)
    gram = np.zeros((4 + 3 * fields, 4 + 3 * fields))
    gram[0, 0] = numeric(((body.mass,),), parameters)[0, 0]
    gram[0, 1:4] = gram[1:4, 0] = numeric((body.first_moments,), parameters)[0]
    gram[1:4, 1:4] = numeric(body.second_moments, parameters)

    for place, n in enumerate(complete):
        at = 4 + 3 * place
        gram[0, at : at + 3] = gram[at : at + 3, 0] = numeric((body.field_integrals[n],), parameters)[0]
        gram[at : at + 3, 1:4] = numeric(body.field_position_integrals[n], parameters)
        gram[1:4, at : at + 3] = gram[at : at + 3, 1:4].T
        for other, m in enumerate(complete):
            if own[n][m] is not ZERO3:
                gram[at : at + 3, 4 + 3 * other : 7 + 3 * other] = numeric(own[n][m], parameters)
    used = gram.any(axis=0) | gram.any(axis=1)  # a beam that bends in a plane moves in one direction of three
    moving: Array = gram[np.ix_(used, used)]
    return moving


def _check_independent(body: FlexibleBody, mass: Array, where: Location) -> None:
    """Find the first mode that is a combination of those before it, by the pivots of the scaled mass matrix."""
    diagonal = np.diag(mass)
    for j, name in enumerate(body.coordinates):
        if not diagonal[j] > 0:
            raise where.at("modes", j).error(f"mode {name} moves no mass", "a mode that moves mass", "check its shape")
    scale = 1 / np.sqrt(diagonal)
    rest = mass * np.outer(scale, scale)
    with contextlib.suppress(np.linalg.LinAlgError):
        if np.min(np.diag(np.linalg.cholesky(rest))) ** 2 >= INDEPENDENT:  # the roots of the pivots
            return
    for j, name in enumerate(body.coordinates):
        pivot = rest[j, j]
        if pivot < INDEPENDENT:
            raise where.at("modes", j).error(
                f"mode {name}",
                "a shape that is not a combination of the modes before it",
                "remove it, or give the modes different powers or numbers",
            )
        rest = rest - np.outer(rest[:, j], rest[j]) / pivot


def _symmetric(matrix: Array, where: Location, expected: str) -> None:
    size = float(np.max(np.abs(matrix), initial=0.0))
    if np.max(np.abs(matrix - matrix.T), initial=0.0) > RELATIVE * size:
        raise where.error("an unsymmetric matrix", expected, "check the order of rows and columns")


def _definite(matrix: Array, margin: float) -> bool:
    """Whether the lowest eigenvalue after scaling to a unit diagonal is above -margin."""
    scaled = _scaled(matrix)
    if margin and not np.count_nonzero(scaled - np.diag(np.diag(scaled))):
        return bool(np.min(np.diag(scaled), initial=0.0) >= -margin)
    try:
        np.linalg.cholesky(scaled + margin * np.eye(len(scaled)))
    except np.linalg.LinAlgError:
        return False
    return True


def _lowest_scaled(matrix: Array) -> float:
    """The lowest eigenvalue after scaling to a unit diagonal."""
    return float(np.linalg.eigvalsh(_scaled(matrix))[0])


def _scaled(matrix: Array) -> Array:
    """The matrix with a unit diagonal; rows and columns of zeros left as they are."""
    diagonal = np.abs(np.diag(matrix))
    scale = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scaled: Array = matrix * np.outer(scale, scale)
    return scaled
