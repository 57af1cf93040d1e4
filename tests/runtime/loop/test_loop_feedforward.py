"""Feedforward of flexible arms: the elastic equilibrium of the reference motion, its velocity and its acceleration."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest
from loop_setup import BENDER, BENDING_ARM

from elastogen.build.start import build_loop
from elastogen.runtime.loop.controllers import ComputedTorqueLaw, Feedforward, PDGravity, UserController, stiffness_by_columns
from elastogen.runtime.loop.loop import Loop
from elastogen.runtime.loop.plants import SharedMemory, SharedRobot, Simulated

QUASI_STATIC = Path(__file__).parents[2] / "c" / "quasi_static_controller.c"
JOINTS, ELASTIC = [0, 3], [1, 2, 4, 5]  # of the bending arm


@pytest.fixture(scope="module")
def bending(cache_dir):
    """Two flexible links with a payload, and the approximation without elastic accelerations as the user's controller."""
    return build_loop(BENDING_ARM, controller_source=QUASI_STATIC, outputs=["inverse_dynamics_rate_1", "forward_kinematics"])


def elastic_motion(loop: Loop, cycles: int) -> tuple[np.ndarray, ...]:
    """Deflection, velocity and acceleration that the feedforward finds in each cycle."""
    rows: list[list[list[float]]] = []
    for _ in range(cycles):
        assert loop.step()
        elastic = loop._loop.elastic
        rows.append([list(elastic.x), list(elastic.xd), list(elastic.xdd)])
    return tuple(np.moveaxis(np.array(rows), 1, 0))


def assert_derivatives(x, xd, xdd, period: float, tolerance: float) -> None:
    """Velocity and acceleration are those of the deflection over time."""
    first, second = (x[2:] - x[:-2]) / (2 * period), (x[2:] - 2 * x[1:-1] + x[:-2]) / period**2
    assert np.abs(xd[1:-1] - first).max() < tolerance * np.abs(first).max()
    assert np.abs(xdd[1:-1] - second).max() < tolerance * np.abs(second).max()


def test_feedforward_finds_the_elastic_equilibrium_and_its_derivatives(bender) -> None:
    loop = bender.loop(controller=Feedforward(4000, 100), rate=1000, telemetry=4096, keep="oldest")
    loop.step(20)
    x = np.array(list(loop._loop.elastic.x))
    rest = np.concatenate([[0.0], x])
    forces = bender.inverse_dynamics(rest, np.zeros(3), np.zeros(3))
    assert np.abs(forces[1:]).max() < 1e-9
    assert x[0] < -1e-3
    last = loop.read()[-1]
    assert last["F"][0] + 4000 * last["q"][0] + 100 * last["qd"][0] == pytest.approx(forces[0], rel=1e-9)
    loop.move_to([1.0], 1.0)
    assert_derivatives(*elastic_motion(loop, 990), 1e-3, 1e-3)


def test_the_first_cycle_begins_at_the_straight_arm(bending) -> None:
    """Its two Newton steps leave little of the forces of the straight arm; from afar they would leave much."""
    loop = Loop(bending, controller=Feedforward(4000, 100), rate=1000)
    loop.step()
    still, bent = np.zeros(6), np.zeros(6)
    bent[ELASTIC] = list(loop._loop.elastic.x)
    straight, left = (bending.model.inverse_dynamics(q, still, still)[ELASTIC] for q in (still, bent))
    assert np.abs(left).max() < 1e-6 * np.abs(straight).max()


def test_tables_without_jerk_and_snap_are_differenced(bender) -> None:
    t = 1e-3 * np.arange(800)[:, None] * [1, 0, 0]
    q, qd, qdd = 0.2 - 0.2 * np.cos(5 * t), np.sin(5 * t), 5 * np.cos(5 * t) * [1, 0, 0]
    found = []
    for more in ({}, {"qddd": -25 * np.sin(5 * t), "qdddd": -125 * np.cos(5 * t) * [1, 0, 0]}):
        loop = bender.loop(controller=Feedforward(4000, 100), rate=1000)
        loop.follow(q * [1, 0, 0], qd, qdd, **more)
        found.append(elastic_motion(loop, 700))
    for differenced, given in zip(*found, strict=True):
        np.testing.assert_allclose(differenced[5:], given[5:], atol=1e-4 * np.abs(given).max())
    assert_derivatives(*(part[5:] for part in found[1]), 1e-3, 1e-3)
    loop = bender.loop(controller=Feedforward(4000, 100), rate=1000)
    loop.follow(q * [1, 0, 0], qd, qdd)
    loop.step()
    for row in (1, 2):  # the first row has none before it
        loop.step()
        assert loop._loop.plain[3][0] == pytest.approx((qdd[row + 1, 0] - qdd[row - 1, 0]) / 2e-3, rel=1e-9)


