"""Robot files on top of other descriptions: links of a URDF made flexible, joints with springs, files that include files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from robots_for_tests import Programs, quietly_loaded, relative_error

import elastogen
from elastogen.generator.description.load_robot import load
from elastogen.generator.description.rigid_limit import rigid_robot
from elastogen.generator.robot.errors import RobotError, RobotWarning
from elastogen.generator.robot.expressions import nominal

URDF = """
<robot name="arm">
  <link name="base"/>
  <link name="upper">
    <inertial><origin xyz="0.02 0.01 0.22" rpy="0.1 0.2 0.3"/><mass value="4"/>
      <inertia ixx="0.11" iyy="0.12" izz="0.02" ixy="0.001" ixz="0.002" iyz="-0.001"/></inertial>
  </link>
  <link name="fore">
    <inertial><origin xyz="0.15 0 0"/><mass value="2"/>
      <inertia ixx="0.002" iyy="0.03" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="camera"><inertial><mass value="0.2"/>
      <inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="left"><inertial><mass value="0.1"/>
      <inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="right"><inertial><mass value="0.1"/>
      <inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 0.3"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="50" velocity="3"/></joint>
  <joint name="mount" type="fixed"><parent link="upper"/><child link="camera"/><origin xyz="0.05 0 0.1"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="fore"/>
    <origin xyz="0 0.1 0.5" rpy="0.3 -0.2 0.5"/><axis xyz="0 0 1"/>
    <limit lower="-2" upper="2" effort="50" velocity="3"/><dynamics damping="0.7"/></joint>
  <joint name="grip" type="prismatic"><parent link="fore"/><child link="left"/><origin xyz="0.3 0 0"/><axis xyz="0 1 0"/>
    <limit lower="0" upper="0.04" effort="5" velocity="1"/></joint>
  <joint name="grip2" type="prismatic"><parent link="fore"/><child link="right"/><origin xyz="0.3 0 0"/><axis xyz="0 -1 0"/>
    <limit lower="0" upper="0.04" effort="5" velocity="1"/><mimic joint="grip"/></joint>
