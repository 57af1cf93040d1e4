"""Equations that sympy.physics.mechanics formed, compiled: against SymPy's own numbers, and SciPy's integration of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from scipy.integrate import solve_ivp
from sympy.physics.mechanics import (
    KanesMethod,
    LagrangesMethod,
    Lagrangian,
    Particle,
    Point,
    ReferenceFrame,
    RigidBody,
    dynamicsymbols,
    inertia,
)  # fmt: skip

import elastogen

Q = dynamicsymbols("q1 q2")
U = dynamicsymbols("u1 u2")
T = dynamicsymbols("T")
M, L, G, C = sympy.symbols("m l g c")
VALUES = {M: 1.2, L: 0.7, "g": 9.81, C: 0.3}


def pendulum(speeds: Any = None, loads: Any = None) -> KanesMethod:
    """A double pendulum of two particles, damped in its first joint, with a torque T(t) there."""
    frame = ReferenceFrame("N")
    relative = (
        U
        if speeds is None
        else [sympy.solve([a - b for a, b in zip(speeds, U, strict=True)], [q.diff() for q in Q])[q.diff()] for q in Q]
    )
    first, second = (frame.orientnew(name, "Axis", [angle, frame.z]) for name, angle in (("A", Q[0]), ("B", Q[0] + Q[1])))
    first.set_ang_vel(frame, relative[0] * frame.z)
    second.set_ang_vel(frame, (relative[0] + relative[1]) * frame.z)
    origin = Point("O")
    origin.set_vel(frame, 0)
    elbow = origin.locatenew("P", L * first.x)
    tip = elbow.locatenew("R", L * second.x)
    elbow.v2pt_theory(origin, frame, first)
    tip.v2pt_theory(elbow, frame, second)
    rates = (
        [q.diff() - u for q, u in zip(Q, U, strict=True)] if speeds is None else [a - b for a, b in zip(speeds, U, strict=True)]
    )
    method = KanesMethod(frame, Q, U, kd_eqs=rates)
    acting = [(elbow, -M * G * frame.y), (tip, -M * G * frame.y), (first, (T - C * relative[0]) * frame.z)]
    method.kanes_equations([Particle("p", elbow, M), Particle("r", tip, M)], acting if loads is None else loads)
    return method


@pytest.fixture(scope="module")
def model() -> elastogen.Model:
    return elastogen.from_mechanics(pendulum(), VALUES, live=["c"], name="pendulum", cflags="-O0")


def numbers(method: Any) -> Any:
    """M and forcing by sympy's lambdify."""
    names = [*Q, *U, T, M, L, G, C]
    f = sympy.lambdify(names, [method.mass_matrix, method.forcing])
    return lambda q, u, torque=0.0, c=0.3: [np.asarray(part, dtype=float) for part in f(*q, *u, torque, 1.2, 0.7, 9.81, c)]


def test_functions_are_those_of_kane(model: elastogen.Model) -> None:
    expected = numbers(pendulum())
    rng = np.random.default_rng(4)
    assert model.coordinate_names == ("q1", "q2")
    for _ in range(3):
        q, qd, qdd, F = rng.uniform(-2, 2, (4, 2))
        mass, forcing = expected(q, qd)
        rest = expected(q, 0 * qd)[1].ravel()
        np.testing.assert_allclose(model.mass_matrix(q), mass, rtol=1e-12)
        np.testing.assert_allclose(model.inverse_dynamics(q, qd, qdd), mass @ qdd - forcing.ravel(), rtol=1e-11, atol=1e-12)
        np.testing.assert_allclose(model.forward_dynamics(q, qd, F), np.linalg.solve(mass, F + forcing.ravel()), rtol=1e-11)
        np.testing.assert_allclose(model.gravity_vector(q), -rest, rtol=1e-12)
        np.testing.assert_allclose(model.coriolis_vector(q, qd), rest - forcing.ravel(), rtol=1e-11, atol=1e-12)
        assert model.kinetic_energy(q, qd) == pytest.approx(qd @ mass @ qd / 2)


def test_inputs_and_live_parameters(model: elastogen.Model) -> None:
    q, qd = np.array([0.3, -0.4]), np.array([1.0, 2.0])
    assert set(model.parameters) == {"c", "T"}
    mass, forcing = numbers(pendulum())(q, qd, 2.5, 0.9)
    model.parameters["T"], model.parameters["c"] = 2.5, 0.9
    try:
        np.testing.assert_allclose(model.forward_dynamics(q, qd, [0, 0]), np.linalg.solve(mass, forcing.ravel()), rtol=1e-11)
    finally:
        model.parameters["T"], model.parameters["c"] = 0.0, 0.3


def test_simulation_is_that_of_scipy(model: elastogen.Model) -> None:
    expected = numbers(pendulum())

    def rates(_: float, state: Any) -> Any:
        mass, forcing = expected(state[:2], state[2:])
        return [*state[2:], *np.linalg.solve(mass, forcing.ravel())]

    start = np.array([0.4, 0.2])
    found = model.simulate(start, t=[0, 1], method="tsit5", rtol=1e-10, atol=1e-12)
    wanted = solve_ivp(rates, (0, 1), [*start, 0, 0], method="DOP853", rtol=1e-11, atol=1e-13).y[:, -1]
    np.testing.assert_allclose([*found.q[-1], *found.qd[-1]], wanted, atol=1e-7)


