"""Why a mass matrix cannot be factorized: missing inertia is reported from lost accuracy."""

import warnings

import numpy as np
import pytest

import elastogen
from elastogen.runtime.functions.singular import condition, why_singular

NAMES = ("base", "shoulder", "elbow")
DIRECTION = np.array([1.0, 2.0, 0.5])


def test_missing_inertia_names_its_coordinate() -> None:
    assert "a link without inertia: M[1][1] = 0, what shoulder moves" in why_singular(np.diag([1.0, 0.0, 2.0]), NAMES)
    assert "a negative inertia: M[2][2] = -2, what elbow moves" in why_singular(np.diag([1.0, 3.0, -2.0]), NAMES)


def test_motion_without_inertia_is_reported() -> None:
    """A point mass that three parallel joints move: two directions are free of inertia, up to rounding errors."""
    M = np.array([[4.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    text = why_singular(M, NAMES)
    assert text.startswith("a link without inertia, or shapes that are nearly the same: the pivot of base is 0 of its M[0][0]")
    assert "base with shoulder is a motion without inertia" in text or "shoulder with base is a motion" in text
    M[0, 0] = 3.9
    text = why_singular(M, NAMES)
    assert text.startswith("a link without inertia, or with a negative one: the pivot of base is -0.026 of its M[0][0]")
    assert condition(M) == np.inf


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_lost_accuracy_is_reported(real: type) -> None:
    """Definite beyond rounding errors, but with a condition that is large for the precision; its scale does not count."""
    small = 100 * float(np.finfo(real).eps)
    V, _ = np.linalg.qr(np.vander(DIRECTION))
    M = (V * [1.0, 1.5, small]) @ V.T
    scaled = M * np.outer([1e3, 1.0, 1e-3], [1e3, 1.0, 1e-3])
    text = why_singular(scaled.astype(real), NAMES)
    assert text.startswith("lost accuracy, no inertia is missing: the pivot of base")
    assert "precision 'double', fewer elements or reduced modes" in text
    assert condition(scaled) == pytest.approx(condition(M), rel=0.1)
    assert condition(scaled) > 0.1 / small


def test_not_finite_is_reported() -> None:
    assert "NaN or infinity" in why_singular(np.diag([1.0, np.nan, 2.0]), NAMES)
    assert condition(np.diag([1.0, np.nan, 2.0])) == np.inf


def test_coordinates_behind_quaternions_are_named() -> None:
    """M is over the velocities, of which a floating base has one less than coordinates."""
    hub, arm = {"name": "hub", "mass": 4, "inertia": [0.2, 0.3, 0.4]}, {"name": "arm", "mass": 1, "com": [0.4, 0, 0]}
    joints = [{"name": "shoulder", "type": "revolute"}, {"name": "lost", "type": "revolute"}]
    robot = {"elastogen": 1, "name": "flyer", "base": "floating", "links": [hub, arm, {"name": "none"}], "joints": joints}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", elastogen.RobotWarning)
        model = elastogen.build_model(robot, outputs=["forward_dynamics", "mass_matrix", "integrate", "configuration_rate"])
    with pytest.raises(elastogen.ModelError, match=r"M\[7\]\[7\] = 0, what lost moves"):
        model.forward_dynamics(model.neutral(), np.zeros(8), np.zeros(8))
    with pytest.raises(elastogen.ModelError, match=r"M\[7\]\[7\] = 0, what lost moves"):
        model.simulate(model.neutral(), t=0.1)


def test_modes_in_single_precision_are_found() -> None:
    """Rounding errors are judged mode by mode: a part of the greatest frequency, 1e4 rad/s, covered the lowest ones."""
    link = {"joint": "R", "length": 1.0, "mass_per_length": 0.3, "EI": 1.0, "elements": 6}
    robot = {"elastogen": 1, "name": "bending", "planar": {"links": [link, link], "payload": {"mass": 1.0}}}
    outputs = ["mass_matrix", "stiffness_matrix"]
    exact, single = (elastogen.build_model(robot, outputs=outputs, precision=p) for p in ("double", "float"))
    q = np.full(exact.nq, 0.01)
    for joints, rigid in (("free", 2), ("locked", 0)):
        expected, found = (model.modes(q, joints=joints).frequencies for model in (exact, single))
        assert not found[:rigid].any()
        np.testing.assert_allclose(found[rigid:], expected[rigid:], rtol=0.02)
        assert expected[rigid] > 0


def test_modes_of_a_mass_matrix_that_float_cannot_hold_tell_the_precision() -> None:
    """Its eigenvalues are those of numbers in single precision, though they are computed in double."""
    modes = [{"direction": "y", "shape": f"(x/L)**{k}"} for k in range(2, 9)]
    beam = {"type": "modes", "length": 1.0, "mass_per_length": 0.3, "EI": 1.0, "modes": modes}
    links, joints = [{"name": "base"}, {"name": "link", "flexible": beam}], [{"name": "joint", "type": "revolute"}]
    robot = {"elastogen": 1, "name": "alike", "links": links, "joints": joints}
    model = elastogen.build_model(robot, outputs=["mass_matrix", "stiffness_matrix"], precision="float")
    with pytest.raises(elastogen.ModelError, match=r"without inertia within the precision of 1e-07"):
        model.modes(np.zeros(model.nq))
