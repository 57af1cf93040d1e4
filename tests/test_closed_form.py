"""Closed forms: every formula of seed 004 as corrected, textbook robots, identities and numbers.

The formulas of the seed are typed in here from the paper, not from the generator, so that they check it. Where print
and truth differ, the true form is typed, and the printed one is shown to be wrong.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import sympy
from sympy import Matrix, cos, sin

from elastogen.generator.closed_form import QUANTITIES, ClosedForm, derive
from elastogen.generator.errors import OutputError
from elastogen.generator.load_robot import load
from elastogen.generator.robot import Actuation, Body, Joint, JointType, Link, Parameter, Robot

l1, l2, l3, l4, l5, l6, l7 = sympy.symbols("l1:8", real=True)
g = -sympy.Symbol("gravity_z", real=True)  # the seed's g acts along -z
q1, q2, q3, q4, q5 = sympy.symbols("q1:6", real=True)
d1, d2, d3, d4, d5 = sympy.symbols("qd1:6", real=True)
a1, a2, a3, a4, a5 = sympy.symbols("qdd1:6", real=True)
c2, s2, c4, s4, c5, s5 = cos(q2), sin(q2), cos(q4), sin(q4), cos(q5), sin(q5)


def vanishes(expr: sympy.Expr) -> bool:
    """Whether an expression in sin and cos of single coordinates is zero, by polynomial division by s^2 + c^2 - 1."""
    angles = {function.args[0] for function in expr.atoms(sin, cos)}
    for angle in angles:
        c, s = sympy.Dummy("c"), sympy.Dummy("s")
        expr = expr.subs({cos(angle): c, sin(angle): s})
        expr = sympy.rem(sympy.Poly(expr, c), sympy.Poly(c**2 + s**2 - 1, c)).as_expr()
    return sympy.expand(expr) == 0


def same(derived: Matrix, typed: list) -> bool:
    expected = Matrix(typed)
    assert derived.shape == expected.shape
    return all(vanishes(sympy.expand_trig(entry)) for entry in derived - expected)


@pytest.fixture(scope="module")
def trtrr() -> ClosedForm:
    return derive(load("trtrr"), symbolic="nonzero")


# -- seed 004: position ----------------------------------------------------------------------------------------

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

# -- seed 004: velocities in frame i ---------------------------------------------------------------------------

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

# -- seed 004: accelerations in frame i; those of points contain g by (12) --------------------------------------

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
A6_X_ADDED = (a4 * s5 - c5 * (a2 * c4 - d2 * d4 * s4) - d5 * (-d2 * s5 * c4 - d4 * c5)) * l7 + (
    d4 * c5 + d2 * s5 * c4
) * (-d2 * s4 + d5) * l7
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

# -- seed 004: frame 0 -----------------------------------------------------------------------------------------

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
def test_seed_004_transforms_1_to_7(trtrr: ClosedForm, i: int) -> None:
    assert same(trtrr.transforms[i - 1], TRANSFORMS[i])


@pytest.mark.parametrize("i", OMEGA)
def test_seed_004_velocities_in_frame_i_13_to_25(trtrr: ClosedForm, i: int) -> None:
    assert same(trtrr.angular_velocities("own")[i - 1], OMEGA[i])
    assert same(trtrr.linear_velocities("own")[i - 1], V[i])


@pytest.mark.parametrize("i", EPS)
def test_seed_004_accelerations_in_frame_i_26_to_37_as_corrected(trtrr: ClosedForm, i: int) -> None:
    assert same(trtrr.angular_accelerations("own")[i - 1], EPS[i])
    assert same(trtrr.linear_accelerations("own", with_gravity=True)[i - 1], A[i])


def test_seed_004_operational_vectors_in_frame_6_38_and_39(trtrr: ClosedForm) -> None:
    velocity = [*trtrr.linear_velocities("own")[5], *trtrr.angular_velocities("own")[5]]
    assert same(Matrix(velocity), [*V[6], *OMEGA[6]])
    assert same(trtrr.jacobian_tip * Matrix(trtrr.qd), [*V[6], *OMEGA[6]])
    acceleration = trtrr.linear_accelerations("own", with_gravity=True)[5]
    assert same(Matrix([*acceleration, *trtrr.angular_accelerations("own")[5]]), [*A[6], *EPS[6]])


def test_seed_004_frame_0_40_to_46_as_corrected(trtrr: ClosedForm) -> None:
    assert same(trtrr.linear_velocities()[5], V6_0)  # (41), (45)
    assert same(trtrr.angular_velocities()[5], OMEGA6_0)  # (42), (45)
    assert same(trtrr.linear_accelerations(with_gravity=True)[5], A6_0)  # (43), (46)
    assert same(trtrr.angular_accelerations()[5], EPS6_0)  # (44), (46)
    assert same(trtrr.jacobian * Matrix(trtrr.qd), [*V6_0, *OMEGA6_0])  # (45)
    rotated = Matrix(R6) * Matrix(V[6])  # (40)
    assert same(trtrr.linear_velocities()[5], list(rotated))


def test_seed_004_kinematic_accelerations_are_without_g(trtrr: ClosedForm) -> None:
    kinematic = trtrr.linear_accelerations()[5]
    assert same(kinematic, [A6_0[0], A6_0[1], A6_0[2] - g])
    assert same(trtrr.jacobian * Matrix(trtrr.qdd) + trtrr.jacobian_rate * Matrix(trtrr.qd), [*kinematic, *EPS6_0])


def test_seed_004_printed_36_37_43_are_wrong_where_the_errata_say(trtrr: ClosedForm) -> None:
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
    """dR/dt R^T = {omega x}, seed 004 (19), with SymPy's own derivative of the printed rotation."""
    rotation = trtrr.transforms[5][:3, :3]
    rate = sum((rotation.diff(q) * qd for q, qd in zip(trtrr.q, trtrr.qd, strict=True)), sympy.zeros(3))
    x, y, z = trtrr.angular_velocities()[5]
    assert same(rate * rotation.T, [[0, -z, y], [z, 0, -x], [-y, x, 0]])


