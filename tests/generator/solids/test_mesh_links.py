"""Links by meshes: from a file to the equations of motion, and what is wrong with files, materials and places."""

import warnings

import numpy as np
import pytest
from mesh_arms import PLACES, described, solid, written
from plain_programs import PlainPrograms

import elastogen
from elastogen.describe import describe
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.program.graph import Op
from elastogen.generator.reference.expected.registry import Asked
from elastogen.generator.reference.self_check import TOLERANCE, SelfCheck

pytest.importorskip("skfem", reason="scikit-fem is not installed: pip install 'elastogen[mesh]'")
pytest.importorskip("netgen", reason="netgen-mesher is not installed: pip install 'elastogen[mesh]'")
trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed: pip install 'elastogen[mesh]'")

from elastogen.generator.solids import geometry, kept, request  # noqa: E402
from elastogen.generator.solids.materials import MATERIALS  # noqa: E402
from elastogen.generator.solids.solid import Solid, quadratic_elements  # noqa: E402


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    place = tmp_path_factory.mktemp("arm")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ELASTOGEN_CACHE_DIR", str(place / "cache"))
        solid().export(place / "box.stl")
        return written(place, described())


def test_the_joint_sits_on_its_interface(arm):
    body = arm.links[1].flexible
    assert [joint.interface for joint in arm.joints] == ["", "tip"]
    assert np.array(body.tip_pose, float)[:3, 3].tolist() == [0.2, 0, 0]
    assert body.solid.report["interfaces"]["elbow"].startswith("as given")
    assert len(body.coordinates) == 3
    assert np.all(np.array(body.solid.report["frequencies"]) >= np.array(body.solid.report["full"]) * (1 - 1e-9))


def test_check_shows_the_report(arm):
    text = describe(arm)
    report = arm.links[1].flexible.solid.report
    assert f"mesh of {report['elements']} elements" in text
    assert "hub: as given" in text
    assert f"mode1: {report['frequencies'][0]:.5g} Hz" in text


def test_the_rigid_limit_is_the_box(arm):
    """By the mesh's own inertia, from its surface by the divergence theorem."""
    found = arm.links[1].flexible.solid
    surface = trimesh.Trimesh(found.nodes, found.surface[:, :3], process=False)
    surface.density = 2700.0
    body = elastogen.rigid_robot(arm).links[1].body
    assert float(body.mass) == pytest.approx(surface.mass, rel=1e-9)
    np.testing.assert_allclose(np.array(body.com, float), surface.center_mass, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.array(body.inertia, float), surface.moment_inertia, rtol=1e-8, atol=1e-13)
    assert float(body.mass) == pytest.approx(2700 * 0.2 * 0.03 * 0.02, rel=1e-6)


def test_forces_are_those_of_the_nodes(folder):
    """Newton's law for every node of the mesh, weighted by the consistent mass: rows of the joint and of all modes."""
    tip = {"hub": PLACES["hub"], "tip": PLACES["elbow"]}
    description = described({"tip": {"link": "arm", "xyz": [0.2, 0, 0]}, "gravity": [0.3, -9.81, 2.0]}, interfaces=tip)
    description["links"].pop()
    description["joints"].pop()
    robot = written(folder, description)
    found = robot.links[1].flexible.solid
    rng = np.random.default_rng(3)
    q, qd, qdd = (np.array([0.7, *(0.01 * rng.normal(size=3))]), rng.normal(size=4), rng.normal(size=4))
    turn = np.array([[np.cos(q[0]), -np.sin(q[0]), 0], [np.sin(q[0]), np.cos(q[0]), 0], [0, 0, 1]])
    k = np.array([0.0, 0.0, 1.0])
    r, v, a = found.nodes + found.shapes @ q[1:], found.shapes @ qd[1:], found.shapes @ qdd[1:]
    felt = a + np.cross(k * qdd[0], r) + 2 * np.cross(k * qd[0], v) + np.cross(k * qd[0], np.cross(k * qd[0], r))
    felt = felt - np.array([0.3, -9.81, 2.0]) @ turn
    elements = quadratic_elements(Solid.of(found.nodes, found.tetrahedra[:, :4]), MATERIALS["aluminium"])
    mass = elements.mass
    order = np.array([np.argmin(np.linalg.norm(found.nodes - x, axis=1)) for x in elements.nodes])
    weighted = np.zeros_like(felt)
    weighted[order] = mass @ felt[order]
    expected = [np.sum(np.cross(k, r) * weighted), *(np.sum(found.shapes[:, :, j] * weighted) for j in range(3))]
    F = PlainPrograms(robot)("inverse_dynamics", q=q, qd=qd, qdd=qdd)
    elastic = np.array(robot.links[1].flexible.stiffness, float) @ q[1:]
    np.testing.assert_allclose(F - [0, *elastic], expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())


