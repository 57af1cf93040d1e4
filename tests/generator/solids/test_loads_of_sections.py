"""Loads that pass through a cut of a solid: by Newton's law for every node beyond it, and what hangs there."""

import numpy as np
import pytest
from mesh_arms import FORE, PLACES, described, written
from plain_programs import PlainPrograms

import elastogen
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.reference.expected.registry import Asked
from elastogen.generator.reference.self_check import SelfCheck

pytest.importorskip("skfem", reason="scikit-fem is not installed: pip install 'elastogen[mesh]'")
meshio = pytest.importorskip("meshio", reason="meshio is not installed: pip install 'elastogen[mesh]'")

from elastogen.generator.solids.material_points import material_point  # noqa: E402
from elastogen.generator.solids.materials import MATERIALS  # noqa: E402
from elastogen.generator.solids.sections import part_beyond  # noqa: E402
from elastogen.generator.solids.solid import Solid, quadratic_elements  # noqa: E402

SIZE, LOADS, AT = (0.2, 0.03, 0.02), "section_loads", 0.1
GRAVITY = np.array([0.3, -9.81, 2.0])
ON_A_NODE, SLANTED = [AT, 0.015, 0.01], [0.083, 0, 0]
POINTS = [
    {"name": "cut", "link": "arm", "xyz": ON_A_NODE},
    {"name": "slanted", "link": "arm", "xyz": SLANTED, "rpy": [0.2, 0.3, 0.4]},
    {"name": "back", "link": "arm", "xyz": ON_A_NODE, "rpy": [0, 0, np.pi]},
    {"name": "behind_the_elbow", "link": "fore", "xyz": [0, 0, 0]},
    {"name": "before_the_side", "link": "arm", "xyz": [0.045, 0, 0]},
]


def write_box(path, cells=(8, 2, 2)):
    """A box of six tetrahedra in every cell: the planes between the cells are faces of elements."""
    index = np.arange(np.prod([n + 1 for n in cells])).reshape([n + 1 for n in cells])
    starts = (0, -SIZE[1] / 2, -SIZE[2] / 2)
    axes = [np.linspace(at, at + size, n + 1) for at, size, n in zip(starts, SIZE, cells, strict=True)]
    corner = {(a, b, c): index[a : a + cells[0], b : b + cells[1], c : c + cells[2]].ravel()
              for a in (0, 1) for b in (0, 1) for c in (0, 1)}  # fmt: skip
    tetrahedra = []
    for first, second in ((0, 1), (1, 2), (2, 0), (1, 0), (2, 1), (0, 2)):
        one, two = np.zeros(3, int), np.zeros(3, int)
        one[first] = two[first] = two[second] = 1
        tetrahedra.append(np.stack([corner[0, 0, 0], corner[tuple(one)], corner[tuple(two)], corner[1, 1, 1]], axis=1))
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    meshio.write(path, meshio.Mesh(points, [("tetra", np.concatenate(tetrahedra))]), file_format="gmsh22", binary=False)


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    """A solid with a body on its end and one on its side."""
    place = tmp_path_factory.mktemp("cuts")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ELASTOGEN_CACHE_DIR", str(place / "cache"))
        write_box(place / "box.msh")
        places = PLACES | {"side": {"sphere": {"point": [0.05, 0, 0.01], "radius": 0.012}}}
        description = described({"points": POINTS, "gravity": GRAVITY.tolist()}, file="box.msh", interfaces=places)
        del description["links"][1]["flexible"]["size"]
        description["links"].append(FORE | {"name": "knob", "mass": 0.2})
        description["joints"].append({"name": "side", "type": "revolute", "parent": "arm", "child": "knob",
                                      "placement": {"xyz": [0.05, 0, 0.01]}})  # fmt: skip
        return written(place, description)


