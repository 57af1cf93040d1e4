"""Directional derivatives of functions, against derivatives that are derived another way."""

from __future__ import annotations

import numpy as np
import pytest

import elastogen
from elastogen.generator.functions.derivation import derive_model, output_names

RNG = np.random.default_rng(3)


@pytest.mark.parametrize(
    ("robot", "name", "last"),
    [("two_link", "forward_dynamics", "F"), ("par_table3", "forward_dynamics", "F"), ("rpb_table3", "inverse_dynamics", "qdd")],
)
def test_of_dynamics(robot: str, name: str, last: str) -> None:
    """Rigid, flexible, telescopic: d qdd = dqdd_dq dq + dqdd_dqd dqd + M^-1 dF, dF = dF_dq dq + dF_dqd dqd + M dqdd."""
    loaded = elastogen.load(robot)
    matrices, tangent = derive_model(loaded, [f"{name}_derivatives", f"{name}_tangent"]).functions
    parameters = {p.name: p.value for p in loaded.live_parameters}
    n = len(loaded.coordinate_names)
    state = {name: 0.1 + 0.2 * RNG.random(n) for name in ("q", "qd", last)}
    change = {f"d{name}": RNG.standard_normal(n) for name in state}
    expected = sum(
        matrix @ rate for matrix, rate in zip(matrices.evaluate(state, parameters).values(), change.values(), strict=True)
    )
    (got,) = tangent.evaluate({**state, **change}, parameters).values()
    assert np.allclose(got, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())


def test_of_quaternions_number_by_number() -> None:
    """The rate of a quaternion is linear in it and in the angular velocity: its change is the sum of both."""
    rate, tangent = derive_model(
        elastogen.load("two_link", base="floating"), ["configuration_rate", "configuration_rate_tangent"]
    ).functions
    q, dq = RNG.standard_normal((2, 9))
    qd, dqd = RNG.standard_normal((2, 8))

    def at(q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        (value,) = rate.evaluate({"q": q, "qd": qd}).values()
        return value[3:7]  # of the quaternion

    (got,) = tangent.evaluate({"q": q, "qd": qd, "dq": dq, "dqd": dqd}).values()
    assert np.allclose(got[3:7], at(dq, qd) + at(q, dqd), rtol=1e-12, atol=1e-12)
    assert np.array_equal(got[7:], dqd[6:])


def test_names() -> None:
    robot = elastogen.load("two_link")
    assert output_names(["jacobian_tangent", "mass_matrix"], robot) == ("mass_matrix", "jacobian_tangent")
    for name in ("jacobian_tangents", "jacobian_tangent_tangent", "point_positions_tangent"):
        with pytest.raises(elastogen.OutputError, match=name):
            output_names([name], robot)
