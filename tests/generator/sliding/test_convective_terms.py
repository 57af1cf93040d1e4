"""The derivation of the smooth telescope's convective terms, as docs/equations/formulation.md writes it out: by SymPy."""

from __future__ import annotations

import sympy

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
