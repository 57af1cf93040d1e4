"""Links from results of CalculiX: modes and static cases, of our elements in its format, and of the program itself."""

import shutil
import subprocess

import numpy as np
import pytest
from mesh_arms import PLACES, described, written
from test_loads_of_sections import SIZE, write_box

import elastogen

pytest.importorskip("skfem", reason="scikit-fem is not installed: pip install 'elastogen[mesh]'")
meshio = pytest.importorskip("meshio", reason="meshio is not installed: pip install 'elastogen[mesh]'")

from elastogen.generator.solids.materials import MATERIALS  # noqa: E402
from elastogen.generator.solids.solid import Solid, quadratic_elements  # noqa: E402

MODES = 6


@pytest.fixture(scope="module")
def box(tmp_path_factory):
    """Quadratic elements of a box, nodes on both ends."""
    path = tmp_path_factory.mktemp("box") / "box.msh"
    write_box(path, (6, 2, 2))
    found = meshio.read(path)
    return quadratic_elements(Solid.of(found.points, found.cells[0].data.astype(np.int64)), MATERIALS["aluminium"])


def at(elements, x):
    return np.flatnonzero(np.abs(elements.nodes[:, 0] - x) < 1e-9)


def loads(elements):
    """Unit forces and moments on the end, shared by its nodes (n, 3) as the mean of their motions asks."""
    end, middle = at(elements, SIZE[0]), np.array([SIZE[0], 0, 0])
    R = np.vstack([np.hstack([np.eye(3), -np.cross(np.eye(3), x)]) for x in middle - elements.nodes[end]])
    for column in (R @ np.linalg.inv(R.T @ R)).T:
        f = np.zeros((len(elements.nodes), 3))
        f[end] = column.reshape(-1, 3)
        yield f


def cases(elements):
    """Frequencies [Hz], modes scaled to the mass; displacements and internal forces of the loads."""
    from scipy.linalg import eigh
    from scipy.sparse import eye, kron

    K, M = elements.stiffness.toarray(), kron(elements.mass, eye(3)).toarray()
    free = np.setdiff1d(np.arange(len(K)), (3 * at(elements, 0.0)[:, None] + np.arange(3)).ravel())
    squares, vectors = eigh(K[np.ix_(free, free)], M[np.ix_(free, free)], subset_by_index=(0, MODES - 1))
    found = []
    for square, vector in zip(squares, vectors.T, strict=True):
        u = np.zeros(len(K))
        u[free] = vector
        found.append((np.sqrt(square) / (2 * np.pi), u, None))
    for f in loads(elements):
        u = np.zeros(len(K))
        u[free] = np.linalg.solve(K[np.ix_(free, free)], f.ravel()[free])
        found.append((None, u, K @ u))
    return found


def frd(elements, given, length=1.0, mass=1.0):
    """The text of a file of results in other units."""

    def block(name, values):
        rows = (f" -1{k + 1:10d}" + "".join(f"{x:12.5E}" for x in row) for k, row in enumerate(np.reshape(values, (-1, 3))))
        return [f" -4  {name}        4    1", " -5  D1          1    2    1    0", *rows, " -3"]

    lines = ["    1C", f"    2C{len(elements.nodes):30d}{1:38d}"]
    lines += [f" -1{k + 1:10d}" + "".join(f"{x / length:12.5E}" for x in row) for k, row in enumerate(elements.nodes)] + [" -3"]
    lines += [f"    3C{len(elements.tetrahedra):30d}{1:38d}"]
    for k, cell in enumerate(elements.tetrahedra):
        lines += [f" -1{k + 1:10d}    6    0    1", " -2" + "".join(f"{node + 1:10d}" for node in cell)]
    lines += [" -3"]
    for k, (frequency, u, f) in enumerate(given, 1):
        kind, value = (2, f"{frequency:12.8g}") if frequency is not None else (0, f"{1.0:12.8g}")
        head = f"  100CL{100 + k:5d}{value}{len(elements.nodes):12d}{'':20}{kind:2d}{k:5d}{'':10}{1:2d}"
        lines += [head, *block("DISP", u * np.sqrt(mass) if frequency is not None else u / length)]
        if f is not None:
            lines += [head, *block("FORC", f / (mass * length))]
    return "\n".join([*lines, " 9999"])


def robot(folder, text, units="SI", more=None, **keys):
    (folder / "job.frd").write_text(text)
    description = described(more, results={"file": "job.frd", "units": units}, modes=MODES, **keys)
    for key in ("file", "size"):
        del description["links"][1]["flexible"][key]
    return written(folder, description)


@pytest.mark.parametrize(("units", "length", "mass"), [("SI", 1.0, 1.0), ("mm_t_s", 1e-3, 1e3)])
def test_results_are_the_basis(folder, box, units, length, mass):
    """With a body on the end, as all elements are; compliance and mass are those of the elements."""
    text = frd(box, cases(box), length, mass)
    found = robot(folder, text, units).links[1].flexible
    report = found.solid.report
    np.testing.assert_allclose(report["frequencies"][:4], report["full"][:4], rtol=1e-3)
    np.testing.assert_allclose(report["frequencies"][:2], report["full"][:2], rtol=1e-5)
    assert report["interfaces"]["elbow"].startswith("as given")
    assert float(found.mass) == pytest.approx(2700 * np.prod(SIZE), rel=1e-5)
    few = [case for case in cases(box) if case[2] is None]
    with pytest.warns(elastogen.RobotWarning, match="modes alone.*STATIC steps"):
        alone = robot(folder, frd(box, few), "SI").links[1].flexible.solid.report
    assert np.max(np.abs(np.array(alone["frequencies"]) / alone["full"] - 1)) > 0.02  # what a load does is missed


