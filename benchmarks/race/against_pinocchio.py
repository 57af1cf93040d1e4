"""A URDF in this project and in Pinocchio: the worst errors of everything that both compute, over random states.

Mimic joints are eliminated on Pinocchio's side by hand: with v_full = E v, forces are E^T F and matrices E^T M E.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import numpy as np
from numpy.typing import NDArray

import elastogen
from benchmarks.race.comparison import Comparison, unphysical_link
from benchmarks.race.robots import MissingPeerError
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.robot.robot import Robot

Array = NDArray[Any]
FUNCTIONS = (
    "inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity_vector", "centroidal_momentum",
    "centroidal_momentum_matrix", "coriolis_matrix",
)  # fmt: skip
FRAMES = ("frame_jacobian", "frame_jacobian_rate")  # of the last link


def robots_folder() -> Path:
    """The robots of the package example-robot-data."""
    try:
        package = distribution("example-robot-data")
    except PackageNotFoundError:
        raise MissingPeerError("the robot files are not installed (pip install example-robot-data)") from None
    return Path(str(package.locate_file("cmeel.prefix/share/example-robot-data/robots")))


def compare(path: Path, base: str, states: int = 100) -> Comparison:
    """Compare one URDF at so many random states."""
    found = Comparison(path.stem, base)
    pair = _pair(path, base, found)
    if pair is not None:
        _measure(pair, found, states)
    return found


@dataclass(frozen=True)
class _Pair:
    """A robot, and Pinocchio's model of the same file with the map between their coordinates."""

    robot: Robot
    model: Any
    E: Array  # Pinocchio's velocities, mimic joints included, from ours
    offset: Array  # of positions of mimic joints
    physical: bool

    def q(self, q: Array) -> Array:
        """Pinocchio's configuration: by integration from the neutral one, joint by joint."""
        import pinocchio as pin

        free = 7 if self.robot.has_quasi_velocities else 0
        from_zero = self.offset.copy()
        from_zero += self.E[:, free - (free > 0) :] @ q[free:]
        full = pin.integrate(self.model, pin.neutral(self.model), from_zero)
        if free:
            full[:7] = q[:7]
        return np.asarray(full)


def _pair(path: Path, base: str, found: Comparison) -> _Pair | None:
    import pinocchio as pin

    try:
        root = (pin.JointModelFreeFlyer(),) if base == "floating" else ()
        model = pin.buildModelFromUrdf(str(path), *root)
    except Exception as problem:  # whatever its reader raises
        said = str(problem).splitlines()[0].replace(str(path.parent), "").replace(f"/{path.name}", path.name)
        found.result = f"Pinocchio cannot read it: {said[:60]}"
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", elastogen.RobotWarning)
            robot = elastogen.load(path, name="robot", base=base, snap=False)  # type: ignore[arg-type]
            snapped = elastogen.load(path, name="robot", base=base)  # type: ignore[arg-type]
    except elastogen.RobotError as problem:
        found.result = f"refused: {problem.field}: {problem.expected}"[:110]
        return None
    (function,) = derive_model(snapped, ("inverse_dynamics",)).functions
    count = function.program.count
    found.operations, found.nq, found.nv = count.mul + count.add, len(robot.coordinates), len(robot.velocities)
    found.joints = sum(not joint.type.holds for joint in robot.joints)
    if any(joint.nv not in (1, 6) for joint in model.joints.tolist()[1:]):
        found.result = "not compared: joints with other coordinates in Pinocchio"
        return None
    E, offset = _map(path, robot, model)
    unphysical = unphysical_link(robot)
    if unphysical:
        found.result = f"inertia of {unphysical} is not physical"
    return _Pair(robot, model, E, offset, not unphysical)


def _map(path: Path, robot: Robot, model: Any) -> tuple[Array, Array]:
    """E and the offsets, from the file's own <mimic> elements."""
    text = path.read_bytes()
    root = fromstring(text[max(text.find(b"<?xml"), 0) :])  # comments before the declaration are no news to others
    mimics = {joint.get("name"): joint.find("mimic") for joint in root.findall("joint")}
    places = {velocity.name: k for k, velocity in enumerate(robot.velocities)}
    E, offset = np.zeros((model.nv, len(places))), np.zeros(model.nv)
    for index in range(1, model.njoints):
        joint, name = model.joints[index], str(model.names[index])
        if joint.nv == 6:
            E[joint.idx_v : joint.idx_v + 6, :6] = np.eye(6)
            continue
        factor, shift = 1.0, 0.0
        while name not in places:
            mimic = mimics[name]
            assert mimic is not None, f"{name} has no coordinate and follows nothing"
            shift += factor * float(mimic.get("offset", 0))
            factor *= float(mimic.get("multiplier", 1))
            name = str(mimic.get("joint"))
        E[joint.idx_v, places[name]], offset[joint.idx_v] = factor, shift
    return E, offset


