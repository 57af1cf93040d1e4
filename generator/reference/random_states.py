"""Random states for comparisons, within the range of the joints and slightly deformed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from elastogen.generator.reference.description import Description
from elastogen.generator.robot.robot import Robot
from elastogen.generator.sliding.elements_inside import selectors

Array = npt.NDArray[np.float64]
PRODUCTS = ("_inertia_xy", "_inertia_xz", "_inertia_yz")  # how names of products of inertia end
SMALLER = 0.05  # relative to other changes: small, so that tensors stay positive definite
DEFORMED = 0.05  # deflection [m] and slope of elastic coordinates, and of tips at most


def random_parameters(robot: Robot, rng: np.random.Generator) -> dict[str, float]:
    """Live parameters near their values, of bodies whose mass matrix can be inverted."""
    found = {}
    for p in robot.live_parameters:
        share = SMALLER if p.name.endswith(PRODUCTS) else 1.0
        found[p.name] = p.value + 0.1 * share * rng.uniform(0.2, 1) * (abs(p.value) or 1.0)
    return found


def random_positions(robot: Robot, count: int, rng: np.random.Generator) -> Array:
    """q, one row for each state."""
    description = Description(robot, {}, {s.joint: s.first for s in selectors(robot)})
    q = rng.uniform(-1, 1, (count, description.nq))
    uppers = {s.coordinate: s.upper for s in selectors(robot)}
    for joint, place in zip(robot.joints, description.places, strict=True):
        for k, coordinate in zip(place.q, joint.type.coordinates, strict=True):
            far = np.pi if coordinate.unit == "rad" else 1.0
            low, high = joint.limits.lower, joint.limits.upper
            low, high = (-far if low is None else max(low, -10.0)), (far if high is None else min(high, 10.0))
            q[:, k] = low + (high - low) * (q[:, k] + 1) / 2
            if k in uppers:
                q[:, k] = uppers[k] * rng.uniform(0.15, 0.95, count)
        if len(place.q) != len(place.v):
            q[:, place.q[-4:]] = rng.normal(size=(count, 4))
            q[:, place.q[-4:]] /= np.linalg.norm(q[:, place.q[-4:]], axis=1, keepdims=True)
        if place.deflection is not None:
            q[:, place.deflection[0]] *= DEFORMED
        body = description.beams[joint.child]
        if body is not None and body.coordinates:
            rotations = np.abs(description.array(body.tip_rotations)).max(axis=1, initial=0.0)
            shifts = description.array(body.tip_displacements)
            single = np.array([shifts[body.monomials.index((j,))] if (j,) in body.monomials else 0 * shifts[0]
                               for j in range(len(body.coordinates))])  # fmt: skip
            most = np.maximum(1.0, np.maximum(rotations, np.abs(single).max(axis=1, initial=0.0)))
            q[:, place.elastic[0]] *= DEFORMED / most
    return q


def random_rates(q: Array, robot: Robot, rng: np.random.Generator) -> dict[str, Array]:
    """All other inputs of functions: velocities, accelerations, forces, weights."""
    n = len(robot.velocities)
    names = ("qd", "qdd", "q3", "q4", "q5", "F", "b", "weights", "v", "x", "xd", "xdd", "x3", "x4", "q6")
    found = {name: rng.uniform(-1, 1, (len(q), n)) for name in names}
    found["qd"] = np.where(found["qd"] < 0, -0.5, 0.5) + found["qd"]  # away from where dry friction changes its sign
    for name in ("q0", "q1"):
        found[name] = np.array(q) if name == "q0" else _other(q, robot, rng)
    found["u"] = rng.uniform(0, 1, q.shape)
    found["wrench"] = rng.uniform(-1, 1, (len(q), 6))
    return found


def _other(q: Array, robot: Robot, rng: np.random.Generator) -> Array:
    """Configurations near others, quaternions of unit length."""
    found = q + rng.uniform(-0.3, 0.3, q.shape)
    for start in robot.quaternions:
        found[:, start : start + 4] /= np.linalg.norm(found[:, start : start + 4], axis=1, keepdims=True)
    return found


def one(states: Mapping[str, Array], k: int) -> dict[str, Array]:
    """One of the states."""
    return {name: values[k : k + 1] for name, values in states.items()}
