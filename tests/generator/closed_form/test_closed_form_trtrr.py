"""Closed forms of the TRTRR robot: every formula of paper 004 as corrected.

The formulas of the paper are typed in here from the paper, not from the generator, so that they check it. Where print
and truth differ, the true form is typed, and the printed one is shown to be wrong.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import sympy
from closed_form_symbols import (
    a1,
    a2,
    a3,
    a4,
    a5,
    c2,
    c4,
    c5,
    d1,
    d2,
    d3,
    d4,
    d5,
    g,
    l1,
    l2,
    l3,
    l4,
    l5,
    l6,
    l7,
    q1,
    q3,
    s2,
    s4,
    s5,
    same,
    vanishes,
)
from sympy import Matrix

from elastogen.generator.closed_form.closed_form import ClosedForm

# -- paper 004: position ----------------------------------------------------------------------------------------

R6 = [
    [c2 * c4, -s2 * c5 + c2 * s4 * s5, s2 * s5 + c2 * s4 * c5],
    [s2 * c4, c2 * c5 + s2 * s4 * s5, -c2 * s5 + s2 * s4 * c5],
    [-s4, c4 * s5, c4 * c5],
]
TRANSFORMS = {
    1: [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, l1 + q1], [0, 0, 0, 1]],  # (1)
    2: [[c2, -s2, 0, 0], [s2, c2, 0, 0], [0, 0, 1, l1 + l2 + q1], [0, 0, 0, 1]],  # (4)
    3: [
        [c2, -s2, 0, -(l4 + q3) * s2],
        [s2, c2, 0, (l4 + q3) * c2],
        [0, 0, 1, l1 + l2 + l3 + q1],
        [0, 0, 0, 1],
    ],
    4: [  # (5)
        [c2 * c4, -s2, c2 * s4, -(l4 + l5 + q3) * s2],
        [s2 * c4, c2, s2 * s4, (l4 + l5 + q3) * c2],
        [-s4, 0, c4, l1 + l2 + l3 + q1],
        [0, 0, 0, 1],
    ],
    5: [  # (6)
        [*R6[0], -(l4 + l5 + l6 + q3) * s2],
        [*R6[1], (l4 + l5 + l6 + q3) * c2],
        [*R6[2], l1 + l2 + l3 + q1],
        [0, 0, 0, 1],
    ],
    6: [  # (7)
        [*R6[0], -(l4 + l5 + l6 + q3) * s2 + l7 * (-s2 * c5 + c2 * s4 * s5)],
        [*R6[1], (l4 + l5 + l6 + q3) * c2 + l7 * (c2 * c5 + s2 * s4 * s5)],
        [*R6[2], l1 + l2 + l3 + q1 + l7 * c4 * s5],
        [0, 0, 0, 1],
    ],
}


# -- paper 004: velocities in frame i ---------------------------------------------------------------------------

OMEGA5 = [-s4 * d2 + d5, d4 * c5 + d2 * s5 * c4, -d4 * s5 + d2 * c5 * c4]
OMEGA = {
    1: [0, 0, 0],  # (13)
    2: [0, 0, d2],  # (14)
    3: [0, 0, d2],  # (15)
    4: [-s4 * d2, d4, c4 * d2],  # (16)
    5: OMEGA5,  # (17)
    6: OMEGA5,  # (18)
}
V4Z = -d2 * (l4 + l5 + q3) * s4 + d1 * c4
V = {
    1: [0, 0, d1],  # (20)
    2: [0, 0, d1],  # (21)
    3: [-d2 * (l4 + q3), d3, d1],  # (22)
    4: [-d2 * (l4 + l5 + q3) * c4 - d1 * s4, d3, V4Z],  # (23)
    5: [  # (24)
        -d2 * (l4 + l5 + q3) * c4 - d1 * s4 - d2 * l6 * c4,
        d3 * c5 + s5 * (V4Z - d2 * l6 * s4),
        -d3 * s5 + c5 * (V4Z - d2 * l6 * s4),
    ],
    6: [  # (25)
        -d2 * (l4 + l5 + q3) * c4 - d1 * s4 - d2 * l6 * c4 + (d4 * s5 - d2 * c5 * c4) * l7,
        d3 * c5 + s5 * (V4Z - d2 * l6 * s4),
        -d3 * s5 + c5 * (V4Z - d2 * l6 * s4) + (-d2 * s4 + d5) * l7,
    ],
}


# -- paper 004: accelerations in frame i; those of points contain g by (12) --------------------------------------

EPS5 = [
    -a2 * s4 - d2 * d4 * c4 + a5,
    a4 * c5 + s5 * (a2 * c4 - d2 * d4 * s4) + d5 * (d2 * c5 * c4 - d4 * s5),
    -a4 * s5 + c5 * (a2 * c4 - d2 * d4 * s4) + d5 * (-d2 * s5 * c4 - d4 * c5),
]
EPS = {
    1: [0, 0, 0],  # (26)
    2: [0, 0, a2],  # (27)
    3: [0, 0, a2],  # (28)
    4: [-a2 * s4 - d2 * d4 * c4, a4, a2 * c4 - d2 * d4 * s4],  # (29), subscripts and dots restored
    5: EPS5,  # (30)
    6: EPS5,  # (31)
}
A4X = c4 * (-a2 * (l4 + l5 + q3) - 2 * d2 * d3) - s4 * (a1 + g)
A4Z = s4 * (-a2 * (l4 + l5 + q3) - 2 * d2 * d3) + c4 * (a1 + g)
A5_INNER_Y = -(d2**2) * (l4 + l5 + q3) + a3 + (-(c4**2) * d2**2 - s4**2 * d2**2) * l6
A5_INNER_Z = A4Z + (-a2 * s4 - d2 * d4 * c4) * l6 + d2 * d4 * l6 * c4
A5_X = A4X + (-a2 * c4 + d2 * d4 * s4) * l6 - d2 * d4 * l6 * s4  # true sign of the first term
A5_X_PRINTED = A4X + (a2 * c4 + d2 * d4 * s4) * l6 - d2 * d4 * l6 * s4
A5_Y, A5_Z = c5 * A5_INNER_Y + s5 * A5_INNER_Z, -s5 * A5_INNER_Y + c5 * A5_INNER_Z
A6_X_ADDED = (a4 * s5 - c5 * (a2 * c4 - d2 * d4 * s4) - d5 * (-d2 * s5 * c4 - d4 * c5)) * l7 + (d4 * c5 + d2 * s5 * c4) * (
    -d2 * s4 + d5
) * l7
A6_Y_FIRST = (-d2 * c4 * c5 + d4 * s5) * (d2 * c4 * c5 - d4 * s5)
A6_Y_SECOND = (d2 * s4 - d5) * (-d2 * s4 + d5)
A6_Z_ADDED = (-a2 * s4 - d4 * d2 * c4 + a5) * l7 + ((-d2 * c4 * s5 - d4 * c5) * (-d2 * c4 * c5 + d4 * s5)) * l7
A = {
    1: [0, 0, a1 + g],  # (32)
    2: [0, 0, a1 + g],  # (33)
    3: [-a2 * (l4 + q3) - 2 * d2 * d3, -(d2**2) * (l4 + q3) + a3, a1 + g],  # (34)
    4: [A4X, -(d2**2) * (l4 + l5 + q3) + a3, A4Z],  # (35)
    5: [A5_X, A5_Y, A5_Z],  # (36), sign in x corrected
    6: [A5_X + A6_X_ADDED, A5_Y + (A6_Y_FIRST + A6_Y_SECOND) * l7, A5_Z + A6_Z_ADDED],  # (37), x and y corrected
}


# -- paper 004: frame 0 -----------------------------------------------------------------------------------------

V6_0 = [  # (41)
    d4 * l7 * c2 * c4 * s5 - d3 * s2 - d2 * l7 * s2 * s4 * s5 + d5 * l7 * s2 * s5 - d2 * q3 * c2 - l4 * d2 * c2
    - l5 * d2 * c2 - l6 * d2 * c2 + d5 * l7 * c2 * s4 * c5 - d2 * l7 * c2 * c5,
    d3 * c2 - d5 * l7 * c2 * s5 - d2 * q3 * s2 - l4 * d2 * s2 - l5 * d2 * s2 - l6 * d2 * s2
    + d4 * l7 * s2 * c4 * s5 + d2 * l7 * c2 * s4 * s5 + d5 * l7 * s2 * s4 * c5 - d2 * l7 * s2 * c5,
    d1 - d4 * l7 * s4 * s5 + d5 * l7 * c5 * c4,
]  # fmt: skip
OMEGA6_0 = [d5 * c2 * c4 - d4 * s2, d5 * s2 * c4 + d4 * c2, d2 - d5 * s4]  # (42)
A6_0_X_COMMON = (
    -a3 * s2 - a2 * l7 * s2 * s5 * s4 - 2 * d2 * d4 * l7 * s2 * s5 * c4 + a5 * l7 * c2 * s4 * c5 + a5 * l7 * s2 * s5
    + 2 * d2 * d5 * l7 * c2 * s5 + d5**2 * l7 * s2 * c5 + d2**2 * l5 * s2 + q3 * d2**2 * s2 + d2**2 * l4 * s2
    - a2 * l6 * c2 - a2 * l7 * c2 * c5 - q3 * a2 * c2 - a2 * l4 * c2 - d4**2 * l7 * c2 * s4 * s5
    - d2**2 * l7 * c2 * s4 * s5 - 2 * d2 * d3 * c2 + d2**2 * l7 * s2 * c5 + d2**2 * l6 * s2
    + a4 * l7 * c2 * c4 * s5 + 2 * d4 * d5 * l7 * c2 * c4 * c5 - d5**2 * l7 * c2 * s4 * s5
)  # fmt: skip
A6_0_Y_COMMON = (
    -a2 * l6 * s2 - d2**2 * l7 * c2 * c5 - q3 * a2 * s2 - d4**2 * l7 * s2 * s4 * s5 + 2 * d2 * d5 * l7 * s2 * s5
    - d2**2 * l7 * s2 * s4 * s5 - d2**2 * l6 * c2 - 2 * d2 * d3 * s2 - a2 * l4 * s2 - d2**2 * l4 * c2
    - a2 * l7 * s2 * c5 - d2**2 * l5 * c2 - q3 * d2**2 * c2 + a3 * c2 - a5 * l7 * c2 * s5
    + a4 * l7 * s2 * c4 * s5 + 2 * d4 * d5 * l7 * s2 * c4 * c5 + 2 * d2 * d5 * l7 * c2 * c5 * s4
    - d5**2 * l7 * s2 * s4 * s5 + a2 * l7 * c2 * s5 * s4 + 2 * d2 * d4 * l7 * c2 * s5 * c4 + a5 * l7 * s2 * s4 * c5
)  # fmt: skip
A6_0_Z = (
    a1 + g - d4**2 * l7 * c4 * s5 - a4 * l7 * s4 * s5 - d5**2 * l7 * c4 * s5 - 2 * d4 * d5 * l7 * s4 * c5
    + a5 * l7 * c4 * c5
)  # fmt: skip
A6_0 = [  # (43) with its four misprints corrected; also the linear rows of (46)
    A6_0_X_COMMON - a2 * l5 * c2 - 2 * d2 * d5 * l7 * s2 * c5 * s4,
    A6_0_Y_COMMON - a2 * l5 * s2 - d5**2 * l7 * c2 * c5,
    A6_0_Z,
]
EPS6_0 = [  # (44), a dot in z restored
    a5 * c2 * c4 - d2 * d4 * c2 - d4 * d5 * c2 * s4 - a4 * s2 - d2 * d5 * s2 * c4,
    a5 * s2 * c4 - d2 * d4 * s2 - d4 * d5 * s2 * s4 + a4 * c2 + d2 * d5 * c2 * c4,
    a2 - a5 * s4 - d4 * d5 * c4,
]


@pytest.mark.parametrize("i", TRANSFORMS)
def test_paper_004_transforms_1_to_7(trtrr: ClosedForm, i: int) -> None:
    assert same(trtrr.transforms[i - 1], TRANSFORMS[i])


@pytest.mark.parametrize("i", OMEGA)
def test_paper_004_velocities_in_frame_i_13_to_25(trtrr: ClosedForm, i: int) -> None:
    assert same(trtrr.angular_velocities("own")[i - 1], OMEGA[i])
    assert same(trtrr.linear_velocities("own")[i - 1], V[i])


@pytest.mark.parametrize("i", EPS)
def test_paper_004_accelerations_in_frame_i_26_to_37_as_corrected(trtrr: ClosedForm, i: int) -> None:
    assert same(trtrr.angular_accelerations("own")[i - 1], EPS[i])
    assert same(trtrr.linear_accelerations("own", with_gravity=True)[i - 1], A[i])


def test_paper_004_operational_vectors_in_frame_6_38_and_39(trtrr: ClosedForm) -> None:
    velocity = [*trtrr.linear_velocities("own")[5], *trtrr.angular_velocities("own")[5]]
    assert same(Matrix(velocity), [*V[6], *OMEGA[6]])
    assert same(trtrr.jacobian_tip * Matrix(trtrr.qd), [*V[6], *OMEGA[6]])
    acceleration = trtrr.linear_accelerations("own", with_gravity=True)[5]
    assert same(Matrix([*acceleration, *trtrr.angular_accelerations("own")[5]]), [*A[6], *EPS[6]])


def test_paper_004_frame_0_40_to_46_as_corrected(trtrr: ClosedForm) -> None:
    assert same(trtrr.linear_velocities()[5], V6_0)  # (41), (45)
    assert same(trtrr.angular_velocities()[5], OMEGA6_0)  # (42), (45)
    assert same(trtrr.linear_accelerations(with_gravity=True)[5], A6_0)  # (43), (46)
    assert same(trtrr.angular_accelerations()[5], EPS6_0)  # (44), (46)
    assert same(trtrr.jacobian * Matrix(trtrr.qd), [*V6_0, *OMEGA6_0])  # (45)
    rotated = Matrix(R6) * Matrix(V[6])  # (40)
    assert same(trtrr.linear_velocities()[5], list(rotated))


def test_paper_004_kinematic_accelerations_are_without_g(trtrr: ClosedForm) -> None:
    kinematic = trtrr.linear_accelerations()[5]
    assert same(kinematic, [A6_0[0], A6_0[1], A6_0[2] - g])
    assert same(trtrr.jacobian * Matrix(trtrr.qdd) + trtrr.jacobian_rate * Matrix(trtrr.qd), [*kinematic, *EPS6_0])


def test_paper_004_printed_36_37_43_are_wrong_where_the_errata_say(trtrr: ClosedForm) -> None:
    a_5, a_6 = (trtrr.linear_accelerations("own", with_gravity=True)[i] for i in (4, 5))
    assert vanishes(A5_X_PRINTED - a_5[0] - 2 * a2 * l6 * c4)  # (36) x
    assert not vanishes(A5_X_PRINTED + A6_X_ADDED - a_6[0])  # (37) x inherits it
    assert not vanishes(A5_Y + A6_Y_FIRST + A6_Y_SECOND * l7 - a_6[1])  # (37) y: l7 on one product only
    a_0 = trtrr.linear_accelerations(with_gravity=True)[5]
    printed_x = A6_0_X_COMMON - a5 * l5 * c2 - d2 * d5 * l7 * s2 * c5 * s4
    printed_y = A6_0_Y_COMMON - a5 * l5 * s2 - d2**2 * l7 * c2 * c5
    assert vanishes(printed_x - a_0[0] - (a2 - a5) * l5 * c2 - d2 * d5 * l7 * s2 * c5 * s4)  # (43) x, two places
    assert vanishes(printed_y - a_0[1] - (a2 - a5) * l5 * s2 - (d5**2 - d2**2) * l7 * c2 * c5)  # (43) y, two places


def test_angular_velocity_is_that_of_the_rotation_matrix(trtrr: ClosedForm) -> None:
    """dR/dt R^T = {omega x}, paper 004 (19), with SymPy's own derivative of the printed rotation."""
    rotation = trtrr.transforms[5][:3, :3]
    rate = sum((rotation.diff(q) * qd for q, qd in zip(trtrr.q, trtrr.qd, strict=True)), sympy.zeros(3))
    x, y, z = trtrr.angular_velocities()[5]
    assert same(rate * rotation.T, [[0, -z, y], [z, 0, -x], [-y, x, 0]])