def test_trtrr_reference_states(trtrr: ClosedForm) -> None:
    states = json.loads((Path(__file__).parent / "data" / "trtrr.json").read_text())["states"]
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


# -- textbook robots -------------------------------------------------------------------------------------------


def test_two_link_is_the_textbooks_elbow_manipulator() -> None:
    """Spong, Hutchinson, Vidyasagar, planar elbow manipulator: D(q), C(q, qd) with h = -m2 l1 lc2 sin q2, phi."""
    form = derive(load("two_link"), symbolic="nonzero")
    lc1, lc2, m1, m2, i1, i2, gy = sympy.symbols("lc1 lc2 m1 m2 I1 I2 gravity_y", real=True)
    d12 = m2 * (lc2**2 + l1 * lc2 * cos(q2)) + i2
    h = -m2 * l1 * lc2 * sin(q2)
    d11 = m1 * lc1**2 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * cos(q2)) + i1 + i2
    assert same(form.mass_matrix, [[d11, d12], [d12, m2 * lc2**2 + i2]])
    assert same(form.coriolis_matrix, [[h * d2, h * d2 + h * d1], [-h * d1, 0]])
    phi = [-gy * ((m1 * lc1 + m2 * l1) * cos(q1) + m2 * lc2 * cos(q1 + q2)), -gy * m2 * lc2 * cos(q1 + q2)]
    assert same(form.gravity_vector, phi)
    total = Matrix([[d11, d12], [d12, m2 * lc2**2 + i2]]) * Matrix([a1, a2])
    forces = total + Matrix([h * d2 * d1 + (h * d2 + h * d1) * d2, -h * d1 * d1]) + Matrix(phi)
    assert same(form.inverse_dynamics, list(forces))
    assert cos(q1 + q2) in form.gravity_vector.atoms(cos)  # parallel axes are merged
    assert form.mass_matrix.atoms(cos, sin) == {cos(q2)}


