"""Loops in descriptions: files, mappings, Python, on top of other descriptions, beside a URDF; and every mistake once."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import elastogen
from elastogen.describe_loops import describe_loops, loop_facts
from elastogen.generator.loops.analysis import analysis_of

COLLECTION = Path(__file__).resolve().parents[4] / "shared" / "data" / "loops"
BODY = {"mass": 1, "com": [0.1, 0, 0], "inertia": [0.01, 0.02, 0.02]}
FOUR_BAR: dict[str, Any] = {
    "elastogen": 1,
    "name": "linkage",
    "gravity": [0, -9.81, 0],
    "links": [{"name": "frame"}, *({"name": name, **BODY} for name in ("crank", "coupler", "rocker"))],
    "joints": [
        {"name": "drive", "type": "revolute", "parent": "frame", "child": "crank"},
        {"name": "elbow", "type": "revolute", "child": "coupler", "placement": {"xyz": [0.2, 0, 0]}, "driven": False},
        {
            "name": "pivot", "type": "revolute", "parent": "frame", "child": "rocker", "placement": {"xyz": [0.7, 0, 0]},
            "driven": False,
        },
    ],
    "loops": [
        {
            "name": "pin", "type": "revolute", "a": {"link": "coupler", "xyz": [0.8, 0, 0]},
            "b": {"link": "rocker", "xyz": [0.6, 0, 0]}, "axis": [0, 0, 1],
        }
    ],
}  # fmt: skip


def with_loop(**changes: Any) -> dict[str, Any]:
    file = copy.deepcopy(FOUR_BAR)
    loop = {**file["loops"][0], **changes}
    file["loops"] = [{key: value for key, value in loop.items() if value is not None}]
    return file


def test_a_planar_loop_in_space() -> None:
    robot = elastogen.load(FOUR_BAR)
    known = analysis_of(robot)
    assert (known.rank, known.freedoms, known.fit) == (2, 1, "exactly")
    assert [known.rows[k] for k in known.redundant] == ["pin.z", "pin.turn1", "pin.turn2"]
    assert known.choice.independent == (0,)
    text = describe_loops(robot)
    assert "3 velocities, 5 rows of rank 2: 1 freedoms" in text
    assert "they fit the freedoms exactly" in text
    assert "the loops are open by 0.3;" in text
    assert loop_facts(robot)["independent"] == ["drive"]


def test_drives_that_do_not_fit_are_said() -> None:
    file = copy.deepcopy(FOUR_BAR)
    file["joints"][2]["driven"] = True
    assert "over-actuated by pivot" in describe_loops(elastogen.load(file))
    file["joints"][0]["driven"] = file["joints"][2]["driven"] = False
    assert "too few" in describe_loops(elastogen.load(file))


def test_in_python_and_on_top_of_another_description(tmp_path: Path) -> None:
    tree = {**FOUR_BAR, "loops": []}
    loop = FOUR_BAR["loops"][0]
    ends = [elastogen.LoopEnd(loop[k]["link"], _moved(loop[k]["xyz"])) for k in "ab"]
    robot = elastogen.load(elastogen.load(tree).with_loops(elastogen.ClosedLoop("pin", "revolute", *ends)))
    assert robot.loops == elastogen.load(FOUR_BAR).loops
    yaml = pytest.importorskip("yaml")
    (tmp_path / "tree.yaml").write_text(yaml.safe_dump(tree))
    changed = {"elastogen": 1, "name": "linkage", "base_description": "tree.yaml", "loops": FOUR_BAR["loops"]}
    changed["joints"] = [{"name": "elbow", "driven": True}]
    (tmp_path / "closed.yaml").write_text(yaml.safe_dump(changed))
    robot = elastogen.load(tmp_path / "closed.yaml")
    assert robot.loops == elastogen.load(FOUR_BAR).loops
    assert [v.driven for v in robot.velocities] == [True, True, False]


def _moved(xyz: list[float]) -> Any:
    return ((1, 0, 0, xyz[0]), (0, 1, 0, xyz[1]), (0, 0, 1, xyz[2]), (0, 0, 0, 1))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"type": "revolut"}, "did you mean 'revolute'"),
        ({"type": "spherical"}, "no axis for a spherical loop"),
        ({"b": None}, "b of a revolute loop"),
        ({"a": {"link": "couplr"}}, "did you mean 'coupler'"),
        ({"a": {"link": "rocker"}}, "two links that move against each other"),
        ({"a": {"link": "frame"}, "b": {"link": "world"}}, "two links that move against each other"),
        ({"axis": [0, 0, 0]}, "a direction, not the zero vector"),
        ({"axis": None, "type": "distance"}, "length of a distance loop"),
        ({"axis": None, "type": "distance", "length": 0}, "a length above 0 m"),
        ({"type": "universal"}, "axis2 of a universal loop"),
        ({"a": {"link": "coupler", "x": 0.1}}, "x on a flexible link"),
        ({"axis": None, "a": None, "b": None, "type": "gear"}, "coefficients of a gear loop"),
        ({"axis": None, "a": None, "b": None, "type": "gear", "coefficients": {"drive": 0}}, "at least one coefficient"),
        ({"axis": None, "a": None, "b": None, "type": "gear", "coefficients": {"driv": 1}}, "did you mean 'drive'"),
        ({"axis": None, "type": "gear", "coefficients": {"drive": 1}}, "no a and b for a gear"),
        ({"name": "a b"}, "name"),
        ({"tolerance": 1}, "one of the keys"),
    ],
)
def test_mistakes_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(elastogen.RobotError, match=message):
        elastogen.load(with_loop(**changes))


def test_a_name_twice() -> None:
    file = copy.deepcopy(FOUR_BAR)
    file["loops"] *= 2
    with pytest.raises(elastogen.RobotError, match="loop names that occur once"):
        elastogen.load(file)


def test_a_loop_that_cannot_be_closed_says_by_how_much() -> None:
    """And soon: searches that all end with the same gap are not continued."""
    file = with_loop(b={"link": "rocker", "xyz": [2.6, 0, 0]})
    with pytest.raises(elastogen.RobotError, match=r"loops\.pin: got 'a gap of 0\.9 .* from 128 starts'"):
        analysis_of(elastogen.load(file))


def test_loops_that_contradict_each_other() -> None:
    file = copy.deepcopy(FOUR_BAR)
    file["loops"].append({**file["loops"][0], "name": "other", "b": {"link": "rocker", "xyz": [0.6, 0.1, 0]}})
    with pytest.raises(
        elastogen.RobotError, match=r"loops\.(pin|other): .* from 128 starts, with others at (pin|other)'.*contradict"
    ):
        analysis_of(elastogen.load(file))


def test_joints_along_beams_are_refused_with_the_reason() -> None:
    file = copy.deepcopy(FOUR_BAR)
    beam = {"type": "elements", "length": 1, "mass_per_length": 1, "EI": 10, "elements": 2}
    file["links"] += [{"name": "beam", "flexible": beam}]
    file["joints"] += [{"name": "slide", "type": "telescopic", "parent": "crank", "child": "beam", "gamma": 0}]
    with pytest.raises(elastogen.RobotError, match="the element inside changes"):
        elastogen.load(file)


EXPECTED = {  # velocities, rows, rank
    "5bar_linkage": (6, 6, 3), "robot_delta": (14, 18, 9), "talos_like": (13, 6, 6), "cassie_like": (19, 12, 12),
    "digit_like": (27, 18, 18),
}  # fmt: skip


@pytest.mark.parametrize("name", EXPECTED)
@pytest.mark.filterwarnings("ignore::elastogen.RobotWarning")
def test_robots_of_the_collection(name: str) -> None:
    folder = COLLECTION / name
    if not folder.exists():
        pytest.skip(f"{folder} is not there")
    robot = elastogen.load(folder / "robot.urdf", loops=folder / "robot.yaml", name="mechanism")
    known = analysis_of(robot)
    assert (len(robot.velocities), len(known.rows), known.rank) == EXPECTED[name]


def test_robot_yaml_beside_a_urdf_is_checked(tmp_path: Path) -> None:
    tree = elastogen.load({**FOUR_BAR, "loops": []})
    path = tmp_path / "robot.yaml"

    def loaded(text: str) -> elastogen.Robot:
        path.write_text(text)
        return elastogen.load(tree, loops=path)

    robot = loaded("closed_loop: [[elbow, pivot]]\ntype: ['3d']\nname_mot: [drive]")
    assert [(loop.type, loop.a.link, loop.b.link) for loop in robot.loops] == [("spherical", "coupler", "rocker")]
    assert [v.driven for v in robot.velocities] == [True, False, False]
    for text, message in {
        "closed_loop: [[elbow, pivt]]": "did you mean 'pivot'",
        "closed_loop: [[elbow]]": "pairs of names",
        "closed_loop: [[elbow, pivot]]\ntype: [5d]": "6d or 3d",
        "closed_loop: [[elbow, pivot]]\ntype: []": "1 types",
        "closed_loop: [[elbow, pivot]]\nname_mot: [driv]": "did you mean 'drive'",
        "loops: 1": "closed_loop",
        "closed_loop: [[elbow, pivot]]\njoint_name: [elbw]\njoint_type: [SPHERICAL]": "did you mean 'elbow'",
        "closed_loop: [[elbow, pivot]]\njoint_name: [elbow]\njoint_type: [UJOINT_XX]": "UJOINT_XY",
        "closed_loop: [[elbow, pivot]]\njoint_name: [elbow]": "1 types",
    }.items():
        with pytest.raises(elastogen.RobotError, match=message):
            loaded(text)
    with pytest.raises(elastogen.RobotError, match="no such file"):
        elastogen.load(tree, loops=tmp_path / "none.yaml")
    with pytest.raises(elastogen.RobotError, match=r"the path of a robot\.yaml"):
        elastogen.load(tree, loops=3)  # type: ignore[arg-type]


def test_drives_of_joints_that_follow_others_are_ignored_with_a_warning(tmp_path: Path) -> None:
    """As the grippers of Gepetto's Talos."""
    file = copy.deepcopy({**FOUR_BAR, "loops": []})
    file["links"].append({"name": "finger", "mass": 0.1, "inertia": [1e-4] * 3})
    file["joints"].append(
        {"name": "double", "type": "revolute", "parent": "rocker", "child": "finger", "follows": "q('drive')"}
    )
    path = tmp_path / "robot.yaml"
    path.write_text("closed_loop: [[elbow, pivot]]\ntype: [3d]\nname_mot: [drive, double]")
    with pytest.warns(elastogen.RobotWarning, match=r"name_mot: got 'double', expected a joint that moves by itself"):
        robot = elastogen.load(elastogen.load(file), loops=path)
    assert [velocity.driven for velocity in robot.velocities] == [True, False, False]


