"""001 (12), (14), (15): inverse products of exponentials, against SciPy's matrix exponential and numpy's inverse."""

from __future__ import annotations

import numpy as np
import pytest
from flexible_reference import CASES, robot_of
from robots_for_tests import quietly_loaded
from scipy.linalg import expm

from elastogen.generator.functions.derivation import derive_model

NAMES = ("exponential_operators", "exponential_arguments", "exponential_inverses", "exponential_partial_products",
         "forward_kinematics")  # fmt: skip


@pytest.mark.parametrize("name", ["trtrr", "stanford", "beams"])
def test_inverse_products(name: str) -> None:
    robot = robot_of(CASES[0]) if name == "beams" else quietly_loaded(name)
    functions = {function.name: function for function in derive_model(robot, NAMES).functions}
    q = np.random.default_rng(5).uniform(-0.3, 0.3, len(robot.coordinates))
    live = {parameter.name: parameter.value for parameter in robot.live_parameters}
    value = {key: f.evaluate({"q": q} if f.inputs else {}, live) for key, f in functions.items()}
    T = value["forward_kinematics"]["T"]
    inverses = value["exponential_inverses"]["T_inverse"]
    np.testing.assert_allclose(inverses, np.linalg.inv(T), rtol=0, atol=1e-12)
    A, s = value["exponential_operators"]["A"], value["exponential_arguments"]["s"]
    P, P_inverse = (value["exponential_partial_products"][key] for key in ("P", "P_inverse"))
    product, inverse = np.eye(4), np.eye(4)
    for i in range(len(P)):  # a chain: all exponentials are on the way to the tip
        np.testing.assert_allclose(P[i], product, rtol=0, atol=1e-12)
        np.testing.assert_allclose(P_inverse[i], inverse, rtol=0, atol=1e-12)
        product, inverse = product @ expm(A[i] * s[i]), expm(-A[i] * s[i]) @ inverse
    zero = functions["forward_kinematics"].evaluate({"q": np.zeros_like(q)}, live)["T"][-1]
    np.testing.assert_allclose(inverses[-1], np.linalg.inv(zero) @ inverse, rtol=0, atol=1e-12)
