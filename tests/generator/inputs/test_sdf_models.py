"""SDF files with models inside models, included files and several models: against Drake; where files may be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from robots_for_tests import Programs, quietly_loaded, relative_error

from elastogen.generator.description.load_robot import load
from elastogen.generator.robot.errors import RobotError, RobotWarning


def link(name: str, pose: str, mass: float) -> str:
    inertia = "".join(f"<i{axis}>{mass * k}</i{axis}>" for axis, k in (("xx", 0.02), ("yy", 0.015), ("zz", 0.01)))
    inertial = f"<inertial><pose>0.01 0.02 0.1 0 0 0.3</pose><mass>{mass}</mass><inertia>{inertia}</inertia></inertial>"
    return f'<link name="{name}">{pose}{inertial}</link>'


def joint(name: str, ends: str, inside: str, kind: str = "revolute") -> str:
    parent, child = ends.split()
    return f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>{inside}</joint>'


GRIPPER = f"""<sdf version="1.7"><model name="gripper"><pose>9 9 9 0 0 0</pose>
  <frame name="grasp" attached_to="palm"><pose>0 0 0.1 0.4 0 0</pose></frame>
  {link("palm", "<pose>0.01 0 0.02 0 0.2 0</pose>", 0.4)}
  {link("finger", '<pose relative_to="grasp">0 0.02 0 0 0 0</pose>', 0.1)}
  {joint("close", "palm finger", '<axis><xyz expressed_in="__model__">0 1 0.2</xyz></axis>', "prismatic")}
</model></sdf>"""
WHEEL = f"""<sdf version="1.7"><model name="wheel">
  {link("rim", "<pose>0 0.1 0 0.2 0 0</pose>", 0.7)}{link("cap", "<pose>0 0.2 0 0 0 0</pose>", 0.2)}
  {joint("spin", "rim cap", "<axis><xyz>0 1 0</xyz></axis>")}
</model></sdf>"""
CELL = f"""<sdf version="1.9"><model name="cell" canonical_link="post">
  <pose>0.3 -0.2 0.1 0.2 0.1 -0.3</pose>
  <frame name="corner"><pose>0.2 0.1 0 0 0.3 0.5</pose></frame>
  <model name="arm" canonical_link="lower">
    <pose relative_to="corner">0 0.1 0.6 0.1 0.2 0.3</pose>
    {link("upper", "<pose>0 0 0.1 0 0 0.2</pose>", 2)}
    {link("lower", '<pose relative_to="elbow">0 0 0.2 0 0.1 0</pose>', 1)}
    {joint("elbow", "upper lower", '<pose relative_to="__model__">0.3 0 0.2 0 0 0.4</pose><axis><xyz>0 1 0</xyz></axis>')}
  </model>
  {link("post", "", 3)}
  {joint("foot", "world post", "", "fixed")}
  {joint("shoulder", "post arm::upper", '<pose relative_to="arm">0 0 0.05 0 0 0</pose><axis><xyz>0 0.6 0.8</xyz></axis>')}
  <include><uri>model://gripper</uri><name>tool</name><pose relative_to="arm::lower">0.1 0 0.3 0.5 0 0</pose></include>
  {joint("wrist", "arm tool::grasp", '<axis><xyz expressed_in="arm::elbow">1 0 0</xyz></axis>')}
  <include merge="true"><uri>parts/wheel.sdf</uri><pose relative_to="corner">0 0 0.2 0 0.4 0</pose></include>
  {joint("axle", "post rim", "<axis><xyz>0 1 0</xyz></axis>", "continuous")}