</robot>
"""
BEAM = {"type": "elements", "mass_per_length": 2.0, "EI": 300.0, "elements": 2}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "arm.urdf").write_text(URDF)
    return tmp_path


def soft(folder: Path, **changes: Any) -> dict[str, Any]:
    file = {"elastogen": 1, "name": "soft", "base_description": str(folder / "arm.urdf")}
    return {**file, "links": [{"name": "upper", "flexible": BEAM}], **changes}


def states(robot: Any, count: int = 5) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    return {key: rng.uniform(-1, 1, (count, len(robot.coordinates))) for key in ("q", "qd", "qdd")}


def pinocchio_forces(path: Path, x: dict[str, np.ndarray]) -> np.ndarray:
    """Inverse dynamics of the URDF, with one coordinate for the two fingers."""
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromUrdf(str(path))
    data, E = model.createData(), np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1.0]])
    order = [model.joints[model.getJointId(name)].idx_v for name in ("shoulder", "elbow", "grip", "grip2")]
    found = []
    for q, qd, qdd in zip(*(x[key] @ E.T for key in ("q", "qd", "qdd")), strict=True):
        given = [np.zeros(4) for _ in range(3)]
        for target, values in zip(given, (q, qd, qdd), strict=True):
            target[order] = values
        found.append(E.T @ pin.rnea(model, data, *given)[order])
    return np.array(found)


@pytest.mark.parametrize("rest", ["hub", "tip"])
@pytest.mark.parametrize("frame", [None, {"xyz": [0, 0.1, 0.05], "rpy_deg": [0, -90, 0]}])
def test_undeformed_the_robot_is_the_urdf_in_pinocchio(folder: Path, rest: str, frame: Any) -> None:
    changes = {"rest": rest, **({} if frame is None else {"frame": frame})}
    robot = quietly_loaded(soft(folder, links=[{"name": "upper", "flexible": {**BEAM, "mass_per_length": 1}, **changes}]))
    assert robot.coordinate_names[:2] == ("shoulder", "upper.y1")
    x = states(robot)
    joints = [k for k, coordinate in enumerate(robot.coordinates) if not coordinate.elastic]
    for values in x.values():
        values[:, [k for k in range(values.shape[1]) if k not in joints]] = 0
    expected = pinocchio_forces(folder / "arm.urdf", {key: values[:, joints] for key, values in x.items()})
    assert relative_error(Programs(robot, ["inverse_dynamics"])("inverse_dynamics", **x)[:, joints], expected) < 1e-12
    rigid = rigid_robot(robot)
    frozen = Programs(rigid, ["inverse_dynamics"])("inverse_dynamics", **{key: values[:, joints] for key, values in x.items()})
    assert relative_error(frozen, expected) < 1e-12


def test_a_stiff_beam_moves_like_the_rigid_link(folder: Path) -> None:
    """Accelerations of the joints tend to those of the rigid robot as 1 / EI where the beam is in equilibrium."""
    rigid = quietly_loaded(folder / "arm.urdf")
    x = states(rigid, 3)
    F = x["qdd"]
    expected = Programs(rigid, ["forward_dynamics"])("forward_dynamics", q=x["q"], qd=0 * x["qd"], F=F)
    errors = []
    for EI in (1e7, 1e8):
        robot = quietly_loaded(soft(folder, links=[{"name": "upper", "flexible": {**BEAM, "mass_per_length": 1, "EI": EI}}]))
        programs = Programs(robot, ["mass_matrix", "gravity_vector", "stiffness_matrix"])
        elastic = np.array([coordinate.elastic for coordinate in robot.coordinates])
        found = []
        for q, f in zip(x["q"], F, strict=True):
            full, force = np.zeros(len(elastic)), np.zeros(len(elastic))
            full[~elastic], force[~elastic] = q, f
            K = programs("stiffness_matrix")
            for _ in range(4):  # the deflection that moves with the joints: K x = -(M qdd + G) on the elastic rows
                M, G = programs("mass_matrix", q=full), programs("gravity_vector", q=full)
                qdd = np.linalg.solve(M[np.ix_(~elastic, ~elastic)], (force - G)[~elastic])
                full[elastic] = -np.linalg.solve(K[np.ix_(elastic, elastic)], (M[:, ~elastic] @ qdd + G)[elastic])
            found.append(qdd)
        errors.append(relative_error(found, expected))
    assert errors[1] < 1e-6
    assert errors[1] == pytest.approx(errors[0] / 10, rel=1e-3)


def test_it_is_the_robot_that_one_would_write_by_hand(folder: Path) -> None:
    changes = {
        "parameters": {"EI": {"value": 300, "unit": "N m^2"}},
        "live": ["EI", "payload.mass"],
        "payload": {"mass": 0.3, "com": [0, 0, 0.1]},
        "joints": [
            {"name": "elbow", "motor": {"inertia": 1e-4, "gear_ratio": 50}, "elasticity": {"stiffness": 900, "damping": 0.1}}
        ],
        "links": [{"name": "upper", "on_hub": ["mount"], "flexible": {**BEAM, "EI": "EI"}, "frame": {"rpy_deg": [0, -90, 0]},
                   "rest": "hub"}],
        "lock": {"grip": 0.01},
    }  # fmt: skip
    robot = quietly_loaded(soft(folder, **changes))
    rest = {"mass": 3.0, "com": [0.08 / 3, 0.04 / 3, (0.88 - 0.25) / 3]}  # 4 kg less a beam of 1 kg and 0.5 m along z
    c, s, about = np.array([0.02, 0.01, 0.22]), np.array(rest["com"]), np.eye(3)
    Rx, Ry, Rz = (
        np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])[np.ix_(p, p)]
        for a, p in ((0.1, [0, 1, 2]), (0.2, [2, 0, 1]), (0.3, [1, 2, 0]))
    )
    R = Rz @ Ry @ Rx
    tensor = R @ np.array([[0.11, 0.001, 0.002], [0.001, 0.12, -0.001], [0.002, -0.001, 0.02]]) @ R.T
    steiner = lambda m, r: m * ((r @ r) * about - np.outer(r, r))  # noqa: E731
    at_origin = tensor + steiner(4, c) - 1.0 * 0.5**2 / 3 * np.diag([1, 1, 0])
    rest["inertia"] = (at_origin - steiner(3, s)).tolist()
    small = [1e-4, 1e-4, 1e-4]
    by_hand = {
        "elastogen": 1,
        "name": "soft",
        "parameters": changes["parameters"],
        "live": changes["live"],
        "payload": changes["payload"],
        "links": [
            {"name": "base"},
            {"name": "upper_hub", **rest},
            {"name": "upper", "flexible": {**BEAM, "EI": "EI", "length": 0.5}},
            {"name": "fore", "mass": 2, "com": [0.15, 0, 0], "inertia": [0.002, 0.03, 0.03]},
            {"name": "left", "mass": 0.1, "inertia": small},
            {"name": "right", "mass": 0.1, "inertia": small},
            {"name": "camera", "mass": 0.2, "inertia": small},
        ],
        "joints": [
            {"name": "shoulder", "type": "revolute", "child": "upper_hub", "axis": [0, 1, 0], "placement": {"xyz": [0, 0, 0.3]},
             "limits": {"lower": -2, "upper": 2}},
            {"name": "clamp", "type": "fixed", "parent": "upper_hub", "child": "upper", "placement": {"rpy_deg": [0, -90, 0]}},
            {"name": "elbow", "type": "revolute", "parent": "upper", "child": "fore", "axis": [0, 0, 1],
             "placement": {"matrix": _seen_from_tip()}, **{key: changes["joints"][0][key] for key in ("motor", "elasticity")}},
            {"name": "grip", "type": "fixed", "parent": "fore", "child": "left", "placement": {"xyz": [0.3, 0.01, 0]}},
            {"name": "grip2", "type": "fixed", "parent": "fore", "child": "right", "placement": {"xyz": [0.3, -0.01, 0]}},
            {"name": "mount", "type": "fixed", "parent": "upper_hub", "child": "camera", "placement": {"xyz": [0.05, 0, 0.1]}},
        ],
        "tip": {"link": "left"},
    }  # fmt: skip
    other = quietly_loaded(by_hand)
    assert robot.coordinate_names == other.coordinate_names
    assert [p.name for p in robot.live_parameters] == [p.name for p in other.live_parameters]
    outputs = ["inverse_dynamics", "mass_matrix", "coriolis_matrix", "gravity_vector", "elastic_forces", "jacobian"]
    ours, theirs, x = Programs(robot, outputs), Programs(other, outputs), states(robot)
    for name in outputs:
        assert relative_error(ours(name, **x), theirs(name, **x)) < 1e-13, name
    assert ours.program["inverse_dynamics"].count == theirs.program["inverse_dynamics"].count


def _seen_from_tip() -> list[list[float]]:
    """The elbow's place, seen from the end of a beam of 0.5 m along z of the link."""
    (cr, cp, cy), (sr, sp, sy) = np.cos([0.3, -0.2, 0.5]), np.sin([0.3, -0.2, 0.5])
    R = np.array([
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ])  # fmt: skip
    to_beam = np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]])  # rows: x, y, z of the beam in the link
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = to_beam @ R, to_beam @ np.array([0, 0.1, 0.5]) - np.array([0.5, 0, 0])
    return T.tolist()


