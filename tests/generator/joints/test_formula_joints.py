"""Formula joints: as the built-in kinds where there is one, else against d'Alembert's principle in many digits."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import dalembert
import mpmath
import numpy as np
import pytest
import sympy
from formula_robots import BALL, BODIES, CAM, GRAVITY, INERTIA, PATH, ball_poses, description, track_poses
from loop_setup import finish

import elastogen
from elastogen.describe import describe
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.functions.function import Function
from elastogen.generator.robot.robot import Robot
from elastogen.runtime.loop.controllers import ComputedTorqueLaw
from elastogen.runtime.loop.plants import Simulated
from elastogen.verification import second_derivation

TWISTED = {"axis": [0.6, 0, 0.8]}
PAIRS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "helical": (
        {"type": "helical", "pitch": "lead", **TWISTED},
        {"coordinates": {"a": "rad"}, "displacement": ["0.6*lead*a", 0, "0.8*lead*a"], "turns": [{**TWISTED, "angle": "a"}]},
    ),
    "universal": (
        {"type": "universal", "axis": [1, 0, 0], "axis2": [0, 1, 0]},
        {
            "coordinates": {"a": "rad", "b": "rad"},
            "turns": [{"axis": [1, 0, 0], "angle": "a"}, {"axis": [0, 1, 0], "angle": "b"}],
        },
    ),
    "cylindrical": (
        {"type": "cylindrical"},
        {"coordinates": {"a": "rad", "s": "m"}, "displacement": [0.0, 0, "s"], "rotation": [0.0, 0, "a"]},
    ),
    "planar": (
        {"type": "planar"},
        {"coordinates": {"x": "m", "y": "m", "a": "rad"}, "displacement": ["x", "y", 0], "rotation": [0, 0, "a"]},
    ),
}


def derived(robot: Robot, *names: str) -> dict[str, Function]:
    return {function.name: function for function in derive_model(robot, names).functions}


def between_revolutes(joint: dict[str, Any]) -> Robot:
    links = [{"name": f"l{k}", "mass": 1.5 - 0.4 * k, "com": [0.2, 0.05, 0.1 * k], "inertia": INERTIA} for k in range(3)]
    middle = {"name": "middle", "type": "formula", "placement": {"xyz": [0.4, 0.1, 0], "rpy": [0.3, 0, 0]}, **joint}
    joints = [
        {"name": "turn", "type": "revolute", "axis": [0, 1, 0]},
        middle,
        {"name": "wrist", "type": "revolute", "axis": [1, 0, 0], "placement": {"xyz": [0, 0.2, 0.1]}},
    ]
    file = {"elastogen": 1, "name": "pair", "parameters": {"lead": 0.04}, "links": [{"name": "base"}, *links], "joints": joints}
    return elastogen.load(file)


@pytest.mark.parametrize("kind", PAIRS)
def test_as_the_built_in_kind_at_the_same_cost(kind: str) -> None:
    names = ("inverse_dynamics", "mass_matrix", "forward_kinematics")
    built_in, written = (derived(between_revolutes(joint), *names) for joint in PAIRS[kind])
    rng = np.random.default_rng(3)
    for _ in range(5):
        size = built_in["inverse_dynamics"].program.outputs[0][0].size
        state = {name: rng.uniform(-1.5, 1.5, size) for name in ("q", "qd", "qdd")}
        for name in names:
            (expected,), (found,) = (functions[name].evaluate(state).values() for functions in (built_in, written))
            np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-14)
    for name in names:
        assert written[name].program.count.cost <= 1.1 * built_in[name].program.count.cost


def test_what_is_no_chain_of_screws_in_the_order_of_the_coordinates_has_a_frame_of_its_own() -> None:
    def screws(**joint: Any) -> int:
        middle = between_revolutes(joint).joints[1]
        return len(middle.type.screws(middle))

    turn = [{"axis": [0, 0, 1], "angle": "a"}]
    assert screws(coordinates={"s": "m", "a": "rad"}, displacement=["s", 0, 0], turns=turn) == 2
    assert screws(coordinates={"a": "rad", "s": "m"}, displacement=["s", 0, 0], turns=turn) == 0  # s would turn
    assert screws(coordinates={"a": "rad"}, displacement=["a/10", 0, 0], turns=turn) == 0  # not along the axis
    assert screws(coordinates={"s": "m"}, displacement=["2*s", 0, 0]) == 0
    assert screws(coordinates={"s": "m"}, displacement=["s + 0.1", 0, 0]) == 0
    assert (
        screws(coordinates={"a": "rad", "b": "rad"}, turns=[{**turn[0], "angle": "a + b"}, {"axis": [1, 0, 0], "angle": "b"}])
        == 0
    )


@pytest.fixture(scope="module")
def track() -> Robot:
    """A cam that carries a carriage on a rail; the cam's eccentricity is live."""
    return elastogen.load(description(CAM, PATH, live=["ecc"], points=[{"name": "eye", "link": "second", "xyz": [0, 0.1, 0]}]))


