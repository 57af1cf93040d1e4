"""Paths on the manifold: exp(x(t)) from a configuration, its velocities and their derivatives, against power series."""

from __future__ import annotations

from functools import cache
from typing import Any

import free_chain
import numpy as np
import point_oracle as oracle
import pytest
from scipy.spatial.transform import Rotation

import elastogen
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.functions.function import Function

PATH = ("x", "xd", "xdd", "x3", "x4")
RATES = ("qd", "qdd", "q3", "q4")


@cache
def functions() -> dict[str, Function]:
    names = ("motion_on_path", "start_of_path", "integrate", "difference")
    return {f.name: f for f in derive_model(elastogen.load(free_chain.description()), names).functions}


def transported(turn: Any, way: Any) -> Any:
    """int_0^1 exp(s {turn x}) way ds by its power series, written apart from the generator."""
    total, term = way, way
    for k in range(2, 40):
        term = oracle.skew(turn).dot(term) * (1.0 / k)
        total = total + term
    return total


@pytest.mark.parametrize("size", [1e-9, 0.3, 1.7])
def test_velocities_on_a_path(size: float) -> None:
    """The hub goes by the screw of x, the ball joint turns by its rotation vector, the hinge by its angle."""
    rng = np.random.default_rng(3)
    motion = rng.uniform(-1, 1, (5, 10))
    motion[0] *= size
    q = np.concatenate(
        [[0.3, -0.2, 0.5], Rotation.random(random_state=1).as_quat(), Rotation.random(random_state=2).as_quat(), [0.4]]
    )
    found = functions()["motion_on_path"].evaluate({"q": q, **dict(zip(PATH, motion, strict=True))})
    x = np.array(oracle.jets(list(motion), 5), dtype=object)
    turns = [oracle.exponential(x[3:6]), oracle.exponential(x[6:9])]
    way = transported(x[3:6], x[:3])
    v = [
        *turns[0].T.dot(free_chain.rate(way)),
        *free_chain.spin(turns[0]),
        *free_chain.spin(turns[1]),
        free_chain.rate(x[9:])[0],
    ]
    for k, name in enumerate(RATES):
        expected = free_chain.value(np.array(v, dtype=object), k)
        np.testing.assert_allclose(found[name], expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())
    R = Rotation.from_quat(q[3:7])
    np.testing.assert_allclose(found["moved"][:3], q[:3] + R.apply(free_chain.value(way, 0)), atol=1e-13)
    rotated = R * Rotation.from_matrix(free_chain.value(turns[0], 0))
    np.testing.assert_allclose(Rotation.from_quat(found["moved"][3:7]).as_matrix(), rotated.as_matrix(), atol=1e-13)


def test_a_path_that_goes_on_from_a_motion() -> None:
    """start_of_path gives the displacement whose motion has the given velocities and derivatives."""
    rng = np.random.default_rng(4)
    rates = dict(zip(RATES, rng.uniform(-1, 1, (4, 10)), strict=True))
    q = np.concatenate(
        [[0.3, -0.2, 0.5], Rotation.random(random_state=1).as_quat(), Rotation.random(random_state=2).as_quat(), [0.4]]
    )
    begins = functions()["start_of_path"].evaluate(rates)
    found = functions()["motion_on_path"].evaluate({"q": q, "x": np.zeros(10), **begins})
    for name in RATES:
        np.testing.assert_allclose(found[name], rates[name], rtol=1e-13, atol=1e-14)
    np.testing.assert_array_equal(found["moved"], q)


def test_from_rest_velocities_are_proportional_to_the_difference() -> None:
    rng = np.random.default_rng(5)
    q = np.concatenate(
        [[0.3, -0.2, 0.5], Rotation.random(random_state=3).as_quat(), Rotation.random(random_state=4).as_quat(), [0.4]]
    )
    goal = functions()["integrate"].evaluate({"q": q, "v": rng.uniform(-1, 1, 10)})["moved"]
    apart = functions()["difference"].evaluate({"q0": q, "q1": goal})["apart"]
    laws = (0.4, 1.3, -0.7, 2.0, 5.0)
    found = functions()["motion_on_path"].evaluate(
        {"q": q, **{name: law * apart for name, law in zip(PATH, laws, strict=True)}}
    )
    for law, name in zip(laws[1:], RATES, strict=True):
        np.testing.assert_allclose(found[name], law * apart, rtol=1e-12, atol=1e-13)
