"""Meshes of URDF robots: found as ROS finds them, placed by the link's pose, thinned with a word, no reason to fail."""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path

import numpy as np
import pytest

import elastogen
from elastogen.build.identity import model_sha256
from elastogen.build.options import EmitOptions
from elastogen.build.pages import meshes
from elastogen.build.pages.animation import drawn_model
from elastogen.build.pages.meshes import KINDS, Mesh, load_meshes, merged, thinned
from elastogen.build.pages.skeleton import skeleton
from elastogen.generator.robot.looks import Look

pytest.importorskip("trimesh", reason="no trimesh: pip install 'elastogen[meshes]'")
UNIT = tuple(tuple(float(i == j) for j in range(4)) for i in range(4))
CORNERS = np.array([[0, 0, 0], [0.2, 0, 0], [0, 0.1, 0], [0, 0, 0.3]])
FACES = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
URDF = """<robot name="meshed">
  <link name="base"><visual><geometry><mesh filename="package://parts/meshes/body.stl"/></geometry></visual></link>
  <link name="arm">
    <inertial><origin xyz="0.2 0 0"/><mass value="1"/>
      <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0.1 0 0" rpy="0 0 1.5707963267948966"/>
      <geometry><mesh filename="../meshes/body.stl" scale="2 2 2"/></geometry></visual>
    <visual><geometry><mesh filename="missing.stl"/></geometry></visual>
    <visual><origin xyz="nonsense"/><geometry><mesh filename="../meshes/body.stl"/></geometry></visual>
  </link>
  <joint name="turn" type="continuous"><parent link="base"/><child link="arm"/>
    <origin xyz="0 0 0.5"/><axis xyz="0 0 1"/></joint>
</robot>"""


def stl() -> bytes:
    """A tetrahedron as binary STL."""
    triangles = b"".join(struct.pack("<12fH", 0, 0, 0, *CORNERS[list(face)].ravel(), 0) for face in FACES)
    return b"\0" * 80 + struct.pack("<I", len(FACES)) + triangles


@pytest.fixture
def urdf(tmp_path: Path) -> Path:
    for name in ("urdf", "meshes"):
        (tmp_path / "parts" / name).mkdir(parents=True)
    (tmp_path / "parts" / "meshes" / "body.stl").write_bytes(stl())
    path = tmp_path / "parts" / "urdf" / "meshed.urdf"
    path.write_text(URDF)
    return path


def test_meshes_move_with_their_links(urdf: Path, cache_dir: Path) -> None:
    drawing = skeleton(elastogen.load(urdf))
    assert [mesh.link for mesh, _ in drawing.meshes] == ["base", "arm"]
    assert "'missing.stl'" in drawing.note
    nodes = np.asarray(drawn_model(drawing).point_positions([0.7]))
    mesh, (origin, *axes) = drawing.meshes[1]
    y, z = (nodes[axis] - nodes[origin] for axis in axes)
    frame = np.stack([np.cross(y, z), y, z], axis=-1)
    placed = (nodes[origin] + mesh.vertices @ frame.T)[mesh.triangles.ravel()]
    c, s = np.cos(0.7), np.sin(0.7)
    rotated = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]])  # a quarter turn, as the file says
    expected = (2 * CORNERS[np.array(FACES).ravel()] @ rotated.T + [0.1, 0, 0]) @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]).T
    assert placed == pytest.approx(expected + np.array([0, 0, 0.5]), abs=1e-6)
    plain = json.loads(drawing.meshes_json())[1]
    assert np.frombuffer(base64.b64decode(plain["vertices"]), "<f4").reshape(-1, 3) == pytest.approx(mesh.vertices)
    assert json.loads(drawing.scene(nodes[None]))["size"] < 0.8  # directions of meshes are not places


SHAPES = {  # geometry of a URDF: volume in closed form, half of its extent
    '<box size="0.2 0.4 0.6"/>': (0.048, (0.1, 0.2, 0.3)),
    '<cylinder radius="0.1" length="0.5"/>': (np.pi * 0.01 * 0.5, (0.1, 0.1, 0.25)),
    '<sphere radius="0.2"/>': (4 / 3 * np.pi * 0.008, (0.2, 0.2, 0.2)),
    '<capsule radius="0.1" length="0.3"/>': (np.pi * 0.01 * 0.3 + 4 / 3 * np.pi * 0.001, (0.1, 0.1, 0.25)),
}


