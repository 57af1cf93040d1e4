"""Rotations about z that start from a fixed rotation: which sines and cosines the graph gets."""

from __future__ import annotations

import math

import pytest

from elastogen.generator.joints.revolute import Revolute
from elastogen.generator.program.graph import Graph
from elastogen.generator.spatial.vectors import AxisRotation


@pytest.mark.parametrize(("cosine", "sine"), [(0, 1), (0, -1), (-1, 0), (1, 0)])
def test_a_right_angle_swaps_sine_and_cosine_and_adds_nothing(cosine: int, sine: int) -> None:
    graph = Graph()
    q = graph.input("q")
    (step,) = Revolute(graph, AxisRotation(2, graph.value(cosine), graph.value(sine))).rotation([q]).steps
    assert isinstance(step, AxisRotation)
    c, s = graph.cos(q), graph.sin(q)
    expected = {(0, 1): (-s, c), (0, -1): (s, -c), (-1, 0): (-c, -s), (1, 0): (c, s)}[cosine, sine]
    assert (step.c.ref, step.s.ref) == (expected[0].ref, expected[1].ref)


def test_any_other_angle_is_added_to_the_coordinate() -> None:
    graph = Graph()
    q = graph.input("q")
    fixed = AxisRotation(2, graph.value(math.cos(0.3)), graph.value(math.sin(0.3)))
    (step,) = Revolute(graph, fixed).rotation([q]).steps
    assert isinstance(step, AxisRotation)
    angle = q + math.atan2(math.sin(0.3), math.cos(0.3))
    assert (step.c.ref, step.s.ref) == (graph.cos(angle).ref, graph.sin(angle).ref)
