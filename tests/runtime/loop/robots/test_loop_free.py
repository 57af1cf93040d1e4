"""The loop of robots with quaternions: errors, references and the simulated robot on the manifold, with and without drives."""

from __future__ import annotations

import os
import warnings
from typing import Any

import free_chain
import numpy as np
import pytest

import elastogen
from elastogen.generator.functions.derivation import derive_model
from elastogen.runtime.loop.controllers import ComputedTorqueLaw, Feedforward, PDGravity, StateFeedback
from elastogen.runtime.loop.library import LoopLibrary
from elastogen.runtime.loop.loop import Loop
from elastogen.runtime.loop.plants import SharedMemory, SharedRobot, Simulated
from elastogen.runtime.loop.status import LoopWarning
from elastogen.runtime.loop.tuning import Limits
from elastogen.runtime.motion import shaping

PANEL = {
    "type": "modes", "length": 1.5, "mass_per_length": 0.4, "EI": 20.0, "modes": [{"direction": "z", "shape": "(x/L)**2"}],
}  # fmt: skip
FLYER = {
    "elastogen": 1, "name": "flyer", "base": "floating", "gravity": [0, 0, 0],
    "links": [
        {"name": "hub", "mass": 4.0, "inertia": [0.2, 0.3, 0.4]},
        {"name": "panel", "flexible": PANEL},
        {"name": "rod", "mass": 1.0, "com": [0.4, 0, 0], "inertia": [0.01, 0.1, 0.1]},
    ],
    "joints": [
        {"name": "root", "type": "fixed", "parent": "hub", "child": "panel"},
        {"name": "hinge", "type": "revolute", "parent": "hub", "child": "rod", "axis": [0, 1, 0]},
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def chain(cache_dir: Any) -> LoopLibrary:
    """A hub with six drives, a ball joint with three and a hinge."""
    return elastogen.build_loop(elastogen.load(free_chain.description(), base="driven"))


@pytest.fixture(scope="module")
def flyer(cache_dir: Any) -> LoopLibrary:
    """A free hub without drives, a flexible panel and a hinge."""
    return elastogen.build_loop(FLYER)


def state(model: elastogen.Model, seed: int = 3) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return model.integrate(model.neutral(), rng.uniform(-1, 1, model.nv)), rng.uniform(-0.5, 0.5, model.nv)


def one_cycle(library: LoopLibrary, controller: Any, q: Any, qd: Any, reference: dict[str, Any]) -> Any:
    """The command of the first cycle."""
    loop = Loop(library, controller=controller, plant=Simulated(q, qd))
    loop.set_reference(**reference)
    assert loop.step(1)
    return loop.read()["F"][0]


def test_commands_of_all_controllers(chain: LoopLibrary) -> None:
    """F by the laws themselves, with the displacement from the measured to the wanted configuration as the error."""
    model = chain.model
    (q, qd), (wanted, rates) = state(model), state(model, 4)
    wanted = model.integrate(q, 0.2 * rates)
    rng = np.random.default_rng(9)
    qdd, F, kp, kd = rng.uniform(-1, 1, (4, 10))
    kp, kd = kp + 5, kd + 3
    reference = {"q": wanted, "qd": rates, "qdd": qdd, "F": F}
    error, rate = model.difference(q, wanted), rates - qd
    np.testing.assert_allclose(error, 0.2 * rates, atol=1e-14)
    pd = kp * error + kd * rate + F
    ahead = model.inverse_dynamics(wanted, rates, qdd)
    K = rng.uniform(-1, 1, (10, 20))
    laws = {
        PDGravity(kp, kd): model.gravity_vector(q) + pd,
        ComputedTorqueLaw(kp, kd): model.inverse_dynamics(q, qd, qdd + kp * error + kd * rate) + F,
        Feedforward(kp, kd): ahead + pd,
        StateFeedback(K=K): ahead + F + K @ np.concatenate([error, rate]),
        StateFeedback(K=K, feedforward=False): F + K @ np.concatenate([error, rate]),
    }
    for controller, expected in laws.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LoopWarning)  # such gains make no stable loop
            np.testing.assert_allclose(one_cycle(chain, controller, q, qd, reference), expected, rtol=1e-11, atol=1e-11)


def quintic(s: Any) -> tuple[Any, Any]:
    """Rest to rest: 10 s^3 - 15 s^4 + 6 s^5 and its slope."""
    return 10 * s**3 - 15 * s**4 + 6 * s**5, 30 * s**2 - 60 * s**3 + 30 * s**4


def test_a_move_from_rest_is_a_geodesic(chain: LoopLibrary) -> None:
    model, T = chain.model, 0.4
    q, _ = state(model)
    goal, _ = state(model, 5)
    loop = Loop(chain, controller=ComputedTorqueLaw(), plant=Simulated(q))
    loop.move_to(goal, T)
    assert loop.step(600)
    records = loop.read()
    way, speed = quintic(np.minimum(np.arange(600) * 1e-3 / T, 1.0))
    apart = model.difference(q, goal)
    np.testing.assert_allclose(
        model.difference(np.broadcast_to(q, (600, 12)), records["q_ref"]), np.outer(way, apart), atol=1e-12
    )
    np.testing.assert_allclose(records["qd_ref"], np.outer(speed / T, apart), atol=1e-11)
    np.testing.assert_allclose(records["q_ref"][-1], goal, atol=1e-15)
    assert np.abs(loop.errors(records)).max() < 2e-3  # commands are held for a period each
    assert np.abs(loop.errors(records)[-1]).max() < 1e-4
    for first in (3, 7):
        np.testing.assert_allclose(np.linalg.norm(records["q"][:, first : first + 4], axis=1), 1.0, atol=1e-15)


def test_jerk_and_snap_of_a_geodesic(chain: LoopLibrary) -> None:
    model, T, s = chain.model, 0.4, 0.25
    q, _ = state(model)
    goal, _ = state(model, 5)
    loop = Loop(chain, controller=ComputedTorqueLaw(), plant=Simulated(q))
    loop.move_to(goal, T)
    assert loop.step(int(1000 * s * T) + 1)
    apart = model.difference(q, goal)
    for order, expected in ((3, 60 - 360 * s + 360 * s**2), (4, -360 + 720 * s)):
        found = [loop._loop.plain[order][i] for i in range(model.nv)]
        np.testing.assert_allclose(found, expected / T**order * apart, rtol=1e-9, atol=1e-9)


def test_a_move_goes_on_from_a_motion(chain: LoopLibrary) -> None:
    """Positions, velocities and accelerations of the reference do not jump, and velocities are those of the positions."""
    model = chain.model
    q, _ = state(model)
    loop = Loop(chain, controller=PDGravity(), plant=Simulated(q), rate=5000)
    loop.move_to(state(model, 5)[0], 0.3)
    loop.step(500)
    goal = state(model, 6)[0]
    loop.move_to(goal, 0.2)
    loop.step(1500)
    records = loop.read()
    steps = model.difference(records["q_ref"][:-1], records["q_ref"][1:]) * 5000
    means = 0.5 * (records["qd_ref"][:-1] + records["qd_ref"][1:])
    assert np.abs(steps - means).max() < 1e-5 * np.abs(means).max()
    assert np.abs(np.diff(records["qd_ref"], n=2, axis=0)).max() < 1e-4 * np.abs(means).max()  # no jump of accelerations
    np.testing.assert_allclose(records["q_ref"][-1], goal, atol=1e-15)


def test_tables_of_positions_and_velocities(chain: LoopLibrary) -> None:
    model = chain.model
    q, qd = state(model)
    rows = np.array([model.integrate(q, 1e-3 * k * qd) for k in range(20)])
    loop = Loop(chain, controller=ComputedTorqueLaw(), plant=Simulated(q, qd))
    loop.follow(3.0 * rows * np.array([1 / 3] * 3 + [1] * 8 + [1 / 3]), np.tile(qd, (20, 1)), np.zeros((20, 10)))
    loop.step(30)
    records = loop.read()
    np.testing.assert_allclose(records["q_ref"][:20], rows, atol=1e-15)  # quaternions are made unit
    np.testing.assert_array_equal(records["qd_ref"][25], qd)
    with pytest.raises(elastogen.ModelError, match=r"qd has shape \(20, 12\), expected finite numbers of shape \(20, 10\)"):
        loop.follow(rows, rows, rows)


def test_limits_name_what_they_stop_at(chain: LoopLibrary) -> None:
    model = chain.model
    q, _ = state(model)

    def ends(limits: Limits, moved: int) -> Any:
        loop = Loop(chain, controller=PDGravity(0.0, 0.0), plant=Simulated(q), limits=limits)
        loop.set_reference(model.integrate(q, 0.1 * np.eye(10)[moved]))
        return loop.step(1)

    assert str(ends(Limits(error=0.05), 7).coordinate) == "ball.wy"
    assert ends(Limits(error=0.2), 7)
    with pytest.raises(elastogen.ModelError, match=r"q of base.x is .* beyond it the loop stops"):
        ends(Limits(position=(-10.0, q - 1e-9)), 0)
    beyond = Loop(chain, plant=Simulated(q), limits=Limits(position=(-10.0, np.where(np.arange(12) == 1, q - 1e-9, 10.0))))
    assert beyond.step(1).coordinate == "base.y"
    plant = Simulated(q)
    loop = Loop(chain, controller=PDGravity(0.0, 0.0), plant=plant)
    plant.qd[8] = np.nan
    assert loop.step(1).coordinate == "ball.wz"


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda loop, q: loop.set_reference(np.zeros(12)), "expected a unit quaternion"),
        (lambda loop, q: loop.set_reference(q[:10]), "shape"),
        (lambda loop, q: loop.set_reference(q, qd=q), "qd has shape"),
        (lambda loop, q: loop.move_to(q[:5], 1.0), "q has shape"),
    ],
)
def test_wrong_references(chain: LoopLibrary, call: Any, says: str) -> None:
    q, _ = state(chain.model)
    with pytest.raises(elastogen.ModelError, match=says):
        call(Loop(chain, controller=PDGravity(1.0, 1.0), plant=Simulated(q)), q)


