"""The surface of a solid for drawings: closed, small, with the displacements and strains of the finite elements."""

import numpy as np
import pytest

pytest.importorskip("fast_simplification", reason="fast-simplification is not installed: pip install 'elastogen[mesh]'")
trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed: pip install 'elastogen[mesh]'")

from elastogen.generator.solids.drawn_surface import drawn_surface  # noqa: E402
from elastogen.generator.solids.solid import EDGES, FACES  # noqa: E402


def block(counts, size):
    """Nodes, ten-node tetrahedra and six-node triangles of a block of cubes, six tetrahedra in each."""
    n = np.array(counts)
    corners = np.stack(np.meshgrid(*(np.arange(k + 1) for k in n), indexing="ij"), axis=-1).reshape(-1, 3)
    number = {tuple(c): k for k, c in enumerate(corners)}
    cells = []
    for i in np.ndindex(*n):
        for path in ((0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (2, 1, 0), (1, 0, 2)):
            at, found = list(i), [number[i]]
            for axis in path:
                at[axis] += 1
                found.append(number[tuple(at)])
            if path in ((0, 2, 1), (2, 1, 0), (1, 0, 2)):
                found[1], found[2] = found[2], found[1]
            cells.append(found)
    points, between, ten = [*(corners / n * size)], {}, []
    for cell in cells:
        row = list(cell)
        for a, b in EDGES:
            edge = frozenset((cell[a], cell[b]))
            if edge not in between:
                between[edge] = len(points)
                points.append((points[cell[a]] + points[cell[b]]) / 2)
            row.append(between[edge])
        ten.append(row)
    ten = np.array(ten)
    faces = np.concatenate([ten[:, list(face)] for face in FACES])
    _, first, count = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    outer = faces[first[count == 1]]
    return np.array(points), ten, np.hstack([outer, outer])


def fields(points):
    """A general linear field, and bending: u_x = -x y, u_y = x^2 / 2, whose strains are known."""
    x, y, _ = points.T
    gradient = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]) / 10
    linear = points @ gradient.T
    bent = np.stack([-x * y, x**2 / 2, 0 * x], axis=1)
    return np.stack([linear, bent], axis=2)


def test_strains_and_displacements_are_those_of_the_field():
    points, cells, outer = block((4, 2, 2), (1.0, 0.5, 0.4))
    drawn = drawn_surface(points, cells, outer, fields(points), most=10_000)
    assert len(drawn.triangles) == len(outer) == 2 * 2 * (4 * 2 + 4 * 2 + 2 * 2)
    assert trimesh.Trimesh(drawn.vertices, drawn.triangles, process=False).volume == pytest.approx(0.2, rel=1e-12)
    np.testing.assert_allclose(drawn.displacements, fields(drawn.vertices).transpose(2, 0, 1), atol=1e-15)
    linear = np.broadcast_to([0.1, 0.5, 0.9, 0.3, 0.7, 0.5], drawn.strains[0].shape)
    np.testing.assert_allclose(drawn.strains[0], linear, atol=1e-13)
    bent = np.zeros_like(drawn.strains[1])
    bent[:, 0] = -drawn.vertices[:, 1]
    np.testing.assert_allclose(drawn.strains[1], bent, atol=1e-13)  # elements of order 2 hold it exactly
    np.testing.assert_allclose(drawn.moved([0, 0.1]), drawn.vertices + 0.1 * drawn.displacements[1])
    np.testing.assert_allclose(drawn.equivalent_strains([0, 3.0]), 3 * np.abs(drawn.vertices[:, 1]) * 2 / 3, atol=1e-13)


def test_a_large_surface_becomes_small_and_stays_on_its_nodes():
    points, cells, outer = block((24, 8, 8), (1.2, 0.4, 0.4))
    drawn = drawn_surface(points, cells, outer, fields(points), most=600)
    assert 100 < len(drawn.triangles) <= 600 < len(outer)
    assert len(np.unique(drawn.triangles)) == len(drawn.vertices)
    known = {tuple(point) for point in points.round(12)}
    assert all(tuple(vertex) in known for vertex in drawn.vertices.round(12))
    found = trimesh.Trimesh(drawn.vertices, drawn.triangles, process=False)
    assert found.volume == pytest.approx(1.2 * 0.16, rel=0.02)
    np.testing.assert_allclose(drawn.displacements, fields(drawn.vertices).transpose(2, 0, 1), atol=1e-14)


def test_colours_of_few_triangles_are_those_of_all():
    """Bending both ways: dark lines run along the middles of flat faces, which one triangle across the face would lose."""
    points, cells, outer = block((24, 8, 8), (1.2, 0.2, 0.2))
    x, y, z = (points - [0, 0.1, 0.1]).T
    bent = [np.stack([-x * y, x**2 / 2, 0 * x], axis=1), np.stack([-x * z, 0 * x, x**2 / 2], axis=1)]
    drawn = drawn_surface(points, cells, outer, np.stack(bent, axis=2), most=400)
    few = trimesh.Trimesh(drawn.vertices, drawn.triangles, process=False)
    corners = points[np.unique(outer[:, :3])]
    nearest, distance, face = trimesh.proximity.closest_point_naive(few, corners)
    inside = trimesh.triangles.points_to_barycentric(few.triangles[face], nearest)
    assert distance.max() < 0.01
    for k, axis in ((0, 1), (1, 2)):
        colours = drawn.equivalent_strains(np.eye(2)[k])[drawn.triangles[face]]
        off = np.einsum("pc,pc->p", inside, colours) - np.abs(corners[:, axis] - 0.1) * 2 / 3
        assert np.sqrt(np.mean(off**2)) < 0.03 * colours.max()