def test_results_are_kept_by_what_they_depend_on(folder, monkeypatch):
    first = written(folder, described())

    def never(*_):
        raise AssertionError("meshed again")

    monkeypatch.setattr(geometry, "filled", never)
    assert written(folder, described()) == first
    with pytest.raises(AssertionError, match="meshed again"):
        written(folder, described(material={"name": "aluminium", "density": 2710}))
    (entry,) = kept.folder().glob("*.npz")
    entry.write_bytes(entry.read_bytes()[:200])  # damaged: computed again
    with pytest.raises(AssertionError, match="meshed again"):
        written(folder, described())


def test_frequencies_that_move_are_told_again(folder, monkeypatch):
    """Also where the reduction is kept from before."""
    monkeypatch.setattr(request, "MOST_ELEMENTS", 10)
    for _ in range(2):
        with pytest.warns(elastogen.RobotWarning, match=r"elements: frequencies unknown.*elements: \d+ says that these"):
            written(folder, described(size=None))


def test_a_measured_mass_scales_the_density(folder):
    robot = written(folder, described(mass=0.5))
    assert float(robot.links[1].flexible.mass) == pytest.approx(0.5, rel=1e-12)


def test_files_of_elements_and_surfaces_give_the_same(folder):
    """The same mesh as .msh and .inp in millimetres; and an .obj surface."""
    import meshio

    found = written(folder, described()).links[1].flexible.solid
    cells = found.tetrahedra[:, :4]
    used, inverse = np.unique(cells, return_inverse=True)
    mesh = meshio.Mesh(found.nodes[used] * 1000, [("tetra", inverse.reshape(-1, 4))])
    meshio.write(folder / "box.msh", mesh, file_format="gmsh22", binary=False)
    meshio.write(folder / "box.inp", mesh, file_format="abaqus")
    for name in ("box.msh", "box.inp"):
        other = written(folder, described(file=name, scale=0.001)).links[1].flexible.solid
        np.testing.assert_allclose(other.report["full"], found.report["full"], rtol=1e-6)
    solid().export(folder / "box.obj")
    assert written(folder, described(file="box.obj")).links[1].flexible.solid.report["elements"] > 20


