"""Equalities of MJCF as loops: closed where MuJoCo's are, its constraint rows, and the accelerations of Gauss' principle."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from robots_for_tests import Programs, relative_error
from scipy.linalg import null_space
from scipy.optimize import least_squares

from elastogen.generator.description.load_robot import load
from elastogen.generator.robot.errors import RobotWarning

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed: pip install mujoco")


def chain(name: str, count: int, pos: str) -> str:
    """Hinges about changing axes, and a slide; joint a2 has a reference."""
    text = ""
    for k in range(1, count + 1):
        axis = ("0 1 0.2", "1 0.3 0", "0.1 0 1")[k % 3]
        at = pos if k == 1 else "0.05 0.02 0.3"
        kind = ' type="slide"' if k == 4 else ' ref="0.2"' if k == 2 else ""
        text += f'<body name="{name}{k}" pos="{at}"><joint name="{name}{k}" axis="{axis}" pos="0 0.01 0"{kind} damping="0"/>'
        text += f'<geom type="box" size="0.03 0.05 0.1" pos="0 0.02 0.1" euler="{k} 20 0"/>'
    site = f'<site name="{name}_end" pos="0.02 0.01 0.1" euler="10 20 30"/>'
    return text + site + "</body>" * count


ROBOT = f"""<mujoco><compiler angle="degree"/><option jacobian="dense"><flag contact="disable"/></option>
<default><joint armature="0.02"/></default><worldbody><site name="wall" pos="0.5 0.1 0.6" euler="5 0 0"/>
{chain("a", 5, "0 0 0")}{chain("b", 4, "0.4 0 0")}</worldbody>
<tendon><fixed name="s"><joint joint="a2" coef="2"/><joint joint="b1" coef="-1"/></fixed>
<fixed name="t"><joint joint="b2" coef="3"/></fixed></tendon>
<equality>ROWS</equality><actuator>DRIVES</actuator></mujoco>"""
CASES = {
    "connect": ('<connect name="pin" body1="a5" body2="b4" anchor="0.1 0.02 0.05"/>', ["spherical"], 3),
    "connect to the world": ('<connect body1="a3" anchor="0.1 0.02 0.05"/>', ["spherical"], 3),
    "connect sites": ('<connect site1="a_end" site2="b_end"/>', ["spherical"], 3),
    "weld": ('<weld body1="a5" body2="b4" anchor="0.1 0.2 0.3"/>', ["fixed"], 6),
    "weld posed": ('<weld body1="a5" body2="b4" relpose="0.1 0.02 0.05 0.9 0.1 0.2 0.3" anchor="0.1 0.2 0.3"/>', ["fixed"], 6),
    "weld sites": ('<weld site1="a_end" site2="b_end"/>', ["fixed"], 6),
    "weld points": ('<weld body1="a5" body2="b4" torquescale="0"/>', ["spherical"], 3),
    "tendons": ('<tendon tendon1="s" tendon2="t" polycoef="0.1 0.5 0 0 0"/>', ["gear"], 1),
    "circle": (
        '<joint joint1="a1" joint2="a2" polycoef="0.1 2 0 0 0"/><joint joint1="a2" joint2="a3"/>'
        '<joint joint1="a3" joint2="a1" polycoef="0.2 -1 0 0 0"/>', ["gear"], 1),
    "two on one": (
        '<joint joint1="a1" joint2="a2" polycoef="0 2 0 0 0"/><joint joint1="a1" joint2="b2" polycoef="0.1 1 0 0 0"/>',
        ["gear"], 1),
    "with a follower": (
        '<connect body1="a3" body2="b4" anchor="0 0 0.1"/><joint joint1="a4" joint2="a2" polycoef="0.1 0.5 0 0 0"/>',
        ["spherical"], 3),
}  # fmt: skip


def rows_of(model: Any, data: Any) -> tuple[Any, Any]:
    """Residuals and Jacobian of the equalities, without the scales of MuJoCo."""
    mujoco.mj_forward(model, data)
    equal = data.efc_type == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
    return data.efc_pos[equal].copy(), data.efc_J.reshape(-1, model.nv)[equal].copy()


@pytest.mark.parametrize("case", CASES)
def test_loops_close_and_move_as_in_mujoco(tmp_path: Path, case: str) -> None:
    rows, types, count = CASES[case]
    path = tmp_path / "arm.xml"
    path.write_text(ROBOT.replace("ROWS", rows).replace("DRIVES", ""))
    robot = load(path)
    assert [loop.type for loop in robot.loops] == types
    model = mujoco.MjModel.from_xml_path(str(path))
    data, rng = mujoco.MjData(model), np.random.default_rng(6)
    names = [model.joint(i).name for i in range(model.njnt)]
    own = [names.index(name) for name in robot.velocity_names]
    programs = Programs(robot, ["loop_residual", "loop_jacobian", "forward_dynamics"])

    def whole(q: Any) -> Any:
        """All joints of MuJoCo: followers where their leaders put them."""
        full = np.zeros(model.nq)
        full[own] = q
        for joint in robot.joints:
            if joint.coupling is not None:
                from elastogen.generator.joints.coupled import leader

                values = {leader(name): q[list(robot.velocity_names).index(name)] for name in joint.coupling.leaders}
                full[names.index(joint.name)] = float(joint.coupling.position.xreplace(values))
        return full

    start = model.qpos0[own] + rng.uniform(-0.2, 0.2, len(own))
    found = least_squares(lambda q: programs("loop_residual", q=q).ravel(), start, xtol=1e-15, ftol=1e-15, gtol=1e-15)
    q = found.x
    assert np.abs(programs("loop_residual", q=q)).max() < 1e-11
    data.qpos[:] = whole(q)
    gap, J = rows_of(model, data)
    assert np.abs(gap).max() < 1e-10
    step = 1e-6
    E = np.column_stack([(whole(q + step * e) - whole(q - step * e)) / (2 * step) for e in np.eye(len(own))])
    E = np.round(E, 8)  # followers are linear
    ours, theirs = null_space(programs("loop_jacobian", q=q).reshape(count, -1), rcond=1e-9), null_space(J @ E, rcond=1e-8)
    assert ours.shape == theirs.shape
    assert np.abs(ours @ ours.T - theirs @ theirs.T).max() < 1e-7
    data.qvel[:] = 0
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    for k, column in enumerate(np.eye(model.nv)):
        mujoco.mj_mulM(model, data, M[k], column)
    F = rng.uniform(-1, 1, len(own))
    N = ours  # at rest: accelerations are motions that the loops leave, by d'Alembert
    expected = N @ np.linalg.solve(N.T @ E.T @ M @ E @ N, N.T @ (F - E.T @ data.qfrc_bias))
    assert relative_error(programs("forward_dynamics", q=q, qd=np.zeros(len(own)), F=F), expected) < 1e-7


def test_drives_are_the_joints_with_actuators(tmp_path: Path) -> None:
    path = tmp_path / "arm.xml"
    drives = '<motor joint="a1"/><position joint="a4"/><motor tendon="t"/>'
    rows = CASES["with a follower"][0]
    path.write_text(ROBOT.replace("ROWS", rows).replace("DRIVES", drives))
    assert [joint.name for joint in load(path).joints if joint.type.moves and joint.driven] == ["a1", "a2", "b2"]


def test_a_mocap_body_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "arm.xml"
    text = ROBOT.replace("<worldbody>", '<worldbody><body name="hand" mocap="true"><geom size="0.1"/></body>')
    path.write_text(text.replace("ROWS", '<weld name="lead" body1="hand" body2="a5"/>').replace("DRIVES", ""))
    with pytest.warns(RobotWarning, match="equality.lead: got .a mocap body, hand.*left out"):
        assert load(path).loops == ()


def test_what_is_switched_off_is_no_loop(tmp_path: Path) -> None:
    path = tmp_path / "arm.xml"
    path.write_text(ROBOT.replace("ROWS", CASES["weld"][0].replace("<weld", '<weld active="false"')).replace("DRIVES", ""))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert load(path).loops == ()
