"""Several joints on one flexible link, each with a place of its own: against Lagrange's equations, and what is refused."""

import json
import warnings
from functools import cache

import numpy as np
import pytest
from plain_programs import PlainPrograms, program

import elastogen
from elastogen.generator.algorithms.solving import articulated_bodies
from elastogen.generator.beams.natural_frequencies import loaded_frequencies
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.functions.dynamics import forward_dynamics_by_articulated_bodies
from elastogen.generator.program.arguments import input_argument
from elastogen.runtime.interface.argument import Argument
from elastogen.verification import second_derivation
from elastogen.verification.states import random_states

LAGRANGE = ("forward_kinematics", "mass_matrix", "inverse_dynamics")
BEAM = {"length": 0.8, "mass_per_length": 0.35}
PLANE = BEAM | {"EI": 0.9}
SPACE = BEAM | {"EI_y": 0.9, "EI_z": 1.3, "GJ": 0.4, "EA": 50.0, "polar_inertia_per_length": 2e-4}
HEAVY = {"mass": 0.3, "com": [0.05, 0.02, -0.01], "inertia": [[1e-3, 0, 0], [0, 2e-3, 1e-4], [0, 1e-4, 2.5e-3]]}


def modes(*directions, **more):
    shapes = [{"direction": d, "shape": "x**2" if d in "yz" else "x", "name": f"{d}{k}"} for k, d in enumerate(directions)]
    return {"type": "modes", "modes": shapes, **SPACE, **more}


def tree(flexible, x=0.3, axis=(0, 0, 1), joint="revolute", **elbow):
    """A flexible link with a joint at x, one on its tip, and a third one on the tip."""
    slides = joint == "telescopic"
    return {
        "elastogen": 1, "name": "tree", "gravity": [0.3, -9.0, 2.0],
        "links": [{"name": "base"}, {"name": "upper", "mass": 0.2, "flexible": flexible | {"tip": {"mass": 0.1}}},
                  {"name": "side", **HEAVY}, {"name": "end", **HEAVY}],
        "joints": [
            {"name": "hub", "type": joint, **({"gamma": 0.2} if slides else {})},
            {"name": "elbow", "type": "revolute", "parent": "upper", "child": "side", "axis": list(axis),
             "placement": {"xyz": [0.02, 0.03, 0 if slides else 0.05]}, **({} if x is None else {"x": x}), **elbow},
            {"name": "wrist", "type": "revolute", "parent": "upper", "child": "end", "axis": list(axis)},
        ],
        "tip": {"link": "side", "xyz": [0.1, 0, 0]},
    }  # fmt: skip


LINKS = {
    "exponential": tree(modes("y", "z", "torsion"), axis=(0, 1, 1)),
    "linear": tree(modes("y", "z", "torsion", rotation="linear"), axis=(0, 1, 1)),
    "shortened": tree(modes("y", "z", foreshortening=True)),
    "plane": tree({"type": "elements", "elements": 2, **PLANE, "foreshortening": True}),
    "space": tree({"type": "elements", "elements": 2, "directions": ["y", "z"], **SPACE}, x=0.5, axis=(1, 0, 0)),
    "reduced": tree({"type": "elements", "elements": 4, "reduce_to": 2, **PLANE}, x="0.8/3"),
    "smooth": tree({"type": "elements", "elements": 2, **PLANE}, x=0.7, joint="telescopic"),
    "nodal": tree({"type": "elements", "elements": 2, **PLANE, "foreshortening": True}, x=0.7, joint="telescopic"),
}
LINKS["nodal"]["joints"][0]["slide"] = "nodal"


@cache
def robot_of(name):
    return elastogen.load(LINKS[name])


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.nightly] if n == "space" else []) for n in LINKS])
def test_lagrange_agrees(name):
    """The frame at x is found there from the shapes themselves, not from the interface's numbers."""
    robot = robot_of(name)
    functions = {f.name: f for f in derive_model(robot, LAGRANGE).functions}
    found = list(second_derivation.check(robot, functions, random_states(robot, 1, 3), {}))
    assert {f.subject: f.verdict for f in found} == dict.fromkeys(LAGRANGE, "passed"), found