def test_matrices_of_another_program_give_the_same(folder):
    """K and M of the same elements, in SI and in mm, t, s; what is not M of solids, not free or not square is reported."""
    from scipy.io import mmwrite
    from scipy.sparse import eye, kron

    found = written(folder, described()).links[1].flexible.solid
    elements = quadratic_elements(Solid.of(found.nodes, found.tetrahedra[:, :4]), MATERIALS["aluminium"])
    M, K = kron(elements.mass, eye(3)).tocsr(), elements.stiffness
    given = {"nodes": "nodes.txt", "stiffness": "K.mtx", "mass": "M.mtx"}

    def wrote(length=1.0, mass=1.0, stiffness=1.0, M=M, K=K, units="SI"):
        np.savetxt(folder / "nodes.txt", elements.nodes / length, fmt="%.17g")
        mmwrite(folder / "K.mtx", K / stiffness, precision=17)
        mmwrite(folder / "M.mtx", M / mass, precision=17)
        description = described(matrices=given | {"units": units})
        for key in ("file", "material", "size"):
            del description["links"][1]["flexible"][key]
        return written(folder, description).links[1].flexible

    for keys in ({}, {"length": 1e-3, "mass": 1e3, "stiffness": 1e3, "units": "mm_t_s"}):
        body = wrote(**keys)
        np.testing.assert_allclose(body.solid.report["full"], found.report["full"], rtol=1e-7)
        np.testing.assert_allclose(float(body.mass), float(found.integrals["mass"]), rtol=1e-12)
    held = K.tolil()
    held[0, 0] *= 2
    coupled = M.tolil()
    coupled[0, 1] = coupled[1, 0] = coupled[0, 0]
    for keys, expected in (
        ({"K": held.tocsr()}, "stiffness of a free body"),
        ({"M": coupled.tocsr()}, "coupled or differ"),
        ({"M": M[:-3, :-3]}, "three for each"),
        ({"units": "mm_t_s"}, "give scale|a link of"),
    ):
        with pytest.raises(elastogen.RobotError, match=expected):
            wrote(**keys)


def test_a_bore_is_found_around_the_axis(folder):
    """A plate with holes at both ends: without interfaces, the joints take them."""
    manifold = trimesh.creation.annulus(r_min=0.01, r_max=0.03, height=0.02, sections=24)
    path = folder / "ring.stl"
    manifold.export(path)
    mesh = {"type": "mesh", "file": "ring.stl", "material": "steel", "modes": 2, "size": 0.015,
            "interfaces": {"elbow": {"sphere": {"point": [0.03, 0, 0], "radius": 0.008}}}}  # fmt: skip
    description = described()
    description["links"][1]["flexible"] = mesh
    description["joints"][1]["placement"] = {"xyz": [0.03, 0, 0]}
    found = written(folder, description).links[1].flexible.solid
    assert (
        "bore of radius 0.009" in found.report["interfaces"]["hub"]
        or "bore of radius 0.01" in found.report["interfaces"]["hub"]
    )


def test_what_has_no_axis_sits_on_its_face_or_in_its_bore(folder):
    """A tip in the middle of a flange, or of a bore; the middle of a bore is a point, too, and moves with its joint."""
    ring = trimesh.creation.annulus(r_min=0.012, r_max=0.03, height=0.04, sections=24)
    ring.export(folder / "ring.stl")
    hub = {"sphere": {"point": [-0.03, 0, 0], "radius": 0.008}}
    mesh = {"type": "mesh", "file": "ring.stl", "material": "steel", "modes": 2, "size": 0.012, "interfaces": {"hub": hub}}
    for tip, expected in (([0, 0, 0.02], "flat face"), ([0, 0, 0], "bore of radius 0.01")):
        description = described({"tip": {"link": "arm", "xyz": tip}, "points": [{"name": "middle", "link": "arm", "xyz": tip}]})
        description["links"] = [{"name": "base"}, {"name": "arm", "flexible": mesh, "mass": 0.1}]
        description["joints"] = [{"name": "hub", "type": "revolute"}]
        robot = written(folder, description)
        found = robot.links[1].flexible.solid
        assert expected in found.report["interfaces"]["tip"]
        programs, q = PlainPrograms(robot), np.array([0.3, 1e-3, -2e-3])
        np.testing.assert_allclose(
            programs("point_positions", q=q)[0], programs("forward_kinematics", q=q)[-1][:3, 3], rtol=0, atol=1e-15
        )


URDF = """<robot name="two"><link name="base"/>
<link name="arm"><inertial><origin xyz="0.1 0 0"/><mass value="MASS"/>
<inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><mesh filename="box_mm.stl" scale="0.001 0.001 0.001"/></geometry></collision></link>
<link name="fore"><inertial><mass value="0.4"/>
<inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hub" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="1 0 0"/></joint>
<joint name="elbow" type="continuous"><parent link="arm"/><child link="fore"/><axis xyz="1 0 0"/><origin xyz="0.2 0 0"/></joint>
</robot>"""