def test_all_coordinates_bend_as_the_static_cases(folder, box):
    """The mean shift of the end by a force there, to the digits of the file."""
    given = cases(box)
    (folder / "job.frd").write_text(frd(box, given))
    whole = described(results={"file": "job.frd", "units": "SI"}, modes=len(given))
    for key in ("file", "size"):
        del whole["links"][1]["flexible"][key]
    body = written(folder, whole).links[1].flexible
    shifts = np.array(body.tip_displacements, float)
    compliance = shifts.T @ np.linalg.solve(np.array(body.stiffness, float), shifts)
    end = at(box, SIZE[0])
    moved = np.array([given[MODES + axis][1].reshape(-1, 3)[end].mean(axis=0) for axis in range(3)])
    sizes = np.sqrt(np.outer(np.diag(moved), np.diag(moved)))
    np.testing.assert_allclose(compliance / sizes, moved / sizes, rtol=0, atol=2e-5)


def test_bad_files(folder, box):
    """Named with their lines, and with what to write in the analysis."""
    good, text = cases(box), frd(box, cases(box))
    line = text.splitlines().index(" -3")
    for bad, expected in (
        (frd(box, [*good[:MODES], (None, good[-1][1], None)]), "result 7, a static case without forces.*RF"),
        (frd(box, good[MODES:]), "no modes.*FREQUENCY"),
        (text.replace(" -1         1    6", " -1         1    4"), "an element of type 4.*tetrahedra"),
        (text[: text.rindex("\n", 0, len(text) // 2)], "line .*the end of the file within"),
        ("\n".join([*text.splitlines()[:line], " -1        12 xyz"]), f"line {line + 1}: '-1        12 xyz'"),
        (frd(box, [(f, 1.1 * u, k) for f, u, k in good]), r"modes of mass 1\.21.*density"),
        (frd(box, [*good[:-1], (None, good[-1][1] + 0.01 * np.abs(good[-1][1]).max(), good[-1][2])]), "move the nodes of hub"),
        ("nothing", "no nodes, or no tetrahedra"),
    ):
        with pytest.raises(elastogen.RobotError, match=expected):
            robot(folder, bad)
    with pytest.warns(elastogen.RobotWarning, match=r"stiffness that differs by .*from that of the material"):
        robot(folder, text, material={"name": "aluminium", "E": 80e9})
    with pytest.raises(elastogen.RobotError, match="no file beside results"):
        written(folder, described(results={"file": "job.frd", "units": "SI"}))


@pytest.mark.skipif(shutil.which("ccx") is None, reason="CalculiX is not installed: apt install calculix-ccx")
def test_files_that_calculix_writes(folder, box):
    """Its frequencies of the link alone; and those of the same link by our elements with a body on its end."""
    hold = at(box, 0.0) + 1
    lines = ["*NODE", *(f"{k + 1}, {x:.12g}, {y:.12g}, {z:.12g}" for k, (x, y, z) in enumerate(box.nodes))]
    lines += ["*ELEMENT, TYPE=C3D10, ELSET=E"]
    lines += [f"{k + 1}, " + ", ".join(str(node + 1) for node in cell) for k, cell in enumerate(box.tetrahedra)]
    lines += ["*MATERIAL, NAME=M", "*ELASTIC", "70e9, 0.3", "*DENSITY", "2700", "*SOLID SECTION, ELSET=E, MATERIAL=M"]
    lines += ["*BOUNDARY", *(f"{k}, 1, 3" for k in hold), "*STEP", "*FREQUENCY", f"{MODES}", "*NODE FILE", "U", "*END STEP"]
    for f in loads(box):
        lines += ["*STEP", "*STATIC", "*CLOAD, OP=NEW"]
        lines += [f"{k + 1}, {axis + 1}, {f[k, axis]:.15g}" for k, axis in zip(*np.nonzero(f), strict=True)]
        lines += ["*NODE FILE", "U, RF", "*END STEP"]
    (folder / "job.inp").write_text("\n".join(lines) + "\n")
    subprocess.run(["ccx", "job"], cwd=folder, check=True, capture_output=True, timeout=120, env={"OMP_NUM_THREADS": "1"})
    text = (folder / "job.frd").read_text()
    own = [float(line[12:24]) for line in text.splitlines() if line.startswith("  100C") and int(line[56:58]) == 2]
    without = {"tip": {"link": "arm", "xyz": [SIZE[0], 0, 0]}}
    (folder / "bare").mkdir()
    description = described(without, results={"file": "job.frd", "units": "SI"}, modes=5)
    flexible = description["links"][1]["flexible"]
    flexible["interfaces"] = {"hub": PLACES["hub"], "tip": PLACES["elbow"]}
    del flexible["file"], flexible["size"], description["links"][2], description["joints"][1]
    bare = written(folder, description).links[1].flexible.solid.report
    np.testing.assert_allclose(bare["frequencies"], own[:5], rtol=1e-5)
    loaded = robot(folder, text).links[1].flexible.solid.report
    np.testing.assert_allclose(loaded["frequencies"][:2], loaded["full"][:2], rtol=1e-4)
