"""How high the contact points are above the ground, and how fast they rise."""

from __future__ import annotations

from elastogen.generator.algorithms import kinematics
from elastogen.generator.algorithms.newton_euler import place
from elastogen.generator.functions.catalogue import Derived, Entry
from elastogen.generator.functions.variants import Variant
from elastogen.generator.program.arguments import vector
from elastogen.generator.program.differentiate import time_derivative
from elastogen.generator.robot.robot import Robot


def ground_motion(variant: Variant) -> Derived:
    """n . p - h - r of each point, and its rate."""
    ground, graph, q, pointed = variant.robot.ground, variant.graph, variant.input("q"), variant.pointed
    assert ground is not None  # it applies to no other robot
    found = kinematics.poses(pointed, place(pointed, q, merge=variant.merge))
    gaps = []
    for point, (name, radius) in zip(pointed.points, ground.points, strict=True):
        with graph.section(f"{name}: above the ground"):
            p = kinematics.link_pose(pointed, found, point.frame).p
            gap = graph.value(-ground.height - radius)
            for component, across in zip(p, ground.normal, strict=True):
                gap = gap + component * across
            gaps.append(gap)
    return Derived((gaps, time_derivative(graph, gaps, [(q, variant.mechanism.rates(q, variant.input("qd")))])))


def _stands(robot: Robot) -> bool:
    return robot.ground is not None


def _count(variant: Variant) -> int:
    return len(variant.robot.ground.points) if variant.robot.ground is not None else 0


ENTRIES = (
    Entry("ground_motion", "Distances of the ground's points from it, and their rates: steps of simulations end at zero.",
          ("q", "qd"),
          lambda v: (vector("gaps", _count(v), "m", "per point: above the ground, negative in it"),
                     vector("rates", _count(v), "m/s", "per point: along the normal")),
          (ground_motion,), "grounded", applies=_stands,
          applies_to="only for robots with a ground: robot.with_ground('foot')"),
)  # fmt: skip