@pytest.fixture(scope="module")
def track_functions(track: Robot) -> dict[str, Function]:
    names = ("inverse_dynamics", "inverse_dynamics_derivatives", "forward_dynamics", "forward_kinematics", "point_positions")
    return derived(track, *names, "mass_matrix", "kinetic_energy", "potential_energy", "inverse_dynamics_rate_1")


LIVE = {"ecc": 0.04}


def by_principle(poses: Any, bodies: Any, state: Any) -> Any:
    return dalembert.inverse_dynamics(poses, bodies, GRAVITY, *state)


def test_cam_and_path_against_d_alembert(track_functions: dict[str, Function]) -> None:
    for state in np.random.default_rng(4).uniform(-1.5, 1.5, (4, 3, 2)):
        q, qd, qdd = state
        expected = by_principle(track_poses, BODIES, state).astype(float)
        found = track_functions["inverse_dynamics"].evaluate({"q": q, "qd": qd, "qdd": qdd}, LIVE)["F"]
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
        again = track_functions["forward_dynamics"].evaluate({"q": q, "qd": qd, "F": expected}, LIVE)["qdd"]
        np.testing.assert_allclose(again, qdd, rtol=1e-11, atol=1e-11)
        with mpmath.workdps(30):
            frames = np.array([T.tolist() for T in track_poses([mpmath.mpf(x) for x in q])], dtype=float)
        found = track_functions["forward_kinematics"].evaluate({"q": q}, LIVE)["T"]
        np.testing.assert_allclose(found[:2], frames, rtol=1e-14, atol=1e-14)
        (eye,) = track_functions["point_positions"].evaluate({"q": q}, LIVE).values()
        np.testing.assert_allclose(np.ravel(eye), (frames[1] @ [0, 0.1, 0, 1])[:3], rtol=1e-13, atol=1e-14)


def slopes(poses: Any, bodies: Any, state: Any) -> list[Any]:
    """dF/dq and dF/dqd by differences of the principle in many digits."""
    with mpmath.workdps(dalembert.DIGITS):
        h = mpmath.mpf(10) ** -7
        numbers = [[mpmath.mpf(float(x)) for x in vector] for vector in state]
        found = []
        for which in (0, 1):
            columns = []
            for k in range(len(numbers[0])):
                ends = []
                for sign in (1, -1):
                    moved = [list(vector) for vector in numbers]
                    moved[which][k] += sign * h
                    ends.append(by_principle(poses, bodies, moved))
                columns.append(((ends[0] - ends[1]) / (2 * h)).astype(float))
            found.append(np.array(columns).T)
        return found


