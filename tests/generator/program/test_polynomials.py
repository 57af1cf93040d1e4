"""Values multiplied out, and sums without one of their terms."""

from __future__ import annotations

from elastogen.generator.program.graph import Graph
from elastogen.generator.program.polynomials import shorter, without
from elastogen.generator.spatial.vectors import AxisRotation, Symmetric


def test_a_term_of_a_sum_is_left_out() -> None:
    graph = Graph()
    a, b, c = (graph.input(name) for name in "abc")
    product = a * b
    total = (c + product) - a * c
    assert without(total, product).ref == (c - a * c).ref
    assert without(-total, -product).ref == (a * c - c).ref
    assert without(a, b).ref == (a - b).ref


def test_squares_of_sine_and_cosine_meet() -> None:
    graph = Graph()
    q, w = graph.input("q"), graph.input("v1") + graph.input("v2")
    c, s = graph.cos(q), graph.sin(q)
    assert shorter(c * (c * w) + s * (s * w)).ref == w.ref
    assert shorter(c * w).ref == (c * w).ref


def test_a_right_angle_changes_places_only() -> None:
    graph = Graph()
    m = Symmetric(*(graph.input(name) for name in ("xx", "xy", "xz", "yy", "yz", "zz")))
    turned = AxisRotation(2, graph.value(0), graph.value(1)).outward_symmetric(m)
    assert (turned.xx.ref, turned.yy.ref, turned.zz.ref) == (m.yy.ref, m.xx.ref, m.zz.ref)
    full = AxisRotation(2, graph.value(0), graph.value(-1)).outward_matrix(m.full)
    assert (full[0][0].ref, full[1][1].ref) == (m.yy.ref, m.xx.ref)