def rotation_matrix(axis: np.ndarray, angle: float) -> np.ndarray:
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def transform(rotation: np.ndarray, translation: list) -> tuple:
    rows = [(*map(float, rotation[k]), translation[k]) for k in range(3)]
    return (*rows, (0, 0, 0, 1))


def rrp_robot() -> Robot:
    """SCARA-like: two vertical axes and a quill, all inertial data symbols."""
    names = ["m1", "m2", "m3", "l1", "lc1", "lc2", "l2", "I1", "I2", "I3", "g"]
    m1, m2, m3, arm, lc1, lc2, reach, i1, i2, i3, weight = sympy.symbols(names, real=True)

    def body(mass: sympy.Symbol, x: object, inertia: sympy.Symbol) -> Body:
        return Body(mass, (x, 0, 0), ((inertia, 0, 0), (0, inertia, 0), (0, 0, inertia)))

    eye = np.eye(3)
    joints = (
        Joint("shoulder", JointType.REVOLUTE, "base", "inner"),
        Joint("elbow", JointType.REVOLUTE, "inner", "outer", before=transform(eye, [arm, 0, 0])),
        Joint("slide", JointType.PRISMATIC, "outer", "quill", (0, 0, -1), before=transform(eye, [reach, 0, 0])),
    )
    links = (
        Link("base"),
        Link("inner", body(m1, lc1, i1)),
        Link("outer", body(m2, lc2, i2)),
        Link("quill", body(m3, 0, i3)),
    )
    parameters = {name: Parameter(name, 0.5 + k / 10) for k, name in enumerate(names)}
    return Robot("rrp", links, joints, (0, 0, -weight), "quill", parameters=parameters)


@pytest.mark.parametrize("make", [lambda: load("two_link"), rrp_robot])
def test_lagrange_identities_hold_symbolically(make) -> None:
    form = derive(make(), symbolic="nonzero")
    rates = list(zip(form.q, form.qd, strict=True))
    mass_rate = sum((form.mass_matrix.diff(q) * qd for q, qd in rates), sympy.zeros(len(form.q)))
    skew = mass_rate - 2 * form.coriolis_matrix
    assert same(form.mass_matrix - form.mass_matrix.T, sympy.zeros(len(form.q)).tolist())
    assert same(skew + skew.T, sympy.zeros(len(form.q)).tolist())
    assert same(Matrix([form.potential_energy]).jacobian(form.q).T, list(form.gravity_vector))
    qd = Matrix(form.qd)
    assert same((qd.T * form.mass_matrix * qd) / 2, [[form.kinetic_energy]])
    assert same(form.coriolis_matrix * qd, list(form.coriolis_vector))
    # Lagrange's equations themselves, differentiated by SymPy
    momentum = Matrix([form.kinetic_energy]).jacobian(form.qd).T
    lagrange = momentum.jacobian(form.q) * qd + momentum.jacobian(form.qd) * Matrix(form.qdd)
    lagrange += Matrix([form.potential_energy - form.kinetic_energy]).jacobian(form.q).T
    assert same(form.inverse_dynamics, list(lagrange))


# -- any tree, against numbers ---------------------------------------------------------------------------------


