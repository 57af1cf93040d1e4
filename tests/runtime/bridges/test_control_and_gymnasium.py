"""python-control and Gymnasium: the same motion as the model's own simulation."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from simulated_robots import FLOATING

import elastogen


@pytest.fixture(scope="module")
def model() -> elastogen.Model:
    return elastogen.build_model("two_link")


def test_state_space_is_the_linearization(model: elastogen.Model) -> None:
    control = pytest.importorskip("control", reason="python-control is not installed: make bridges")
    q, F = np.array([0.3, -0.4]), np.array([1.0, 2.0])
    system = model.to_control(q, F=F)
    step = 1e-5
    for column, name in enumerate(system.input_labels):
        assert name == f"F_{model.velocity_names[column]}"
        push = np.zeros(2)
        push[column] = step
        rate = (model.forward_dynamics(q, 0 * q, F + push) - model.forward_dynamics(q, 0 * q, F - push)) / (2 * step)
        assert np.allclose(system.B[2:, column], rate, rtol=1e-8)
    assert isinstance(system, control.StateSpace)
    assert sorted(system.poles().imag) == pytest.approx(sorted(np.linalg.eigvals(system.A).imag))


def test_state_space_of_a_linkage_is_that_of_its_drive() -> None:
    """From a configuration at rest, where simulations with a little more force leave it as the state space says."""
    pytest.importorskip("control", reason="python-control is not installed: make bridges")
    model = elastogen.build_model("four_bar")
    q = model.close_loops([0.6, -2.5, -3.3])
    F = np.array([*model.inverse_dynamics(q, np.zeros(3), np.zeros(3))[:1], 0.0, 0.0])
    system = model.to_control(q, F=F)
    assert system.state_labels == ["d_drive", "d_drive_dot"]
    assert system.input_labels == ["F_drive"]
    push, seconds = 1e-5, 0.05
    ends = [
        model.simulate(q, np.zeros(3), t=[0, seconds], F=F + side * np.eye(3)[0], method="rk4", step=1e-3)
        for side in (push, -push)
    ]
    moved = (ends[0].q[-1, 0] - ends[1].q[-1, 0]) / 2, (ends[0].qd[-1, 0] - ends[1].qd[-1, 0]) / 2
    steps = np.linspace(0, seconds, 51)
    response = control_of(system, steps, push)
    assert np.allclose(moved, response, rtol=1e-6)


def control_of(system, times: np.ndarray, push: float) -> np.ndarray:
    """The state at the end of a constant input."""
    import control

    return np.asarray(control.forced_response(system, times, np.full(len(times), push)).outputs)[:, -1]


def test_operating_points_that_cannot_be_are_named(model: elastogen.Model) -> None:
    pytest.importorskip("control", reason="python-control is not installed: make bridges")
    with pytest.raises(elastogen.ModelError, match=r"to_control: F: got NaN, expected numbers"):
        model.to_control([0.1, 0.2], F=[0.0, np.nan])
    linkage = elastogen.build_model("four_bar")
    with pytest.raises(elastogen.ModelError, match=r"the loops are open by .* at q\. Fix: q = model\.close_loops"):
        linkage.to_control([1.0, 2.0, 0.3])


def test_a_step_is_that_of_the_simulation(model: elastogen.Model) -> None:
    pytest.importorskip("gymnasium", reason="Gymnasium is not installed: make bridges")
    env = model.to_gymnasium(dt=0.02, substeps=4)
    start, _ = env.reset(seed=4)
    action = np.array([3.0, -2.0])
    seen, reward, terminated, truncated, _ = env.step(action)
    motion = model.simulate(start[:2], start[2:], t=[0.0, 0.02], step=0.005, method="rk4", F=action)
    assert np.allclose(seen, np.concatenate([motion.q[-1], motion.qd[-1]]), rtol=1e-12, atol=1e-14)
    assert not terminated
    assert not truncated
    assert reward == pytest.approx(-np.sum(seen[:2] ** 2) - 0.1 * np.sum(seen[2:] ** 2) - 1e-3 * np.sum(action**2))


@pytest.mark.parametrize("robot", [FLOATING, "four_bar"], ids=["floating", "loops"])
def test_free_bases_and_loops_move_as_in_simulations(robot) -> None:
    """Quaternions stay unit and loops closed, from the start on."""
    pytest.importorskip("gymnasium", reason="Gymnasium is not installed: make bridges")
    model = elastogen.build_model(robot)
    envs = model.to_gymnasium(dt=0.02, envs=3, substeps=2)
    start, _ = envs.reset(seed=2)
    actions = 0.01 * envs.action_space.sample()
    seen, *_ = envs.step(actions)
    F = np.zeros((3, model.nv))
    F[:, list(model.driven)] = actions
    for k in range(3):
        q, qd = start[k, : model.nq], start[k, model.nq :]
        motion = model.simulate(q, qd, t=[0.0, 0.02], step=0.01, method="rk4", F=F[k])
        assert np.allclose(seen[k], np.concatenate([motion.q[-1], motion.qd[-1]]), rtol=1e-12, atol=1e-13)
        if robot == "four_bar":
            assert np.abs(model.evaluate("loop_residual", q=seen[k, : model.nq])).max() < 1e-9
        else:
            assert np.linalg.norm(seen[k, 3:7]) == pytest.approx(1.0, abs=1e-14)


def test_actions_are_within_the_limits_of_the_drives() -> None:
    pytest.importorskip("gymnasium", reason="Gymnasium is not installed: make bridges")
    limits = [{"name": "hinge", "type": "revolute", "child": "bar", "limits": {"effort": 20}}]
    bar = {"name": "bar", "mass": 1, "com": [0.4, 0, 0], "inertia": [0.01, 0.08, 0.08]}
    robot = {"elastogen": 1, "name": "limited", "links": [{"name": "base"}, bar], "joints": limits}
    model = elastogen.build_model(robot)
    assert model.force_limits[0] == 20
    assert model.to_gymnasium().action_space.high == 20
    assert model.to_gymnasium(force=3).action_space.high == 3
    assert elastogen.build_model("two_link").to_gymnasium().action_space.high.tolist() == [100, 100]


def test_gymnasium_accepts_the_environment(model: elastogen.Model) -> None:
    checker = pytest.importorskip("gymnasium.utils.env_checker", reason="Gymnasium is not installed: make bridges")
    checker.check_env(model.to_gymnasium(), skip_render_check=True)


def test_many_at_once_are_single_ones(model: elastogen.Model) -> None:
    pytest.importorskip("gymnasium", reason="Gymnasium is not installed: make bridges")
    envs = model.to_gymnasium(envs=7)
    start, _ = envs.reset(seed=1)
    actions = envs.action_space.sample()
    seen, rewards, *_ = envs.step(actions)
    one = model.to_gymnasium()
    for k in range(7):
        one.reset()
        one.unwrapped._q, one.unwrapped._qd = start[k : k + 1, :2].copy(), start[k : k + 1, 2:].copy()
        single, reward, *_ = one.step(actions[k])
        assert np.array_equal(single, seen[k])
        assert reward == pytest.approx(rewards[k], rel=1e-14)


def test_episodes_end_and_begin_again(model: elastogen.Model) -> None:
    pytest.importorskip("gymnasium", reason="Gymnasium is not installed: make bridges")
    envs = model.to_gymnasium(envs=2, force=5000.0)
    envs.reset(seed=1)
    push = np.array([[5000.0, 5000.0], [0.0, 0.0]])
    ended = [bool(envs.step(push)[2][0]) for _ in range(20)]
    assert any(ended)
    after = ended.index(True) + 1
    assert not ended[after]
    envs.reset(seed=1)
    truncated = [envs.step(np.zeros((2, 2)))[3] for _ in range(500)]
    assert truncated[-1].all()
    assert not np.any(truncated[:-1])
    seen, rewards, *_ = envs.step(np.zeros((2, 2)))
    assert (rewards == 0).all()
    assert np.abs(seen[:, :2]).max() <= 0.1
    assert not seen[:, 2:].any()


def test_a_robot_that_cannot_start_there_is_named() -> None:
    """The beam of a telescopic joint at 0, the neutral configuration, is not outside."""
    pytest.importorskip("gymnasium", reason="Gymnasium is not installed: make bridges")
    model = elastogen.build_model("rpb_table3")
    with pytest.raises(elastogen.ModelError, match=r"start=\[0.0, 0.0, .*no accelerations.*Fix: start="):
        model.to_gymnasium()
    outside = 0.4 * np.eye(model.nq)[1]
    envs = model.to_gymnasium(dt=1e-4, envs=3, start=outside, goal=outside)
    first, _ = envs.reset(seed=0)
    assert np.abs(first[:, 1] - 0.4).max() <= 0.1
    seen, *_ = envs.step(0 * envs.action_space.sample())
    assert np.isfinite(seen).all()


def test_actions_and_rewards_of_another_shape_are_named(model: elastogen.Model) -> None:
    """They would be broadcast in silence."""
    pytest.importorskip("gymnasium", reason="Gymnasium is not installed: make bridges")
    one, envs = model.to_gymnasium(), model.to_gymnasium(envs=3)
    one.reset()
    envs.reset()
    with pytest.raises(elastogen.ModelError, match=r"two_link: the action has shape \(1,\), expected \(2,\)"):
        one.step([1.0])
    with pytest.raises(elastogen.ModelError, match=r"the action has shape \(2,\), expected \(3, 2\)"):
        envs.step([1.0, 2.0])
    with pytest.raises(elastogen.ModelError, match="the action contains NaN"):
        envs.step([[0.0, 0.0], [0.0, np.nan], [1.0, 0.0]])
    with pytest.raises(elastogen.ModelError, match=r"reward gave the shape \(3, 1\) for 3 robots, expected \(3,\)"):
        model.to_gymnasium(reward=lambda q, qd, F: -(q[:, :1] ** 2))
    constant = model.to_gymnasium(reward=lambda q, qd, F: 1.0)
    constant.reset()
    assert constant.step([0.0, 0.0])[1] == 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dt": 0}, "dt=0"),
        ({"dt": "x"}, "dt: got 'x'"),
        ({"envs": 0}, "envs=0"),
        ({"goal": [1.0]}, r"goal has shape \(1,\)"),
        ({"force": [1.0, 2.0, 3.0]}, "force="),
        ({"force": -1.0}, "force=-1.0"),
        ({"substeps": -1}, "substeps=-1"),
        ({"start": [0.0, 0.0, 0.0]}, r"start has shape \(3,\), expected \(2,\)"),
    ],
)
def test_wrong_arguments_are_named(model: elastogen.Model, options: dict, message: str) -> None:
    pytest.importorskip("gymnasium", reason="Gymnasium is not installed: make bridges")
    with pytest.raises(elastogen.ModelError, match=message):
        model.to_gymnasium(**options)


@pytest.mark.parametrize(
    ("call", "module"),
    [
        (lambda m: m.to_torch("mass_matrix"), "torch"),
        (lambda m: m.to_control([0, 0]), "control"),
        (lambda m: m.to_gymnasium(), "gymnasium"),
    ],
)
def test_what_is_not_installed_is_named(model, call, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(elastogen.ModelError, match=rf"{module} is needed.*pip install 'elastogen\[{module}\]'"):
        call(model)