def test_mass_and_centre_are_kept_whatever_the_beam_takes(folder: Path) -> None:
    from elastogen.generator.robot.robot import Robot

    def whole(robot: Robot) -> np.ndarray:
        programs = Programs(rigid_robot(robot), ["center_of_mass", "mass_matrix"])
        return programs("center_of_mass", q=np.array([0.3, 0.2, 0.01]))

    expected = whole(quietly_loaded(folder / "arm.urdf"))
    heavy = soft(folder, links=[{"name": "upper", "flexible": {**BEAM, "mass_per_length": 7}}])
    with pytest.warns(RobotWarning, match=r"moments xx, yy, zz of the link .* mass and centre are kept"):
        robot = load(
            heavy
        )  # 3.6 of 4 kg on a line that is not through the centre: the rest is far off and its inertia not real
    assert relative_error(whole(robot), expected) < 1e-13
    hub = robot.link("upper_hub").body
    assert nominal(hub.mass, {}) == pytest.approx(4 - 7 * np.hypot(0.1, 0.5))
    scatter = np.linalg.eigvalsh(
        np.eye(3) * np.trace(np.array(hub.inertia, dtype=float)) / 2 - np.array(hub.inertia, dtype=float)
    )
    assert scatter[0] > -1e-12  # and it could be a body