@pytest.mark.parametrize("name", ["exponential", "plane", "smooth", "linear"])
def test_forward_dynamics_gives_the_accelerations_back(name):
    """By the factorization, and by articulated bodies where they apply."""
    robot = robot_of(name)
    programs, state = PlainPrograms(robot), {k: v[0] for k, v in random_states(robot, 1, 5).items()}
    F = programs("inverse_dynamics", q=state["q"], qd=state["qd"], qdd=state["qdd"])
    found = [programs("forward_dynamics", q=state["q"], qd=state["qd"], F=F)]
    assert articulated_bodies.applies_to(programs.variant.mechanism) == (name in ("exponential", "plane"))
    if name in ("exponential", "plane"):
        by_bodies = forward_dynamics_by_articulated_bodies(programs.variant).outputs[0]
        outputs = [(Argument("qdd", (programs.size,), "", ""), by_bodies)]
        inputs = [input_argument(key, programs.size, programs.size) for key in ("q", "qd", "F")]
        made = program(programs.variant.graph, inputs, outputs)
        found.append(made.evaluate({"q": state["q"], "qd": state["qd"], "F": F})["qdd"])
    for qdd in found:
        np.testing.assert_allclose(qdd, state["qdd"], rtol=1e-9, atol=1e-9 * np.abs(state["qdd"]).max())


def test_a_joint_on_an_interface_is_moved_by_the_beam_there():
    """Its frame against that of a point at the same place, which does not know of interfaces."""
    description = LINKS["exponential"] | {"points": [{"name": "there", "link": "upper", "x": 0.3, "rpy": [0, 0, 0]}]}
    robot = elastogen.load(description)
    programs, q = PlainPrograms(robot), np.array([0.3, 0.02, -0.03, 0.1, 0.0, 0.7])
    place = programs("point_positions", q=q)[0]
    side, upper = (programs("forward_kinematics", q=q)[k] for k in (1, 0))
    rotated = side[:3, :3] @ upper[:3, :3].T
    assert np.abs(rotated - np.eye(3)).max() > 0.01  # the section is turned
    np.testing.assert_allclose(side[:3, 3] - place, side[:3, :3] @ [0.02, 0.03, 0.05], rtol=1e-12)


