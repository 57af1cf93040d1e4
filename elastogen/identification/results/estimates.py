"""Estimates with names and units, as a robot file has them, and the robot that has them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from elastogen.generator.description.validate import validate
from elastogen.generator.robot.expressions import nominal
from elastogen.generator.robot.robot import Actuation, Body, Joint, Robot
from elastogen.identification.equations.bodies import PAYLOAD
from elastogen.identification.equations.problem import Problem
from elastogen.identification.equations.pseudo_inertia import to_body, to_matrix
from elastogen.identification.equations.springs import with_springs
from elastogen.identification.estimation.fit import Fit
from elastogen.identification.measurements.columns import driven_names
from elastogen.identification.measurements.read_table import Array
from elastogen.runtime.interface.error import ElastogenError

BODY_NAMES = (
    "mass",
    "com.x",
    "com.y",
    "com.z",
    "inertia.xx",
    "inertia.xy",
    "inertia.xz",
    "inertia.yy",
    "inertia.yz",
    "inertia.zz",
)
BODY_UNITS = ("kg", *("m",) * 3, *("kg m^2",) * 6)
BY_DATA, BY_PRIOR = 0.1, 0.9  # of the prior's variance that is left
_PAIRS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


@dataclass(frozen=True)
class Estimate:
    """One number of the robot."""

    name: str  # its path in a robot file
    unit: str
    described: float
    value: float
    standard_error: float
    determined_by: str  # "data", "prior", "both", or "bound": at the end of what a robot file accepts


def _ten(pi: Array) -> Array:
    mass, com, inertia = to_body(pi)
    return np.array([mass, *com, *(inertia[i, j] for i, j in _PAIRS)])


def _ten_slopes(pi: Array) -> Array:
    """d(mass, com, inertia about it) / d(ten parameters), by central differences."""
    columns = []
    for k in range(10):
        h = 1e-6 * max(abs(pi[k]), 1e-3 * float(np.abs(pi).max()))
        ends = [pi + sign * h * np.eye(10)[k] for sign in (1, -1)]
        columns.append((_ten(ends[0]) - _ten(ends[1])) / (2 * h))
    return np.column_stack(columns)


def estimates(problem: Problem, fit: Fit, robot: Robot) -> list[Estimate]:
    """All numbers that were estimated."""
    found: list[Estimate] = []
    for k, body in enumerate(problem.bodies):
        rows = slice(10 * k, 10 * k + 10)
        D = _ten_slopes(fit.z[rows])
        errors = np.sqrt(np.maximum(np.diag(D @ fit.covariance[rows, rows] @ D.T), 0.0))
        before = _ten(body.described) if body.described[0] > 0 else np.zeros(10)
        path = PAYLOAD if body.name == PAYLOAD else f"links.{body.name}"
        share = fit.prior_share[rows]
        weights = np.abs(D) * np.sqrt(np.maximum(np.diag(fit.covariance[rows, rows]), 0.0))
        mixed = (weights**2 @ share) / np.maximum((weights**2).sum(axis=1), 1e-300)
        for i in range(10):
            by = "data" if mixed[i] < BY_DATA else "prior" if mixed[i] > BY_PRIOR else "both"
            found.append(
                Estimate(
                    f"{path}.{BODY_NAMES[i]}",
                    BODY_UNITS[i],
                    float(before[i]),
                    float(_ten(fit.z[rows])[i]),
                    float(errors[i]),
                    by,
                )
            )
    return found + _of_drives(problem, fit, robot)


def _of_drives(problem: Problem, fit: Fit, robot: Robot) -> list[Estimate]:
    law, names, n = problem.law_at(fit.z), driven_names(robot), 10 * len(problem.bodies)
    errors = np.sqrt(np.maximum(np.diag(fit.covariance), 0.0))
    turns = [velocity.unit == "rad" for velocity in robot.velocities if velocity.driven]
    found = []
    keys = {
        "rotor": ("motor.reflected_inertia", "kg m^2", "kg"), "viscous": ("friction.viscous", "N m s/rad", "N s/m"),
        "forward": ("friction.viscous", "N m s/rad", "N s/m"), "backward": ("friction.viscous_asymmetry", "N m s/rad", "N s/m"),
        "coulomb": ("friction.coulomb", "N m", "N"), "breakaway": ("friction.stribeck", "N m", "N"),
        "stribeck_velocity": ("friction.stribeck_velocity", "rad/s", "m/s"), "offset": ("friction.offset", "N m", "N"),
        "log_width": ("friction.coulomb_velocity", "rad/s", "m/s"),
        "coulomb_asymmetry": ("friction.coulomb_asymmetry", "N m", "N"), "load": ("friction.load", "-", "-"),
        "spring": ("spring", "N m/rad", "N/m"),
    }  # fmt: skip
    for i, unknown in enumerate(problem.unknowns):
        path, rotating, sliding = keys[unknown.name]
        key = {"motor.reflected_inertia": "rotor", "spring": "spring"}.get(path, path.partition(".")[2])
        value, before = float(law[key][unknown.joint]), float(problem.law[key][unknown.joint])
        at_bound = fit.z[n + i] in (unknown.lower, unknown.upper)
        by = "bound" if at_bound else "prior" if fit.prior_share[n + i] > BY_PRIOR else "data"
        unit = rotating if turns[unknown.joint] else sliding
        error = float(errors[n + i]) * (value if unknown.name == "log_width" else 1.0)
        found.append(Estimate(f"joints.{names[unknown.joint]}.{path}", unit, before, value, error, by))
    for j in range(problem.gains):
        k = len(fit.z) - problem.gains + j
        found.append(Estimate(f"gains.{names[j]}", "times the given one", 1.0, float(fit.z[k]), float(errors[k]), "data"))
    return found


def identified_robot(problem: Problem, fit: Fit, robot: Robot) -> Robot:
    """The robot with the estimated numbers, checked as any robot is."""
    bodies = {body.name: _body(fit.z[10 * k : 10 * k + 10]) for k, body in enumerate(problem.bodies)}
    payload = bodies.pop(PAYLOAD, robot.payload)
    links = tuple(replace(link, body=bodies.get(link.name, link.body)) for link in robot.links)
    law, place = problem.law_at(fit.z), 0
    joints = []
    for joint in robot.joints:
        count = len(joint.type.velocities) if joint.has_drives else 0
        joints.append(_with_law(joint, law, place, robot, problem) if count == 1 else joint)
        place += count
    found = replace(robot, links=links, joints=tuple(joints), payload=payload)
    if any(unknown.name == "spring" for unknown in problem.unknowns):
        found = with_springs(found, [rounded(float(k)) for k in law["spring"]])
    return validate(found, quiet=True)


def possible_robot(problem: Problem, fit: Fit, robot: Robot) -> tuple[Robot, str]:
    """The same, or the robot as described and why no robot has these numbers: free estimates may be of bodies without mass."""
    try:
        for body, pi in zip(problem.bodies, fit.z[: 10 * len(problem.bodies)].reshape(-1, 10), strict=True):
            if np.any(pi != body.described) and np.linalg.eigvalsh(to_matrix(pi))[0] <= 0:
                return robot, f"the pseudo-inertia of {body.name} is not positive definite"
        return identified_robot(problem, fit, robot), ""
    except ElastogenError as error:
        return robot, str(error)


def rounded(value: float) -> float:
    """Ten digits: more than any measurement has, and readable."""
    return float(f"{value:.10g}")


def _body(pi: Array) -> Body:
    if not np.any(pi):
        return Body()
    mass, com, inertia = to_body(pi)
    rows = tuple(tuple(rounded(inertia[min(i, j), max(i, j)]) for j in range(3)) for i in range(3))
    return Body(rounded(mass), tuple(rounded(x) for x in com), rows)  # type: ignore[arg-type]


def _with_law(joint: Joint, law: dict[str, Array], k: int, robot: Robot, problem: Problem) -> Joint:
    """The joint with the estimated numbers of its drive; all others stay, as expressions where they are."""
    estimated = {unknown.name for unknown in problem.unknowns if unknown.joint == k}
    keys = {
        "viscous": {"viscous", "forward"}, "viscous_asymmetry": {"forward"}, "coulomb": {"coulomb"},
        "coulomb_velocity": {"coulomb", "log_width"},
        "stribeck": {"breakaway"}, "stribeck_velocity": {"breakaway"}, "offset": {"offset"},
        "coulomb_asymmetry": {"coulomb_asymmetry"}, "load": {"load"}, "load_width": {"load"},
    }  # fmt: skip
    new = {key: rounded(float(law[key][k])) for key, needs in keys.items() if needs & estimated}
    if "stribeck" in new:
        new["stribeck"] = max(new["stribeck"], -new["coulomb"])  # rounding must not make friction drive
        if new["stribeck"] == 0:
            new["stribeck_velocity"] = Actuation().stribeck_velocity
    if new.get("load") == 0:
        new["load_width"] = Actuation().load_width
    if "rotor" in estimated:
        ratio = nominal(joint.actuation.gear_ratio, robot.parameters)
        new["motor_inertia"] = rounded(float(law["rotor"][k]) / ratio**2) if ratio else 0.0
    return replace(joint, actuation=replace(joint.actuation, **new))