def test_any_number_of_coordinates(cache_dir) -> None:
    robot = copy.deepcopy(BENDER)
    robot["name"], beam = "long_beam", robot["links"][1]["flexible"]
    del beam["modes"], beam["damping"]
    beam.update(type="elements", elements=8)
    library = build_loop(robot)
    assert library.model.nq == 17
    loop = Loop(library, controller=Feedforward(4000, 100), telemetry=0)
    loop.move_to([1.0], 1.0)
    assert_derivatives(*elastic_motion(loop, 990), 1e-3, 1e-3)


def test_a_stiff_arm_gets_the_torque_of_a_rigid_one(bender) -> None:
    """Beams that hardly bend: the torque of the rigid arm."""
    stiff, rigid = copy.deepcopy(BENDER), copy.deepcopy(BENDER)
    beam = stiff["links"][1]["flexible"]
    beam.update(EI=6e8)
    stiff["name"], rigid["name"] = "stiff_beam", "rigid_beam"
    length, density, tip = beam["length"], beam["mass_per_length"], beam["tip"]["mass"]
    mass, moment = density * length, density * length**2 / 2 + tip * length
    inertia = density * length**3 / 3 + tip * length**2
    rigid["links"][1] = {
        "name": "beam", "mass": mass + tip, "com": [moment / (mass + tip), 0, 0],
        "inertia": [0, *2 * [inertia - moment**2 / (mass + tip)]],
    }  # fmt: skip
    commands = []
    for robot in (stiff, rigid):
        loop = Loop(build_loop(robot), plant="simulated", controller=Feedforward(0, 0), rate=1000, telemetry=1024)
        n = loop.model.nq
        t = 1e-3 * np.arange(300)[:, None] * np.eye(n)[0]
        loop.follow(np.sin(2 * t), 2 * np.cos(2 * t) * np.eye(n)[0], -4 * np.sin(2 * t))
        loop.step(300)
        commands.append(loop.read()["F"][:, 0])
    np.testing.assert_allclose(commands[0], commands[1], rtol=1e-6)


@pytest.mark.parametrize("precision", ["double", "float"])
def test_feedforward_of_a_rigid_arm_is_that_of_computed_torque(precision: str, cache_dir, rng) -> None:
    library = build_loop("two_link", precision=precision)
    real = library.model.dtype
    for _ in range(10):
        q, qd, qdd = rng.uniform(-2, 2, (3, 2)).astype(real)
        commands = []
        for controller in (Feedforward(300, 30), ComputedTorqueLaw(300, 30)):
            plant = SharedMemory()
            loop = Loop(library, plant=plant, controller=controller)
            robot = SharedRobot(library, plant.name)
            robot.put(q, qd)
            loop.set_reference(q, qd, qdd)
            assert loop.step()
            commands.append(robot.get())
            robot.close()
            plant.close()
        np.testing.assert_allclose(commands[0], commands[1], rtol=8 * np.finfo(real).eps)
        np.testing.assert_allclose(commands[0], library.model.inverse_dynamics(q, qd, qdd), rtol=8 * np.finfo(real).eps)


def equilibrium(model, joints) -> np.ndarray:
    """The bending arm at rest under its weight."""
    q, zero = np.zeros(6), np.zeros(6)
    q[JOINTS] = joints
    stiffness = stiffness_by_columns(model, q)[np.ix_(ELASTIC, ELASTIC)]
    for _ in range(40):
        q[ELASTIC] -= np.linalg.solve(stiffness, model.inverse_dynamics(q, zero, zero)[ELASTIC])
    return q