def test_at_the_very_end_is_the_tip():
    """x equal to the length is the tip itself, said on purpose: the same numbers, no further frame, no warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", elastogen.RobotWarning)
        robot = elastogen.load(tree(modes("y"), x=0.8))
        said = elastogen.load(tree(modes("y"), x=None, interface="tip"))
    assert robot.links[1].flexible.others == ()
    assert robot == said
    with pytest.warns(elastogen.RobotWarning, match="elbow, wrist all on the tip of upper"):
        unsaid = elastogen.load(tree(modes("y"), x=None))
    near = elastogen.load(tree(modes("y"), x=0.8 - 1e-10))
    state = {k: v[0] for k, v in random_states(robot, 1, 5).items()}
    forces = [
        PlainPrograms(r)("inverse_dynamics", q=state["q"], qd=state["qd"], qdd=state["qdd"]) for r in (robot, unsaid, near)
    ]
    assert forces[0].tolist() == forces[1].tolist()
    np.testing.assert_allclose(forces[2], forces[0], rtol=1e-7)


def test_the_load_of_a_section_counts_what_is_beyond_it():
    """Across the place of a joint it jumps by what the joint transmits."""
    points = [{"link": "upper", "x": x} for x in (0.3, 0.3 + 1e-9)]
    robot = elastogen.load(LINKS["plane"] | {"points": points})
    programs, state = PlainPrograms(robot), {k: v[0] for k, v in random_states(robot, 1, 2).items()}
    before, after = programs("section_loads", q=state["q"], qd=state["qd"], qdd=state["qdd"])
    reaction = programs("joint_reactions_base", q=state["q"], qd=state["qd"], qdd=state["qdd"])[1]
    frames = programs("forward_kinematics", q=state["q"])
    q = state["q"].copy()
    q[robot.coordinate_names.index("elbow")] = 0.0
    section = programs("forward_kinematics", q=q)[1][:3, :3]  # the joint at zero is turned as its section
    np.testing.assert_allclose(section @ (before - after)[:3], reaction[:3], rtol=1e-6)
    lever = frames[1][:3, 3] - (frames[1][:3, 3] - section @ [0.02, 0.03, 0.05])
    expected = reaction[3:] + np.cross(lever, reaction[:3])
    np.testing.assert_allclose(section @ (before - after)[3:], expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


def test_the_rigid_limit_keeps_the_places():
    robot = robot_of("plane")
    rigid = elastogen.rigid_robot(robot)
    q = np.array([0.4, 0, 0, 0, 0, -0.3, 0.9])
    joints = [0, 5, 6]
    flexible = PlainPrograms(robot)("mass_matrix", q=q)[np.ix_(joints, joints)]
    np.testing.assert_allclose(PlainPrograms(rigid)("mass_matrix", q=q[joints]), flexible, rtol=1e-12, atol=1e-15)
    frames = PlainPrograms(robot)("forward_kinematics", q=q)
    np.testing.assert_allclose(PlainPrograms(rigid)("forward_kinematics", q=q[joints]), frames, rtol=0, atol=1e-15)


def test_loaded_frequencies_know_where_the_loads_are():
    """A cantilever of one cubic mode shape family with a mass at x: against its own 2 x 2 eigenproblem."""
    description = tree({"type": "elements", "elements": 2, **PLANE}, x=0.4)
    description["links"][2] = {"name": "side", "mass": 5.0}
    description["joints"][1].pop("placement")
    robot = elastogen.load(description)
    found = loaded_frequencies(robot, robot.links[1])
    q = np.zeros(len(robot.coordinates))
    programs = PlainPrograms(robot)
    M, K = programs("mass_matrix", q=q)[1:5, 1:5], programs("stiffness_matrix")[1:5, 1:5]
    expected = np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real))
    np.testing.assert_allclose(np.sort(found), expected, rtol=1e-9)


def lumped(**interface):
    """Three point masses on a massless body: its interface is where the second one is."""
    places, shapes = [(0.1, 0, 0), (0.3, 0.1, 0), (0.6, 0, 0.1)], [(0, 0.1, 0), (0, 0.5, 0.2), (0.1, 1.0, 0)]
    nodes = [{"mass": 0.3, "position": list(p), "displacements": [list(b)]} for p, b in zip(places, shapes, strict=True)]
    mode = {"name": "bend", "tip_displacement": list(shapes[2]), "tip_rotation": [0, 0, 1.5]}
    seat = {"frame": {"xyz": list(places[1])}, "displacements": [list(shapes[1])], "rotations": [[0, 0.3, 0.8]], **interface}
    return {"type": "lumped_masses", "modes": [mode], "nodes": nodes, "stiffness": [[30.0]],
            "tip_frame": {"xyz": list(places[2])}, "interfaces": {"elbow": seat}}  # fmt: skip


def test_interfaces_of_bodies_from_elsewhere():
    """The joint of the interface's name sits on it; the energies are those of the mass points."""
    robot = elastogen.load(tree(lumped(), x=None))
    assert [joint.interface for joint in robot.joints] == ["", "elbow", ""]
    functions = {f.name: f for f in derive_model(robot, LAGRANGE).functions}
    found = list(second_derivation.check(robot, functions, random_states(robot, 1, 3), {}))
    assert {f.subject: f.verdict for f in found} == dict.fromkeys(LAGRANGE, "passed"), found


@pytest.mark.parametrize(("description", "path", "expected"), [
    (tree(modes("y"), x=0.9), "joints.elbow.x", "0 to 0.8 m"),
    (tree(modes("y"), x=-0.1), "joints.elbow.x", "0 to 0.8 m"),
    (tree(modes("y"), x="nothing"), "joints.elbow.x", "nothing"),
    (tree(modes("y"), interface="elbow"), "joints.elbow", "either x or interface"),
    (tree(modes("y"), x=None, interface="knee"), "joints.elbow.interface", "an interface of upper: tip"),
    (tree(lumped(), x=0.3), "joints.elbow.x", "a joint on a beam"),
    (tree(lumped(rotations=[]), x=None), "interfaces.elbow.rotations", "one per mode"),
    (tree(lumped(displacements=[[0, 0, 0]] * 2), x=None), "interfaces.elbow.displacements", "one per mode"),
])  # fmt: skip
def test_places_that_cannot_be(description, path, expected):
    with pytest.raises(elastogen.RobotError, match=expected) as raised:
        elastogen.load(description)
    assert path in str(raised.value)


