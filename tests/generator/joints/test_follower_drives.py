"""Rotors and friction of joints that follow others: against the robot with all coordinates, reduced by the chain rule."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from robots_for_tests import Programs, relative_error

from elastogen.generator.description.load_robot import load
from elastogen.generator.robot.errors import RobotError

BODY = {"mass": 1.3, "com": [0.2, 0.03, -0.05], "inertia": [0.02, 0.03, 0.04]}
MOTOR = {"inertia": 2e-4, "gear_ratio": 40}
FRICTION = {"viscous": 0.7, "coulomb": 0.4, "coulomb_velocity": 0.3}
OUTPUTS = ("inverse_dynamics", "mass_matrix", "forward_dynamics", "kinetic_energy")


def gripper(follows: str | None, **drives: Any) -> dict[str, Any]:
    """A wrist with two fingers, of which the second follows the others."""
    return {
        "elastogen": 1, "name": "gripper", "gravity": [0.3, -0.2, -9.8],
        "links": [{"name": "base"}, *({"name": name, **BODY} for name in ("palm", "first", "second"))],
        "joints": [
            {"name": "wrist", "type": "revolute", "parent": "base", "child": "palm", "axis": [0, 0, 1]},
            {"name": "left", "type": "prismatic", "parent": "palm", "child": "first", "axis": [0, 1, 0],
             **drives.get("left", {})},
            {"name": "right", "type": "revolute", "parent": "palm", "child": "second", "axis": [1, 0, 0],
             **drives.get("right", {}), **({} if follows is None else {"follows": follows})},
        ],
    }  # fmt: skip


# what follows, its value, its slopes with respect to wrist and left, its second derivative along the velocity
CASES: dict[str, tuple[str, Any, Any, Any]] = {
    "proportional": ("-2.5*q('left') + 0.1", lambda w, x: 0.1 - 2.5 * x, lambda w, x: (0.0, -2.5), lambda w, x, v: 0.0),
    "the same": ("q('left')", lambda w, x: x, lambda w, x: (0.0, 1.0), lambda w, x, v: 0.0),
    "curved": ("0.5*q('left')**2 + q('wrist')", lambda w, x: x * x / 2 + w, lambda w, x: (1.0, x), lambda w, x, v: v[1] ** 2),
}


def states() -> Any:
    rng = np.random.default_rng(3)
    return [rng.uniform(-1, 1, (3, 2)) for _ in range(4)]


@pytest.mark.parametrize("leader", [{}, {"motor": MOTOR, "friction": FRICTION}], ids=["a bare leader", "a driven leader"])
@pytest.mark.parametrize("case", CASES)
def test_they_act_on_the_leaders(case: str, leader: dict[str, Any]) -> None:
    text, f, slopes, bend = CASES[case]
    drive: dict[str, Any] = {"friction": {**FRICTION, "coulomb_velocity": 0.2}}
    if leader:
        drive["friction"] |= {"offset": 0.1, "stribeck": 0.3, "viscous_asymmetry": 0.2, "coulomb_asymmetry": 0.1}
    if case != "curved":
        drive["motor"] = {"inertia": 3e-4, "gear_ratio": 30}
    coupled = Programs(load(gripper(text, left=leader, right=drive)), OUTPUTS)
    whole = Programs(load(gripper(None, left=leader, right=drive)), OUTPUTS)
    assert coupled.robot.velocity_names == ("wrist", "left")
    for q, v, a in states():
        E = np.vstack([np.eye(2), slopes(*q)])
        full = {"q": [*q, f(*q)], "qd": E @ v, "qdd": E @ a + [0, 0, bend(*q, v)]}
        F = E.T @ whole("inverse_dynamics", **full)
        assert relative_error(coupled("inverse_dynamics", q=q, qd=v, qdd=a), F) < 1e-12
        assert relative_error(coupled("mass_matrix", q=q), E.T @ whole("mass_matrix", q=full["q"]) @ E) < 1e-12
        assert relative_error(coupled("kinetic_energy", q=q, qd=v), whole("kinetic_energy", q=full["q"], qd=full["qd"])) < 1e-12
        assert relative_error(coupled("forward_dynamics", q=q, qd=v, F=F), a) < 1e-10


def test_two_followers_of_one_leader_add_up() -> None:
    data = gripper("2*q('left')", right={"motor": MOTOR})
    data["joints"][0] = {**data["joints"][0], "motor": MOTOR, "follows": "-q('left')"}
    (left,) = (joint for joint in load(data).joints if joint.name == "left")
    assert left.actuation.motor_inertia * left.actuation.gear_ratio**2 == pytest.approx(5 * 2e-4 * 40**2, rel=1e-14)


def test_friction_of_loads_and_springs_of_followers_are_refused() -> None:
    with pytest.raises(RobotError, match=r"joints\.right\.friction\.load: .*leading joint"):
        load(gripper("q('left')", right={"friction": {"load": 0.1}}))
    with pytest.raises(RobotError, match=r"joints\.right\.elasticity: .*no spring"):
        load(gripper("q('left')", right={"motor": MOTOR, "elasticity": {"stiffness": 3}}))


def test_a_locked_leader_takes_them_along() -> None:
    robot = load(gripper("q('left')", right={"motor": MOTOR, "friction": FRICTION}), lock={"left": 0.1})
    assert robot.velocity_names == ("wrist",)
    assert not robot.terms


URDF = """<robot name="gripper"><link name="base"/>
<link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="lead" type="continuous"><parent link="base"/><child link="a"/><dynamics damping="0.5" friction="0.1"/></joint>
<joint name="follow" type="continuous"><parent link="a"/><child link="b"/><dynamics damping="0.3" friction="0.2"/>
  <mimic joint="lead" multiplier="-2"/></joint></robot>"""


def test_dynamics_of_mimic_joints(tmp_path: Path) -> None:
    """Closed form: F = (0.5 + 4 * 0.3) v + 0.1 tanh(v / 0.01) + 2 * 0.2 tanh(2 v / 0.01), with no acceleration."""
    path = tmp_path / "gripper.urdf"
    path.write_text(URDF)
    programs = Programs(load(path, friction=True), ["inverse_dynamics"])
    for v in (0.004, -0.7):
        expected = 1.7 * v + 0.1 * np.tanh(v / 0.01) + 0.4 * np.tanh(2 * v / 0.01)
        got = programs("inverse_dynamics", q=[0.3], qd=[v], qdd=[0.0])
        assert relative_error(got, [expected]) < 1e-13
    changed = tmp_path / "changed.yaml"
    changed.write_text(
        "elastogen: 1\nname: changed\nbase_description: {file: gripper.urdf, friction: true}\n"
        "joints: [{name: follow, friction: {viscous: 1.0, coulomb: 0}}, {name: lead, friction: {viscous: 0.25, coulomb: 0}}]\n"
    )
    (lead, _) = load(changed).joints
    assert lead.actuation.viscous == pytest.approx(0.25 + 4)
