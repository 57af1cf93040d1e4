"""Default gains that are stable on a given robot, and what is said about gains that are not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from loop_setup import BENDING_ARM, finish, run_free

import elastogen
from elastogen.commands.motion.run import _controller
from elastogen.runtime.loop.controllers import BY_NAME, ComputedTorqueLaw, Feedforward, PDGravity, StateFeedback, default_gains
from elastogen.runtime.loop.loop import Loop
from elastogen.runtime.loop.plants import Simulated
from elastogen.runtime.loop.stability import LinearRobot, feedforward_converges, growth, settled
from elastogen.runtime.loop.status import LoopWarning

# Two finite elements and no motor: what a sudden torque moves is a 100th of the arm's inertia.
WHIP = {
    "elastogen": 1,
    "name": "whip",
    "planar": {
        "gravity": [0, -9.81],
        "links": [{"joint": "R", "length": 1.0, "mass_per_length": 0.4, "EI": 30.0, "elements": 2}],
    },
}


@pytest.fixture(scope="module")
def whip():
    return elastogen.build_loop(WHIP)


@pytest.fixture(scope="module")
def arm():
    return elastogen.build_loop(BENDING_ARM)


@pytest.mark.parametrize(
    ("robot", "name"),
    [
        ("whip", "computed_torque"),
        *((r, n) for r in ("arm", "library") for n in ("pd_gravity", "computed_torque", "feedforward")),
    ],
)
def test_defaults_move_every_robot(robot: str, name: str, request) -> None:
    """A move of some periods of the lowest mode ends where it should, without a fault."""
    library = request.getfixturevalue(robot)
    model = library.model
    q = settled(model, np.zeros(model.nq))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "whip: after a fault joint1 needs")  # no motor: sampling allows little damping
        loop, _ = run_free(library, 0, controller=name, plant=Simulated(q))
    slowest = loop.tuning.bandwidths[list(model.driven)].min()
    seconds = max(1.0, 8 * np.pi / LinearRobot.of(model, q).lowest_frequency(), 3 / slowest)
    assert np.abs(np.asarray(model.inverse_dynamics(q, 0 * q, 0 * q))[LinearRobot.of(model, q).elastic]).max(initial=0) < 1e-9
    goal = np.zeros(model.nq)
    goal[list(model.driven)] = 0.3
    loop.move_to(goal, seconds)
    records = finish(loop, int(1000 * (seconds + 4 / slowest)))
    assert loop.status
    assert np.abs(records["q"] - records["q_ref"])[:, list(model.driven)].max() < 0.2
    assert np.abs(records["q"][-1] - goal)[list(model.driven)].max() < 0.03


def test_sampling_limits_the_gains(whip, library) -> None:
    robot = LinearRobot.of(whip.model, np.zeros(whip.model.nq))
    kp, kd, w = default_gains(PDGravity(), robot, 1e-3)
    assert 0.01 < w[0] < 20  # behind a joint without a motor
    assert default_gains(PDGravity(), robot, 1e-5)[2][0] > 4 * w[0]  # a higher rate allows more
    np.testing.assert_allclose([kp[0], kd[0]], robot.mass[0, 0] * np.array([w[0] ** 2, 2 * w[0]]))
    rigid = LinearRobot.of(library.model, np.zeros(2))
    assert default_gains(PDGravity(), rigid, 1e-3)[2].tolist() == [20.0, 20.0]
    assert rigid.lowest_frequency() == np.inf


@pytest.mark.parametrize("controller", [PDGravity, ComputedTorqueLaw, Feedforward, StateFeedback])
@pytest.mark.parametrize("robot", ["arm", "library"])
def test_the_linear_controllers_are_those_of_the_loop(robot: str, controller, request) -> None:
    """-dF/dq and -dF/dqd by differences of the commands that the compiled loop writes."""
    library = request.getfixturevalue(robot)
    model, rng = library.model, np.random.default_rng(5)
    n, driven, q = model.nq, list(model.driven), np.zeros(model.nq)
    kp, kd = rng.uniform(50, 100, n), rng.uniform(1, 5, n)
    K = {"K": rng.uniform(-1, 1, (len(driven), 2 * n))} if controller is StateFeedback else {"kp": kp, "kd": kd}
    law = controller(**K)

    def command(state):
        loop, _ = run_free(library, 0, controller=law, plant=Simulated(q))
        loop.set_reference(q)
        loop.plant.q[:], loop.plant.qd[:] = state[:n], state[n:]
        loop.step()
        return loop.read()["F"][-1]

    step = 1e-6
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LoopWarning)
        slopes = np.array([(command(step * e) - command(-step * e)) / (2 * step) for e in np.eye(2 * n)]).T
    Kq, Kv = law.feedback(LinearRobot.of(model, q), kp, kd)
    np.testing.assert_allclose(np.hstack([Kq, Kv])[driven], -slopes[driven], rtol=2e-6, atol=1e-5 * np.abs(slopes).max())


def test_the_predicted_growth_is_that_of_the_loop(arm) -> None:
    """A small motion of an unstable loop grows as its eigenvalue says."""
    model = arm.model
    q = np.zeros(model.nq)
    gains = PDGravity(kp=[40.0, 400.0], kd=[2.0, 130.0])
    with pytest.warns(LoopWarning, match=r"unstable at 1000 Hz.* elbow grows"):
        loop = Loop(arm, controller=gains, plant=Simulated(q), free_running=True, telemetry=1 << 12)
    rest = np.asarray(model.inverse_dynamics(q, 0 * q, 0 * q))
    loop.plant.disturbance[:] = rest - model.gravity_vector(q)  # so that q is at rest
    elastic = [k for k in range(model.nq) if k not in model.driven]
    loop.plant.disturbance[elastic] += np.asarray(model.gravity_vector(q))[elastic]
    loop.set_reference(q)
    loop.plant.q[3] = 1e-9
    predicted = loop.tuning.growth(loop.controller, q, 1e-3)
    loop.step(60)
    size = np.abs(loop.read()["qd"][:, 3])
    assert predicted.coordinate == "elbow"
    measured = np.log(size[50] / size[20]) / 30e-3
    assert measured == pytest.approx(predicted.rate, rel=1e-3)


def test_a_sampled_double_integrator_has_a_known_limit(library) -> None:
    """M q'' = -kd q' held for T: the step is 1 - kd T / M, so that kd T / M = 2 is the border."""
    unit = np.eye(1)
    robot = LinearRobot(2.0 * unit, 0 * unit, 0 * unit, 0 * unit, ("slide",), (0,), [])
    for factor, rate in ((1.9, np.log(1.0) / 0.1), (2.1, np.log(1.1) / 0.1)):
        found = growth(robot, (0 * unit, factor * 2.0 / 0.1 * unit), 0.1)
        assert found.rate == pytest.approx(rate, abs=1e-12)
        assert found.is_stable == (factor < 2)


