"""Reactions in joints, resultants of links: against free-body equations summed over mass points."""

from dataclasses import replace
from functools import cache

import free_bodies
import numpy as np
import point_oracle as oracle
import pytest
from robots_for_tests import EXAMPLES, example_urdf, quietly_loaded
from sliding_frames import beam_through_rod, rod_on_beam, sliding
from test_points import GRAVITY, INVERSE_DYNAMICS, PUMA, modified_dh, spatial, spatial_section, state

import elastogen
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.functions.variants import VariantFamily
from elastogen.generator.mechanism.simplest_form import simplest_forms
from elastogen.generator.robot.errors import OutputError
from elastogen.generator.robot.robot import Body

WANTED = ("joint_reactions", "joint_reactions_base", "link_resultants")
TOOL = {"mass": 0.4, "com": [0.02, 0.01, -0.03], "inertia": [0.002, 0.003, 0.004]}


def flexible_arm(kind):
    """The turning beam with a body on its tip, and a hand with a tool."""
    robot = spatial("linear" if kind == "linear" else "exponential")
    robot["links"][1] |= {"mass": 0.3, "com": [0.01, 0, 0.02], "inertia": [0.001, 0.001, 0.001]}
    robot["links"][1]["flexible"]["tip"] = {"mass": 0.2, "com": [0.01, 0.02, 0]}
    del robot["links"][1]["flexible"]["polar_inertia_per_length"]
    robot["links"][1]["flexible"]["modes"] = [m for m in robot["links"][1]["flexible"]["modes"] if m["direction"] != "torsion"]
    robot["links"][2]["com"] = [0.05, 0, 0.01]
    robot |= {"payload": TOOL, "tip": {"link": "hand", "xyz": [0.1, 0, 0]}}
    return elastogen.load(robot)


@cache
def flexible(kind):
    return {function.name: function for function in derive_model(flexible_arm(kind), WANTED).functions}


def spatial_parts(linear, sections=(), outside_of=None):
    """Mass points of the beam's link and of the hand, by chains of coordinates turn, y1, y2, z1, extension, push.

    Or the chains of sections, or the mass points of the beam's link beyond a place.
    """
    start = [oracle.shift(0.1, 0.2, 0.3), oracle.turn((0, 0.6, 0.8), 0)]

    def with_torsion(step):  # the coordinates of test_points.py, without torsion
        return lambda q: step([*q[:4], 0.0 * q[0], *q[4:]])

    def section(x):
        return [*start, *(with_torsion(step) for step in spatial_section(x, linear))]

    if sections:
        return [(x, section(x)) for x in sections]
    if outside_of is not None:
        beam = free_bodies.beam_points(0.35, [outside_of, 0.8])
        return [*((m, section(x)) for m, x in beam), (0.2, [*section(0.8), oracle.shift(0.01, 0.02, 0)])]
    hub = [(m, [*start, oracle.shift(*r)]) for m, r in free_bodies.body_points(0.3, [0.01, 0, 0.02], [0.001] * 3)]
    beam = [(m, section(x)) for m, x in free_bodies.beam_points(0.35, [0.0, 0.8])]
    tip = [(0.2, [*section(0.8), oracle.shift(0.01, 0.02, 0)])]
    hand_frame = [*section(0.8), oracle.shift(0.05, 0, 0.02), oracle.slide((0, 1, 0), 5)]
    bodies = free_bodies.body_points(1.0, [0.05, 0, 0.01], [0.01, 0.02, 0.02])
    bodies += [(m, r + np.array([0.1, 0, 0])) for m, r in free_bodies.body_points(TOOL["mass"], TOOL["com"], TOOL["inertia"])]
    hand = [(m, [*hand_frame, oracle.shift(*r)]) for m, r in bodies]
    return [(start, [*hub, *beam, *tip]), (hand_frame, hand)]