def test_derivatives_and_rates(track_functions: dict[str, Function]) -> None:
    state = np.random.default_rng(5).uniform(-1, 1, (3, 2))
    q, qd, qdd = state
    dq, dqd = slopes(track_poses, BODIES, state)
    found = track_functions["inverse_dynamics_derivatives"].evaluate({"q": q, "qd": qd, "qdd": qdd}, LIVE)
    np.testing.assert_allclose(found["dF_dq"], dq, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(found["dF_dqd"], dqd, rtol=1e-11, atol=1e-11)
    M = track_functions["mass_matrix"].evaluate({"q": q}, LIVE)["M"]
    jerk = np.array([0.3, -0.7])
    rate = track_functions["inverse_dynamics_rate_1"].evaluate({"q": q, "qd": qd, "qdd": qdd, "q3": jerk}, LIVE)
    (found_rate,) = rate.values()
    np.testing.assert_allclose(found_rate, dq @ qd + dqd @ qdd + M @ jerk, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("size", [0.0, 1e-160, 1e-3, 1.9999999, 2.0000001, 6.0])
def test_a_rotation_vector_is_accurate_at_every_angle_with_its_derivatives(ball: dict[str, Function], size: float) -> None:
    direction = np.array([2.0, -1.0, 2.0]) / 3
    rng = np.random.default_rng(6)
    state = np.array([size * direction, *rng.uniform(-1, 1, (2, 3))])
    q, qd, qdd = state
    expected = by_principle(ball_poses, BODIES[:1], state).astype(float)
    found = ball["inverse_dynamics"].evaluate({"q": q, "qd": qd, "qdd": qdd})["F"]
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=2e-14)
    if size in (1e-160, 6.0):
        return
    dq, dqd = slopes(ball_poses, BODIES[:1], state)
    found = ball["inverse_dynamics_derivatives"].evaluate({"q": q, "qd": qd, "qdd": qdd})
    np.testing.assert_allclose(found["dF_dq"], dq, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found["dF_dqd"], dqd, rtol=1e-12, atol=1e-12)


@pytest.fixture(scope="module")
def ball() -> dict[str, Function]:
    return derived(elastogen.load(description(BALL)), "inverse_dynamics", "inverse_dynamics_derivatives")


def test_sympy_in_python_is_the_same_robot(track: Robot) -> None:
    angle, ecc, s = sympy.symbols("angle ecc s")  # whatever is assumed of them
    tenth = sympy.Float(0.1)
    cam = {
        **CAM,
        "displacement": [ecc * sympy.cos(angle), ecc * sympy.sin(angle), tenth * (1 - sympy.cos(2 * angle))],
        "turns": [{**CAM["turns"][0], "angle": angle + 0.2 * sympy.sin(angle)}, {**CAM["turns"][1], "angle": angle**2 / 3}],
    }
    rail = {**PATH, "displacement": sympy.Matrix([s, 0.3 * sympy.sin(2 * s), tenth * s**2])}
    points = [{"name": "eye", "link": "second", "xyz": [0, 0.1, 0]}]
    assert elastogen.load(description(cam, rail, live=["ecc"], points=points)) == track


def test_kinks_have_the_derivative_of_their_upper_side() -> None:
    ramp = {
        "name": "ramp", "type": "formula", "coordinates": {"s": "m"},
        "displacement": ["s", "max(s, 0.2)/2 + min(0, s)", "abs(s)/4 if s < 0.5 else 0.125 + (s - 0.5)*sign(s)"],
    }  # fmt: skip
    J = derived(elastogen.load(description(ramp)), "jacobian")["jacobian"]
    for s, slope in ((-0.3, [1, 1, -0.25]), (0.1, [1, 0, 0.25]), (0.4, [1, 0.5, 0.25]), (0.9, [1, 0.5, 1])):
        np.testing.assert_allclose(J.evaluate({"q": [s]})["J"][:3, 0], slope, rtol=1e-15)


def test_check_lock_and_several_coordinates(track: Robot) -> None:
    assert "formula" in describe(track)
    assert track.coordinate_names == ("cam", "rail")
    assert elastogen.load(description(BALL)).coordinate_names == ("ball.x", "ball.y", "ball.z")
    locked = elastogen.load(description(CAM, PATH), lock={"rail": 0.4})
    assert locked.coordinate_names == ("cam",)
    T = derived(locked, "forward_kinematics")["forward_kinematics"].evaluate({"q": [0.3]})["T"]
    with mpmath.workdps(30):
        expected = np.array(track_poses([mpmath.mpf(0.3), mpmath.mpf(0.4)])[1].tolist(), dtype=float)
    np.testing.assert_allclose(T[1], expected, rtol=1e-14, atol=1e-14)


def test_second_derivation_of_verify_covers_them(track: Robot, track_functions: dict[str, Function]) -> None:
    rng = np.random.default_rng(8)
    states = {name: rng.uniform(-1, 1, (1, 2)) for name in ("q", "qd", "qdd")}
    wanted = {n: track_functions[n] for n in ("inverse_dynamics", "mass_matrix", "forward_kinematics", "potential_energy")}
    findings = list(second_derivation.check(track, wanted, states, LIVE))
    assert {finding.subject for finding in findings} == set(wanted)
    assert all(finding.verdict == "passed" for finding in findings), findings


def test_closed_forms() -> None:
    q1, qd1 = sympy.symbols("q1 qd1", real=True)
    slider = {"name": "s", "type": "formula", "coordinates": {"x": "m"}, "displacement": ["x", "0.5*x**2", 0]}
    file = description(slider)
    file["links"][1] = {"name": "first", "mass": 2}
    closed = elastogen.derive(elastogen.load(file))
    assert sympy.simplify(closed.mass_matrix[0] - 2 * (1 + q1**2)) == 0  # ds^2 = (1 + x^2) dx^2
    assert sympy.simplify(closed.coriolis_vector[0] - 2 * q1 * qd1**2) == 0
    ball = elastogen.derive(elastogen.load(description({**BALL, "displacement": [0, 0, 0]})))
    rotated = ball.transforms[0]
    length = sympy.sqrt(sum(q**2 for q in ball.q))
    at = dict(zip(ball.q, (0.3, -0.8, 1.1), strict=True))
    expected = sympy.cos(length) + (1 - sympy.cos(length)) * ball.q[0] ** 2 / length**2
    assert abs(float((rotated[0, 0] - expected).subs(at))) < 1e-15
    assert not rotated.has(sympy.Piecewise)  # no series: it is for reading
    assert r"\sin{\left(\frac{q_{1}}{3}" in elastogen.derive(
        elastogen.load(description({**slider, "displacement": ["x", "sin(x/3)", 0]}))
    ).latex("potential_energy")


def test_exponentials(track: Robot) -> None:
    robot = elastogen.load(description(CAM))
    found = derived(robot, "exponential_transforms", "forward_kinematics", "exponential_jacobian", "jacobian")
    for one, other in (("exponential_transforms", "forward_kinematics"), ("exponential_jacobian", "jacobian")):
        (a,), (b,) = (found[name].evaluate({"q": [0.7]}).values() for name in (one, other))
        np.testing.assert_allclose(a, b, rtol=1e-14, atol=1e-14)
    with pytest.raises(elastogen.OutputError, match="exponential_transforms"):
        derive_model(track, ["exponential_transforms"])  # a rotation vector is not a product of fixed screws


def test_rigid_limit_of_a_flexible_link_on_a_formula_joint() -> None:
    beam = {"type": "modes", "length": 1, "mass_per_length": 0.5, "EI": 60, "modes": [{"direction": "y", "eigenfunction": 1}]}
    file = description(CAM)
    file["links"][1] = {"name": "first", "flexible": beam}
    robot = elastogen.load(file)
    rigid = elastogen.rigid_robot(robot)
    assert rigid.joints[0].type == robot.joints[0].type
    flexible, stiff = derived(robot, "mass_matrix"), derived(rigid, "mass_matrix")
    M = flexible["mass_matrix"].evaluate({"q": [0.4, 0.0]})["M"]
    np.testing.assert_allclose(M[0, 0], stiff["mass_matrix"].evaluate({"q": [0.4]})["M"][0, 0], rtol=1e-12)


def test_built_simulated_and_driven(track: Robot) -> None:
    model = elastogen.build_model(track, outputs=["simulation", "mass_matrix"])
    q, qd = np.array([0.3, -0.2]), np.array([0.5, 0.4])
    np.testing.assert_allclose(
        model.inverse_dynamics(q, qd, qd), by_principle(track_poses, BODIES, (q, qd, qd)).astype(float), rtol=1e-12
    )
    for method in ("tsit5", "generalized_alpha"):
        run = model.simulate(q, qd, t=0.5, samples=6, method=method)
        energy = model.kinetic_energy(run.q, run.qd) + model.potential_energy(run.q)
        assert np.abs(energy - energy[0]).max() < 1e-5 * (1 + abs(energy[0]))
        assert np.abs(run.q[-1] - q).max() > 0.05
    wide = model.inverse_dynamics(q, qd, qd, parameters={"ecc": 0.3})
    assert np.abs(wide - model.inverse_dynamics(q, qd, qd)).max() > 0.1
    law = ComputedTorqueLaw(kp=400, kd=40)
    loop = model.loop(controller=law, plant=Simulated(q), rate=1000, free_running=True, keep="oldest")
    loop.move_to([0.5, 0.1], 0.1)
    np.testing.assert_allclose(finish(loop, 300)["q"][-1], [0.5, 0.1], atol=1e-3)


def test_exported_in_float_without_warnings(track: Robot, tmp_path: Path) -> None:
    elastogen.export(track, tmp_path, outputs=["inverse_dynamics"], precision="float")
    source = next(tmp_path.rglob("formulas.c"))
    flags = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wdouble-promotion", "-Wshadow", "-Werror", "-c"]
    subprocess.run(["cc", *flags, f"-I{next(tmp_path.rglob('formulas.h')).parent}", source, "-o", tmp_path / "x.o"], check=True)
