"""Meshes of URDF robots: found as ROS finds them, placed by the link's pose, thinned with a word, no reason to fail."""

from __future__ import annotations

import base64
import json
import struct
from dataclasses import replace
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


def test_a_file_of_two_links_is_read_once(urdf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hands repeat a finger's file, and one of 100 MB takes seconds; colours and places stay those of each link."""
    red = (1.0, 0.0, 0.0, 1.0)
    one = Look("base", "body.stl", UNIT, (1.0, 1.0, 1.0), str(urdf.parents[1] / "meshes"))
    moved = tuple((*row[:3], float(k == 2)) for k, row in enumerate(UNIT[:3])) + UNIT[3:]
    looks = [one, replace(one, link="arm", pose=moved), replace(one, color=red), replace(one, scale=(2.0, 1.0, 1.0))]
    seen, read = list[Look](), meshes._read
    monkeypatch.setattr(meshes, "_read", lambda look, path: (seen.append(look), read(look, path))[1])
    base, arm, coloured, wide = load_meshes(looks).found
    assert len(seen) == 3
    assert (base.link, arm.link, base.color, coloured.color) == ("base", "arm", meshes.GREY, red)
    np.testing.assert_allclose(arm.vertices, base.vertices + np.array([0, 0, 1]), atol=1e-6)
    np.testing.assert_allclose(wide.vertices.max(axis=0), base.vertices.max(axis=0) * [2, 1, 1], atol=1e-6)


def test_what_cannot_be_read_is_drawn_as_lines(urdf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = urdf.parents[1] / "meshes" / "body.stl"
    looks = elastogen.load(urdf).looks
    body.write_bytes(b"solid nothing")
    bad = load_meshes(looks)
    assert not bad.found
    assert "no file was found: 'missing.stl'" in bad.note
    assert "could not be read: 'package://parts/meshes/body.stl' and 1 more" in bad.note
    monkeypatch.setattr(meshes, "find_spec", lambda name: None)
    assert load_meshes(looks).note == "Links are drawn as lines: meshes need trimesh. Fix: pip install 'elastogen[meshes]'."


def test_a_missing_reader_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A .dae file that is there was said to be missing where its reader, pycollada, is not installed."""
    (tmp_path / "a.dae").write_text("<COLLADA/>")
    monkeypatch.setattr(meshes, "find_spec", lambda name: None if name == "collada" else name)
    note = load_meshes([Look("base", "a.dae", UNIT, (1.0, 1.0, 1.0), str(tmp_path))]).note
    assert note.endswith("could not be read: 'a.dae'. .dae files need pycollada. Fix: pip install 'elastogen[meshes]'.")


COLLADA = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset><up_axis>Z_UP</up_axis></asset>
<library_effects>{effects}</library_effects><library_materials>{materials}</library_materials>
<library_geometries>{geometries}</library_geometries>
<library_visual_scenes><visual_scene id="s">{nodes}</visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>"""
PART = """<geometry id="g{0}"><mesh><source id="p{0}"><float_array id="a{0}" count="9">0 0 {0} 1 0 {0} 0 1 {0}</float_array>
<technique_common><accessor source="#a{0}" count="3" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v{0}"><input semantic="POSITION" source="#p{0}"/></vertices>
<triangles material="k{0}" count="1"><input semantic="VERTEX" source="#v{0}" offset="0"/><p>0 1 2</p></triangles>
</mesh></geometry>"""
EFFECT = """<effect id="e{0}"><profile_COMMON><technique sid="c"><phong>
<diffuse><color>{1}</color></diffuse></phong></technique></profile_COMMON></effect>"""
NODE = """<node id="n{0}"><instance_geometry url="#g{0}"><bind_material><technique_common><instance_material symbol="k{0}"
target="#m{0}"/></technique_common></bind_material></instance_geometry></node>"""


def collada(*colors: str) -> str:
    """A triangle for each colour."""
    numbers = range(len(colors))
    return COLLADA.format(
        effects="".join(EFFECT.format(k, color) for k, color in enumerate(colors)),
        materials="".join(f'<material id="m{k}"><instance_effect url="#e{k}"/></material>' for k in numbers),
        geometries="".join(PART.format(k) for k in numbers),
        nodes="".join(NODE.format(k) for k in numbers),
    )


def test_colours_inside_of_mesh_files(tmp_path: Path) -> None:
    pytest.importorskip("collada", reason="no pycollada: pip install 'elastogen[meshes]'")
    green = (0.0, 1.0, 0.0, 1.0)

    def colors(given: tuple[float, float, float, float] | None) -> set[tuple[float, ...]]:
        return {mesh.color for mesh in load_meshes([Look("a", "part.dae", UNIT, (1, 1, 1), str(tmp_path), color=given)]).found}

    (tmp_path / "part.dae").write_text(collada("1 0 0 1", "0 0 1 1"))
    assert colors(None) == colors(green) == {(1.0, 0.0, 0.0, 1.0), (0.0, 0.0, 1.0, 1.0)}
    (tmp_path / "part.dae").write_text(collada("1 0 0 1", "1 0 0 1"))
    assert colors(None) == {(1.0, 0.0, 0.0, 1.0)}
    assert colors(green) == {green}  # one colour: the description's own goes before


def test_colours_of_obj_are_in_the_file_beside_it_only(tmp_path: Path) -> None:
    faces = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nusemtl a\nf 1 2 3\nusemtl b\nf 1 2 4\n"
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "part.obj").write_text(f"mtllib part.mtl\n{faces}")
    (tmp_path / "here" / "part.mtl").write_text("newmtl a\nKd 1 0 0\nnewmtl b\nKd 0 0 1\n")
    look = Look("a", "part.obj", UNIT, (1, 1, 1), str(tmp_path / "here"))
    assert {mesh.color[:3] for mesh in load_meshes([look]).found} == {(1.0, 0.0, 0.0), (0.0, 0.0, 1.0)}
    (tmp_path / "here" / "part.mtl").rename(tmp_path / "part.mtl")
    (tmp_path / "here" / "part.obj").write_text(f"mtllib ../part.mtl\n{faces}")
    assert sum(len(mesh.triangles) for mesh in load_meshes([look]).found) == 2
    assert {mesh.color[:3] for mesh in load_meshes([look]).found} != {(1.0, 0.0, 0.0), (0.0, 0.0, 1.0)}


def test_large_files_are_reduced_and_larger_ones_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    n = 200
    x, y = (part.ravel() for part in np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, n)))
    k = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    faces = np.concatenate([np.stack([k, k + 1, k + n], 1), np.stack([k + 1, k + n + 1, k + n], 1)])
    corners = np.stack([x, y, np.sin(3 * x) * np.cos(2 * y)], axis=-1)[faces].astype("<f4")
    rows = np.zeros(len(faces), dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
    rows["corners"] = corners
    (tmp_path / "fine.stl").write_bytes(b"\0" * 80 + struct.pack("<I", len(faces)) + rows.tobytes())
    monkeypatch.setattr(meshes, "MOST_READ", 20_000)
    look = Look("a", "fine.stl", UNIT, (1, 1, 1), str(tmp_path))
    (mesh,), note = (lambda made: (made.found, made.note))(load_meshes([look]))
    assert 5_000 < len(mesh.triangles) <= 20_000
    assert f"The meshes of {len(faces)} triangles are drawn with {len(mesh.triangles)}" in note
    assert mesh.vertices[:, 2] == pytest.approx(np.sin(3 * mesh.vertices[:, 0]) * np.cos(2 * mesh.vertices[:, 1]), abs=2e-3)
    monkeypatch.setattr(meshes, "MOST_BYTES", 1 << 20)
    large = load_meshes([look])
    assert not large.found
    assert large.note == "Drawn as lines, since files above 1 MiB are not read: 'fine.stl'."