def check(functions, parts, gravity, q, qd, qdd, live=None):
    """Parts are the links from the base outwards: their frames, and their mass points."""
    result = {name: next(iter(functions[name].evaluate({"q": q, "qd": qd, "qdd": qdd}, live).values())) for name in WANTED}
    moved = [free_bodies.moved(part, q, qd, qdd) for _, part in parts]
    for i, (chain, _) in enumerate(parts):
        axes, origin = free_bodies.frame(chain, q)
        total = free_bodies.wrench([point for part in moved[i:] for point in part], origin, np.array(gravity))
        own = free_bodies.wrench(moved[i], origin, np.zeros(3))
        expected = {"joint_reactions_base": total, "joint_reactions": free_bodies.projected(total, axes),
                    "link_resultants": free_bodies.projected(own, axes)}  # fmt: skip
        for name, value in expected.items():
            np.testing.assert_allclose(result[name][i], value, rtol=0, atol=1e-12 * np.abs(value).max(), err_msg=name)


@pytest.mark.parametrize("kind", ["exponential", "linear"])
def test_flexible_arm(kind):
    q, qd, qdd = state(6, 21)
    q[0] = -0.7
    check(flexible(kind), spatial_parts(kind == "linear"), GRAVITY, q, qd, qdd)


@pytest.mark.parametrize(("kind", "parts"), [("Pa", rod_on_beam), ("Pb", beam_through_rod)])
def test_sliding_and_telescopic_joints(kind, parts):
    robot = elastogen.load(sliding(kind))
    found = {function.name: function for function in derive_model(robot, WANTED).functions}
    q, qd, qdd = state(6, 22)
    q[5 if kind == "Pa" else 1] = 0.55
    check(found, parts(q), (0.5, -9.81, 0), q, qd, qdd)


def composed(bodies):
    """One body of several with diagonal tensors: mass, centre, tensor about it."""
    mass = sum(m for m, _, _ in bodies)
    com = sum(m * c for m, c, _ in bodies) / mass
    levers = [c - com for _, c, _ in bodies]
    steiner = [m * (d @ d * np.eye(3) - np.outer(d, d)) for (m, _, _), d in zip(bodies, levers, strict=True)]
    return Body(mass, tuple(com), tuple(map(tuple, sum(np.diag(t) for _, _, t in bodies) + sum(steiner))))


@pytest.mark.parametrize(("pieces", "forms", "operations"), [(1, (5, 0), 612), (2, (0, 2), 694)])
def test_simplest_forms_of_bodies(pieces, forms, operations):
    """Tensors that are diagonal about the centres of mass, and full ones: bodies about their centres, with masses ahead.

    Not on the last link, whose payload is live, and where the next joint sits in the origin.
    """
    puma, rng, chain, parts, links = elastogen.load("puma560"), np.random.default_rng(7), [], [], []
    for k, (link, dh) in enumerate(zip(puma.links[1:], PUMA, strict=True)):
        bodies = [(rng.uniform(1, 5), rng.uniform(-0.2, 0.2, 3), rng.uniform(0.1, 0.15, 3)) for _ in range(pieces)]
        links.append(replace(link, body=composed(bodies)))
        chain = [*chain, *modified_dh(k, *dh)]
        points = [point for body in bodies for point in free_bodies.body_points(*body)]
        parts.append((chain, [(m, [*chain, oracle.shift(*r)]) for m, r in points]))
    robot = replace(puma, links=(puma.links[0], *links))
    chosen = simplest_forms(VariantFamily(robot).frame_assignments("physical")[0].mechanism, ahead=True)
    assert (sum(form.centre is not None for form in chosen), sum(form.ahead is not None for form in chosen)) == forms
    found = {function.name: function for function in derive_model(robot, WANTED).functions}
    count = found["joint_reactions"].program.count
    assert count.mul + count.add == operations
    live = {parameter.name: parameter.value for parameter in robot.live_parameters}
    check(found, parts, [live[f"gravity_{axis}"] for axis in "xyz"], *state(6, 26, small=1.0), live)