def follow_with(library, controller, start, goal, seconds: float, rate: int = 4000) -> dict[str, float]:
    """Errors of a move: of the joints while it lasts, of joints, deflections and tip after it."""
    model = library.model
    loop = Loop(
        library, controller=controller, plant=Simulated(start), rate=rate, free_running=True, telemetry=1 << 14, keep="oldest"
    )
    loop.tuning.array("compliance")[:] = np.linalg.inv(stiffness_by_columns(model, start)[np.ix_(ELASTIC, ELASTIC)]).ravel()
    loop.tuning.publish(loop._loop)
    loop.set_reference(start[JOINTS])
    loop.step(1)
    loop.move_to(goal[JOINTS], seconds)
    loop.step(int((seconds + 1.0) * rate))
    assert loop.status
    records, end = loop.read(), int(seconds * rate) + 2
    q, error = records["q"], np.abs(records["q"] - records["q_ref"])[:, JOINTS]
    tip = model.forward_kinematics(q[end::20])[:, -1, :3, 3] - model.forward_kinematics(goal)[-1, :3, 3]
    return {
        "joints, moving": error[:end].max(),
        "joints, residual": error[end:].max(),
        "deflection, residual": np.abs(q[end:] - goal)[:, ELASTIC].max(),
        "tip, residual": np.linalg.norm(tip, axis=1).max(),
    }


def test_elastic_accelerations_make_a_flexible_arm_with_payload_follow(bending) -> None:
    """A move of three periods of the lowest mode, soft feedback: errors with and without elastic accelerations."""
    model = bending.model
    start, goal = equilibrium(model, [0.3, -0.4]), equilibrium(model, [1.1, -1.3])
    gains = ([60.0, 30.0], [6.0, 3.0])
    memory = bending.ffi.new("double[6]", [0.0 if k in JOINTS else float(start[k]) for k in range(6)])
    before = follow_with(bending, UserController(*gains, context=memory), start, goal, 1.0)
    now = follow_with(bending, Feedforward(*gains), start, goal, 1.0)
    for name, error in before.items():
        assert now[name] < 0.3 * error, f"{name}: {now[name]:.2e}, without elastic accelerations {error:.2e}"


def test_errors_fall_fast_with_the_duration(bending) -> None:
    """The torque that a move needs falls with the square of its duration; what the feedforward leaves out falls faster."""
    model = bending.model
    start, goal = equilibrium(model, [0.3, -0.4]), equilibrium(model, [1.1, -1.3])
    errors = [follow_with(bending, Feedforward([60, 30], [6, 3]), start, goal, T)["joints, moving"] for T in (1.0, 2.0)]
    assert errors[1] < errors[0] / 8


def test_feedforward_leaves_little_to_the_feedback(bender) -> None:
    errors = {}
    for controller in (Feedforward(400, 40), PDGravity(400, 40)):
        loop = bender.loop(controller=controller, rate=1000, free_running=True, telemetry=1 << 13, keep="oldest")
        loop.start(seconds=3.0)  # the beam comes to rest under its weight
        assert loop.wait(timeout=30)
        loop.move_to([0.8], 0.8)
        loop.start(seconds=1.5)
        assert loop.wait(timeout=30)
        records = loop.read()
        errors[controller.name] = np.abs(records["q"] - records["q_ref"])[:, 0].max()
    assert errors["feedforward"] < 0.4 * errors["pd_gravity"]


def test_feedforward_begins_anew_after_a_motion_that_no_arm_can_do(bender) -> None:
    """Its equilibrium is no number then, and the Newton steps of the next cycle would never leave it."""
    loop = bender.loop(controller=Feedforward(4000, 100), rate=1000)
    loop.step(50)
    x = np.array(list(loop._loop.elastic.x))
    for place in (loop._loop.elastic.x, loop._loop.elastic.xd, loop._loop.elastic.xdd):
        place[0] = np.nan
    loop.step(3000)
    assert (loop.status.name, loop.phase) == ("STATUS_COMMAND_NOT_FINITE", "holding")
    loop.reset()
    assert loop.step(50)
    np.testing.assert_allclose(list(loop._loop.elastic.x), x, rtol=1e-6)
