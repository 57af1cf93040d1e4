"""Digits that forward dynamics keeps: float against double, beside the condition of the mass matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

import elastogen
from benchmarks.race.tables import table
from elastogen.runtime.functions.singular import condition

STATES = 50


def two_links(**discretization: int) -> dict[str, Any]:
    """Two equal links on revolute joints."""
    link = {"joint": "R", "length": 0.8, "mass_per_length": 0.35325, "EI": 5.0, **discretization}
    return {"elastogen": 1, "name": "arm", "planar": {"links": [link, link], "payload": {"mass": 0.1}}}


def loss(source: Any) -> tuple[int, float, float]:
    """Number of coordinates, condition of M with unit diagonal, median error of float accelerations relative to the largest."""
    outputs = ("mass_matrix", "forward_dynamics")
    double, single = (elastogen.build_model(source, outputs=outputs, precision=real) for real in ("double", "float"))
    rng = np.random.default_rng(1)
    size = np.full(double.nq, 1e-3)
    size[list(double.driven)] = 1.0
    errors = []
    for _ in range(STATES):
        q, qd, F = (rng.normal(size=double.nq) * scale for scale in (size, 10 * size, size > 0.5))
        q, qd, F = (x.astype(np.float32) for x in (q, qd, F))
        exact = double.forward_dynamics(q, qd, F)
        errors.append(np.abs(single.forward_dynamics(q, qd, F) - exact).max() / np.abs(exact).max())
    return double.nq, condition(double.mass_matrix(q)), float(np.median(errors))


def report() -> list[str]:
    """Lines of a table."""
    arms: list[tuple[str, dict[str, int]]] = [(f"{n} elements per link", {"elements": n}) for n in (1, 3, 5, 10)]
    arms.append(("10 elements, reduce_to: 3", {"elements": 10, "reduce_to": 3}))
    rows = []
    for title, given in arms:
        size, kappa, error = loss(two_links(**given))
        rows.append([title, str(size), f"{kappa:.1e}", f"{error:.0e}"])
    header = ["RR arm", "coordinates", "condition of M", "error of float forward dynamics"]
    return ["## Accuracy of forward dynamics", "", *table(header, rows), ""]