def random_tree(seed: int, size: int = 4) -> Robot:
    """A branched robot with oblique and parallel axes, sliding and fixed joints, friction, motors and a payload."""
    rng = np.random.default_rng(seed)
    kinds = [JointType.REVOLUTE, JointType.PRISMATIC, JointType.FIXED, JointType.CONTINUOUS]

    def unit() -> np.ndarray:
        vector = rng.normal(size=3)
        return vector / np.linalg.norm(vector)

    def placed() -> tuple:
        turned = rotation_matrix(unit(), rng.normal()) if rng.random() < 0.4 else rotation_matrix([1, 0, 0], np.pi / 4)
        return transform(turned, [round(x, 3) for x in rng.normal(size=3)])

    def body() -> Body:
        root = rng.normal(size=(3, 3)).round(2)
        inertia = tuple(tuple(float(x) for x in row) for row in root @ root.T)
        return Body(round(rng.uniform(1, 2), 2), tuple(float(x) for x in rng.normal(size=3).round(2)), inertia)

    links, joints = [Link("link0")], []
    for k in range(size):
        axis = tuple(float(x) for x in unit()) if rng.random() < 0.4 else (0, 0, 1)
        drive = Actuation(0.01 * k, 3.0, 0.1 * k, 0.2 * k, 0.5)
        parent = f"link{max(0, k - int(rng.integers(0, 2)))}"
        links.append(Link(f"link{k + 1}", body()))
        joints.append(Joint(f"joint{k}", kinds[k], parent, f"link{k + 1}", axis, placed(), placed(), actuation=drive))
    return Robot("tree", tuple(links), tuple(joints), (0.3, -0.5, -9.81), f"link{size - 1}", placed(), payload=body())


def numeric_transforms(robot: Robot, q: np.ndarray) -> list[np.ndarray]:
    """T_i0 of every frame by multiplication; complex coordinates are welcome."""
    found, coordinates = {robot.links[0].name: np.eye(4)}, iter(q)
    for joint in robot.joints:
        axis, motion = np.array(joint.axis, dtype=float), np.eye(4, dtype=complex)
        if joint.type.is_rotation:
            motion[:3, :3] = rotation_matrix(axis, next(coordinates))
        elif joint.type is JointType.PRISMATIC:
            motion[:3, 3] = axis * next(coordinates)
        before, after = (np.array(m, dtype=float) for m in (joint.before, joint.after))
        found[joint.child] = found[joint.parent] @ before @ motion @ after
    frames = [found[link.name] for link in robot.links[1:]]
    return [*frames, found[robot.tip] @ np.array(robot.tool, dtype=float)]


def pseudo_inertia(body: Body) -> np.ndarray:
    """int (r; 1)(r; 1)^T dm about the frame's origin, errata to seed 002 (19)."""
    inertia, centre = np.array(body.inertia, dtype=float), np.array(body.com, dtype=float)
    planar = np.trace(inertia) / 2 * np.eye(3) - inertia + body.mass * np.outer(centre, centre)
    return np.block([[planar, body.mass * centre[:, None]], [body.mass * centre[None, :], np.array([[body.mass]])]])


@pytest.mark.parametrize("seed", range(4))
def test_random_trees_against_products_and_traces(seed: int) -> None:
    """M_jk = sum_i Tr(A_ij I_psi A_ik^T), seed 002 (21), A_ij = dT_i0/dq_j by complex steps; V and J likewise."""
    robot = random_tree(seed)
    form = derive(robot)
    rng = np.random.default_rng(seed + 100)
    q, qd, qdd = rng.normal(size=(3, len(form.q)))
    n, step = len(q), 1e-30
    exact = [t.real for t in numeric_transforms(robot, q.astype(complex))]
    np.testing.assert_allclose(form.lambdify("transforms")(q), exact, atol=1e-12)
    partial = [[t.imag / step for t in numeric_transforms(robot, q + 1j * step * np.eye(n)[j])] for j in range(n)]
    inertias = [pseudo_inertia(body) for body in (*(link.body for link in robot.links[1:]), robot.payload)]
    mass = np.array(
        [
            [
                sum(np.trace(a @ i @ b.T) for a, i, b in zip(partial[j], inertias, partial[k], strict=True))
                for k in range(n)
            ]
            for j in range(n)
        ]
    )
    drives = [joint.actuation for joint in robot.moving_joints]
    mass += np.diag([drive.gear_ratio**2 * drive.motor_inertia for drive in drives])
    np.testing.assert_allclose(form.lambdify("mass_matrix")(q), mass, atol=1e-11)
    gravity = np.array([*robot.gravity, 0])
    weights = [-sum(gravity @ a @ i[:, 3] for a, i in zip(partial[j], inertias, strict=True)) for j in range(n)]
    np.testing.assert_allclose(form.lambdify("gravity_vector")(q), weights, atol=1e-11)
    jacobian = form.lambdify("jacobian")(q)
    np.testing.assert_allclose(jacobian[:3], np.array([p[-1][:3, 3] for p in partial]).T, atol=1e-12)
    spins = [p[-1][:3, :3] @ exact[-1][:3, :3].T for p in partial]
    np.testing.assert_allclose(jacobian[3:], np.array([[s[2, 1], s[0, 2], s[1, 0]] for s in spins]).T, atol=1e-12)
    # the forces: rigid part plus friction, and the energy that they feed
    coriolis = form.lambdify("coriolis_vector")(q, qd)
    friction = [d.viscous * v + d.coulomb * np.tanh(v / d.coulomb_velocity) for d, v in zip(drives, qd, strict=True)]
    expected = mass @ qdd + coriolis + weights + friction
    np.testing.assert_allclose(form.lambdify("inverse_dynamics")(q, qd, qdd), expected, atol=1e-10)
    kinetic, h = form.lambdify("kinetic_energy"), 1e-5
    slope = (kinetic(q + h * qd, qd) - kinetic(q - h * qd, qd)) / (2 * h)  # = qd . C qd at constant qd
    assert slope == pytest.approx(qd @ coriolis, abs=1e-6)


