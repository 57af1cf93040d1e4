"""002 (5): position and orientation angles of the tip, against SciPy's rotations and difference quotients of them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from robots_for_tests import quietly_loaded
from scipy.spatial.transform import Rotation

import elastogen
from elastogen.generator.functions.derivation import derive_model
from elastogen.runtime.interface.euler_sets import EULER_SETS


def test_all_twelve_sets_are_those_of_scipy() -> None:
    robot = quietly_loaded("puma560")
    names = [f"operational_vector_{angles}" for angles in EULER_SETS]
    found = {f.name: f.program for f in derive_model(robot, [*names, "forward_kinematics"]).functions}
    live = {parameter.name: parameter.value for parameter in robot.live_parameters}
    rng = np.random.default_rng(6)
    q, qd, qdd = rng.uniform(-1, 1, (3, 6))
    step = 1e-3
    times = step * np.arange(-4, 5)
    path = np.array([q + t * qd + t * t / 2 * qdd for t in times])
    T = found["forward_kinematics"].evaluate({"q": path}, live)["T"][:, -1]
    assert len(EULER_SETS) == 12
    first = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280]) / step
    second = np.array([-1 / 560, 8 / 315, -1 / 5, 8 / 5, -205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560]) / step**2
    for angles in EULER_SETS:
        value = found[f"operational_vector_{angles}"].evaluate({"q": q, "qd": qd, "qdd": qdd}, live)
        psi = np.unwrap(Rotation.from_matrix(T[:, :3, :3]).as_euler(angles.upper()), axis=0)
        X = np.hstack([T[:, :3, 3], psi])
        np.testing.assert_allclose(value["X"], X[4], rtol=0, atol=1e-12, err_msg=angles)
        np.testing.assert_allclose(value["Xd"], first @ X, rtol=1e-9, atol=1e-9, err_msg=angles)
        np.testing.assert_allclose(value["Xdd"], second @ X, rtol=1e-6, atol=1e-6, err_msg=angles)


def test_orientations_where_the_outer_angles_are_not_unique() -> None:
    """A planar robot never leaves them for "zyz" and "zxz", a hand with its middle joint at 0 or 90 degrees is there once."""
    chain = (("base", "a", [1, 0, 0]), ("a", "b", [0, 1, 0]), ("b", "c", [0, 0, 1]))
    links = [{"name": name, "mass": 1} for name in ("base", "a", "b", "c")]
    joints = [{"name": f"j{p}", "type": "revolute", "parent": p, "child": c, "axis": axis} for p, c, axis in chain]
    hand = {"elastogen": 1, "name": "hand", "links": links, "joints": joints}
    cases = [
        (quietly_loaded("two_link"), [0.3, 0.4]),
        (quietly_loaded(hand), [0.3, np.pi / 2, 0.4]),
        (quietly_loaded(hand), [0.3, 0, 0]),
    ]
    for robot, q in cases:
        names = [f"operational_vector_{angles}" for angles in EULER_SETS]
        found = {f.name: f.program for f in derive_model(robot, [*names, "forward_kinematics"]).functions}
        live = {parameter.name: parameter.value for parameter in robot.live_parameters}
        R = found["forward_kinematics"].evaluate({"q": q}, live)["T"][-1, :3, :3]
        for angles in EULER_SETS:
            with np.errstate(all="ignore"):  # rates
                value = found[f"operational_vector_{angles}"].evaluate({"q": q, "qd": q, "qdd": q}, live)
            again = Rotation.from_euler(angles.upper(), value["X"][3:]).as_matrix()
            np.testing.assert_allclose(again, R, rtol=0, atol=1e-11, err_msg=f"{robot.name} {angles}")
            if robot.name == "two_link" and angles in ("zyz", "zxz"):
                np.testing.assert_allclose(value["Xd"][3:], [0.7, 0, 0], atol=1e-12)


def test_in_c_and_by_the_method() -> None:
    model = elastogen.build_model("two_link", outputs=["operational_vector_zyx"], cflags="-O0")
    X, Xd, Xdd = model.operational_vector("zyx", [[0.3, 0.4], [0.1, 0.2]], [1.0, 2.0], [0.5, 0.25])
    np.testing.assert_allclose(X[:, 3], [0.7, 0.3], rtol=1e-14)
    np.testing.assert_allclose(Xd[:, 3], [3.0, 3.0], rtol=1e-14)
    np.testing.assert_allclose(Xdd[:, 3], [0.75, 0.75], rtol=1e-13)
    with pytest.raises(elastogen.ElastogenError, match="angles='zzx', expected one of xyx"):
        model.operational_vector("zzx", [0, 0], [0, 0], [0, 0])


def test_rates_where_the_middle_angle_moves_through_its_end_are_named() -> None:
    """They were finite and wrong: d2psi_2/dt2 was 1.5 where 0 is asked for. Where it stays, psi_1 carries both outer angles."""
    chain = (("base", "a", [1, 0, 0]), ("a", "b", [0, 1, 0]), ("b", "c", [0, 0, 1]))
    links = [{"name": name, "mass": 1} for name in ("base", "a", "b", "c")]
    joints = [{"name": f"j{p}", "type": "revolute", "parent": p, "child": c, "axis": axis} for p, c, axis in chain]
    hand = {"elastogen": 1, "name": "hand", "links": links, "joints": joints}
    model = elastogen.build_model(hand, outputs=["operational_vector_xyz"], cflags="-O0")
    q = np.array([[0.3, np.pi / 2, 0.4], [0.3, 0.6, 0.4]])
    qd, qdd = [1.0, 0.5, 0.2], [0.1, 0.0, 0.3]
    with pytest.warns(elastogen.ModelWarning, match="in 1 of 2 states, and moves away"):
        X, Xd, Xdd = model.operational_vector("xyz", q, qd, qdd)
    np.testing.assert_allclose(X[:, 3:], [[0.7, np.pi / 2, 0.0], q[1]], atol=1e-12)
    assert np.isnan(Xd[0, 3:]).all()
    assert np.isnan(Xdd[0, 3:]).all()
    np.testing.assert_allclose([Xd[1, 3:], Xdd[1, 3:]], [qd, qdd], atol=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, Xd, Xdd = model.operational_vector("xyz", q[0], [1.0, 0.0, 0.2], qdd)
    np.testing.assert_allclose([Xd[3:], Xdd[3:]], [[1.2, 0, 0], [0.4, 0, 0]], atol=1e-12)