def test_three_lines_on_top_of_a_urdf(folder):
    """The link's own collision mesh with its scale; the faces across both axes are found; masses are compared."""
    made = solid()
    made.apply_scale(1000)
    made.export(folder / "box_mm.stl")
    (folder / "two.urdf").write_text(URDF.replace("MASS", "0.33"))
    flexible = {"type": "mesh", "material": "aluminium", "modes": 2, "size": 0.03}
    top = {"elastogen": 1, "name": "top", "base_description": "two.urdf", "links": [{"name": "arm", "flexible": flexible}]}
    robot = written(folder, top)
    body = robot.link("arm").flexible
    assert float(body.mass) == pytest.approx(0.324, rel=1e-6)
    assert robot.link("arm").body.mass == 0
    assert [link.name for link in robot.links] == ["base", "arm", "fore"]
    report = body.solid.report["interfaces"]
    assert report["hub"].startswith("face across the axis, +0 m")
    assert report["elbow"].startswith("face across the axis")
    rigid = elastogen.rigid_robot(robot)
    assert np.array(rigid.joints[1].before, float)[:3, 3] == pytest.approx([0.2, 0, 0])
    (folder / "two.urdf").write_text(URDF.replace("MASS", "0.5"))
    with pytest.raises(elastogen.RobotError, match=r"a solid of 0\.324 kg, a link of 0\.5 kg"):
        written(folder, top)
    flexible["mass"] = "link"
    assert float(written(folder, top).link("arm").flexible.mass) == pytest.approx(0.5, rel=1e-12)
    top["links"][0]["rest"] = "hub"
    with pytest.raises(elastogen.RobotError, match="no rest for a link by a mesh"):
        written(folder, top)


