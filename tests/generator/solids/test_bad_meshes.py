"""What is wrong with files, materials and places of links by meshes is reported, with its place and what to do."""

from dataclasses import replace

import numpy as np
import pytest
from mesh_arms import PLACES, described, solid, written

import elastogen

pytest.importorskip("skfem", reason="scikit-fem is not installed: pip install 'elastogen[mesh]'")
pytest.importorskip("netgen", reason="netgen-mesher is not installed: pip install 'elastogen[mesh]'")
trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed: pip install 'elastogen[mesh]'")

from elastogen.generator.solids import mesher, request  # noqa: E402


def spoiled(kind):
    """Surfaces with one mistake each."""
    made = solid()
    if kind == "open":
        return trimesh.Trimesh(made.vertices, made.faces[:-1], process=False)
    if kind == "inverted":
        return trimesh.Trimesh(made.vertices, made.faces[:, ::-1], process=False)
    if kind == "mixed":
        return trimesh.Trimesh(made.vertices, np.vstack([made.faces[:-1], made.faces[-1:, ::-1]]), process=False)
    if kind == "two":
        other = solid()
        other.apply_translation((0.5, 0, 0))
        return trimesh.util.concatenate([made, other])
    if kind == "beside":
        other = trimesh.creation.box(extents=(0.05, 0.02, 0.02))
        other.apply_translation((0.4, 0, 0))
        return trimesh.util.concatenate([made, trimesh.Trimesh(other.vertices, other.faces[:, ::-1], process=False)])
    other = trimesh.creation.box(extents=(0.1, 0.05, 0.01))  # through the first: one surface that crosses itself
    other.apply_translation((0.1, 0, 0))
    return trimesh.util.concatenate([made, other])


@pytest.mark.parametrize(("kind", "expected"), [
    ("open", r"open surface: 3 edges .* at \[.*\] m"),
    ("inverted", "inside out"),
    ("mixed", "opposite sides at"),
    ("two", "2 solids, with centres at"),
    ("beside", r"inside out beside the solid, with its centre at \[0\.4"),
])  # fmt: skip
def test_surfaces_that_bound_no_solid(folder, kind, expected):
    spoiled(kind).export(folder / "box.stl")
    with pytest.raises(elastogen.RobotError, match=expected) as raised:
        written(folder, described())
    assert "links.arm.flexible.file" in str(raised.value)


@pytest.mark.parametrize(("flexible", "path", "expected"), [
    ({"scale": 1000}, "file", "a solid of 200 x 30 x 20 m.*scale: 0.001"),
    ({"file": "bax.stl"}, "file", "no file bax.stl.*did you mean.*box.stl"),
    ({"file": "robot.yaml"}, "file", "one of the endings"),
    ({"file": "../../../../../../etc/passwd"}, "file", "one of the endings"),
    ({"file": None}, "file", "0 meshes of arm"),
    ({"material": "aluminum_foil"}, "material", "a material: aluminium"),
    ({"material": {"E": 70, "nu": 0.3, "density": 2700}}, "material.E", "70e9"),
    ({"material": {"E": 70e9, "nu": 0.5, "density": 2700}}, "material.nu", "0.49"),
    ({"material": {"E": 70e9, "nu": 0.3, "density": 0.27}}, "material.density", "kg/m"),
    ({"modes": None}, "flexible", "either modes or frequency"),
    ({"frequency": 100}, "flexible", "either modes or frequency"),
    ({"size": -1}, "size", "above zero"),
    ({"size": 1e-5}, "size", r"about 1e\+12 elements.*at most 500000.*give size: 0\.00"),
    ({"size": None, "elements": 10**6}, "elements", "500000 or less"),
    ({"modes": None, "frequency": 1}, "frequency", r"above the lowest frequency, 95 Hz"),
    ({"modes": None, "frequency": 1e9}, "frequency", "at most 60 modes below it"),
    ({"mass": "link"}, "mass", "give the number"),
    ({"interfaces": {"knee": PLACES["hub"]}}, "interfaces.knee", "hub, elbow, tip"),
    ({"interfaces": PLACES | {"elbow": {"sphere": {"point": [0.5, 0, 0], "radius": 0.01}}}},
     "interfaces.elbow", "touches no node.*nearest"),
    ({"interfaces": PLACES | {"elbow": {"nodes": [10**6]}}}, "interfaces.elbow.nodes", "numbers of corners"),
    ({"interfaces": PLACES | {"elbow": PLACES["hub"]}}, "interfaces.elbow", "belong to hub, too"),
    ({"interfaces": PLACES | {"elbow": {"sphere": {"point": [0.2, 0, 0], "radius": 0}}}}, "radius", "above zero"),
    ({"interfaces": PLACES | {"elbow": {"plane": {"point": [0.2, 0, 0], "normal": [0, 0, 0]}}}}, "normal", "a direction"),
])  # fmt: skip
def test_bad_links_by_meshes(folder, flexible, path, expected):
    with pytest.raises(elastogen.RobotError, match=expected) as raised:
        written(folder, described(**flexible))
    assert path in str(raised.value)