def test_robot_yaml_gives_joints_other_kinds(tmp_path: Path) -> None:
    """As Gepetto's own loader: balls and universal joints about axes of the joint's frame, which a URDF cannot say."""
    path = tmp_path / "robot.yaml"
    path.write_text(
        "closed_loop: [[elbow, pivot]]\ntype: [3d]\nname_mot: [drive]\n"
        "joint_name: [elbow, pivot]\njoint_type: [UJOINT_ZY, SPHERICAL]\nrotors: 1"
    )
    with pytest.warns(elastogen.RobotWarning, match="rotors.*it is ignored"):
        robot = elastogen.load(elastogen.load({**FOUR_BAR, "loops": []}), loops=path)
    assert [joint.type.name for joint in robot.joints] == ["revolute", "universal", "spherical"]
    assert robot.joints[1].axis == (0, 0, 1)
    assert robot.joints[1].direction("axis2") == (0, 1, 0)
    assert [v.driven for v in robot.velocities] == [True, *[False] * 5]


def test_rank_of_mechanisms_that_are_overconstrained_everywhere() -> None:
    """Bricard's six revolute joints, each at a right angle to the next: six rows, six joints, and one freedom."""
    links = [{"name": "base"}, *({"name": f"l{k}", "mass": 1, "inertia": [0.1, 0.1, 0.1]} for k in range(1, 6))]

    def step(sign: int) -> np.ndarray:
        return np.array([[1, 0, 0, 1], [0, 0, -sign, 0], [0, sign, 0, 0], [0, 0, 0, 1]], dtype=float)

    joints = [
        {"name": f"j{k}", "type": "revolute", "placement": {"matrix": step(1 if k % 2 else -1)} if k else {}, "driven": k == 0}
        for k in range(5)
    ]
    ends = {"a": {"link": "l5", "matrix": step(1)}, "b": {"link": "base", "matrix": np.linalg.inv(step(-1))}}
    file = {"elastogen": 1, "name": "bricard", "links": links, "joints": joints, "loops": [{"type": "revolute", **ends}]}
    known = analysis_of(elastogen.load(file))
    assert (known.rank, known.freedoms, known.fit) == (4, 1, "exactly")


