"""Serial chains of any length: generic links, axes that turn from joint to joint."""

from __future__ import annotations

import random

import elastogen
from elastogen.generator.joints import kinds
from elastogen.generator.robot.robot import Body, Joint, Link, Robot

AXES = ((0, 0, 1), (0, 1, 0), (1, 0, 0))


def chain(size: int) -> Robot:
    """A chain of revolute joints with generic inertias."""
    rng = random.Random(size)
    links = [Link("base")]
    joints = []
    for k in range(size):
        mass = rng.uniform(0.5, 3.0)
        center = (rng.uniform(-0.05, 0.05), rng.uniform(-0.05, 0.05), rng.uniform(0.05, 0.2))
        a, b, c = (mass * rng.uniform(0.01, 0.012) for _ in range(3))
        inertia = ((a, 1e-4, 2e-4), (1e-4, b, 3e-4), (2e-4, 3e-4, c))
        links.append(Link(f"link{k + 1}", Body(mass, center, inertia)))
        before = ((1, 0, 0, 0.05), (0, 1, 0, 0.02), (0, 0, 1, 0.3), (0, 0, 0, 1))
        joints.append(Joint(f"joint{k + 1}", kinds.REVOLUTE, links[-2].name, links[-1].name, AXES[k % 3], before))
    robot = Robot(f"chain{size}", tuple(links), tuple(joints), gravity=(0, 0, -9.81), tip=links[-1].name)
    return elastogen.load(robot)