COUNTS = {
    "puma560": (INVERSE_DYNAMICS, 493), "puma560_geared": (499, 535), "stanford": (364, 453), "trtrr": (259, 316),
    "ur5": (280, 354), "panda, fingers locked": (593, 749), "panda": (639, 822), "two_link": (58, 99), "scara": (101, 178),
}  # fmt: skip  # operations of inverse dynamics, with reactions; in docs/robots/points.md
ABOVE = ("two_link", "scara")  # planar arms: why they take more is reported there


def counted_robot(name):
    """Built in, or an arm of example-robot-data."""
    arm, *locked = name.split(", ")
    if arm not in EXAMPLES:
        return elastogen.load(name)
    return quietly_loaded(example_urdf(arm), lock={"panda_finger_joint1": 0.0} if locked else {})


@pytest.mark.parametrize("name", COUNTS)
def test_reactions_come_with_inverse_dynamics(name):
    """In one call, at no more than 1.3 times its operations but for those above."""
    robot, single = counted_robot(name), ["inverse_dynamics"]
    if name in ("two_link", "scara"):
        single.append("joint_reactions")
    *alone, both = derive_model(robot, [*single, "joint_reactions+inverse_dynamics"]).functions
    counts = tuple(function.program.count.mul + function.program.count.add for function in (alone[0], both))
    assert counts == COUNTS[name]
    assert (counts[1] > 1.3 * counts[0]) == (name in ABOVE)
    q, qd, qdd = state(len(robot.velocities), 25, small=1.0)
    live = {parameter.name: parameter.value + 0.1 for parameter in robot.live_parameters}
    result = both.evaluate({"q": q, "qd": qd, "qdd": qdd}, live)
    for function in alone:
        for key, expected in function.evaluate({"q": q, "qd": qd, "qdd": qdd}, live).items():
            np.testing.assert_allclose(result[key], expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_forces_inside_are_not_fused_with_functions_of_frames():
    with pytest.raises(OutputError, match="forward_kinematics"):
        derive_model(elastogen.load("two_link"), ["joint_reactions+forward_kinematics"])


def test_the_drive_is_part_of_the_reaction():
    """About the joint's axis the reaction is the driving force of the bodies, less friction and the rotor's inertia."""
    robot = elastogen.load("puma560_geared")
    found = {f.name: f for f in derive_model(robot, ["joint_reactions", "inverse_dynamics", "friction_forces"]).functions}
    q, qd, qdd = state(6, 23, small=1.0)
    live = {parameter.name: parameter.value for parameter in robot.live_parameters}
    reactions = found["joint_reactions"].evaluate({"q": q, "qd": qd, "qdd": qdd}, live)["reaction"]
    F = found["inverse_dynamics"].evaluate({"q": q, "qd": qd, "qdd": qdd}, live)["F"]
    F = F - found["friction_forces"].evaluate({"q": q, "qd": qd}, live)["R"]
    drives = [joint.actuation for joint in robot.moving_joints]
    F = F - np.array([float(drive.motor_inertia) * float(drive.gear_ratio) ** 2 for drive in drives]) * qdd
    axes = [np.array(joint.axis, dtype=float) for joint in robot.moving_joints]
    after = [np.array(joint.after, dtype=float) for joint in robot.moving_joints]
    for reaction, axis, place, force in zip(reactions, axes, after, F, strict=True):
        local, lever = place[:3, :3].T @ axis, -place[:3, :3].T @ place[:3, 3]
        about_axis = reaction[3:] - np.cross(lever, reaction[:3])
        assert local @ about_axis == pytest.approx(force, abs=1e-12 * np.abs(F).max())


def test_in_c(cache_dir):
    model = elastogen.build_model("two_link", outputs=list(WANTED), precision="float")
    functions = {f.name: f for f in derive_model(elastogen.load("two_link"), WANTED).functions}
    q, qd, qdd = state(2, 24, small=1.0)
    for name in WANTED:
        (expected,) = functions[name].evaluate({"q": q, "qd": qd, "qdd": qdd}, model.parameters).values()
        result = getattr(model, name)(q, qd, qdd)
        assert result.shape == (2, 6)
        np.testing.assert_allclose(result, expected, rtol=0, atol=1e-5 * np.abs(expected).max())