@pytest.mark.filterwarnings("ignore::elastogen.generator.robot.errors.RobotWarning")
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"links": [{"name": "uper", "flexible": BEAM}]}, "links.uper: got 'uper', .* did you mean 'upper'"),
        ({"joints": [{"name": "elbo"}]}, "joints.elbo: got 'elbo', .* did you mean 'elbow'"),
        ({"links": [{"name": "upper", "flexible": {**BEAM, "mass_per_length": 9}}]}, "4.58.* kg for .* at most the 4 kg"),
        (
            {"links": [{"name": "upper", "flexible": {**BEAM, "length_": 3}}]},
            r"upper.flexible.length_: .* did you mean 'length'",
        ),
        ({"links": [{"name": "upper", "flexible": {"type": "beam"}}]}, r"links.upper.flexible: .*modes, elements"),
        ({"links": [{"name": "upper", "rest": "tip"}]}, r"links.upper.rest: .*beside flexible"),
        ({"links": [{"name": "upper", "flexible": BEAM, "end": "grip"}]}, r"links.upper.end: .*on the tip of upper"),
        ({"links": [{"name": "upper", "flexible": BEAM, "on_hub": ["x"]}]}, r"links.upper.on_hub: .*a joint on upper"),
        ({"links": [{"name": "upper", "flexible": BEAM, "on_hub": ["elbow", "mount"]}]}, "links.upper.end: got '0 joints"),
        ({"links": [{"name": "fore", "flexible": BEAM}]}, r"links.fore.end: got '2 joints on the link: grip, grip2'"),
        ({"links": [{"name": "left", "flexible": BEAM}]}, r"links.left.end: got '0 joints on the link: none'"),
        ({"links": [{"name": "upper", "flexible": BEAM}] * 2}, "link names that occur once"),
        ({"joints": [{"name": "grip", "follows": "q('elbow')"}]}, r"no other follows \(grip2 does\)"),
        ({"joints": [{"name": "mount", "elasticity": {"stiffness": 3}}]}, "joints.mount.elasticity: got 'a fixed joint'"),
        ({"joints": [{"name": "elbow", "type": "prismatic"}]}, r"joints.elbow.type: .*one of the keys"),
        ({"tip": {"link": "han"}}, r"tip.link: .*link of the base description"),
        ({"planar": {"links": []}}, "no planar beside base_description"),
        ({"base_description": "nowhere.urdf"}, r"base_description.file: got 'no file nowhere.urdf'"),
        ({"base_description": "two_lnk"}, r"did you mean 'two_link'"),
        ({"base_description": {"file": "two_link", "mimc": "follow"}}, r"base_description.mimc: .*did you mean 'mimic'"),
        ({"base_description": 3}, r"base_description: got 3"),
        ({"name": "2bad"}, "name: got '2bad'"),
    ],
)
def test_what_cannot_be_is_named(folder: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(RobotError, match=message):
        load(soft(folder, **changes))


def test_no_rest_is_reported_and_nothing_left_is_right(folder: Path) -> None:
    with pytest.warns(RobotWarning, match=re.escape("links.upper.rest: got \"the link's mass 4 -> 1.0198 kg")):
        robot = load(soft(folder, links=[{"name": "upper", "flexible": BEAM, "rest": "none"}]))
    assert robot.link("upper_hub").body.mass == 0
    exactly = {
        "name": "fore",
        "mass": 0.6,
        "com": [0.15, 0, 0],
        "inertia": [0, 0.0045, 0.0045],
        "end": "grip",
        "flexible": BEAM,
    }
    robot = quietly_loaded(soft(folder, links=[exactly]))
    assert robot.link("fore_hub").body.mass == 0
    with pytest.raises(RobotError, match=r"links.fore.flexible: got '0.6 kg, all of the link', .*rest: none, which moves"):
        quietly_loaded(soft(folder, links=[{**exactly, "com": [0.2, 0, 0]}]))
    first = f"links: [{{name: fore, end: grip, flexible: {_flow(BEAM)}}}]"
    (folder / "first.yaml").write_text(f"elastogen: 1\nname: first\nbase_description: arm.urdf\n{first}\n")
    with pytest.raises(RobotError, match=r"fore.flexible: got 'a flexible link'"):
        quietly_loaded(soft(folder, base_description=str(folder / "first.yaml"), links=[{"name": "fore", "flexible": BEAM}]))


def _flow(mapping: dict[str, Any]) -> str:
    return "{" + ", ".join(f"{key}: {value}" for key, value in mapping.items()) + "}"


def test_what_is_on_top_adds_to_what_is_below(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "lower.yaml").write_text(
        "elastogen: 1\nname: lower\nbase_description: ../arm.urdf\nbase: floating\nlive: [k]\nparameters: {k: 5}\n"
        "points: [{name: eye, link: camera}]\nterms: [{name: spring, potential: \"k*q('grip')**2\"}]\n"
    )
    (tmp_path / "arm.urdf").write_text(URDF)
    (tmp_path / "upper.yaml").write_text(
        "elastogen: 1\nname: topmost\nbase_description: {file: sub/lower.yaml, friction: true}\nlive: [payload.mass]\n"
        "parameters: {k: 7}\ngravity: [0, 0, -1.6]\npayload: {mass: 2}\npoints: [{name: nose, link: fore}]\n"
        "joints: [{name: shoulder, limits: {upper: 1}}]\n"
    )
    assert load(tmp_path / "upper.yaml").joints[0].type.name == "floating"
    robot = load(tmp_path / "upper.yaml", base="fixed", lock={"elbow": 0.2})
    assert robot.name == "topmost"
    assert robot.source == "upper.yaml"
    assert [point.name for point in robot.points] == ["eye", "nose"]
    assert {p.name: p.value for p in robot.live_parameters} == {"k": 7, "payload_mass": 2}
    assert robot.coordinate_names == ("shoulder", "grip")
    shoulder = robot.joints[0]
    assert (shoulder.limits.lower, shoulder.limits.upper, shoulder.limits.effort) == (-2, 1, 50)
    assert next(j for j in load(tmp_path / "upper.yaml", base="fixed").joints if j.name == "elbow").actuation.viscous == 0.7
    assert len(robot.terms) == 1
    independent = load(tmp_path / "upper.yaml", base="fixed", mimic="independent")
    assert independent.coordinate_names == ("shoulder", "elbow", "grip", "grip2")


def test_files_in_a_circle_are_refused(tmp_path: Path) -> None:
    for name, other in (("a", "b"), ("b", "c"), ("c", "a")):
        (tmp_path / f"{name}.yaml").write_text(f"elastogen: 1\nname: r{name}\nbase_description: {other}.yaml\n")
    with pytest.raises(RobotError, match=r"base_description.file: got 'a.yaml -> b.yaml -> c.yaml -> a.yaml'"):
        load(tmp_path / "a.yaml")


def test_a_builtin_robot_can_be_the_base() -> None:
    robot = load({"elastogen": 1, "name": "heavy", "base_description": "two_link", "payload": {"mass": 3}})
    plain = load("two_link")
    assert robot.parameters["payload_mass"].value == 3  # two_link has a live payload
    assert robot.links == plain.links
    assert robot.experiment == plain.experiment


def test_a_changed_file_below_is_built_again_and_what_is_built_later_is_of_the_same(folder: Path, cache_dir: Path) -> None:
    from elastogen.build.known import KnownBuild
    from elastogen.build.options import BuildOptions
    from elastogen.build.request import Description

    top = folder / "top.yaml"
    top.write_text("elastogen: 1\nname: top\nbase_description: arm.urdf\ngravity: [0, 0, 0]\n")
    options = {"outputs": ["mass_matrix"], "cache_dir": folder / "cache"}

    def known() -> bool:
        content = Description.read(top)
        assert content is not None
        return KnownBuild("model", content, BuildOptions.checked(**options)).find() is not None

    light = elastogen.build_model(top, **options).mass_matrix([0, 0, 0])
    assert known()
    (folder / "arm.urdf").write_text(URDF.replace('<mass value="2"/>', '<mass value="8"/>'))
    assert not known()
    assert elastogen.build_model(top, **options).mass_matrix([0, 0, 0])[0, 0] > light[0, 0] + 0.1
    assert known()
    (folder / "arm.urdf").write_text(URDF)
    model = elastogen.build_model(top, cache_dir=folder / "cache")
    (folder / "arm.urdf").write_text(URDF.replace('<mass value="2"/>', '<mass value="8"/>'))
    assert model.mass_matrix([0, 0, 0]) == pytest.approx(light)
    assert model.evaluate("inverse_dynamics_derivatives", q=[0.0] * 3, qd=[0.0] * 3, qdd=[0.0] * 3)[2] == pytest.approx(light)
    (folder / "arm.urdf").unlink()
    assert not known()
    with pytest.raises(RobotError, match=r"no file arm\.urdf"):
        elastogen.build_model(top, **options)
