"""Damping of the elastic coordinates: modal ratios, Rayleigh, or a given matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from elastogen.generator.beams.finite_elements import full_matrix
from elastogen.generator.beams.natural_frequencies import mass_matrix, numeric
from elastogen.generator.beams.piecewise import to_scalar
from elastogen.generator.description.file.fields import ScalarField
from elastogen.generator.description.file.flexible_file import DampingSection, RayleighSection
from elastogen.generator.description.flexible.modal_damping import by_ratios
from elastogen.generator.program.graph import Graph
from elastogen.generator.robot.bodies.flexible_body import FlexibleBody, Telescope
from elastogen.generator.robot.expressions import nominal, parse_scalar
from elastogen.generator.robot.location import Location
from elastogen.generator.robot.robot import ZERO3, Body, Matrix, Parameter, Scalar
from elastogen.generator.sliding.mode_functions import beam_functions


def damped(
    section: DampingSection | None,
    body: FlexibleBody,
    tip_body: Body,
    parameters: Mapping[str, Parameter],
    where: Location,
) -> FlexibleBody:
    """Return the body with its damping; M is that of the clamped link with its tip body.

    Ratios zeta_i of the clamped modes X (X^T M X = E) give D = M X diag(2 zeta_i w_i) X^T M, at the nominal parameters;
    Rayleigh's D = alpha M + beta K keeps parameters.
    """
    if section is None or section.rayleigh is not None or section.matrix is not None:
        return replace(body, damping=_damping_matrix(section, body, tip_body, parameters, where))
    mass, stiffness = numeric(mass_matrix(body, tip_body), parameters), numeric(body.stiffness, parameters)
    size = len(body.coordinates)
    found = by_ratios(_ratios(section, size, where), mass, stiffness, where)
    return replace(body, damping=found.matrix, damping_parts=found.cheaper_parts(size))  # K q is needed anyway


def _damping_matrix(
    section: DampingSection | None,
    body: FlexibleBody,
    tip_body: Body,
    parameters: Mapping[str, Parameter],
    where: Location,
) -> Matrix:
    """Of what needs no modes."""
    size = len(body.coordinates)
    if section is not None and section.rayleigh is not None:
        alpha, beta = _rayleigh(section.rayleigh, parameters, where.at("rayleigh"))
        mass = mass_matrix(body, tip_body)
        return tuple(
            tuple(to_scalar(alpha * mass[j][k] + beta * body.stiffness[j][k]) for k in range(size)) for j in range(size)
        )
    if section is not None and section.matrix is not None:
        return _given(section.matrix, size, parameters, where.at("matrix"))
    return tuple((0,) * size for _ in range(size))


def nodal_damped(
    section: DampingSection | None,
    body: FlexibleBody,
    tip_body: Body,
    parameters: Mapping[str, Parameter],
    where: Location,
) -> FlexibleBody:
    """Return a nodal telescopic body with its damping: a constant part, or one for each element inside the joint.

    With an element clamped the modes are those of the parts on both sides of it, and ratios are theirs.
    """
    beam, size = body.telescope, len(body.coordinates)
    assert beam is not None
    if section is None or section.rayleigh is not None or section.matrix is not None:
        return replace(body, damping=_damping_matrix(section, body, tip_body, parameters, where))
    ratios = _ratios(section, size - 4, where)
    mass, stiffness = numeric(mass_matrix(body, tip_body), parameters), numeric(body.stiffness, parameters)
    held = []
    for k in range(1, beam.elements + 1):
        free = [j for j in range(size) if not 2 * k - 2 <= j < 2 * k + 2]
        own = by_ratios(ratios, mass[np.ix_(free, free)], stiffness[np.ix_(free, free)], where).matrix
        entries = {(i, j): own[r][c] for r, i in enumerate(free) for c, j in enumerate(free)}
        held.append(tuple(tuple(entries.get((i, j), 0) for j in range(size)) for i in range(size)))
    return replace(body, telescope=replace(beam, clamped_damping=tuple(held)))


def moving_damped(
    section: DampingSection | None,
    body: FlexibleBody,
    tip_body: Body,
    parameters: Mapping[str, Parameter],
    where: Location,
) -> FlexibleBody:
    """Return a smooth telescopic body with its damping: a constant part, and exponents with matrices (robot.Telescope).

    With P = diag(d^p_j), M = mu d P Mhat P and K = EI d^-3 P Khat P for the part outside. Its modes X, without a load, are
    those of (Mhat, Khat) at every d, and their frequencies go with d^-2: so D = M X diag(2 zeta_i w_i) X^T M is
    sqrt(mu EI) / d P Dhat P, and ratios hold for all d. Rayleigh's M includes the tip body, which adds a constant; where
    the coordinates are amplitudes of modes, with slopes that go with 1/d, also powers of 1/d.
    """
    beam, size = body.telescope, len(body.coordinates)
    assert beam is not None
    if section is None:
        return body
    if section.matrix is not None:
        return replace(body, damping=_given(section.matrix, size, parameters, where.at("matrix")))
    functions = beam_functions(Graph(), beam.elements, beam.modes)
    mass, stiffness = full_matrix(functions.mass_integrals), full_matrix(functions.stiffness_integrals)
    if section.rayleigh is not None:
        alpha, beta = _rayleigh(section.rayleigh, parameters, where.at("rayleigh"))
        parts = [(1, alpha * beam.mass_per_length, mass), (-3, beta * beam.EI, stiffness)]
        if beam.modes:
            parts += [(e, alpha * factor, rows) for e, factor, rows in _tip_masses(beam, tip_body)]
        else:
            massless = replace(body, field_field_integrals=tuple((ZERO3,) * size for _ in range(size)))
            body = replace(body, damping=_times(alpha, mass_matrix(massless, tip_body)))
        varying = tuple((exponent, _times(factor, matrix)) for exponent, factor, matrix in parts if factor != 0)
        return replace(body, telescope=replace(beam, damping=varying))
    factor = float(np.sqrt(nominal(beam.mass_per_length, parameters) * nominal(beam.EI, parameters)))
    modal = by_ratios(_ratios(section, size, where), np.array(mass), np.array(stiffness), where).scaled(factor)
    cheaper = modal.cheaper_parts(sum(map(len, functions.stiffness_integrals)))
    return replace(body, telescope=replace(beam, damping=((-1, modal.matrix),), damping_parts=cheaper))


def _tip_masses(beam: Telescope, tip_body: Body) -> list[tuple[int, Scalar, list[list[float]]]]:
    """Exponents of d, factors and matrices of the tip body's part of M, with w = shifts a and w' = slopes a / d at the tip."""
    shifts, slopes, m, (x, y, _) = np.array(beam.modes[-2]), np.array(beam.modes[-1]), tip_body.mass, tip_body.com
    mixed = np.outer(shifts, slopes)
    inertia = tip_body.inertia[2][2] + m * (x * x + y * y)
    parts = ((0, m, np.outer(shifts, shifts)), (-1, m * x, mixed + mixed.T), (-2, inertia, np.outer(slopes, slopes)))
    return [(exponent, factor, matrix.tolist()) for exponent, factor, matrix in parts]


def _times(factor: Scalar, matrix: Sequence[Sequence[Scalar]]) -> Matrix:
    return tuple(tuple(to_scalar(factor * entry) if entry != 0 else 0 for entry in row) for row in matrix)


def _rayleigh(section: RayleighSection, parameters: Mapping[str, Parameter], where: Location) -> tuple[Scalar, Scalar]:
    alpha = parse_scalar(section.alpha, parameters, where.at("alpha"))
    beta = parse_scalar(section.beta, parameters, where.at("beta"))
    for key, value in (("alpha", alpha), ("beta", beta)):
        if not nominal(value, parameters) >= 0:
            raise where.at(key).error(value, "zero or more", "damping takes energy out of the link")
    return alpha, beta


def _given(rows: Sequence[Sequence[ScalarField]], size: int, parameters: Mapping[str, Parameter], where: Location) -> Matrix:
    if len(rows) != size:
        raise where.error(f"{len(rows)} rows", f"{size} rows and columns, one per coordinate", "complete the matrix")
    return tuple(
        tuple(parse_scalar(entry, parameters, where.at(i, j)) for j, entry in enumerate(row)) for i, row in enumerate(rows)
    )


def _ratios(section: DampingSection, size: int, where: Location) -> list[float]:
    if section.ratio is not None:
        ratios = [float(parse_scalar(section.ratio, {}, where.at("ratio")))] * size
        where = where.at("ratio")
    else:
        where = where.at("ratios")
        given = section.ratios or ()
        ratios = [float(parse_scalar(ratio, {}, where.at(i))) for i, ratio in enumerate(given)]
        if not 1 <= len(ratios) <= size:
            fix = "give those of the lowest modes, or one `ratio` for all"
            raise where.error(f"{len(ratios)} ratios", f"1 to {size}, at most one per coordinate", fix)
    for ratio in ratios:
        if not 0 <= ratio < 1:
            raise where.error(ratio, "damping ratios from 0 to below 1", "0.005 to 0.02 are usual for metal links")
    return ratios