def test_shared_memory_has_places_for_both_sizes(chain: LoopLibrary) -> None:
    q, qd = state(chain.model)
    name = f"elastogen-test-free-{os.getpid()}"
    with SharedMemory(name, stale_seconds=0) as plant:
        loop = Loop(chain, controller=PDGravity(0.0, 2.0), plant=plant)
        with SharedRobot(chain, name) as robot:
            robot.put(q, qd)
            loop.step(1)
            expected = chain.model.gravity_vector(q) - 2.0 * qd
            np.testing.assert_allclose(robot.get(), expected, rtol=1e-12, atol=1e-12)
            with pytest.raises(elastogen.ModelError, match=r"qd has shape \(12,\), expected \(10,\)"):
                robot.put(q, q)


@pytest.mark.parametrize("method", ["rk4", "semi_implicit"])
@pytest.mark.parametrize("controller", ["computed_torque", "feedforward", "pd_gravity"])
def test_a_free_base_answers(flyer: LoopLibrary, controller: str, method: str) -> None:
    """The hinge follows, nothing drives the hub, the momentum stays zero."""
    model = flyer.model
    assert (model.nq, model.nv, model.driven, model.driven_coordinates, model.elastic) == (9, 8, (7,), (8,), (6,))
    plant = Simulated(method=method)
    loop = Loop(flyer, controller=controller, plant=plant)
    loop.move_to([0.6], 0.5)
    assert loop.step(800)
    records = loop.read()
    assert not records["F"][:, :7].any()
    np.testing.assert_array_equal(records["q_ref"][:, :8], records["q"][:, :8])  # nothing to follow there
    bound = {"computed_torque": 2e-3, "feedforward": 2e-3, "pd_gravity": 0.2}[controller]
    assert np.abs(loop.errors(records)).max() < bound
    assert np.abs(records["q"][-1, :3]).max() > 1e-2  # the hub answers
    (momentum,) = derive_model(elastogen.load(FLYER), ("centroidal_momentum",)).functions
    h = momentum.evaluate({"q": plant.q, "qd": plant.qd})["h"]
    swing = momentum.evaluate({"q": records["q"][250], "qd": np.eye(8)[7] * records["qd"][250, 7]})["h"]
    assert np.abs(h).max() < {"rk4": 1e-9, "semi_implicit": 1e-2}[method] * np.abs(swing).max()


def test_shapers_leave_turns_alone(flyer: LoopLibrary) -> None:
    loop = Loop(flyer, controller="pd_gravity", shaper=shaping.zv(2 * np.pi / 0.1))
    loop.move_to([0.3], 0.2)
    assert loop.step(300)
    records = loop.read()
    s = np.minimum(np.arange(300) / 200, 1.0)
    way = 0.3 * s**5 * (126 - 420 * s + 540 * s**2 - 315 * s**3 + 70 * s**4)  # without a jump of snap
    late = np.concatenate([np.zeros(50), way[:-50]])
    np.testing.assert_allclose(records["q_ref"][:, 8], 0.5 * (way + late), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(records["q_ref"][:, 3:7], axis=1), 1.0, atol=1e-15)


def test_a_controller_of_the_arm_alone_on_a_free_robot(flyer: LoopLibrary, chain: LoopLibrary) -> None:
    with pytest.raises(elastogen.ModelError, match="all three of a rotation"):
        Loop(flyer, plant=Simulated(library=chain, measured=[0, 1, 2, 3, 4, 6, 9, 8]))
    with pytest.raises(elastogen.ModelError, match="expected 8 of them"):
        Loop(flyer, plant=Simulated(library=chain, measured=[9]))
