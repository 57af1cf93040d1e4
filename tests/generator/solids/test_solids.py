"""Solids of finite elements: against closed forms, CalculiX on the same mesh, and their own nodes as mass points."""

import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from geometric_stiffness import geometric_stiffness

skfem = pytest.importorskip("skfem", reason="scikit-fem is not installed: pip install 'elastogen[mesh]'")
trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed: pip install 'elastogen[mesh]'")

from elastogen.generator.robot.location import Location  # noqa: E402
from elastogen.generator.solids.constraints import Constrained, Solver, lowest  # noqa: E402
from elastogen.generator.solids.interfaces import Wanted, held  # noqa: E402
from elastogen.generator.solids.materials import MATERIALS, Material  # noqa: E402
from elastogen.generator.solids.reduced_body import integrals  # noqa: E402
from elastogen.generator.solids.reduction import pairs, reduced  # noqa: E402
from elastogen.generator.solids.solid import Solid, quadratic_elements  # noqa: E402

LENGTH, WIDTH, HEIGHT = 0.3, 0.04, 0.03
HERE = Location("test")


def box(*counts, size=(LENGTH, WIDTH, HEIGHT)):
    """Six tetrahedra in every cell of a grid, from x = 0 on, centred across."""
    axes = [np.linspace(0, s, n + 1) for s, n in zip(size, counts, strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    index = np.arange(grid.size // 3).reshape(grid.shape[:3])
    steps = [(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)]
    corner = [index[i : i + counts[0], j : j + counts[1], k : k + counts[2]].ravel() for i, j, k in steps]
    formulations = ((0, 4, 6, 7), (0, 6, 2, 7), (0, 2, 3, 7), (0, 3, 1, 7), (0, 1, 5, 7), (0, 5, 4, 7))
    cells = np.concatenate([np.stack([corner[c] for c in formulation], axis=1) for formulation in formulations])
    return Solid.of(grid.reshape(-1, 3) - [0, size[1] / 2, size[2] / 2], cells)


def at_plane(name, x, averaging=False):
    return Wanted(name, np.array([x, 0.0, 0.0]), None, {"plane": (x, 0, 0, 1, 0, 0)}, averaging, HERE)


@pytest.fixture(scope="module")
def beam():
    """A slender box without transverse contraction, which clamping would hinder."""
    elements = quadratic_elements(box(10, 2, 2), Material(70e9, 0.0, 2700.0))
    return elements, held(at_plane("hub", 0.0), elements), held(at_plane("tip", LENGTH), elements)


def test_mass_and_moments_are_those_of_the_mesh():
    """By the divergence theorem on the surface: a sheared box with a corner pulled out."""
    solid = box(3, 2, 2)
    moved = solid.corners @ np.array([[1, 0.1, 0.2], [0, 1, -0.1], [0.05, 0, 1]]) + 0.01 * np.sin(7 * solid.corners[:, ::-1])
    solid = Solid.of(moved, solid.tetrahedra)
    surface = trimesh.Trimesh(solid.corners, solid.surface, process=False)
    surface.density = 2700.0
    elements = quadratic_elements(solid, MATERIALS["aluminium"])
    found = integrals(elements, np.zeros((len(elements.nodes), 3, 1)), np.zeros((len(elements.nodes), 3, 0)))
    assert float(found["mass"]) == pytest.approx(surface.mass, rel=1e-12)
    centre = found["first"] / found["mass"]
    np.testing.assert_allclose(centre, surface.center_mass, rtol=1e-11)
    second = found["second"] - found["mass"] * np.outer(centre, centre)
    np.testing.assert_allclose(np.trace(second) * np.eye(3) - second, surface.moment_inertia, rtol=1e-9, atol=1e-15)


def timoshenko(count):
    """Frequencies [rad/s] of a clamped Timoshenko beam that bends in z, by its transfer matrix; shear factor 5/6, nu = 0."""
    E, G, rho, A, inertia = 70e9, 35e9, 2700.0, WIDTH * HEIGHT, WIDTH * HEIGHT**3 / 12
    from scipy.linalg import expm
    from scipy.optimize import brentq

    def end(w):
        # w' = theta + Q/(k G A), theta' = M/(E I), M' = -Q - rho I w^2 theta, Q' = -rho A w^2 w
        step = np.array([[0, 1, 0, 1 / (5 / 6 * G * A)], [0, 0, 1 / (E * inertia), 0],
                         [0, -rho * inertia * w * w, 0, -1], [-rho * A * w * w, 0, 0, 0]])  # fmt: skip
        scale = np.diag([1, 1 / LENGTH, E * inertia / LENGTH**2, E * inertia / LENGTH**3])
        T = expm(np.linalg.inv(scale) @ step @ scale * LENGTH)
        return np.linalg.det(T[2:, 2:])

    trial = np.linspace(100, 60000, 400)
    values = [end(w) for w in trial]
    pairs = [k for k in range(len(trial) - 1) if values[k] * values[k + 1] < 0]
    return [brentq(end, trial[k], trial[k + 1], xtol=1e-8) for k in pairs[:count]]


def test_a_slender_box_is_a_timoshenko_beam(beam):
    elements, clamp, tip = beam
    found = reduced(elements, clamp, [tip], {"tip": np.zeros((6, 6))}, 6, None)
    expected = timoshenko(2)
    for w, near in zip(expected, (1e-3, 5e-3), strict=True):  # the second has elements of a sixth of its wave
        assert np.min(np.abs(found.full / w - 1)) < near
    assert np.all(found.frequencies / found.full - 1 < 3e-3)


@pytest.mark.parametrize("averaging", [False, True])
def test_loaded_frequencies_are_those_of_all_elements(beam, averaging):
    """The first five of eight: to 1e-5 with the load that shaped them, to 1e-3 with one that is half as heavy again."""
    elements, clamp, _ = beam
    tip = held(at_plane("tip", LENGTH, averaging), elements)
    load = np.diag([0.5, 0.5, 0.5, 1e-3, 1e-3, 1e-3])
    found = reduced(elements, clamp, [tip], {"tip": load}, 8, None)
    np.testing.assert_allclose(found.frequencies[:5], found.full[:5], rtol=1e-5)
    other = load * 1.5
    M = np.array(integrals(elements, found.shapes, found.second)["products"]).trace(axis1=2, axis2=3)
    lighter = found.motions["tip"] @ other @ found.motions["tip"].T
    from scipy.linalg import eigh

    frequencies = np.sqrt(eigh(found.stiffness, M + lighter, eigvals_only=True))
    exact = reduced(elements, clamp, [tip], {"tip": other}, 8, None).full
    np.testing.assert_allclose(frequencies[:5], exact[:5], rtol=1e-3)


def test_rigid_interfaces_move_their_nodes_and_averaging_ones_their_mean(beam):
    elements, clamp, rigid = beam
    averaging = held(at_plane("tip", LENGTH, averaging=True), elements)
    for tip in (rigid, averaging):
        found = reduced(elements, clamp, [tip], {"tip": np.diag([0.5] * 3 + [1e-3] * 3)}, 4, None)
        R = tip.rigid(elements.nodes)
        moved = found.shapes[tip.nodes].reshape(-1, 4)
        np.testing.assert_allclose(np.linalg.lstsq(R, moved, rcond=None)[0], found.motions["tip"].T, rtol=1e-8, atol=1e-10)
        assert np.abs(R @ found.motions["tip"].T - moved).max() < (1e-12 if tip is rigid else 1.0)
        assert np.abs(found.shapes[clamp.nodes]).max() < 1e-14
        np.testing.assert_allclose(np.linalg.norm(found.shapes, axis=1).max(axis=0), 1, rtol=1e-14)


def by_four_points(solid, material):
    """Elements whose mass is integrated by a rule of degree 2: exact to the fourth power of their size only."""
    mesh = skfem.MeshTet(np.ascontiguousarray(solid.corners.T), np.ascontiguousarray(solid.tetrahedra.T), sort_t=False)
    basis = skfem.Basis(mesh, skfem.ElementTetP2(), intorder=2)
    mass = skfem.BilinearForm(lambda u, v, w: u * v).assemble(basis) * material.density
    return replace(quadratic_elements(solid, material), mass=mass.tocsr())


@pytest.mark.skipif(shutil.which("ccx") is None, reason="CalculiX is not installed: apt install calculix-ccx")
def test_frequencies_are_those_of_calculix(tmp_path):
    """The same ten-node tetrahedra, clamped on one side; CalculiX integrates mass by four points, so does this test."""
    elements = by_four_points(box(4, 2, 1), Material(70e9, 0.33, 2700.0))
    squares, theirs = squared_frequencies(elements, tmp_path)
    np.testing.assert_allclose(squares, theirs, rtol=2e-6)


@pytest.mark.skipif(shutil.which("ccx") is None, reason="CalculiX is not installed: apt install calculix-ccx")
def test_the_consistent_mass_agrees_with_calculix_where_waves_are_resolved(tmp_path):
    """The four points of CalculiX leave the fourth power of the elements' size: 8e-4 on the mesh above, 6e-6 on this one."""
    elements = quadratic_elements(box(16, 4, 3), Material(70e9, 0.33, 2700.0))
    squares, theirs = squared_frequencies(elements, tmp_path)
    np.testing.assert_allclose(np.sqrt(squares), np.sqrt(theirs), rtol=1e-5)


def squared_frequencies(elements, tmp_path):
    """The lowest six with one side clamped, of these elements and by CalculiX on the same nodes."""
    clamp = held(at_plane("hub", 0.0), elements)
    solid = Constrained(elements, clamp, [])
    squares, _ = lowest(solid.K, solid.M, Solver(solid.K, None), 6)
    lines = ["*NODE"] + [f"{i}, {x:.12g}, {y:.12g}, {z:.12g}" for i, (x, y, z) in enumerate(elements.nodes, 1)]
    lines += ["*ELEMENT, TYPE=C3D10, ELSET=all"]  # corners, then 1-2, 2-3, 1-3, 1-4, 2-4, 3-4: our order
    for number, cell in enumerate(elements.tetrahedra + 1, 1):
        lines += [f"{number}, " + ", ".join(map(str, cell[:7])) + ",", ", ".join(map(str, cell[7:]))]
    lines += ["*NSET, NSET=held"] + [f"{n}," for n in clamp.nodes + 1]
    lines += ["*MATERIAL, NAME=al", "*ELASTIC", "70e9, 0.33", "*DENSITY", "2700.", "*SOLID SECTION, ELSET=all, MATERIAL=al"]
    lines += ["*BOUNDARY", "held, 1, 3", "*STEP", "*FREQUENCY", "6", "*END STEP"]
    (tmp_path / "box.inp").write_text("\n".join(lines) + "\n")
    subprocess.run(["ccx", "box"], cwd=tmp_path, check=True, capture_output=True, timeout=120)
    rows = [line.split() for line in (tmp_path / "box.dat").read_text().splitlines()]
    return squares, [float(row[1]) for row in rows if len(row) == 5 and row[0].isdigit()][:6]


@pytest.mark.parametrize("nu", [0.0, 0.3])
@pytest.mark.parametrize("load", ["pull", "bend", "weight"])
def test_foreshortening_is_the_geometric_stiffness(nu, load):
    """-f . b_jk is what the stresses of a static load f add to the stiffness: int sigma_ab d_a u_c d_b v_c, by scikit-fem."""
    solid, material = box(6, 2, 1), Material(70e9, nu, 2700.0)
    elements = quadratic_elements(solid, material)
    clamp, tip = held(at_plane("hub", 0.0), elements), held(at_plane("tip", LENGTH), elements)
    heavy = {"tip": np.diag([0.5] * 3 + [1e-3] * 3)}
    found = reduced(elements, clamp, [tip], heavy, 4, None, shortened=material)
    n = len(elements.nodes)
    free = np.setdiff1d(np.arange(n), [*clamp.nodes, *tip.nodes])
    T = np.zeros((3 * n, 3 * len(free) + 6))  # displacements by those of free nodes and by the tip's shift and rotation
    for k, node in enumerate(free):
        T[3 * node : 3 * node + 3, 3 * k : 3 * k + 3] = np.eye(3)
    for node in tip.nodes:
        x, y, z = elements.nodes[node] - [LENGTH, 0, 0]
        T[3 * node : 3 * node + 3, -6:] = np.hstack([np.eye(3), [[0, z, -y], [-z, 0, x], [y, -x, 0]]])
    nodal, wrench = np.zeros(3 * n), np.zeros(6)
    if load == "weight":
        nodal = np.outer(elements.mass @ np.ones(n), [300.0, 0.0, -20.0]).ravel()
    else:
        wrench[:] = [1e4, 0, 0, 0, 0, 0] if load == "pull" else [0, 300.0, -500.0, 20.0, 10.0, -7.0]
    right = T.T @ nodal
    right[-6:] += wrench
    still = (T @ np.linalg.solve(T.T @ elements.stiffness.toarray() @ T, right)).reshape(n, 3)

    expected = geometric_stiffness(elements, material, still, found.shapes)
    got = np.zeros((4, 4))
    for number, (j, k) in enumerate(pairs(4)):
        work = nodal @ found.second[:, :, number].ravel() + wrench @ found.motions["tip"][4 + number]
        got[j, k] = got[k, j] = -work * (2 if j == k else 1)
    np.testing.assert_allclose(got, expected, rtol=1e-8, atol=1e-9 * np.abs(expected).max())