def state(robot, seed=3):
    rng, n = np.random.default_rng(seed), len(robot.coordinate_names)
    q = rng.normal(size=n)
    q[1:4] *= 0.01
    return q, rng.normal(size=n), rng.normal(size=n)


def turned(vector):
    """exp of a rotation vector."""
    angle = np.linalg.norm(vector)
    K = np.cross(np.eye(3), vector / angle)
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def test_what_passes_through_a_cut(arm):
    """Every node beyond the cut weighted by the consistent mass of the elements there, and the reaction of the elbow."""
    found, (q, qd, qdd) = arm.links[1].flexible.solid, state(arm)
    cells = found.tetrahedra[:, :4]
    beyond = cells[found.nodes[cells].mean(axis=1)[:, 0] > AT]
    elements = quadratic_elements(Solid.of(found.nodes, beyond), MATERIALS["aluminium"])
    order = np.array([np.argmin(np.linalg.norm(found.nodes - x, axis=1)) for x in elements.nodes])
    shapes, k = found.shapes[order], np.array([0.0, 0.0, 1.0])
    R = turned(q[0] * k)
    r, v, a = elements.nodes + shapes @ q[1:4], shapes @ qd[1:4], shapes @ qdd[1:4]
    felt = a + np.cross(k * qdd[0], r) + 2 * np.cross(k * qd[0], v) + np.cross(k * qd[0], np.cross(k * qd[0], r))
    force = elements.mass @ (felt - GRAVITY @ R)
    corner = int(np.argmin(np.linalg.norm(found.nodes - ON_A_NODE, axis=1)))
    centre = found.nodes[corner] + found.shapes[corner] @ q[1:4]
    programs = PlainPrograms(arm)
    reaction = programs("joint_reactions_base", q=q, qd=qd, qdd=qdd)[1]
    places = programs("point_positions", q=q)
    total = R @ force.sum(axis=0) + reaction[:3]
    moment = R @ np.cross(r - centre, force).sum(axis=0) + reaction[3:] + np.cross(places[3] - R @ centre, reaction[:3])
    axes = R @ turned(q[1:4] @ material_point(found, np.array(ON_A_NODE)).rotations)
    expected = np.concatenate([axes.T @ total, axes.T @ moment])
    loads = programs(LOADS, q=q, qd=qd, qdd=qdd)
    assert len(loads) == 4  # not of points on rigid links
    np.testing.assert_allclose(loads[0], expected, rtol=0, atol=1e-10 * np.abs(expected).max())
    opposite = np.array([1, 1, -1] * 2) * loads[0]  # action and reaction, in axes rotated about z
    np.testing.assert_allclose(loads[2], opposite, rtol=0, atol=1e-10 * np.abs(expected).max())


def test_the_side_carries_its_own(arm):
    """Between two cuts on both sides of the knob, its reaction is all that is added beside the solid's own part."""
    found, still = arm.links[1].flexible.solid, np.zeros(len(arm.coordinate_names))
    loads = PlainPrograms(arm)(LOADS, q=still, qd=still, qdd=still)
    between = found.report["density"] * SIZE[1] * SIZE[2] * (AT - 0.045)
    np.testing.assert_allclose(loads[3][:3] - loads[0][:3], -GRAVITY * (between + 0.2), rtol=1e-9)