def test_feedforward_needs_a_stiffness_that_stays(arm) -> None:
    robot = LinearRobot.of(arm.model, np.zeros(arm.model.nq))
    stiffer = LinearRobot(
        robot.mass, robot.damping, 2.5 * robot.stiffness, robot.gravity, robot.names, robot.driven, robot.elastic
    )
    assert feedforward_converges(robot, robot)
    assert not feedforward_converges(robot, stiffer)


def test_every_named_controller_can_be_linearized(arm) -> None:
    robot = LinearRobot.of(arm.model, np.zeros(arm.model.nq))
    for name in ("pd_gravity", "computed_torque", "feedforward"):
        assert BY_NAME[name]().feedback(robot, np.ones(6), np.ones(6)) is not None
    assert BY_NAME["user"]().feedback(robot, np.ones(6), np.ones(6)) is None


def test_the_command_chooses_a_controller_that_holds_the_goal(whip, arm, library) -> None:
    """Without motors the joint of the whip is so soft that, above the horizontal, weights would turn it over."""
    for each, lifted, expected in ((whip, 0.3, "pd_gravity"), (arm, 0.3, "feedforward"), (library, 0.3, "computed_torque")):
        model, q = each.model, np.zeros(each.model.nq)
        goal = q.copy()
        goal[list(model.driven)] = lifted
        assert _controller(LinearRobot.of(model, q), LinearRobot.of(model, goal), 1e-3) == expected


def test_a_robot_without_mass_is_named(cache_dir) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", elastogen.RobotWarning)
        robot = elastogen.load("two_link", base="floating")
        model = elastogen.build_model(robot, outputs=["inverse_dynamics", "gravity_vector", "simulation"])
    with pytest.raises(elastogen.ModelError, match=r"two_link: the mass matrix is singular here, a loop cannot move base\.w"):
        LinearRobot.of(model, model.neutral())


@pytest.mark.parametrize("method", ["rk4", "semi_implicit"])
@pytest.mark.parametrize("name", ["beam", "joint"])
def test_the_simulated_robot_follows_strong_damping(name: str, method: str, damped) -> None:
    """The upper modes of damping by ratios, and viscous friction before little inertia, end within a part of a period."""
    library = damped[name]
    speed = np.zeros(library.model.nv)
    speed[-1] = 0.1
    loop, cycles = run_free(library, 300, controller=PDGravity(0.0, 0.0), plant=Simulated(qd=speed, method=method))
    records = finish(loop, cycles)
    assert loop.status, loop.status.meaning
    assert np.abs(records["qd"][-1]).max() < 0.01
    assert np.abs(records["q"]).max() < 0.1


@pytest.fixture(scope="module")
def damped():
    beam = WHIP["planar"]["links"][0] | {"EI": 100.0, "damping": {"ratios": [0.05]}, "friction": {"viscous": 2.0}}
    link = {"name": "arm", "mass": 0.1, "com": [0.1, 0, 0], "inertia": [0.001] * 3}
    joint = {"name": "j", "type": "revolute", "friction": {"viscous": 20.0}}
    robots = {
        "beam": {"elastogen": 1, "name": "damped", "planar": {"links": [beam]}},
        "joint": {"elastogen": 1, "name": "sticky", "links": [{"name": "base"}, link], "joints": [joint]},
    }
    return {name: elastogen.build_loop(robot) for name, robot in robots.items()}