@pytest.mark.nightly
def test_default_sizes_converge(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("error", elastogen.RobotWarning)
        report = written(folder, described(size=None)).links[1].flexible.solid.report
    assert report["moved"] < 0.01


@pytest.mark.nightly
def test_a_panda_with_a_flexible_link_from_its_own_collision_mesh(folder):
    """From the URDF to simulated C."""
    data = pytest.importorskip("importlib.metadata").distribution("example-robot-data")
    urdf = data.locate_file("cmeel.prefix/share/example-robot-data/robots/panda_description/urdf/panda.urdf")
    flexible = {"type": "mesh", "file": "collision", "material": "aluminium", "mass": "link", "modes": 4}
    top = {"elastogen": 1, "name": "panda3", "base_description": str(urdf),
           "links": [{"name": "panda_link3", "flexible": flexible | {"damping": {"ratio": 0.02}}}]}  # fmt: skip
    robot = written(folder, top)
    report = robot.link("panda_link3").flexible.solid.report
    assert report["ahead"] < 0.01  # half the size of a mesh with small faces may be no finer: see test_default_sizes.py
    np.testing.assert_allclose(report["frequencies"], report["full"], rtol=1e-3)
    model = elastogen.build_model(robot, outputs=["forward_dynamics", "mass_matrix", "kinetic_energy"], cflags="-O1")
    run = model.simulate(np.zeros(model.nq), t=0.02, samples=21, energy=False)
    assert np.isfinite(run.q).all()


@pytest.mark.nightly
def test_two_castings_with_a_branch(folder):
    """Both links from meshes, three joints on the first: against Lagrange's equations."""
    from elastogen.generator.functions.derivation import derive_model
    from elastogen.verification import second_derivation
    from elastogen.verification.states import random_states

    places = PLACES | {"side": {"sphere": {"point": [0.1, 0, 0.01], "radius": 0.01}}}
    description = described(interfaces=places, modes=2)
    again = {"type": "mesh", "file": "box.stl", "material": "steel", "modes": 2, "size": 0.03,
             "interfaces": {"side": PLACES["hub"], "tip": PLACES["elbow"]}}  # fmt: skip
    description["links"].append({"name": "other", "flexible": again})
    description["joints"].append({"name": "side", "type": "revolute", "parent": "arm", "child": "other",
                                  "placement": {"xyz": [0.1, 0, 0.01]}})  # fmt: skip
    description["tip"] = {"link": "other", "xyz": [0.2, 0, 0]}
    robot = written(folder, description)
    assert [joint.interface for joint in robot.joints] == ["", "elbow", "tip"]
    names = ("forward_kinematics", "mass_matrix", "inverse_dynamics")
    functions = {f.name: f for f in derive_model(robot, names).functions}
    found = list(second_derivation.check(robot, functions, random_states(robot, 1, 3), {}))
    assert {f.subject: f.verdict for f in found} == dict.fromkeys(names, "passed"), found


def test_points_and_gauges_on_a_solid(folder):
    """A point moves as the shapes interpolate it; a gauge on top of a bent bar reads its closed form."""
    points = [{"name": "there", "link": "arm", "xyz": [0.1, 0.015, 0.01]},
              {"name": "gauge", "link": "arm", "xyz": [0.08, 0, 0.01], "strain": {"direction": "x"}},
              {"name": "across", "link": "arm", "xyz": [0.08, 0, 0.01], "rpy": [0, 0, np.pi / 2],
               "strain": {"direction": "y"}}]  # fmt: skip
    plain = {"E": 70e9, "nu": 0.0, "density": 2700}
    robot = written(folder, described({"points": points}, size=0.012, modes=12, material=plain))
    body, programs = robot.links[1].flexible, PlainPrograms(robot)
    x = np.linalg.solve(np.array(body.stiffness, float), np.array(body.tip_displacements, float) @ [0, 0, 50.0])  # 50 N up
    q = np.array([0.3, *x, 0.0])
    e, c, s = programs("point_strains", q=q), np.cos(0.3), np.sin(0.3)
    bending = 50.0 * (0.2 - 0.08) * 0.01 / (70e9 * 0.03 * 0.02**3 / 12)  # M z / (E I); in z > 0 it is pressed
    assert e[0] == pytest.approx(-bending, rel=0.03)
    assert e[1] == pytest.approx(e[0], rel=1e-9)  # y of a frame rotated by 90 degrees about z is -x
    moved = programs("point_positions", q=q)[0]
    nodes, shapes = body.solid.nodes, body.solid.shapes
    nearest = int(np.argmin(np.linalg.norm(nodes - [0.1, 0.015, 0.01], axis=1)))
    near = nodes[nearest] + shapes[nearest] @ x
    there = np.array([c * moved[0] + s * moved[1], -s * moved[0] + c * moved[1], moved[2]])
    assert np.linalg.norm(there - [0.1, 0.015, 0.01] - (near - nodes[nearest])) < 0.2 * np.linalg.norm(near - nodes[nearest])
    step = 1e-6
    ahead, behind = (programs("point_positions", q=q + sign * step * np.eye(14)[2]) for sign in (1, -1))
    J = (ahead - behind) / (2 * step)
    v = programs("point_velocities", q=q, qd=np.eye(14)[2])
    np.testing.assert_allclose(np.asarray(v)[:, :3], J, rtol=1e-6, atol=1e-8)
    for bad, expected in (
        ({"link": "arm", "xyz": [0.1, 0.2, 0]}, r"outside of arm.*a point of it is at"),
        ({"link": "fore", "xyz": [0, 0, 0], "strain": {"direction": "x"}}, "a strain gauge on a beam"),
        ({"link": "arm", "xyz": ["at", 0, 0]}, "xyz.*a place or axes that are live"),
        ({"link": "arm", "xyz": [0.1, 0, 0], "rpy": ["at", 0, 0]}, "a place or axes that are live"),
    ):
        with pytest.raises(elastogen.RobotError, match=expected):
            written(folder, described({"points": [bad], "parameters": {"at": 0.1}, "live": ["at"]}))


def test_stresses_of_a_bent_bar(folder):
    """Bending in the middle of a bar: sigma = M z / I, no shear on top; von Mises is its amount; turned axes turn it."""
    points = [{"name": "top", "link": "arm", "xyz": [0.08, 0, 0.01]},
              {"name": "turned", "link": "arm", "xyz": [0.08, 0, 0.01], "rpy": [0, 0, np.pi / 2]}]  # fmt: skip
    plain = {"E": 70e9, "nu": 0.3, "density": 2700}
    robot = written(folder, described({"points": points}, size=0.012, modes=12, material=plain))
    body, programs = robot.links[1].flexible, PlainPrograms(robot)
    x = np.linalg.solve(np.array(body.stiffness, float), np.array(body.tip_displacements, float) @ [0, 0, 50.0])
    q = np.array([0.3, *x, 0.0])
    stress, mises = programs("point_stresses", q=q), programs("von_mises", q=q)
    bending = 50.0 * (0.2 - 0.08) * 0.01 / (0.03 * 0.02**3 / 12)
    assert stress[0][0] == pytest.approx(-bending, rel=0.06)
    assert np.abs(stress[0][1:]).max() < 0.1 * bending
    for row, found in zip(stress, mises, strict=True):
        xx, yy, zz, xy, yz, xz = row
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        deviator = tensor - np.trace(tensor) / 3 * np.eye(3)
        assert found == pytest.approx(np.sqrt(1.5 * np.sum(deviator**2)), rel=1e-12)
    np.testing.assert_allclose(stress[1], stress[0][[1, 0, 2, 3, 5, 4]] * [1, 1, 1, -1, -1, 1], rtol=1e-9, atol=1e-9 * bending)
    assert mises[1] == pytest.approx(mises[0], rel=1e-12)
    check = SelfCheck(robot)
    for function in derive_model(robot, ["point_stresses", "von_mises"]).functions:
        asked = [(Asked(function.name, function.program.inputs), 1)]
        assert check.error(function.program, asked) < 1e-12
        graph = function.program.graph
        node = next(k for k, number in enumerate(graph.number) if graph.op[k] is Op.CONSTANT and abs(number) > 1e6)
        graph.number[node] *= 1 + 1e-5  # a fault is noticed
        assert check.error(function.program, asked) > TOLERANCE


def test_a_point_by_nodes_of_the_file(folder):
    """The middle of three nodes; other numbers and links are refused."""
    found = written(folder, described()).links[1].flexible.solid
    used, inverse = np.unique(found.tetrahedra[:, :4], return_inverse=True)
    import meshio

    meshio.write(folder / "box.inp", meshio.Mesh(found.nodes[used], [("tetra", inverse.reshape(-1, 4))]), file_format="abaqus")
    point = {"name": "p", "link": "arm", "nodes": [2, 5, 6]}
    robot = written(folder, described({"points": [point]}, file="box.inp", scale=1.0))
    place = [float(row[3]) for row in robot.points[0].pose[:3]]
    np.testing.assert_allclose(place, found.nodes[used][[1, 4, 5]].mean(axis=0), rtol=1e-6, atol=1e-9)
    for bad, expected in (
        ({**point, "nodes": [2, 99999]}, "99999.*numbers of corners"),
        ({**point, "link": "fore"}, "a link by a mesh"),
        ({**point, "xyz": [0, 0, 0]}, "xyz"),
    ):
        with pytest.raises(elastogen.RobotError, match=expected):
            written(folder, described({"points": [bad]}, file="box.inp", scale=1.0))


def test_live_parameters_that_only_the_mesh_was_made_from(folder):
    """The solid is reduced once: a change of E would do nothing, and is not taken in silence."""
    material = {"E": "E", "nu": 0.3, "density": 2700}
    more = {"parameters": {"E": 70e9, "place": 0.2}, "live": ["E"]}
    with pytest.warns(elastogen.RobotWarning, match="E.*a parameter that the equations have.*arm is reduced once"):
        written(folder, described(more, material=material))
    description = described(more | {"live": ["place"]}, material=material)
    description["joints"][1]["placement"] = {"xyz": ["place", 0, 0]}
    with warnings.catch_warnings():
        warnings.simplefilter("error", elastogen.RobotWarning)  # the joint moves against its interface
        written(folder, description)
