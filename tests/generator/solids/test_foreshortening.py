"""Second-order fields of a solid: geometric stiffness of all static load cases, against beams that spin and are pulled."""

import numpy as np
import pytest
from geometric_stiffness import geometric_stiffness
from mesh_arms import PLACES, described, solid, written
from plain_programs import PlainPrograms
from test_loads_of_sections import write_box
from test_results import box, cases, frd, loads, robot  # noqa: F401

import elastogen

pytest.importorskip("skfem", reason="scikit-fem is not installed: pip install 'elastogen[mesh]'")
pytest.importorskip("netgen", reason="netgen-mesher is not installed: pip install 'elastogen[mesh]'")

from elastogen.generator.solids.materials import MATERIALS

LENGTH, WIDTH, HEIGHT = 0.5, 0.02, 0.01
SOUTHWELL = 1.193  # of the first flapwise frequency of a uniform beam on a hub of radius zero: w^2 = w0^2 + 1.193 Omega^2
END = {
    "hub": {"plane": {"point": [0, 0, 0], "normal": [1, 0, 0]}},
    "tip": {"plane": {"point": [LENGTH, 0, 0], "normal": [1, 0, 0]}},
}


@pytest.fixture(scope="module")
def spun(tmp_path_factory):
    """A slender blade on a joint about z; it flaps in z."""
    place = tmp_path_factory.mktemp("blade")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ELASTOGEN_CACHE_DIR", str(place / "cache"))
        solid((LENGTH, WIDTH, HEIGHT)).export(place / "box.stl")
        material = {"E": 70e9, "nu": 0.0, "density": 2700}
        more = {"tip": {"link": "arm", "xyz": [LENGTH, 0, 0]}, "gravity": [0, 0, 0]}
        robots = []
        for shortened in (True, False):
            description = described(more, interfaces=END, size=0.02, modes=4, material=material, foreshortening=shortened)
            description["links"].pop()
            description["joints"].pop()
            robots.append(written(place, description))
    return robots


def flapping(robot, rate):
    """Square of the lowest frequency of the elastic rows at a constant rate of the joint."""
    programs, n = PlainPrograms(robot), 4
    qd, step = np.array([rate, *[0.0] * n]), 1e-7
    columns = []
    for k in range(1, n + 1):
        ahead, behind = (programs("inverse_dynamics", q=s * step * np.eye(n + 1)[k], qd=qd, qdd=0 * qd) for s in (1, -1))
        columns.append((ahead - behind)[1:] / (2 * step))
    K, M = np.array(columns).T, programs("mass_matrix", q=np.zeros(n + 1))[1:, 1:]
    return np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real)


def test_southwell_coefficient(spun):
    """The blade's lowest mode flaps, in z, since it is thinner there."""
    still = flapping(spun[0], 0.0)[0]
    rate = 0.5 * np.sqrt(still)
    assert (flapping(spun[0], rate)[0] - still) / rate**2 == pytest.approx(SOUTHWELL, rel=0.01)
    assert abs(flapping(spun[1], rate)[0] - still) / rate**2 < 1e-3  # without foreshortening it does not notice


