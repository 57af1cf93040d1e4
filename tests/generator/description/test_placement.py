"""Placements against closed formulas written with numpy and scipy."""

import math

import numpy as np
import pytest
import sympy
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from elastogen.generator.robot import placement
from elastogen.generator.robot.errors import RobotError
from elastogen.generator.robot.location import Location

HERE = Location("test", "field")
URDF_HALF_PI = 1.57079632679


def array(matrix):
    return np.array(matrix, dtype=float)


def random_frame(rng):
    frame = np.eye(4)
    frame[:3, :3] = Rotation.random(random_state=int(rng.integers(1 << 30))).as_matrix()
    frame[:3, 3] = rng.normal(size=3)
    return frame


def as_rows(frame):
    return tuple(tuple(float(entry) for entry in row) for row in frame)


def test_rpy_is_fixed_axis_roll_pitch_yaw():
    rng = np.random.default_rng(1)
    for _ in range(20):
        xyz, rpy = rng.normal(size=3), rng.uniform(-3, 3, size=3)
        got = array(placement.from_xyz_rpy(tuple(xyz), tuple(rpy)))
        np.testing.assert_allclose(got[:3, :3], Rotation.from_euler("xyz", rpy).as_matrix(), atol=1e-14)
        np.testing.assert_array_equal(got[:3, 3], xyz)


def dh_by_hand(a, alpha, d, theta):
    ct, st, ca, sa = math.cos(theta), math.sin(theta), math.cos(alpha), math.sin(alpha)
    return np.array([[ct, -st * ca, st * sa, a * ct], [st, ct * ca, -ct * sa, a * st], [0, sa, ca, d], [0, 0, 0, 1]])


def mdh_by_hand(a, alpha, d, theta):
    ct, st, ca, sa = math.cos(theta), math.sin(theta), math.cos(alpha), math.sin(alpha)
    return np.array([[ct, -st, 0, a], [st * ca, ct * ca, -sa, -d * sa], [st * sa, ct * sa, ca, d * ca], [0, 0, 0, 1]])


def moved(place, q, translates):
    axis, motion = array(place.axis), np.eye(4)
    if translates:
        motion[:3, 3] = axis * q
    else:
        motion[:3, :3] = Rotation.from_rotvec(axis * q).as_matrix()
    return array(place.before) @ motion @ array(place.after)


@pytest.mark.parametrize(
    ("convention", "by_hand"),
    [(placement.from_standard_dh, dh_by_hand), (placement.from_modified_dh, mdh_by_hand)],
)
def test_dh_tables(convention, by_hand):
    rng = np.random.default_rng(2)
    for _ in range(20):
        a, alpha, d, theta, q = rng.uniform(-2, 2, size=5)
        place = convention(a, alpha, d, theta)
        np.testing.assert_allclose(moved(place, q, False), by_hand(a, alpha, d, theta + q), atol=1e-14)
        np.testing.assert_allclose(moved(place, q, True), by_hand(a, alpha, d + q, theta), atol=1e-14)


def screw_exponential(axis, point, q, translates):
    twist = np.zeros((4, 4))
    if translates:
        twist[:3, 3] = axis
    else:
        twist[:3, :3] = np.cross(np.eye(3), axis)
        twist[:3, 3] = np.cross(point, axis)
    return expm(twist * q)


@pytest.mark.parametrize("with_frames", [True, False])
def test_screw_axes_give_the_product_of_exponentials(with_frames):
    rng = np.random.default_rng(3)
    for _ in range(5):
        chain, product, at_zero = np.eye(4), np.eye(4), np.eye(4)
        for translates in (False, True, False, True, False):
            axis, point, q = rng.normal(size=3), rng.normal(size=3), rng.uniform(-2, 2)
            axis /= np.linalg.norm(axis)
            frame = random_frame(rng) if with_frames else np.eye(4)
            if not with_frames:
                frame[:3, 3] = point
            place = placement.from_screw(
                tuple(axis),
                tuple(point),
                as_rows(at_zero),
                as_rows(frame) if with_frames else None,
                translates,
            )
            at_zero = frame
            chain = chain @ moved(place, q, translates)
            product = product @ screw_exponential(axis, point, q, translates)
            np.testing.assert_allclose(chain, product @ at_zero, atol=1e-12)


def test_screw_with_the_origin_on_the_axis_needs_nothing_after_the_motion():
    frame = placement.from_xyz_rpy((0.5, 0.2, 3.0), (0.3, 0, 0))
    place = placement.from_screw((0, 0, 1), (0.5, 0.2, 1.0), placement.IDENTITY, frame, False)
    assert place.after == placement.IDENTITY
    assert place.before == frame


