"""Geoms of an MJCF are drawn where MuJoCo has them, in the colours that MuJoCo gives them."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import elastogen
from elastogen.build.pages.animation import drawn_model
from elastogen.build.pages.skeleton import Skeleton, skeleton

mujoco: Any = pytest.importorskip("mujoco", reason="no mujoco: pip install 'elastogen[mjcf]'")
pytest.importorskip("trimesh", reason="no trimesh: pip install 'elastogen[meshes]'")
CORNERS = np.array([[0, 0, 0], [0.2, 0, 0], [0, 0.1, 0], [0, 0, 0.3]])
FACES = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
MODEL = """
<mujoco model="shown">
  <compiler angle="degree" meshdir="parts"/>
  <default>
    <default class="seen"><geom material="blue" group="1"/></default>
    <default class="hit"><geom group="3"/></default>
  </default>
  <asset>
    <texture name="wood" type="2d" builtin="flat" width="2" height="2"/>
    <material name="blue" rgba="0.1 0.2 0.9 1" texture="wood" shininess="0.3"/>
    <mesh name="part" file="part.stl" refpos="0.01 0.02 -0.03" refquat="1 0.3 -0.2 0.5" scale="2 2 2"/>
    <mesh name="plain" file="part.stl" scale="1 2 3"/>
    <mesh name="lost" file="lost.stl"/>
  </asset>
  <worldbody>
    <geom type="plane" size="1 1 1" material="blue"/>
    <geom class="seen" type="box" size="0.2 0.3 0.05" pos="0 0 -0.05"/>
    <body name="arm" pos="0.1 0.2 0.3" euler="20 -30 40">
      <joint name="turn" axis="0 0.6 0.8"/>
      <geom type="mesh" mesh="part" pos="0.1 0 0.2" euler="10 20 30" material="blue" rgba="0 1 0 1"/>
      <geom class="seen" type="capsule" size="0.04" fromto="0 0 0 0.1 0.2 -0.3"/>
      <body name="hand" pos="0 0.2 0.1" zaxis="0.3 0.2 -1">
        <joint name="slide" type="slide" axis="1 0 0"/>
        <inertial pos="0 0 0" mass="1" diaginertia="0.01 0.01 0.01"/>
        <geom class="seen" type="mesh" mesh="plain" pos="0.1 0.1 0" axisangle="1 1 0 50"/>
        <geom class="seen" type="mesh" mesh="lost"/>
        <geom class="seen" type="ellipsoid" size="0.05 0.08 0.1" pos="0.1 0 0" zaxis="1 1 -1"/>
        <geom class="seen" type="cylinder" size="0.05 0.1" rgba="1 0 0 0"/>
        <geom class="hit" type="sphere" size="0.06"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.fixture
def shown(tmp_path: Path) -> Path:
    triangles = b"".join(struct.pack("<12fH", 0, 0, 0, *CORNERS[list(face)].ravel(), 0) for face in FACES)
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "part.stl").write_bytes(b"\0" * 80 + struct.pack("<I", len(FACES)) + triangles)
    path = tmp_path / "shown.xml"
    path.write_text(MODEL)
    return path


def boxes(drawing: Skeleton, q: np.ndarray) -> list[np.ndarray]:
    """Of each drawn mesh the vertices in the world."""
    nodes = np.asarray(drawn_model(drawing).point_positions(q))
    found = []
    for mesh, (origin, along_y, along_z) in drawing.meshes:
        y, z = nodes[along_y] - nodes[origin], nodes[along_z] - nodes[origin]
        found.append(nodes[origin] + mesh.vertices @ np.stack([np.cross(y, z), y, z]))
    return found


def test_geoms_are_where_mujoco_has_them(shown: Path, cache_dir: Path) -> None:
    q = np.array([0.7, -0.2])
    there = mujoco.MjModel.from_xml_string(
        MODEL.replace("lost.stl", "part.stl"), {"part.stl": (shown.parent / "parts/part.stl").read_bytes()}
    )
    state = mujoco.MjData(there)
    state.qpos[:] = q
    mujoco.mj_forward(there, state)
    robot = elastogen.load(shown)
    drawing = skeleton(robot)
    assert "'parts/lost.stl'" in drawing.note
    assert [look.role for look in robot.looks].count("collision") == 1
    found = {
        (mesh.link, len(mesh.vertices)): places for (mesh, _), places in zip(drawing.meshes, boxes(drawing, q), strict=True)
    }
    assert len(found) == len(drawing.meshes) == 5  # no plane, nothing that is invisible, for collisions or lost
    for name, geom in (("arm", 2), ("hand", 4)):  # meshes: of the first MuJoCo needs the inertia, and moves it
        mesh = there.geom_dataid[geom]
        start, count = there.mesh_vertadr[mesh], there.mesh_vertnum[mesh]
        corners = there.mesh_vert[start : start + count] @ state.geom_xmat[geom].reshape(3, 3).T + state.geom_xpos[geom]
        distances = np.linalg.norm(found[name, 4][:, None] - corners[None], axis=-1)
        assert distances.min(axis=1) == pytest.approx(np.zeros(4), abs=1e-6)
    for (link, count), geom in {("world", 8): 1, ("arm", 576): 3, ("hand", 544): 6}.items():
        own = (found[link, count] - state.geom_xpos[geom]) @ state.geom_xmat[geom].reshape(3, 3)
        x, y, z = there.geom_size[geom]
        extent = (x, x, x + y) if link == "arm" else (x, y, z)
        assert own.max(axis=0) == pytest.approx(extent, abs=1e-6)
        assert own.min(axis=0) == pytest.approx(-np.array(extent), abs=1e-6)


def test_colours_are_those_of_classes_materials_and_geoms(shown: Path) -> None:
    colors = {(mesh.link, len(mesh.vertices)): mesh.color for mesh, _ in skeleton(elastogen.load(shown)).meshes}
    assert colors.pop(("arm", 4)) == (0.0, 1.0, 0.0, 1.0)
    assert set(colors.values()) == {(0.1, 0.2, 0.9, 1.0)}


def test_materials_that_are_not_there_are_no_reason_to_fail(shown: Path) -> None:
    shown.write_text(MODEL.replace('class="seen" type="box"', 'material="none" type="box"'))
    assert len(elastogen.load(shown).looks) == 7