def test_the_end_comes_nearer_as_the_axis_bends(spun):
    """b_11 in x at the tip is -1/2 int w'^2 dx along the axis."""
    body = spun[0].links[1].flexible
    assert body.monomials[:5] == ((0,), (1,), (2,), (3,), (0, 0))
    assert body.foreshortened
    found = body.solid
    first = found.shapes[:, :, 0]
    places = np.unique(found.nodes[:, 0].round(6))
    means = np.array([first[np.abs(found.nodes[:, 0] - x) < 2e-3, 2].mean() for x in places[:: max(len(places) // 25, 1)]])
    x = np.array([found.nodes[np.abs(found.nodes[:, 0] - p) < 2e-3, 0].mean() for p in places[:: max(len(places) // 25, 1)]])
    curve = np.polynomial.Polynomial.fit(x, means, 6).deriv()
    grid = np.linspace(0, LENGTH, 400)
    shortening = -0.5 * np.mean(curve(grid) ** 2) * LENGTH
    assert float(body.tip_displacements[4][0]) == pytest.approx(shortening, rel=0.02)


def test_standard_data_may_leave_out_third_order(spun):
    """The same body as data from elsewhere: second-order fields with integrals, without products."""
    body = spun[0].links[1].flexible
    names = list(body.coordinates)
    modes = [
        {
            **({"name": names[m[0]]} if len(m) == 1 else {"of": [names[m[0]], names[m[1]]]}),
            "integral": list(body.field_integrals[n]),
            "position_integral": [list(row) for row in body.field_position_integrals[n]],
            "tip_displacement": list(body.tip_displacements[n]),
            **({"tip_rotation": list(body.tip_rotations[n])} if len(m) == 1 else {}),
        }
        for n, m in enumerate(body.monomials)
    ]
    products = [
        {"fields": [n + 1, m + 1], "integral": [list(row) for row in body.field_field_integrals[n][m]]}
        for n in range(4)
        for m in range(n, 4)
    ]
    data = {
        "type": "standard_data", "mass": body.mass, "first_moments": list(body.first_moments),
        "second_moments": [list(row) for row in body.second_moments], "modes": modes, "products": products,
        "stiffness": [list(row) for row in body.stiffness], "tip_frame": {"xyz": [LENGTH, 0, 0]},
    }  # fmt: skip
    description = {
        "elastogen": 1, "name": "data", "links": [{"name": "base"}, {"name": "arm", "flexible": data}],
        "joints": [{"name": "hub", "type": "revolute"}], "gravity": [0, 0, 0],
    }  # fmt: skip
    other = elastogen.load(description)
    rng = np.random.default_rng(1)
    q, qd, qdd = (np.array([0.3, *(0.01 * rng.normal(size=4))]), rng.normal(size=5), rng.normal(size=5))
    one, two = (PlainPrograms(robot)("inverse_dynamics", q=q, qd=qd, qdd=qdd) for robot in (spun[0], other))
    np.testing.assert_allclose(one, two, rtol=1e-10, atol=1e-10 * np.abs(one).max())


def stiffened(elements, body, count):
    """What a pull at the end adds to the stiffness of the coordinates: assembled, and by the fields of second order."""
    found, nodal = body.solid, next(loads(elements)).ravel() * 1e4
    free = np.repeat(elements.nodes[:, 0] > 1e-9, 3)
    still = np.zeros(3 * len(elements.nodes))
    still[free] = np.linalg.solve(elements.stiffness.toarray()[np.ix_(free, free)], nodal[free])
    work = nodal @ found.second.reshape(len(nodal), -1)
    got, numbered = np.zeros((count, count)), [(j, k) for j in range(count) for k in range(j, count)]
    for number, (j, k) in enumerate(numbered):
        got[j, k] = got[k, j] = -work[number] * (2 if j == k else 1)
    np.testing.assert_allclose(found.nodes, elements.nodes, atol=1e-6)
    return geometric_stiffness(elements, MATERIALS["aluminium"], still.reshape(-1, 3), found.shapes), got


def test_results_of_calculix(folder, box):  # noqa: F811
    """Shapes of another program, whose elements are in its file, to its six digits."""
    body = robot(folder, frd(box, cases(box)), foreshortening=True).links[1].flexible
    assert body.foreshortened
    expected, got = stiffened(box, body, 6)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def test_matrices_with_the_file_of_their_elements(folder, box):  # noqa: F811
    """K and M of another program in an order of its own, in mm, t, s; the file says which nodes an element has."""
    from scipy.io import mmwrite
    from scipy.sparse import eye, kron

    write_box(folder / "box.msh", (6, 2, 2))
    order = np.random.default_rng(2).permutation(len(box.nodes))
    freedoms = (3 * order[:, None] + np.arange(3)).ravel()
    np.savetxt(folder / "nodes.txt", 1e3 * box.nodes[order], fmt="%.17g")
    mmwrite(folder / "K.mtx", box.stiffness[freedoms][:, freedoms] / 1e3, precision=17)
    mmwrite(folder / "M.mtx", kron(box.mass, eye(3)).tocsr()[freedoms][:, freedoms] / 1e3, precision=17)
    given = {"nodes": "nodes.txt", "stiffness": "K.mtx", "mass": "M.mtx", "units": "mm_t_s"}
    places = PLACES | {"elbow": PLACES["elbow"] | {"kind": "average"}}

    def arm(**keys):
        description = described(**{"matrices": given, "file": "box.msh", "interfaces": places, "foreshortening": True, **keys})
        del description["links"][1]["flexible"]["size"]
        return written(folder, description).links[1].flexible

    body = arm()
    expected, got = stiffened(box, body, 3)
    np.testing.assert_allclose(got, expected, rtol=1e-8, atol=1e-9 * np.abs(expected).max())
    assert len(body.solid.surface)
    assert body.solid.report["E"] == MATERIALS["aluminium"].E
    with pytest.raises(elastogen.RobotError, match=r"stiffness: got '0\.3.* times that of the file and the material"):
        arm(material="steel")
    with pytest.raises(elastogen.RobotError, match=r"nodes: got .*none at \[.*scale: \(0\.001"):
        arm(scale=0.5)
    solid((0.2, 0.03, 0.02)).export(folder / "box.stl")
    with pytest.raises(elastogen.RobotError, match=r"file: got 'box\.stl', expected the tetrahedra between the nodes"):
        arm(file="box.stl")