def test_loops_that_contradict_each_other_by_rounding_close_with_a_warning() -> None:
    """A pin given by two points of its axis, as MJCF files do, the second 2e-8 m off."""
    pins: list[dict[str, Any]] = [
        {"name": f"pin{k}", "type": "spherical", "a": {"link": "coupler", "xyz": [0.8, 0, z]},
         "b": {"link": "rocker", "xyz": [0.6, 2e-8 * k, z]}} for k, z in enumerate((0.0, 0.05))
    ]  # fmt: skip
    with pytest.warns(elastogen.RobotWarning, match=r"close to 8\.\de-09 .* and no better"):
        known = analysis_of(elastogen.load({**FOUR_BAR, "loops": pins}))
    exact = analysis_of(elastogen.load(FOUR_BAR))
    assert known.rank == exact.rank == 2
    assert known.choice.independent == exact.choice.independent
    with pytest.warns(elastogen.RobotWarning, match="no better") as reported:
        model = elastogen.build_model({**FOUR_BAR, "loops": pins}, outputs=["simulation"])
    assert not [str(warning.message) for warning in reported if "confirmed" in str(warning.message)]
    q = model.close_loops(known.start)
    assert model.simulate(q, t=0.05, samples=3).ok
    pins[1]["b"]["xyz"][1] = 1e-4
    with pytest.raises(elastogen.RobotError, match="loops that can be closed"):
        analysis_of(elastogen.load({**FOUR_BAR, "loops": pins}))
