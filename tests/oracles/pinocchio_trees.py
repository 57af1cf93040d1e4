"""Random trees with every kind of joint, as descriptions for elastogen and as Pinocchio models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

SINGLE = ("revolute", "continuous", "prismatic", "helical")
SEVERAL = ("cylindrical", "universal", "planar", "spherical", "floating")


@dataclass(frozen=True)
class Tree:
    """A robot file and the Pinocchio model of the same robot, with the same coordinates and velocities."""

    file: dict[str, Any]
    model: Any


def tree(seed: int, types: tuple[str, ...], *, chain: bool = False) -> Tree:
    """A tree with these joints, in this order, on random parents."""
    rng = np.random.default_rng(seed)
    model = pin.Model()
    links: list[dict[str, Any]] = [{"name": "link0"}]
    joints: list[dict[str, Any]] = []
    ends = [0]
    inner = [0]  # parent of each link; a new one sits on the way inward from the last: joints are depth-first in both tools
    for number, kind in enumerate(types, start=1):
        parent = number - 1
        while not chain and parent > 1 and rng.random() < 0.4:
            parent = inner[parent]
        inner.append(parent)
        xyz, rpy = rng.uniform(-0.5, 0.5, 3), rng.uniform(-2, 2, 3)
        axis, axis2 = (unit(rng) for _ in range(2))
        pitch = float(rng.uniform(0.05, 0.3))
        joint = {"name": f"j{number}", "type": kind, "parent": f"link{parent}", "child": f"link{number}",
                 "placement": {"xyz": xyz.tolist(), "rpy": rpy.tolist()}}  # fmt: skip
        if kind not in ("planar", "spherical", "floating"):
            joint["axis"] = axis.tolist()
        if kind == "universal":
            joint["axis2"] = axis2.tolist()
        if kind == "helical":
            joint["pitch"] = pitch
        joints.append(joint)
        end = ends[parent]
        place = pin.SE3(pin.rpy.rpyToMatrix(rpy), xyz)
        for k, motion in enumerate(motions(kind, axis, axis2, pitch)):
            end = model.addJoint(end, motion, place if k == 0 else pin.SE3.Identity(), f"j{number}_{k}")
        ends.append(end)
        mass, com, tensor = body(rng)
        links.append({"name": f"link{number}", "mass": mass, "com": com.tolist(), "inertia": tensor.tolist()})
        model.appendBodyToJoint(end, pin.Inertia(mass, com, tensor), pin.SE3.Identity())
    model.gravity.linear = np.array([0.5, -1.0, -9.0])
    file = {"elastogen": 1, "name": "tree", "gravity": [0.5, -1.0, -9.0], "links": links, "joints": joints,
            "tip": {"link": links[-1]["name"]}}  # fmt: skip
    return Tree(file, model)


def motions(kind: str, axis: np.ndarray, axis2: np.ndarray, pitch: float) -> list[Any]:
    """Pinocchio's joints for a kind; planar as two slides and a turn, because its own has another convention."""
    x, y, z = np.eye(3)
    return {
        "revolute": lambda: [pin.JointModelRevoluteUnaligned(axis)],
        "continuous": lambda: [pin.JointModelRevoluteUnaligned(axis)],
        "prismatic": lambda: [pin.JointModelPrismaticUnaligned(axis)],
        "helical": lambda: [pin.JointModelHelicalUnaligned(axis, pitch)],
        "cylindrical": lambda: [pin.JointModelRevoluteUnaligned(axis), pin.JointModelPrismaticUnaligned(axis)],
        "universal": lambda: [pin.JointModelRevoluteUnaligned(axis), pin.JointModelRevoluteUnaligned(axis2)],
        "planar": lambda: [
            pin.JointModelPrismaticUnaligned(x), pin.JointModelPrismaticUnaligned(y), pin.JointModelRevoluteUnaligned(z)
        ],
        "spherical": lambda: [pin.JointModelSpherical()],
        "floating": lambda: [pin.JointModelFreeFlyer()],
    }[kind]()  # fmt: skip


def unit(rng: np.random.Generator) -> np.ndarray:
    """A random direction."""
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def body(rng: np.random.Generator) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre of mass, and a physical inertia tensor about it."""
    points = rng.normal(size=(6, 3)) * 0.1
    points -= points.mean(axis=0)
    tensor = sum(float(p @ p) * np.eye(3) - np.outer(p, p) for p in points)
    return float(rng.uniform(0.5, 2)), rng.uniform(-0.2, 0.2, 3), np.asarray(tensor)


def states(made: Any, count: int) -> list[tuple[np.ndarray, ...]]:
    """Random q, qd, qdd of what has a Pinocchio ``model``."""
    rng = np.random.default_rng(11)
    found = []
    for _ in range(count):
        q = pin.integrate(made.model, pin.neutral(made.model), rng.uniform(-2, 2, made.model.nv))
        found.append((q, *rng.uniform(-1.5, 1.5, (2, made.model.nv))))
    return found


def close(found: Any, expected: Any, size: float = 1.0) -> None:
    """To 1e-10, relative and of numbers of that size."""
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10 * size)