def test_rate_of_the_tip_jacobian_is_a_projection(trtrr: ClosedForm) -> None:
    """R^T dJ/dt (seed 002 (13)), which is not the derivative of the projected Jacobian."""
    rotation = trtrr.transforms[5][:3, :3].T
    projected = sympy.diag(rotation, rotation) * trtrr.jacobian_rate
    assert same(trtrr.jacobian_tip_rate, projected.tolist())


# -- parallel axes, symbols, numbers ---------------------------------------------------------------------------


def test_antiparallel_and_interrupted_axes_are_merged() -> None:
    scara = derive(load("scara"), symbolic="nonzero")  # its last axis points down and stands behind a slide
    assert scara.transforms[-1][0, 0] == cos(q1 + q2 - q4)
    puma = derive(load("puma560"), symbolic="none")
    arguments = {function.args[0] for function in puma.mass_matrix.atoms(sin, cos)}
    assert q2 + q3 in arguments
    assert q1 not in {symbol for argument in arguments for symbol in argument.free_symbols}


def test_rounded_numbers_leave_no_dust() -> None:
    robot = random_tree(0)
    joints = tuple(
        Joint(f"joint{k}", JointType.REVOLUTE, f"link{k}", f"link{k + 1}", before=transform(turned, [0.1, 0, 0]))
        for k, turned in enumerate(rotation_matrix([1, 0, 0], angle) for angle in (0.0, np.pi / 2, np.pi / 3))
    )
    form = derive(Robot("arm", robot.links[:4], joints, tip="link3"))
    assert form.transforms[2][2, 1] == cos(q2) * cos(q3) / 2 - sin(q2) * sin(q3)
    assert form.transforms[2][2, 2] == -sympy.sqrt(3) / 2 * cos(q2)
    assert not any(abs(number) < 1e-10 for t in form.transforms for number in t.atoms(sympy.Float))


def test_symbolic_choices_agree_in_numbers() -> None:
    robot, q = load("two_link"), [0.3, -0.7]
    expected = derive(robot, symbolic="none").lambdify("mass_matrix")(q)
    for choice in ("named", "nonzero", "all"):
        np.testing.assert_allclose(derive(robot, symbolic=choice).lambdify("mass_matrix")(q), expected, rtol=1e-14)
    assert derive(robot, symbolic="none").mass_matrix.free_symbols == {q2}
    loaded = derive(robot).lambdify("mass_matrix")
    assert loaded(q, payload_mass=2.0)[1, 1] == pytest.approx(expected[1, 1] + 2.0)  # 2 kg, 1 m from the elbow
    assert {"m2", "Izz2", "rx1"} <= {str(s) for s in derive(load("scara"), symbolic="all").mass_matrix.free_symbols}