@pytest.mark.parametrize("geometry", SHAPES)
def test_primitives_are_closed_and_face_outward(geometry: str, urdf: Path) -> None:
    urdf.write_text(
        f"""<robot name="shape"><material name="blue"><color rgba="0 0 0.8 1"/></material>
        <link name="base"><visual><geometry>{geometry}</geometry><material name="blue"/></visual>
        <visual><geometry><sphere radius="-1"/></geometry></visual></link>
        <link name="arm"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="turn" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint></robot>"""
    )
    (mesh,) = load_meshes(elastogen.load(urdf).looks).found  # what is of no size is left out
    assert mesh.color == (0.0, 0.0, 0.8, 1.0)
    volume, extent = SHAPES[geometry]
    a, b, c = mesh.vertices[mesh.triangles].astype(float).transpose(1, 0, 2)
    assert np.einsum("ij,ij->", a, np.cross(b, c)) / 6 == pytest.approx(volume, rel=0.03)  # positive: outward
    assert mesh.vertices.max(axis=0) == pytest.approx(extent, abs=1e-6)
    assert mesh.vertices.min(axis=0) == pytest.approx(-np.array(extent), abs=1e-6)


def test_looks_shape_no_code(urdf: Path) -> None:
    with_meshes = elastogen.load(urdf)
    urdf.write_text(URDF.replace("<visual>", "<ignored>").replace("</visual>", "</ignored>"))
    without = elastogen.load(urdf)
    assert (len(with_meshes.looks), len(without.looks)) == (3, 0)
    assert model_sha256(with_meshes, EmitOptions()) == model_sha256(without, EmitOptions())


def test_packages_are_found_above_and_on_the_ros_path(urdf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = urdf.parents[1] / "meshes" / "body.stl"

    def found(name: str, folder: Path) -> Path | None:
        return Look("a", name, UNIT, (1, 1, 1), str(folder)).path(KINDS)

    assert found("package://parts/meshes/body.stl", urdf.parent) == there
    assert found(f"file://{there}", Path("/")) == there
    assert found("package://parts/meshes/body.stl", Path("/nowhere")) is None
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"/none:{urdf.parents[2]}")
    assert found("package://parts/meshes/body.stl", Path("/nowhere")) == there
    assert found("meshed.urdf", urdf.parent) is None  # only meshes are read


def test_thinning_keeps_the_shape_and_says_so(monkeypatch: pytest.MonkeyPatch, urdf: Path) -> None:
    n = 60
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, n), np.linspace(0.01, np.pi - 0.01, n))
    sphere = np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)], axis=-1).reshape(-1, 3).astype(np.float32)
    k = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    faces = np.concatenate([np.stack([k, k + 1, k + n], 1), np.stack([k + 1, k + n + 1, k + n], 1)]).astype(np.uint32)
    for way in (thinned, merged):  # by quadric errors where fast-simplification is there; on a grid
        less = way(Mesh("a", sphere, faces), 500)
        assert 100 < len(less.triangles) <= 600
        assert less.triangles.max() < len(less.vertices)
        used = less.vertices[np.unique(less.triangles)]
        assert np.linalg.norm(used, axis=1) == pytest.approx(1.0, abs=0.1)
    monkeypatch.setattr(meshes, "MOST_TRIANGLES", 2)
    monkeypatch.setattr(meshes, "FEWEST_TRIANGLES", 1)
    looks = elastogen.load(urdf).looks
    assert "The meshes of 8 triangles are drawn with" in load_meshes(looks).note


def test_what_cannot_be_read_is_drawn_as_lines(urdf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = urdf.parents[1] / "meshes" / "body.stl"
    looks = elastogen.load(urdf).looks
    body.write_bytes(b"solid nothing")
    bad = load_meshes(looks)
    assert not bad.found
    assert "no readable mesh was found: 'package://parts/meshes/body.stl' and 2 more" in bad.note
    monkeypatch.setattr(meshes, "find_spec", lambda name: None)
    assert load_meshes(looks).note == "Links are drawn as lines: meshes need trimesh. Fix: pip install 'elastogen[meshes]'."
