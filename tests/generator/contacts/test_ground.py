"""A ground under a robot: bounces against SciPy, friction and rolling against closed forms, a quadruped that comes to rest."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import sympy
from robots_for_tests import example_urdf

import elastogen

MASS, RADIUS = 2.0, 0.1
BALL = {
    "elastogen": 1,
    "name": "ball",
    "links": [{"name": "world"}, {"name": "ball", "mass": MASS, "inertia": [0.4 * MASS * RADIUS**2] * 3}],
    "joints": [{"name": "free", "type": "floating", "child": "ball"}],
}
NUMBERS: dict[str, Any] = {"stiffness": 1e5, "damping": 0.3, "friction": 0.6, "slip_speed": 1e-3}


def on_ground(points: Any, **numbers: Any) -> Any:
    robot = elastogen.load({**BALL, "ground": {"points": points, **NUMBERS, **numbers}})
    return elastogen.build_model(robot, cflags="-O0")


@pytest.fixture(scope="module")
def rolling() -> Any:
    return on_ground([{"frame": "ball", "radius": RADIUS}])


def test_a_ball_bounces_as_the_scalar_equation_says(rolling: Any) -> None:
    integrate = pytest.importorskip("scipy.integrate", reason="SciPy is not installed")
    q = np.array(rolling.neutral())
    q[2] = 0.4 + RADIUS
    t = np.linspace(0.0, 1.2, 601)
    motion = rolling.simulate(q, np.zeros(6), t=t, rtol=1e-10, atol=1e-12)

    def fall(_: float, y: np.ndarray) -> list[float]:
        depth = max(-y[0], 0.0)
        return [y[1], -9.81 + max(1e5 * depth**1.5 * (1 - 0.3 * y[1]), 0.0) / MASS]

    expected = integrate.solve_ivp(fall, (0, 1.2), [0.4, 0.0], t_eval=t, rtol=1e-11, atol=1e-13, max_step=1e-3).y
    np.testing.assert_allclose(motion.q[:, 2] - RADIUS, expected[0], rtol=0, atol=2e-8)
    events = rolling.ground_events(motion)
    assert [event.kind for event in events[:4]] == ["touch", "lift", "touch", "lift"]
    assert events[0].time == pytest.approx(np.sqrt(2 * 0.4 / 9.81), abs=1e-7)
    assert events[0].speed == pytest.approx(-np.sqrt(2 * 0.4 * 9.81), rel=2e-4)  # interpolated over 2 ms
    flight = events[2].time - events[1].time  # as long as its speed at the start says
    assert flight == pytest.approx(2 * events[1].speed / 9.81, rel=1e-4)


def test_steps_end_where_a_ball_touches_the_ground_and_lifts_off(rolling: Any) -> None:
    """No sample is near: the fall is sqrt(2 h / g), the flight as long as the speed of the lift says."""
    q = np.array(rolling.neutral())
    q[2] = 0.4 + RADIUS
    fall = np.sqrt(2 * 0.4 / 9.81)
    for method, step in (("tsit5", {}), ("rk4", {"step": 2e-4}), ("generalized_alpha", {"step": 1e-4, "rho_inf": 1.0})):
        motion = rolling.simulate(q, np.zeros(6), t=[0.0, 0.9], method=method, rtol=1e-10, atol=1e-12, **step)
        touch, lift, again = motion.ground_events[:3]
        assert motion.ground_events == rolling.ground_events(motion)
        assert [touch.kind, lift.kind, again.kind] == ["touch", "lift", "touch"]
        exact = {"tsit5": 1e-11, "rk4": 1e-11, "generalized_alpha": 1e-7}[method]
        assert touch.time == pytest.approx(fall, abs=exact)
        assert touch.speed == pytest.approx(-9.81 * fall, abs=10 * exact + 1e-11)
        assert again.time - lift.time == pytest.approx(2 * lift.speed / 9.81, abs=10 * exact)


def test_motions_of_a_batch_have_their_own_events(rolling: Any) -> None:
    q = np.array([rolling.neutral()] * 3)
    q[:, 2] = [0.2 + RADIUS, 0.1 + RADIUS, 5.0]
    motion = rolling.simulate(q, np.zeros((3, 6)), t=[0.0, 0.5])
    for k, height in enumerate((0.2, 0.1)):
        events = motion.motion(k).ground_events
        assert events[0].time == pytest.approx(np.sqrt(2 * height / 9.81), abs=1e-7)
        assert events == rolling.ground_events(motion.motion(k))
        assert {event.motion for event in motion.ground_events if event.time == events[0].time} == {(k,)}
    assert motion.motion(2).ground_events == ()


def test_a_crossing_is_located_with_any_step() -> None:
    """With steps of 20 ms RK4 falls exactly, and so touches at the right time though no step ends there by itself."""
    model = on_ground([{"frame": "ball", "radius": RADIUS}], stiffness=100.0)
    q = np.array(model.neutral())
    q[2] = 0.4 + RADIUS
    motion = model.simulate(q, np.zeros(6), t=[0.0, 0.4], method="rk4", step=0.02)
    assert motion.ground_events[0].time == pytest.approx(np.sqrt(2 * 0.4 / 9.81), abs=1e-12)
    assert len(motion.ground_events) == 1


def test_a_sliding_ball_ends_rolling_with_five_sevenths_of_its_speed(rolling: Any) -> None:
    q, sunk = np.array(rolling.neutral()), (MASS * 9.81 / 1e5) ** (2 / 3)
    q[2] = RADIUS - sunk
    motion = rolling.simulate(q, np.array([1.0, 0, 0, 0, 0, 0]), t=[0.0, 0.5])
    speed = np.hypot(motion.qd[-1, 0], motion.qd[-1, 2])  # velocities are in the moving frame
    assert speed == pytest.approx(5 / 7, rel=1e-4)
    assert RADIUS * motion.qd[-1, 4] == pytest.approx(5 / 7, rel=1e-4)


@pytest.mark.parametrize("angle", [0.3, 0.8])  # below and above the friction angle, tan(0.54) = 0.6
def test_a_block_on_a_slope(angle: float) -> None:
    normal = [np.sin(angle), 0.0, np.cos(angle)]
    model = on_ground(["ball"], normal=normal, slip_speed=1e-2)
    n = np.array(normal)
    depth = (MASS * 9.81 * np.cos(angle) / 1e5) ** (2 / 3)
    q = np.array(model.neutral())
    q[:3] = -depth * n
    motion = model.simulate(q, np.zeros(6), t=[0.0, 0.5, 1.0], rtol=1e-9, atol=1e-12)
    along = np.array([np.cos(angle), 0.0, -np.sin(angle)])
    _, half, speed = motion.qd[:, :3] @ along
    slope, mu, slip = np.tan(angle), NUMBERS["friction"], 1e-2
    if slope < mu:  # it creeps as regularized friction lets it
        assert speed == pytest.approx(slip * slope / np.sqrt(mu**2 - slope**2), rel=1e-6)
    else:
        assert speed - half == pytest.approx(0.5 * 9.81 * (np.sin(angle) - mu * np.cos(angle)), rel=1e-4)
    assert motion.q[-1, :3] @ n == pytest.approx(-depth, rel=1e-3)


def test_moments_at_frames_are_those_of_the_body(rolling: Any) -> None:
    robot = elastogen.load(BALL)
    s = elastogen.symbols(robot)
    moment = sympy.Matrix([0.1, -0.2, 0.3]) - 0.5 * sympy.Matrix(s.angular_velocity("ball"))
    loaded = robot.with_terms(name="wrench", forces={"ball": sympy.Matrix([1, 2, 3, *moment])})
    model: Any = elastogen.build_model(loaded, outputs=["friction_forces", "random_configuration"], cflags="-O0")
    q = model.random_configuration(np.random.default_rng(3))
    qd = np.array([0.3, -0.4, 0.5, 0.7, -0.2, 0.9])
    x, y, z, w = q[3:]
    R = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    expected = np.r_[R.T @ [1, 2, 3], R.T @ [0.1, -0.2, 0.3] - 0.5 * qd[3:]]
    np.testing.assert_allclose(model.friction_forces(q, qd), -expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("ground", "said"),
    [
        ({"points": []}, "points"),
        ({"points": ["bal"]}, "ball"),
        ({"points": ["ball", "ball"]}, "each frame once"),
        ({"points": ["ball"], "stiffness": 0}, "stiffness"),
        ({"points": ["ball"], "friction": -1}, "friction"),
        ({"points": ["ball"], "normal": [0, 0, 0]}, "normal"),
        ({"points": [{"frame": "ball", "radius": -0.1}]}, "radius"),
        ({"points": ["ball"], "stifness": 1.0}, "stiffness"),
    ],
)
def test_wrong_grounds_are_named(ground: dict[str, Any], said: str) -> None:
    with pytest.raises(elastogen.RobotError, match=said):
        elastogen.load({**BALL, "ground": ground})
    numbers = {name: value for name, value in ground.items() if name != "points"}
    with pytest.raises(elastogen.RobotError, match=said):
        elastogen.load(BALL).with_ground(*ground["points"], **numbers)


def test_a_robot_without_a_ground_has_no_events() -> None:
    model: Any = elastogen.build_model("two_link", outputs=["forward_dynamics"], cflags="-O0")
    with pytest.raises(elastogen.ModelError, match="stands on no ground"):
        model.ground_gaps([0, 0])


@pytest.mark.nightly
def test_a_dropped_quadruped_comes_to_rest() -> None:
    """Springs of Hertz carry its weight in the end."""
    feet = ["FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", elastogen.RobotWarning)
        robot = elastogen.load(example_urdf("solo12"), base="floating")
    robot = robot.with_ground(*({"frame": foot, "radius": 0.016} for foot in feet), stiffness=3e4, damping=1.0)
    s = elastogen.symbols(robot)
    joints = [joint.name for joint in robot.moving_joints if joint.name != "base"]
    stand = {name: {"HAA": 0.0, "HFE": 0.8, "KFE": -1.6}[name[-3:]] for name in joints}
    spring = sum((5.0 * (s.coordinate(name) - angle) ** 2 for name, angle in stand.items()), sympy.S.Zero)
    damper = sum((0.1 * s.velocity_of(name) ** 2 for name in joints), sympy.S.Zero)
    model: Any = elastogen.build_model(robot.with_terms(name="posture", potential=spring, dissipation=damper), cflags="-O1")
    q = np.array(model.neutral())
    for name, angle in stand.items():
        q[model.coordinate_names.index(name)] = angle
    q[model.coordinate_names.index("base.z")] = 0.45
    motion = model.simulate(q, np.zeros(model.nv), t=np.linspace(0, 12, 2401), rtol=1e-6, atol=1e-8)
    assert motion.ok
    assert {event.frame for event in model.ground_events(motion)} == {*feet}
    # Below v_s friction is a damper of mu N / v_s = 490 N s/m, and a leg 0.3 m long turns 10 N m/rad into 111 N/m: feet creep
    # to their places by exp(-0.23 t). The robot rocks for 3 s and creeps then.
    speeds = np.abs(motion.qd).max(axis=1)
    assert speeds[-1] < 2e-3
    assert 0.15 < np.log(speeds[1600] / speeds[-1]) / 4.0 < 0.35
    height = motion.q[-1, model.coordinate_names.index("base.z")]
    assert 0.1 < height < 0.35
    weight = 9.81 * sum(float(link.whole_mass) for link in robot.links)
    sunk = -model.ground_gaps(motion.q[-1])
    assert (3e4 * sunk**1.5).sum() == pytest.approx(weight, rel=1e-3)