def test_a_parameter_may_be_called_q1() -> None:
    length = sympy.Symbol("q1", real=True)
    joint = Joint("hinge", JointType.REVOLUTE, "base", "arm", after=transform(np.eye(3), [length, 0, 0]))
    robot = Robot("arm", (Link("base"), Link("arm")), (joint,), tip="arm", parameters={"q1": Parameter("q1", 2.0)})
    form = derive(robot)
    assert form.q[0] != length
    assert form.transforms[0][0, 3] == length * cos(form.q[0])


def test_constant_angles_and_roots_are_reduced() -> None:
    alpha = sympy.Symbol("alpha", real=True)
    twist = ((1, 0, 0, 0), (0, cos(alpha), -sin(alpha), 0), (0, sin(alpha), cos(alpha), 0), (0, 0, 0, 1))
    joints = (
        Joint("a", JointType.REVOLUTE, "base", "one", after=twist),
        Joint("b", JointType.FIXED, "one", "two", before=transform(rotation_matrix([0, 0, 1], np.pi / 4), [1, 0, 0])),
    )
    links = tuple(Link(name, Body(1, (0, 0, 1))) for name in ("base", "one", "two"))
    robot = Robot("twisted", links, joints, tip="two", parameters={"alpha": Parameter("alpha", 0.3)})
    form = derive(robot)
    assert form.angular_velocities("own")[1] == Matrix([sin(alpha), sin(alpha), sympy.sqrt(2) * cos(alpha)]) * (
        form.qd[0] / sympy.sqrt(2)
    )
    assert vanishes(form.mass_matrix[0, 0] - 1 - 2 * sin(alpha) ** 2)


# -- LaTeX and messages ----------------------------------------------------------------------------------------


def test_latex_is_written_as_in_the_seed(trtrr: ClosedForm) -> None:
    assert trtrr.latex("transforms").startswith("\\[\n[T]_{1}^{0} = ")
    assert r"- \left(l_{4} + q_{3}\right) s_{2}" in trtrr.latex("transforms")
    omega = trtrr.latex("angular_velocities")
    assert r"[\bar{\omega}]_{5}^{5}" in omega
    assert r"\dot{q}_{2} c_{4} c_{5} - \dot{q}_{4} s_{5}" in omega
    assert r"[\bar{\omega}]_{6}^{0}" in trtrr.latex("angular_velocities", frame="base")
    assert r"\ddot{q}_{5}" in trtrr.latex("angular_accelerations")


def test_latex_abbreviates_sums_and_prints_the_whole_document() -> None:
    form = derive(load("two_link"), symbolic="nonzero")
    assert "c_{12}" in form.latex("gravity_vector")
    assert "c_{2}" in form.latex("mass_matrix")
    text = form.latex()
    assert text.startswith(r"\section*{two\_link}")
    assert all(f"\\subsection*{{{q.title}" in text for q in QUANTITIES.values())
    assert text.count("{") == text.count("}")
    assert text.count(r"\begin{align*}") == text.count(r"\end{align*}")
    assert text.count(r"\left") == text.count(r"\right")
    scara = derive(load("scara"), symbolic="nonzero")
    assert "c_{12-4}" in scara.latex("transforms")
    assert "1.3588 " in scara.latex("mass_matrix", digits=5) or "1.3588\n" in scara.latex("mass_matrix", digits=5)


def test_unknown_names_are_refused_with_the_known_ones(trtrr: ClosedForm) -> None:
    with pytest.raises(OutputError, match="mass_matrix"):
        trtrr.latex("mass")
    with pytest.raises(OutputError, match="nonzero"):
        derive(load("two_link"), symbolic="some")  # type: ignore[arg-type]
    with pytest.raises(OutputError, match="'base'"):
        trtrr.linear_velocities("tool")  # type: ignore[arg-type]
    with pytest.raises(OutputError, match="unknown parameters"):
        trtrr.lambdify("jacobian")(np.zeros(5), l9=1.0)
    with pytest.raises(OutputError, match="takes no options"):
        trtrr.lambdify("jacobian", frame="own")