@pytest.mark.parametrize(("more", "reason"), [
    ({"foreshortening": True}, "foreshortening: .*nodes alone have no strains. Fix: add file: job.inp"),
    ({"file": "box.msh"}, "file: .*or both: the tetrahedra between their nodes"),
    ({"material": "steel"}, "material: .*or both"),
    ({"size": 0.01}, "size: .*no size beside matrices"),
])  # fmt: skip
def test_matrices_alone_have_no_strains(folder, more, reason):
    """What needs the elements is refused, not dropped."""
    taken = described(matrices={"nodes": "n.txt", "stiffness": "K.mtx", "mass": "M.mtx", "units": "SI"})
    for key in ("file", "material", "size"):
        del taken["links"][1]["flexible"][key]
    taken["links"][1]["flexible"] |= more
    with pytest.raises(elastogen.RobotError, match=reason):
        written(folder, taken)


def test_entities_are_refused_before_they_grow(folder):
    (folder / "box.dae").write_text('<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa">]><COLLADA>&a;</COLLADA>')
    with pytest.raises(elastogen.RobotError, match="without entities"):
        written(folder, described(file="box.dae"))


def test_a_joint_outside_the_solid_is_reported(folder):
    description = described(interfaces={"hub": PLACES["hub"]})
    description["joints"][1]["placement"] = {"xyz": [0.6, 0, 0]}
    with pytest.raises(elastogen.RobotError, match=r"0\.4 m away from the solid, nearest at \[0\.2"):
        written(folder, description)


def test_surfaces_that_cross_themselves_are_reported_where(folder):
    from elastogen.generator.robot.location import Location
    from elastogen.generator.solids.surfaces import Surface, crossing

    made = spoiled("crossing")
    place = crossing(Surface(np.array(made.vertices), np.array(made.faces)))
    assert place is not None
    assert abs(abs(place[1]) - 0.015) < 1e-6 or abs(abs(place[2]) - 0.005) < 1e-6
    assert crossing(Surface(np.array(solid().vertices), np.array(solid().faces))) is None
    problem = mesher._blamed(Surface(np.array(made.vertices), np.array(made.faces)), "", Location("x"))
    assert "goes through itself at [" in str(problem)


def test_a_cavity_is_no_mistake(folder):
    """Its mass is missing: that of the box without it, by hand."""
    inner = trimesh.creation.box(extents=(0.05, 0.01, 0.01))
    inner.apply_translation((0.1, 0, 0))
    turned = trimesh.Trimesh(inner.vertices, inner.faces[:, ::-1], process=False)
    trimesh.util.concatenate([solid(), turned]).export(folder / "box.stl")
    report = written(folder, described(material={"E": 70e9, "nu": 0.33, "density": 2700})).link("arm").flexible.solid.report
    assert report["mass"] == pytest.approx(2700 * (0.2 * 0.03 * 0.02 - 0.05 * 0.01 * 0.01), rel=1e-6)


def test_tetrahedra_that_cover_each_other_or_are_nowhere(folder):
    import meshio

    from elastogen.generator.robot.location import Location
    from elastogen.generator.solids.surfaces import Surface

    made = mesher.filled(Surface(np.array(solid().vertices), np.array(solid().faces)), 0.03, Location("x"))
    nowhere = made.corners.copy()
    nowhere[made.tetrahedra[0, 0], 1] = np.nan
    for corners, cells, expected in (
        (
            made.corners,
            np.vstack([made.tetrahedra, made.tetrahedra[:1]]),
            r"more than two elements at one face, at \[.*doubled",
        ),
        (nowhere, made.tetrahedra, "1 nodes that are not finite.*export the mesh again"),
    ):
        meshio.write(folder / "box.vtk", meshio.Mesh(corners, [("tetra", cells)]))
        with pytest.raises(elastogen.RobotError, match=expected):
            written(folder, described(file="box.vtk"))