</model></sdf>"""


def cell(folder: Path) -> Path:
    (folder / "models/gripper").mkdir(parents=True)
    (folder / "robot/parts").mkdir(parents=True)
    (folder / "models/gripper/hand.sdf").write_text(GRIPPER)
    config = '<model><name>gripper</name><sdf version="1.2">old.sdf</sdf><sdf version="1.10">hand.sdf</sdf></model>'
    (folder / "models/gripper/model.config").write_text(config)
    (folder / "robot/parts/wheel.sdf").write_text(WHEEL)
    (folder / "robot/cell.sdf").write_text(CELL)
    return folder / "robot/cell.sdf"


def test_models_in_models_and_included_ones_against_drake(tmp_path: Path) -> None:
    tree = pytest.importorskip("pydrake.multibody.tree", reason="Drake is not installed: pip install drake")
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant

    path = cell(tmp_path)
    robot = load(path, package_path={"gripper": tmp_path / "models/gripper"})
    assert robot.velocity_names == ("shoulder", "arm::elbow", "wrist", "tool::close", "axle", "spin")
    assert {Path(name).name for name in robot.files} == {"cell.sdf", "model.config", "hand.sdf", "wheel.sdf"}
    plant: Any = MultibodyPlant(0.0)
    parser = Parser(plant)
    parser.package_map().Add("gripper", str(tmp_path / "models/gripper"))
    parser.package_map().Add("parts", str(tmp_path / "robot/parts"))
    whole = path.with_name("for_drake.sdf")  # Drake reads files in packages, not folders with a model.config
    whole.write_text(
        CELL.replace("model://gripper", "model://gripper/hand.sdf").replace("parts/wheel", "package://parts/wheel")
    )
    parser.AddModels(str(whole))
    plant.Finalize()
    context, rng = plant.CreateDefaultContext(), np.random.default_rng(4)
    by_name = {}
    for index in plant.GetJointIndices():
        one = plant.get_joint(index)
        by_name[one.name()] = one
    order = [by_name[name.rpartition("::")[2]].velocity_start() for name in robot.velocity_names]
    programs = Programs(robot, ["inverse_dynamics", "mass_matrix"])
    for _ in range(3):
        q, v, a = rng.uniform(-1, 1, (3, 6))
        full = np.zeros((3, 6))
        full[:, order] = q, v, a
        plant.SetPositions(context, full[0])
        plant.SetVelocities(context, full[1])
        forces = tree.MultibodyForces(plant)
        plant.CalcForceElementsContribution(context, forces)
        expected = plant.CalcInverseDynamics(context, full[2], forces)[order]
        assert relative_error(programs("inverse_dynamics", q=q, qd=v, qdd=a), expected) < 1e-12
        M = plant.CalcMassMatrix(context)[np.ix_(order, order)]
        assert relative_error(programs("mass_matrix", q=q), M) < 1e-12


def test_a_model_folder_beside_is_found(tmp_path: Path) -> None:
    path = cell(tmp_path)
    with pytest.raises(RobotError, match=r"include.uri: got 'model://gripper', .*package_path=\{'gripper'"):
        load(path)
    (tmp_path / "models/gripper").rename(tmp_path / "gripper")
    assert len(load(path).velocities) == 6


ARM = f"""<model name="NAME">{link("base", "", 1)}{link("rod", "<pose>0 0 0.2 0 0 0</pose>", 1)}
  {joint("turn", "base rod", "<axis><xyz>0 1 0</xyz></axis>")}</model>"""
TWO = (
    f"<sdf version='1.9'><world name='w'>{ARM.replace('NAME', 'left')}{ARM.replace('NAME', 'right').replace('>1<', '>7<')}"
    f"<model name='box'>{link('box', '', 1)}</model><include><uri>model://sun</uri></include></world></sdf>"
)


def test_models_of_one_name_are_to_be_renamed(tmp_path: Path) -> None:
    """The answer was to choose by the name that both have."""
    path = tmp_path / "two.sdf"
    path.write_text(TWO.replace("'right'", "'left'").replace('"right"', '"left"'))
    with pytest.raises(RobotError, match=r"model: got 'left, left', .*Fix: rename them"):
        quietly_loaded(path)
    with pytest.raises(RobotError, match=r"model: got \"2 models 'left'\", .*Fix: rename them"):
        quietly_loaded(path, model="left")


def test_one_of_several_models_is_chosen_by_name(tmp_path: Path) -> None:
    path = tmp_path / "two.sdf"
    path.write_text(TWO)
    with pytest.raises(RobotError, match=r"model: got 'left, right', .*model='name'"):
        quietly_loaded(path)
    robot = load(path, model="right")
    assert robot.name == "right"
    assert robot.link("rod").body.mass == 7
    with pytest.raises(RobotError, match=r"model: got 'rigth', .*left, right, box.*did you mean 'right'"):
        load(path, model="rigth")
    with pytest.raises(RobotError, match="model: got 5"):
        load(path, model=5)
    with pytest.raises(RobotError, match="model: got 'arm', expected a model of an SDF file only"):
        load("puma560", model="arm")
    path.write_text(TWO.replace(ARM.replace("NAME", "left"), ""))
    with pytest.warns(RobotWarning, match="include: got 'model://sun'.*left out"):
        assert load(path).name == "right"


@pytest.mark.parametrize(
    "uri",
    [
        "model://../../outside", "model://gripper/../../outside/model.sdf", "../outside/model.sdf", "ABSOLUTE",
        "link/model.sdf", "model://", "model://..", "https://fuel.example/arm", "file:///etc/passwd", "parts/none.sdf",
        "x" * 5000, "parts", "cell.sdf", "model://gripper/hand.txt", "model://link", "model://link/model.sdf",
    ],
)  # fmt: skip
def test_includes_stay_in_their_folders(tmp_path: Path, uri: str) -> None:
    path = cell(tmp_path)
    (tmp_path / "outside").mkdir()
    secret = tmp_path / "outside/model.sdf"
    secret.write_text(WHEEL)
    (tmp_path / "robot/link").symlink_to(tmp_path / "outside")
    given = str(secret) if uri == "ABSOLUTE" else uri
    path.write_text(CELL.replace("parts/wheel.sdf", given))
    with pytest.raises(RobotError, match=r"include\.uri: got"):
        load(path, package_path={"gripper": tmp_path / "models/gripper"})