def test_trtrr_reference_states(trtrr: ClosedForm) -> None:
    states = json.loads((Path(__file__).parents[2] / "data" / "trtrr.json").read_text())["states"]
    kinds = {"v": "linear_velocities", "omega": "angular_velocities", "epsilon": "angular_accelerations"}
    functions = {
        (place, key): trtrr.lambdify(name, frame=frame)
        for place, frame in (("frame0", "base"), ("frame6", "own"))
        for key, name in {**kinds, "a_kin": "linear_accelerations"}.items()
    }
    for place, frame in (("frame0", "base"), ("frame6", "own")):
        functions[place, "a"] = trtrr.lambdify("linear_accelerations", frame=frame, with_gravity=True)
    transforms = trtrr.lambdify("transforms")
    assert len(states) == 5
    for state in states:
        motion = [np.array(state[key]) for key in ("q", "qd", "qdd")]
        given = {f"l{k}": length for k, length in enumerate(state["l"], start=1)} | {"gravity_z": -state["g"]}
        np.testing.assert_allclose(transforms(*motion, **given)[-1], state["T60"], rtol=0, atol=1e-12)
        for (place, key), function in functions.items():
            np.testing.assert_allclose(function(*motion, **given)[-1], state[place][key], rtol=0, atol=1e-12)


def test_rate_of_the_tip_jacobian_is_a_projection(trtrr: ClosedForm) -> None:
    """R^T dJ/dt (paper 002 (13)), which is not the derivative of the projected Jacobian."""
    rotation = trtrr.transforms[5][:3, :3].T
    projected = sympy.diag(rotation, rotation) * trtrr.jacobian_rate
    assert same(trtrr.jacobian_tip_rate, projected.tolist())


def test_latex_is_written_as_in_the_paper(trtrr: ClosedForm) -> None:
    assert trtrr.latex("transforms").startswith("\\[\n[T]_{1}^{0} = ")
    assert r"- \left(l_{4} + q_{3}\right) s_{2}" in trtrr.latex("transforms")
    omega = trtrr.latex("angular_velocities")
    assert r"[\bar{\omega}]_{5}^{5}" in omega
    assert r"\dot{q}_{2} c_{4} c_{5} - \dot{q}_{4} s_{5}" in omega
    assert r"[\bar{\omega}]_{6}^{0}" in trtrr.latex("angular_velocities", frame="base")
    assert r"\ddot{q}_{5}" in trtrr.latex("angular_accelerations")