def test_rounded_right_angles_become_exact_integers():
    with placement.snapping():
        rows = placement.from_xyz_rpy((0, 0, 0.3), (URDF_HALF_PI, 0, -URDF_HALF_PI))
    entries = [entry for row in rows for entry in row[:3]]
    assert all(type(entry) is int for entry in entries)
    np.testing.assert_array_equal(array(rows)[:3, :3], [[0, 0, -1], [-1, 0, 0], [0, 1, 0]])


def test_rounded_right_angles_keep_the_other_angles_orthonormal():
    with placement.snapping():
        rotation = array(placement.from_xyz_rpy((0, 0, 0), (URDF_HALF_PI, 0.3, 0.7)))[:3, :3]
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-15)


@pytest.mark.parametrize(("wanted", "inside", "outside"), [(True, 9e-12, 2e-11), (False, 9e-14, 2e-13)])
def test_snapping_stops_at_its_tolerance(wanted, inside, outside):
    with placement.snapping(wanted):
        assert placement.snap(outside) == outside
        assert placement.snap(1 - outside) != 1
        assert type(placement.snap(inside)) is int
        assert placement.snap(0.5) == 0.5
        assert math.isnan(placement.snap(math.nan))
    assert placement.snap(2e-13) == 2e-13


def test_parameters_stay_symbols():
    angle, length = sympy.symbols("angle length", real=True)
    rows = placement.from_xyz_rpy((length, 0, 0), (0, 0, angle))
    assert rows == (
        (sympy.cos(angle), -sympy.sin(angle), 0, length),
        (sympy.sin(angle), sympy.cos(angle), 0, 0),
        *rows[2:],
    )
    exact = placement.from_xyz_rpy((0, 0, 0), (sympy.pi / 2, 0, 0))
    assert exact == ((1, 0, 0, 0), (0, 0, -1, 0), (0, 1, 0, 0), (0, 0, 0, 1))
    assert all(type(entry) is int for row in exact for entry in row)


def test_inverse_of_a_symbolic_transformation():
    angle, length = sympy.symbols("angle length", real=True)
    frame = placement.from_xyz_rpy((length, 0.2, 0), (0.4, angle, 0))
    back = placement.product(placement.inverse(frame), frame)
    values = {angle: 0.8, length: 0.3}
    numbers = [[float(sympy.sympify(entry).subs(values)) for entry in row] for row in back]
    np.testing.assert_allclose(numbers, np.eye(4), atol=1e-15)


def test_a_rotated_tensor():
    rng = np.random.default_rng(4)
    tensor = rng.normal(size=(3, 3))
    tensor = tensor @ tensor.T
    rotation = random_frame(rng)[:3, :3]
    got = placement.congruent(as_rows(rotation), as_rows(tensor))
    np.testing.assert_allclose(array(got), rotation @ tensor @ rotation.T, atol=1e-14)
    assert got[0][1] == got[1][0]


def test_a_rounded_matrix_is_repaired():
    rng = np.random.default_rng(5)
    frame = random_frame(rng)
    rounded = np.round(frame, 6)
    rounded[3] = [0, 0, 0, 1]
    rotation = array(placement.from_matrix(as_rows(rounded), HERE))[:3, :3]
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(rotation, frame[:3, :3], atol=2e-6)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda m: m[0].__setitem__(0, 1.01), "orthonormal"),
        (lambda m: m[0].__setitem__(0, -1.0), "determinant"),
        (lambda m: m[3].__setitem__(3, 2.0), "last row"),
    ],
)
def test_a_wrong_matrix_is_refused(change, says):
    rows = np.eye(4).tolist()
    change(rows)
    with pytest.raises(RobotError, match=says):
        placement.from_matrix(tuple(map(tuple, rows)), HERE)


def test_axes_get_unit_length():
    np.testing.assert_allclose(array(placement.unit_axis((3, 0, 4), HERE)), [0.6, 0, 0.8], atol=1e-16)
    assert placement.unit_axis((0, 0, -2.0), HERE) == (0, 0, -1)
    with pytest.raises(RobotError, match="zero vector"):
        placement.unit_axis((0, 0.0, 0), HERE)


def test_a_symbolic_axis_must_keep_its_length():
    angle = sympy.Symbol("angle", real=True)
    good = (sympy.cos(angle), sympy.sin(angle), 0)
    assert placement.unit_axis(good, HERE) == good
    with pytest.raises(RobotError, match="unit length whatever"):
        placement.unit_axis((angle, 0, 1), HERE)