def test_a_place_on_a_rigid_link_is_refused():
    description = tree(modes("y"))
    del description["links"][1]["flexible"]
    with pytest.raises(elastogen.RobotError, match=r"joints\.elbow\.x.*a joint on a beam"):
        elastogen.load(description)


def test_a_live_place():
    """The place as a live parameter of a beam of one piece: against the robot with the number."""
    description = tree(modes("y", "z"), x="place") | {"parameters": {"place": 0.5}, "live": ["place"]}
    live, fixed = elastogen.load(description), elastogen.load(tree(modes("y", "z"), x=0.3))
    function = derive_model(live, ["inverse_dynamics"]).functions[0]
    state = {k: v[0] for k, v in random_states(fixed, 1, 4).items()}
    arguments = {k: state[k] for k in ("q", "qd", "qdd")}
    expected = PlainPrograms(fixed)("inverse_dynamics", **arguments)
    found = function.evaluate(arguments, parameters={"place": 0.3})["F"]
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)


URDF = """<robot name="crane"><link name="ground"/>
<link name="boom"><inertial><origin xyz="0.5 0 0"/><mass value="4"/>
<inertia ixx="0.1" iyy="0.5" izz="0.5" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="camera"><inertial><mass value="0.3"/>
<inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="jib"><inertial><origin xyz="0.2 0 0"/><mass value="1"/>
<inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="slew" type="continuous"><parent link="ground"/><child link="boom"/><axis xyz="0 0 1"/></joint>
<joint name="mount" type="fixed"><parent link="boom"/><child link="camera"/><origin xyz="0.4 0.1 0.05" rpy="0.3 0 0"/></joint>
<joint name="luff" type="continuous"><parent link="boom"/><child link="jib"/><axis xyz="0 0 1"/><origin xyz="1.1 0 0"/></joint>
</robot>"""


def test_links_of_another_description_keep_their_joints_where_they_were(tmp_path):
    (tmp_path / "crane.urdf").write_text(URDF)
    boom = {"name": "boom", "rest": "hub", "flexible": {"type": "elements", "mass_per_length": 1.5, "EI": 300.0, "elements": 2}}

    def on_top(**keys):
        (tmp_path / "top.yaml").write_text(json.dumps({
            "elastogen": 1, "name": "top", "base_description": "crane.urdf", "links": [boom | keys],
        }))  # fmt: skip
        return elastogen.load(str(tmp_path / "top.yaml"))

    robot = on_top(along={"mount": 0.4})
    mount = next(joint for joint in robot.joints if joint.name == "mount")
    assert mount.interface == "mount"
    np.testing.assert_allclose(np.array(mount.before, float)[:3, 3], [0, 0.1, 0.05], atol=1e-15)
    q, whole = np.array([0.3, -0.7]), PlainPrograms(elastogen.load(str(tmp_path / "crane.urdf")))
    frames = whole("forward_kinematics", q=q)
    found = PlainPrograms(elastogen.rigid_robot(robot))("forward_kinematics", q=q)[1:]  # behind the hub
    np.testing.assert_allclose(found, frames, atol=1e-14)
    with pytest.warns(elastogen.RobotWarning, match="mount, luff all on the tip of boom"):
        on_top()
    with warnings.catch_warnings():
        warnings.simplefilter("error", elastogen.RobotWarning)
        assert on_top(on_tip=["mount"]).links[2].flexible.others == ()
    for keys, expected in (
        ({"along": {"mast": 0.1}}, "a joint on boom"),
        ({"along": {"mount": 3}}, "0 to 1.1 m"),
        ({"along": {"mount": 0.4}, "on_hub": ["mount"]}, "not in on_hub, too"),
    ):
        with pytest.raises(elastogen.RobotError, match=expected):
            on_top(**keys)