def test_a_step_file_in_millimetres_is_named_at_once(folder):
    """Elements of 30 mm in a link of 200 m would be meshed for hours."""
    occ = pytest.importorskip("netgen.occ")
    occ.Box(occ.Pnt(0, -15, -10), occ.Pnt(200, 15, 10)).WriteStep(str(folder / "box.step"))
    with pytest.raises(elastogen.RobotError, match=r"a solid of 200 x 30 x 20 m.*scale: 0\.001"):
        written(folder, described(file="box.step"))


def test_without_the_extra_it_says_so(folder, monkeypatch):
    monkeypatch.setattr(mesher, "find_spec", lambda name: None)
    with pytest.raises(elastogen.RobotError, match=r"pip install 'elastogen\[mesh\]'"):
        written(folder, described())


@pytest.mark.parametrize(("place", "said"), [
    ({"sphere": {"point": [0.2, 0, 0.51], "radius": 0.01}}, r"at \[0\.2, .*, 0\.01\] m, is 0\.5 m from its point"),
    ({"plane": {"point": [0.3, 0, 0], "normal": [2, 0, 0]}}, r"at \[0\.2, .*\] m, is 0\.1 m from the plane"),
])  # fmt: skip
def test_a_place_without_nodes_is_told_how_far_off_it_is(folder, place, said):
    """From the place that was given, not from the joint, which is in the middle of the end here."""
    with pytest.raises(elastogen.RobotError, match=said):
        written(folder, described(interfaces={**PLACES, "elbow": place}))


def test_a_mirrored_mesh_is_as_stiff(folder):
    """As URDFs have the other leg: the same file with a scale of -1."""
    one, other = (written(folder, described(scale=scale)).links[1].flexible for scale in (1, [1, -1, 1]))
    np.testing.assert_allclose(one.solid.report["frequencies"], other.solid.report["frequencies"], rtol=0.02)
    assert float(one.mass) == pytest.approx(float(other.mass), rel=1e-9)


def test_gmsh_meshes_step_files_where_it_is_installed(folder, monkeypatch):
    """A surface is not meshed by Netgen in silence where gmsh was asked for."""
    with pytest.raises(elastogen.RobotError, match=r"mesher: got 'gmsh for a \.stl file'.*remove mesher: gmsh"):
        written(folder, described(mesher="gmsh"))
    (folder / "box.step").write_text("ISO-10303-21;")
    monkeypatch.setattr(mesher.shutil, "which", lambda name: None)
    with pytest.raises(elastogen.RobotError, match=r"mesher: got 'no program gmsh'.*install it, or remove"):
        written(folder, described(file="box.step", mesher="gmsh"))


@pytest.mark.parametrize(
    ("name", "fix"),
    [("arm.full", "ansys-mapdl-reader.*Matrix Market"), ("arm.odb", "MATRIX GENERATE"), ("arm.frd", "results:"),
     ("arm.SLDPRT", "as STEP"), ("arm.op2", "matrices:"), ("arm.xyz", "export it in one of them")],
)  # fmt: skip
def test_files_of_other_programs_are_told_the_way(folder, name, fix):
    (folder / name).write_bytes(b"anything")
    with pytest.raises(elastogen.RobotError, match=fix):
        written(folder, described(file=name))


def test_a_stiffness_that_is_lost_in_rounding(folder, monkeypatch):
    """As of a foil, whose bending is lost beside its stretching: reported before anything is made of it."""
    whole = request.reduced
    monkeypatch.setattr(request, "reduced", lambda *given: replace(whole(*given), frequencies=np.zeros(3)))
    solid().export(folder / "box.stl")
    with pytest.raises(elastogen.RobotError, match=r"rounds to zero: a solid .* of its length thick.*type: elements"):
        written(folder, described())


def test_a_density_in_other_units_is_told(folder):
    with pytest.raises(elastogen.RobotError, match=r"density.*2\.7, expected 25 to 30000"):
        written(folder, described(material={"E": 70e9, "nu": 0.3, "density": 2.7}))