def _measure(pair: _Pair, found: Comparison, states: int) -> None:
    rng = np.random.default_rng(7)
    nv, free = found.nv, pair.robot.has_quasi_velocities
    x = {key: rng.uniform(-1, 1, (states, nv)) for key in ("qd", "qdd")}
    x["q"] = rng.uniform(-np.pi, np.pi, (states, found.nq))
    if free:
        x["q"][:, 3:7] /= np.linalg.norm(x["q"][:, 3:7], axis=1, keepdims=True)
    tip = pair.robot.links[-1].name
    names = (*FUNCTIONS, *FRAMES, *(("integrate", "difference") if free else ()))
    expected = _by_pinocchio(pair, x)
    x["F"] = expected["inverse_dynamics"]
    x["v"] = x["qdd"]
    x["q0"], x["q1"] = x["q"], x["q"][::-1]
    functions = {function.name: function.program for function in derive_model(pair.robot, names, (tip,)).functions}
    ours = {name: _evaluated(functions[name], x) for name in names}
    C = ours.pop("coriolis_matrix")
    ours["C qd"] = np.einsum("sij,sj->si", C, x["qd"])
    ours["dM/dt = C + C^T"] = C + np.swapaxes(C, 1, 2)
    accelerations = ours.pop("forward_dynamics")
    if pair.physical and _massive(expected["mass_matrix"]):  # in Pinocchio's equations they need the forces that were given
        ours["forward_dynamics"], expected["forward_dynamics"] = _forces(pair, x, accelerations), x["F"]
    for name, values in ours.items():
        if name in expected:
            found.errors[name] = _relative(values, expected[name])
    if found.result == "equal" and found.worst[1] > 1e-10:
        found.result = f"differs: {found.worst[0]}"


def _massive(M: Array) -> bool:
    return bool(np.linalg.eigvalsh(M).min() > 0)


def _evaluated(program: Any, x: Mapping[str, Array]) -> Array:
    (result,) = program.evaluate({argument.name: x[argument.name] for argument in program.inputs}).values()
    return np.asarray(result)


def _relative(found: Array, expected: Array) -> float:
    return float(np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-3))


def _forces(pair: _Pair, x: Mapping[str, Array], accelerations: Array) -> Array:
    import pinocchio as pin

    data, E = pair.model.createData(), pair.E
    return np.array([
        E.T @ pin.rnea(pair.model, data, pair.q(q), E @ v, E @ a)
        for q, v, a in zip(x["q"], x["qd"], accelerations, strict=True)
    ])  # fmt: skip


def _by_pinocchio(pair: _Pair, x: Mapping[str, Array]) -> dict[str, Array]:
    import pinocchio as pin

    model, E, rows = pair.model, pair.E, []
    data = model.createData()
    last = model.getFrameId(pair.robot.links[-1].name, pin.FrameType.BODY)
    for k, (q, v, a) in enumerate(zip(x["q"], x["qd"], x["qdd"], strict=True)):
        full, u = pair.q(q), E @ v
        row = {"inverse_dynamics": E.T @ pin.rnea(model, data, full, u, E @ a)}
        M = np.triu(pin.crba(model, data, full))
        row["mass_matrix"] = E.T @ (M + np.triu(M, 1).T) @ E
        row["gravity_vector"] = E.T @ pin.computeGeneralizedGravity(model, data, full)
        C = E.T @ pin.computeCoriolisMatrix(model, data, full, u) @ E
        row["C qd"], row["dM/dt = C + C^T"] = C @ v, C + C.T
        pin.computeJointJacobiansTimeVariation(model, data, full, u)
        pin.updateFramePlacements(model, data)
        for name, get in zip(FRAMES, (pin.getFrameJacobian, pin.getFrameJacobianTimeVariation), strict=True):
            J = np.reshape(get(model, data, last, pin.LOCAL_WORLD_ALIGNED), (6, model.nv))  # of one joint it is no matrix
            row[name] = (J @ E)[None]
        A = np.reshape(pin.ccrba(model, data, full, u), (6, model.nv)) @ E
        row["centroidal_momentum_matrix"], row["centroidal_momentum"] = A, A @ v
        if pair.robot.has_quasi_velocities:
            moved = pin.integrate(model, full, E @ a)
            row["integrate"] = np.concatenate([moved[:7], q[7:] + a[6:]])
            other = x["q"][::-1][k]
            apart = pin.difference(model, full, pair.q(other))
            row["difference"] = np.concatenate([apart[:6], other[7:] - q[7:]])
        rows.append(row)
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}
