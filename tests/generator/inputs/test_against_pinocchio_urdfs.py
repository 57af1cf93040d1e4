"""The order of Pinocchio's coordinates, and some of the robots of docs/robots/robots-tried.md at few states."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from robots_for_tests import Programs, quietly_loaded, relative_error

from benchmarks.race.against_pinocchio import compare, robots_folder
from benchmarks.race.robots import FREE, MissingPeerError
from elastogen.generator.functions.derivation import derive_model

pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed: pip install pin")
JOINTS = (  # as the file orders them
    ("trunk", "revolute", "l0", "l1", "0 0 0.3", "0 0 1"),
    ("zeta", "continuous", "l1", "l2", "0.1 0 0", "0 1 0"),
    ("beta", "prismatic", "l2", "l3", "0 0.2 0", "1 0 0"),
    ("mount", "fixed", "l1", "l4", "0 0.1 0", "1 0 0"),
    ("Zoom", "revolute", "l4", "l5", "0 0 0.2", "1 0 0"),
    ("alpha", "revolute", "l1", "l6", "-0.1 0 0", "0 1 0"),
)  # fmt: skip


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_the_order_of_a_tree_whose_joints_are_not_sorted(tmp_path: Path, base: str) -> None:
    inertia = '<inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0" ixz="0" iyz="0"/>'
    limit = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
    text = "".join(
        f'<link name="l{k}"><inertial><origin xyz="0.1 0 {k / 10}"/><mass value="{1 + k}"/>{inertia}</inertial></link>'
        for k in range(7)
    )
    for name, kind, parent, child, origin, axis in JOINTS:
        ends = f'<parent link="{parent}"/><child link="{child}"/>'
        text += f'<joint name="{name}" type="{kind}">{ends}<origin xyz="{origin}"/><axis xyz="{axis}"/>{limit}</joint>'
    path = tmp_path / "tree.urdf"
    path.write_text(f'<robot name="tree">{text}</robot>')
    robot = quietly_loaded(path, base=base)
    root = (pin.JointModelFreeFlyer(),) if base == "floating" else ()
    model = pin.buildModelFromUrdf(str(path), *root)
    order = robot.pinocchio_order
    assert order.joints[-5:] == tuple(model.names)[-5:] == ("trunk", "alpha", "Zoom", "zeta", "beta")
    assert robot.velocity_names[-5:] == ("trunk", "zeta", "beta", "Zoom", "alpha")  # as the file has them
    rng = np.random.default_rng(6)
    q = rng.uniform(-1, 1, (4, len(robot.coordinates)))
    qd, qdd = rng.uniform(-1, 1, (2, 4, len(robot.velocities)))
    if base == "floating":
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    F = Programs(robot, ["inverse_dynamics"])("inverse_dynamics", q=q, qd=qd, qdd=qdd)
    data = model.createData()
    expected = [pin.rnea(model, data, *x) for x in zip(order.q(q), order.v(qd), order.v(qdd), strict=True)]
    assert relative_error(order.v(F), expected) < 1e-13
    np.testing.assert_array_equal(order.q(q.reshape(2, 2, -1))[1, 0], order.q(q[2]))  # single states, several axes


def example(path: str) -> Path:
    try:
        return robots_folder() / path
    except MissingPeerError as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize(
    ("path", "base"),
    [("panda_description/urdf/panda.urdf", "fixed"), ("solo_description/robots/solo12.urdf", "floating")],
)
def test_robots_of_the_table(path: str, base: str) -> None:
    found = compare(example(path), base, states=10)
    assert found.result == "equal"
    assert {"inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity_vector", "centroidal_momentum"} <= set(found.errors)
    assert ("integrate" in found.errors) == (base == "floating")
    assert found.worst[1] < 1e-11


@pytest.mark.parametrize(("name", "most"), [("solo12", (593, 548)), ("talos", (1822, 1745)), ("g1", (1696, 1606))])
def test_operations_of_robots_on_free_bases(name: str, most: tuple[int, int]) -> None:
    """Those of ``python -m benchmarks free``; they only get fewer."""
    robot = quietly_loaded(example(FREE[name]), base="floating")
    (function,) = derive_model(robot, ("inverse_dynamics",)).functions
    assert function.program.count.mul <= most[0]
    assert function.program.count.add <= most[1]


def test_what_differs_is_said() -> None:
    """A comparison that finds nothing wrong would be worthless: another mass, and it says so."""
    from benchmarks.race import against_pinocchio as here

    path = example("ur_description/urdf/ur5_robot.urdf")
    found = here.Comparison("ur5", "fixed")
    pair = here._pair(path, "fixed", found)
    assert pair is not None
    pair.model.inertias[3].mass *= 1.001
    here._measure(pair, found, 3)
    assert found.result.startswith("differs: ")
    assert found.worst[1] > 1e-6
