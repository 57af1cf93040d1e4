"""Damping of the elastic coordinates: modal ratios, Rayleigh, or a given matrix."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from elastogen.generator.expressions import nominal, parse_scalar
from elastogen.generator.flexible_file import DampingSection
from elastogen.generator.location import Location
from elastogen.generator.natural_frequencies import clamped_modes, mass_matrix, numeric
from elastogen.generator.piecewise import ROUNDING, to_scalar
from elastogen.generator.robot import Body, FlexibleBody, Matrix, Parameter


def damping_matrix(
    section: DampingSection | None,
    body: FlexibleBody,
    tip_body: Body,
    parameters: Mapping[str, Parameter],
    where: Location,
) -> Matrix:
    """Return the damping matrix; M is that of the clamped link with its tip body.

    Ratios zeta_i of the clamped modes X (X^T M X = E) give D = M X diag(2 zeta_i w_i) X^T M, at the nominal parameters;
    Rayleigh's D = alpha M + beta K keeps parameters.
    """
    size = len(body.coordinates)
    if section is None:
        return tuple((0,) * size for _ in range(size))
    if section.rayleigh is not None:
        alpha = parse_scalar(section.rayleigh.alpha, parameters, where.at("rayleigh", "alpha"))
        beta = parse_scalar(section.rayleigh.beta, parameters, where.at("rayleigh", "beta"))
        for key, value in (("alpha", alpha), ("beta", beta)):
            if not nominal(value, parameters) >= 0:
                raise where.at("rayleigh", key).error(value, "zero or more", "damping takes energy out of the link")
        mass = mass_matrix(body, tip_body)
        return tuple(
            tuple(to_scalar(alpha * mass[j][k] + beta * body.stiffness[j][k]) for k in range(size)) for j in range(size)
        )
    if section.matrix is not None:
        if len(section.matrix) != size:
            raise where.at("matrix").error(
                f"{len(section.matrix)} rows", f"{size} rows and columns, one per coordinate", "complete the matrix"
            )
        return tuple(
            tuple(parse_scalar(entry, parameters, where.at("matrix", i, j)) for j, entry in enumerate(row))
            for i, row in enumerate(section.matrix)
        )
    return _by_ratios(_ratios(section, size, where), body, tip_body, parameters)


def _ratios(section: DampingSection, size: int, where: Location) -> list[float]:
    if section.ratio is not None:
        ratios = [float(parse_scalar(section.ratio, {}, where.at("ratio")))] * size
        where = where.at("ratio")
    else:
        where = where.at("ratios")
        given = section.ratios or ()
        ratios = [float(parse_scalar(ratio, {}, where.at(i))) for i, ratio in enumerate(given)]
        if len(ratios) != size:
            raise where.error(f"{len(ratios)} ratios", f"{size}, one per coordinate", "or give one `ratio` for all")
    for ratio in ratios:
        if not 0 <= ratio < 1:
            raise where.error(ratio, "damping ratios from 0 to below 1", "0.005 to 0.02 are usual for metal links")
    return ratios


def _by_ratios(
    ratios: list[float], body: FlexibleBody, tip_body: Body, parameters: Mapping[str, Parameter]
) -> Matrix:
    mass = numeric(mass_matrix(body, tip_body), parameters)
    frequencies, shapes = clamped_modes(mass, numeric(body.stiffness, parameters))
    left = mass @ shapes
    damping = (left * (2 * np.array(ratios) * frequencies)) @ left.T
    damping = (damping + damping.T) / 2
    size = np.sqrt(np.diag(damping))
    damping[np.abs(damping) <= ROUNDING * np.outer(size, size)] = 0
    return tuple(tuple(to_scalar(float(entry)) for entry in row) for row in damping)