def test_speeds_that_are_no_rates() -> None:
    """u1 = q1', u2 = q1' + q2' cos(q1) + ...: the model speaks of q and q'."""
    speeds = [2 * Q[0].diff(), Q[0].diff() + (2 + sympy.cos(Q[0])) * Q[1].diff()]
    found = elastogen.from_mechanics(pendulum(speeds), VALUES, name="other", cflags="-O0")
    plain = numbers(pendulum())
    q, qd, F = np.array([0.7, -0.3]), np.array([0.9, -1.4]), np.array([0.2, 0.5])
    mass, forcing = plain(q, qd)
    np.testing.assert_allclose(found.mass_matrix(q), mass, rtol=1e-10)
    np.testing.assert_allclose(found.forward_dynamics(q, qd, F), np.linalg.solve(mass, F + forcing.ravel()), rtol=1e-10)


def lagrangian() -> LagrangesMethod:
    """A rod on a cart."""
    x, a = dynamicsymbols("x a")
    m, k, length = sympy.symbols("m k l")
    frame = ReferenceFrame("N")
    rod = frame.orientnew("R", "Axis", [a, frame.z])
    cart = Point("C")
    cart.set_vel(frame, x.diff() * frame.x)
    centre = cart.locatenew("S", -length / 2 * rod.y)
    centre.v2pt_theory(cart, frame, rod)
    body = RigidBody("rod", centre, rod, m, (inertia(rod, 0, 0, m * length**2 / 12), centre))
    body.potential_energy = -m * 9.81 * length / 2 * sympy.cos(a) + k * x**2 / 2
    mass = Particle("cart", cart, 3)
    return LagrangesMethod(Lagrangian(frame, body, mass), [x, a])


def test_lagranges_method_and_files(tmp_path: Path) -> None:
    method = lagrangian()
    found = elastogen.from_mechanics(method, {"m": 2.0, "k": 5.0, "l": 0.8}, name="cart", directory=tmp_path, cflags="-O0")
    q, qd = np.array([0.2, 0.6]), np.array([-0.4, 1.5])
    values = dict(zip([*method.q, *[c.diff() for c in method.q]], [*q, *qd], strict=True))
    replaced = {**values, sympy.Symbol("m"): 2.0, sympy.Symbol("k"): 5.0, sympy.Symbol("l"): 0.8}
    mass = np.array(method.mass_matrix.subs(replaced), dtype=float)
    forcing = np.array(method.forcing.subs(values).subs(replaced), dtype=float).ravel()
    np.testing.assert_allclose(found.mass_matrix(q), mass, rtol=1e-12)
    np.testing.assert_allclose(found.forward_dynamics(q, qd, [0, 0]), np.linalg.solve(mass, forcing), rtol=1e-11)
    assert "cart_forward_dynamics" in (tmp_path / "cart.h").read_text(encoding="utf-8")


def bob(stiffness: Any = 0, mass: Any = 1) -> LagrangesMethod:
    """A pendulum q1 of length 1 with a potential of its own."""
    return LagrangesMethod(mass * Q[0].diff() ** 2 / 2 + sympy.cos(Q[0]) - stiffness * Q[0] ** 2 / 2, [Q[0]])


def test_symbols_as_they_are_usually_made() -> None:
    """With assumptions, named by themselves in ``live``, with pi as a value, and with names that stand for inputs here."""
    m, k = sympy.symbols("m k", positive=True)
    found = elastogen.from_mechanics(bob(k, m), {m: sympy.pi, "k": 3.0}, live=[k], name="bob", cflags="-O0")
    assert found.mass_matrix([0.2]) == pytest.approx(np.pi)
    assert found.gravity_vector([0.2]) == pytest.approx(np.sin(0.2) + 3 * 0.2)
    assert set(found.parameters) == {"k"}
    odd = sympy.Symbol("q[0]")
    found = elastogen.from_mechanics(bob(odd), {odd: 2.0}, name="odd", cflags="-O0")
    assert found.gravity_vector([0.2]) == pytest.approx(np.sin(0.2) + 2 * 0.2)


def test_what_cannot_be_taken_over_is_named() -> None:
    def refused(words: str, *arguments: Any, **options: Any) -> None:
        with pytest.raises(elastogen.OutputError, match=words):
            elastogen.from_mechanics(*arguments, **options)

    refused("got str, expected a KanesMethod", "two_link")
    refused("no value for c", pendulum(), {"m": 1, "l": 1, "g": 1})
    refused("zeta does not occur", pendulum(), {**VALUES, "zeta": 1.0})
    refused("got nan for m", pendulum(), {**VALUES, M: float("nan")})
    refused("outputs, fused and frames", pendulum(), VALUES, outputs=["mass_matrix"])
    refused("got live=3, expected names", bob(), {}, live=3)
    refused("mass matrix of q1 is singular", bob(mass=0))
    refused("mass matrix of q1, q2 is singular", LagrangesMethod((Q[0].diff() + Q[1].diff()) ** 2, Q))
    refused("symbol time, which is the name of the clock", bob(sympy.Symbol("time")), {"time": 2.0})
    refused("two symbols k with other", bob(sympy.Symbol("k"), sympy.Symbol("k", positive=True)), {"k": 2.0})
    unformed = KanesMethod(ReferenceFrame("N"), Q, U, kd_eqs=[q.diff() - u for q, u in zip(Q, U, strict=True)])
    refused("call kanes_equations", unformed, VALUES)
    x, y = dynamicsymbols("x y")
    bead = LagrangesMethod(x.diff() ** 2 + y.diff() ** 2, [x, y], hol_coneqs=[x**2 + y**2 - 1])
    refused("got 1 constraints", bead)
    held = KanesMethod(
        ReferenceFrame("N"), [Q[0]], [U[0]], kd_eqs=[Q[0].diff() - U[0], Q[1].diff() - U[1]], q_dependent=[Q[1]],
        configuration_constraints=[Q[0] - Q[1]], u_dependent=[U[1]], velocity_constraints=[U[0] - U[1]],
    )  # fmt: skip
    refused("independent speed", held, VALUES)
