"""Free-flying flexible robots: the satellite keeps its momentum; a hub with panels has the frequencies of beams."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import brentq

import elastogen
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.robot.neutral import neutral

MASS, INERTIA, LENGTH, DENSITY, STIFFNESS = 30.0, 4.0, 2.0, 1.5, 40.0


def panels() -> dict[str, Any]:
    beam = {"type": "elements", "length": LENGTH, "mass_per_length": DENSITY, "EI_y": STIFFNESS, "elements": 3, "degree": 5,
            "directions": ["z"]}  # fmt: skip
    return {
        "elastogen": 1, "name": "panels", "base": "floating", "gravity": [0, 0, 0],
        "links": [{"name": "hub", "mass": MASS, "inertia": [INERTIA, 5.0, 6.0]}, {"name": "l", "flexible": beam},
                  {"name": "r", "flexible": beam}],
        "joints": [
            {"name": "lj", "type": "fixed", "parent": "hub", "child": "l", "placement": {"rpy_deg": [0, 0, 90]}},
            {"name": "rj", "type": "fixed", "parent": "hub", "child": "r", "placement": {"rpy_deg": [0, 0, -90]}},
        ],
    }  # fmt: skip


def continuous(hub: Any) -> list[float]:
    """Lowest frequencies of a free hub with two clamped beams, from the solutions of EI w'''' = mu omega^2 w.

    w is a sum of cos, sin, cosh and sinh of k x, omega^2 = EI k^4 / mu. ``hub`` gives the two conditions at the root, the outer
    end is free; the determinant of the four conditions vanishes.
    """
    root = np.array([[1, 0, 1, 0], [0, 1, 0, 1], [-1, 0, 1, 0], [0, -1, 0, 1]], dtype=float)  # w, w'/k, w''/k^2, w'''/k^3

    def determinant(k: float) -> float:
        x = k * LENGTH
        bend = np.array([-np.cos(x), -np.sin(x), np.cosh(x), np.sinh(x)]) / np.cosh(x)
        shear = np.array([np.sin(x), -np.cos(x), np.sinh(x), np.cosh(x)]) / np.cosh(x)
        return float(np.linalg.det(np.array([*hub(k, *root), bend, shear])))

    grid = np.linspace(0.3, 4.0, 400)
    values = [determinant(k) for k in grid]
    changes = [n for n in range(len(grid) - 1) if values[n] * values[n + 1] < 0]
    found = [brentq(determinant, grid[n], grid[n + 1], xtol=1e-14) for n in changes[:2]]
    return [k**2 * np.sqrt(STIFFNESS / DENSITY) for k in found]


def heaving(k: float, w: Any, slope: Any, bend: Any, shear: Any) -> list[Any]:
    """Both panels bend alike: w' = 0, and the momentum of hub and panels is zero, 2 EI w''' = M omega^2 w."""
    return [slope, 2 * shear - MASS / DENSITY * k * w]


def rolling(k: float, w: Any, slope: Any, bend: Any, shear: Any) -> list[Any]:
    """They bend opposite: w = 0, and the angular momentum is zero, 2 EI w'' = -I omega^2 w'."""
    return [w, 2 * bend + INERTIA / DENSITY * k**3 * slope]


def test_frequencies_of_a_free_hub_with_panels() -> None:
    robot = elastogen.load(panels())
    functions = {f.name: f for f in derive_model(robot, ("mass_matrix", "stiffness_matrix")).functions}
    M = functions["mass_matrix"].evaluate({"q": neutral(robot)})["M"]
    K = functions["stiffness_matrix"].evaluate({})["K"]
    squares = eigh(K, M, eigvals_only=True)
    assert np.abs(squares[:6]).max() < 1e-9 * squares[-1]  # six rigid motions
    found = np.sqrt(squares[6:10])
    expected = sorted([*continuous(heaving), *continuous(rolling)])
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_the_satellite_keeps_its_momentum() -> None:
    outputs = ["simulation", "centroidal_momentum", "center_of_mass"]
    model = elastogen.build_model("satellite", outputs=outputs)
    v = np.zeros(model.nv)
    v[3:6], v[-2:] = (0.02, -0.03, 0.05), (0.3, -0.4)
    run = model.simulate(model.neutral(), v, t=10.0, samples=11, rtol=1e-10, atol=1e-11)
    momentum = np.array([model.centroidal_momentum(*state) for state in zip(run.q, run.qd, strict=True)])
    assert np.abs(momentum - momentum[0]).max() < 1e-9 * np.abs(momentum[0]).max()
    assert np.abs(run.q[:, 7:11]).max() > 1e-3  # the panels bend
    centre = model.center_of_mass(run.q)
    way = centre[0] + np.outer(run.t, momentum[0, :3] / 444.0)
    np.testing.assert_allclose(centre, way, atol=1e-9)