@pytest.mark.parametrize("normal", [[1, 0, 0], [0.9, 0.3, -0.1], [-0.5, 0.2, 0.8], [0, 0, 1]])
def test_both_sides_of_a_plane_are_the_solid(arm, normal):
    """Their sum is what scikit-fem assembles of all; of one side, closed forms of a box."""
    found, n = arm.links[1].flexible.solid, np.array(normal) / np.linalg.norm(normal)
    for place in (np.array(SLANTED), np.array([0.1, 0, 0]), np.array([0.16, 0.004, 0.001])):
        both = [part_beyond(found, place, side) for side in (n, -n)]
        for name, expected in found.integrals.items():
            total = both[0][name] + both[1][name]
            np.testing.assert_allclose(total, expected, rtol=0, atol=1e-12 * max(np.abs(expected).max(), 1e-9), err_msg=name)
        assert all(part["mass"] >= 0 for part in both)
    tilt, (length, width, height) = 0.4, SIZE
    side = part_beyond(found, np.array(SLANTED), np.array([np.cos(tilt), np.sin(tilt), 0]))
    x, t, rho = SLANTED[0], np.tan(tilt), found.report["density"]
    assert side["mass"] == pytest.approx(rho * width * height * (length - x), rel=1e-12)
    first = rho * height * (width * (length**2 - x**2) / 2 - t**2 * width**3 / 24)
    assert side["first"][0] == pytest.approx(first, rel=1e-12)
    assert side["second"][0, 1] == pytest.approx(rho * height * x * t * width**3 / 12, rel=1e-11)


def test_the_description_confirms_them(arm):
    """The second derivation of every build, and that it sees a fault in the part's mass."""
    (function,) = derive_model(arm, [LOADS]).functions
    assert SelfCheck(arm).error(function.program, [(Asked(LOADS, function.program.inputs), 1)]) < 1e-12
    q, qd, qdd = state(arm, 7)
    plain = PlainPrograms(arm)(LOADS, q=q, qd=qd, qdd=qdd)
    found = function.evaluate({"q": q, "qd": qd, "qdd": qdd})["load"]
    np.testing.assert_allclose(found, plain, rtol=0, atol=1e-11 * np.abs(plain).max())


def test_matrices_have_no_sections(folder, arm):
    """Where there are no elements, nobody knows what is beyond a plane."""
    from scipy.io import mmwrite
    from scipy.sparse import eye, kron

    found = arm.links[1].flexible.solid
    elements = quadratic_elements(Solid.of(found.nodes, found.tetrahedra[:, :4]), MATERIALS["aluminium"])
    np.savetxt(folder / "nodes.txt", elements.nodes, fmt="%.17g")
    mmwrite(folder / "K.mtx", elements.stiffness, precision=17)
    mmwrite(folder / "M.mtx", kron(elements.mass, eye(3)), precision=17)
    matrices = {"nodes": "nodes.txt", "stiffness": "K.mtx", "mass": "M.mtx", "units": "SI"}
    description = described({"points": POINTS[:1]}, matrices=matrices)
    for key in ("file", "material", "size"):
        del description["links"][1]["flexible"][key]
    with pytest.raises(elastogen.ElastogenError, match=r"section_loads.*matrices do not tell parts"):
        derive_model(written(folder, description), [LOADS])


@pytest.mark.parametrize("keys", [{"foreshortening": True}, {"rotation": "linear"}])
def test_displacements_of_second_order_and_linear_tips(folder, keys):
    """By the description's own sums; and a point where a joint sits moves as the joint does."""
    write_box(folder / "box.msh")
    there = {"name": "there", "link": "arm", "xyz": [0.2, 0, 0], "rpy": [0.1, 0.2, 0.3]}
    more = {"points": [*POINTS[:2], there], "tip": {"link": "arm", "xyz": [0.2, 0, 0]}, "gravity": GRAVITY.tolist()}
    description = described(more, file="box.msh", interfaces={"hub": PLACES["hub"], "tip": PLACES["elbow"]}, modes=2, **keys)
    del description["links"][1]["flexible"]["size"], description["links"][2], description["joints"][1]
    robot = written(folder, description)
    programs, names = PlainPrograms(robot), ["point_accelerations", LOADS]
    assert [f.name for f in derive_model(robot, names).functions] == names  # each compared with the description
    q = np.array([0.4, 0.02, -0.03])
    place = programs("forward_kinematics", q=q)[-1][:3, 3]
    np.testing.assert_allclose(programs("point_positions", q=q)[2], place, rtol=0, atol=1e-13)
