"""What sensors read, with exact derivatives: against the single functions, differences, and closed forms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gauged_arms import two_flexible_links

import elastogen

FREE: dict[str, Any] = {
    "elastogen": 1,
    "name": "flyer",
    "base": "floating",
    "links": [
        {"name": "hub", "mass": 4, "inertia": [0.2, 0.3, 0.4]},
        {"name": "rod", "mass": 1, "com": [0.4, 0, 0], "inertia": [0.01, 0.1, 0.1]},
    ],
    "joints": [{"name": "hinge", "type": "revolute"}],
    "points": [{"name": "imu", "link": "hub", "xyz": [0.1, 0.2, 0.0], "rpy": [0.3, 0, 0.2]}],
}
ALL = ["encoders", "tachometers", "gauge1", "gauge2", "imu", "imu.position", "tip"]


@pytest.fixture(scope="module")
def flexible(cache_dir: Path) -> elastogen.Model:
    return elastogen.build_model(two_flexible_links())


@pytest.fixture(scope="module")
def flyer(cache_dir: Path) -> elastogen.Model:
    return elastogen.build_model(FREE)


def states(model: elastogen.Model, n: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(11)
    q = np.array([model.integrate(model.neutral(), 0.2 * rng.standard_normal(model.nv)) for _ in range(n)])
    return q, 0.5 * rng.standard_normal((n, model.nv)), rng.standard_normal((n, model.nv))


def test_readings_are_those_of_the_single_functions(flexible: elastogen.Model) -> None:
    q, qd, F = states(flexible, 5)
    found = flexible.measurement(q, qd, F, sensors=ALL)
    qdd = flexible.forward_dynamics(q, qd, F)
    drives = list(flexible.driven)
    expected = np.concatenate(
        [
            q[:, drives],
            qd[:, drives],
            flexible.point_strains(q),
            flexible.gyroscopes(q, qd)[:, 2],
            flexible.accelerometers(q, qd, qdd)[:, 2],
            flexible.point_positions(q)[:, 2],
            flexible.forward_kinematics(q)[:, -1, :3, 3],
        ],
        axis=1,
    )
    assert found.y == pytest.approx(expected, rel=1e-10, abs=1e-10)
    names = [channel.name for channel in found.channels]
    assert names[:5] == ["shoulder", "elbow", "shoulder.rate", "elbow.rate", "gauge1.strain"]
    assert [channel.unit for channel in found.channels][:5] == ["rad", "rad", "rad/s", "rad/s", "1"]
    assert found.D[:, :7] == pytest.approx(0.0)
    assert np.abs(found.D[:, names.index("imu.accelerometer.y")]).max() > 10.0


@pytest.mark.parametrize("robot", ["flexible", "flyer"])
def test_derivatives_agree_with_differences_along_the_velocities(robot: str, request: pytest.FixtureRequest) -> None:
    model = request.getfixturevalue(robot)
    sensors = ALL if robot == "flexible" else ["encoders", "imu", "tip"]
    (q, *_), (qd, *_), (F, *_) = states(model, 1)
    y, H = model.measurement(q, qd, F, sensors=sensors)
    D = model.measurement(q, qd, F, sensors=sensors).D
    h, eye = 1e-5, np.eye(model.nv)

    def changed(k: int, s: float) -> Any:  # fourth order
        n = model.nv
        moved = (model.integrate(q, s * eye[k]), qd, F) if k < n else (q, qd, F)
        if k >= n:
            moved = (q, qd + s * eye[k - n], F) if k < 2 * n else (q, qd, F + s * eye[k - 2 * n])
        return model.measurement(*moved, sensors=sensors).y

    found = [
        (8 * (changed(k, h) - changed(k, -h)) - (changed(k, 2 * h) - changed(k, -2 * h))) / (12 * h)
        for k in range(3 * model.nv)
    ]
    assert np.concatenate([H, D], axis=1) == pytest.approx(np.array(found).T, rel=1e-7, abs=1e-8 * np.abs(H).max())
    assert y.shape == (len(H),)


def test_a_batch_broadcasts_and_a_loaded_model_says_what_is_missing(flexible: elastogen.Model) -> None:
    q, qd, F = states(flexible, 3)
    whole = flexible.measurement(q, qd, F, sensors=ALL)
    one = flexible.measurement(q[1], qd[1], F[1], sensors=ALL)
    assert whole.H.shape == (3, len(whole.channels), 2 * flexible.nv)
    assert np.array_equal(whole.H[1], one.H)
    assert flexible.extension is not None
    with pytest.raises(elastogen.ModelError, match=r"Fix: elastogen.build_model\(robot.with_sensors"):
        elastogen.load_model(flexible.extension).measurement(q, qd, F)


def test_sensors_that_are_not_in_the_robot_are_named() -> None:
    robot = elastogen.load(two_flexible_links())
    for wrong, expected in [
        ("gauge3", "gauge2"),
        ("imu.strain", "a point with a gauge"),
        (3, "a sensor of the robot"),
        ("imu.weight", "a sensor of the robot"),
    ]:
        with pytest.raises(elastogen.RobotError, match=expected):
            robot.with_sensors(wrong)  # type: ignore[arg-type]
    with pytest.raises(elastogen.RobotError, match="each reading once"):
        robot.with_sensors("imu", "imu.gyroscope")
    with pytest.raises(elastogen.RobotError, match="in one call"):
        robot.with_sensors("imu").with_sensors("encoders")
    with pytest.raises(elastogen.OutputError, match="with_sensors"):
        elastogen.build_model(robot, outputs=["estimation"])
