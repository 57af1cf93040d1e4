"""The derivation of the smooth telescope's convective terms, as docs/equations/formulation.md writes it out: by SymPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy
from plain_programs import PlainPrograms

import elastogen
from elastogen.generator.program.taylor import along

t, x, length = sympy.symbols("t x l", positive=True)
d, u = sympy.Function("d")(t), sympy.Function("u")(t)
eta = 1 - (length - x) / d
xi = x - (length - d)
s, z = sympy.symbols("s z")


def seen(shape: sympy.Expr) -> sympy.Expr:
    """w at a material point: a deflection u with the shape n(eta) is differentiated with x fixed."""
    return u * shape.subs(s, eta)


def test_second_derivatives_in_eta_and_in_xi() -> None:
    n = 3 * s**2 - s**3 + s**5
    speed = d.diff(t)
    expected = (
        u.diff(t, 2) * n
        + 2 * speed / d * (1 - s) * u.diff(t) * n.diff(s)
        + d.diff(t, 2) / d * (1 - s) * u * n.diff(s)
        + (speed / d) ** 2 * u * ((1 - s) ** 2 * n.diff(s, 2) - 2 * (1 - s) * n.diff(s))
    ).subs(s, eta)
    material = seen(n).diff(t, 2)
    assert sympy.simplify(material - expected) == 0
    w = u * n.subs(s, z / d)  # at a fixed place z beside the clamp
    in_space = w.diff(t, 2) + 2 * speed * w.diff(t, z) + d.diff(t, 2) * w.diff(z) + speed**2 * w.diff(z, 2)
    assert sympy.simplify(material - in_space.subs(z, xi)) == 0


def test_the_acceleration_jumps_at_the_clamp() -> None:
    n = 3 * s**2 - s**3
    at_clamp = seen(n).diff(t, 2).subs(x, length - d)
    curvature = (u * n.subs(s, z / d)).diff(z, 2).subs(z, 0)
    assert sympy.simplify(at_clamp.doit() - d.diff(t) ** 2 * curvature) == 0
    assert sympy.simplify(seen(n).diff(t).subs(x, length - d).doit()) == 0


# ---- the impulses of points that pass the clamp and the nodes, in rates of forces

REACH, LENGTH, MU = 0.2, 0.8, 0.35  # of the rigid link, of the beam; mass per length
ARM = {
    "elastogen": 1,
    "name": "telescope",
    "planar": {
        "links": [
            {"joint": "R", "length": REACH, "rigid": True, "mass": 3.9},
            {"joint": "Pb", "gamma": 0, "length": LENGTH, "mass_per_length": MU, "EI": 0.17, "elements": 2},
        ],
        "payload": {"mass": 0.1},
    },
}


def deflection(q: np.ndarray, xi: Any, order: int = 0, side: int = 0) -> Any:
    """w at xi, or its derivative by xi, of cubic elements of the length d / 2; ``side``: element 0 or 1."""
    L = q[1] / 2
    first = (0.0, 0.0) if side == 0 else (q[2], q[3])
    last = (q[2], q[3]) if side == 0 else (q[4], q[5])
    z = xi / L - side
    shapes = {
        0: (1 - 3 * z**2 + 2 * z**3, L * (z - 2 * z**2 + z**3), 3 * z**2 - 2 * z**3, L * (z**3 - z**2)),
        2: ((12 * z - 6) / L**2, (6 * z - 4) / L, (6 - 12 * z) / L**2, (6 * z - 2) / L),
    }
    return sum(n * c for n, c in zip(shapes[order], (*first, *last), strict=True))


def impulses(q: np.ndarray, speed: float) -> np.ndarray:
    """S_i: the sum over the clamp and the node of mu v^3 [w''] J_i, J_i across the beam at the point that passes."""
    across = np.array([-np.sin(q[0]), np.cos(q[0])])
    total = np.zeros(6)
    for place, side in ((0.0, 0), (q[1] / 2, 1)):
        v = (1 - place / q[1]) * speed
        behind = deflection(q, place, 2, side - 1) if side else 0.0
        jump = deflection(q, place, 2, side) - behind
        x = place + LENGTH - q[1]  # the material point, which stays when coordinates vary
        for i in range(6):
            z = q.astype(complex)
            z[i] += 1e-30j
            xi = x - LENGTH + z[1]
            w = deflection(z, xi, 0, side)
            r = np.array([(REACH + xi) * np.cos(z[0]) - w * np.sin(z[0]), (REACH + xi) * np.sin(z[0]) + w * np.cos(z[0])])
            total[i] += MU * v**3 * jump * (r.imag / 1e-30 @ across)
    return total


@pytest.mark.parametrize("m", [3, 4, 6])
def test_the_identity_of_the_forces_with_its_jump_term(m: int) -> None:
    """000 (115), k = 2: D Q = the weighted energies + 2 / (m + 1) S, with S from the picture of the beam alone."""
    programs = PlainPrograms(elastogen.load(ARM))
    rng = np.random.default_rng(m)
    motion = rng.uniform(-0.3, 0.3, (m + 4, 6))
    motion[0, 1], motion[1, 1] = 0.5, 0.9  # d and its speed
    given = dict(zip(("q", "qd", "qdd", "q3"), motion, strict=False))
    for name in ("inertia_forces", "acceleration_energy_1", "acceleration_energy_2"):
        programs(name, **given)
    compiled = programs._programs
    exact = along(compiled["inertia_forces"], motion, 1)["Q"][1]
    weighted = np.zeros(6)
    for p, weight in ((1, 1), (2, 2)):
        outer = m + 1 - 2 * p
        weighted += weight * along(compiled[f"acceleration_energy_{p}"], motion, outer, vary=m)["E"][outer] / (m + 1)
    S = impulses(motion[0], motion[1, 1])
    assert np.abs(S).max() > 1e-2 * np.abs(exact).max()  # without it the identity does not hold
    np.testing.assert_allclose(exact - weighted, 2 / (m + 1) * S, rtol=0, atol=1e-11 * np.abs(exact).max())
