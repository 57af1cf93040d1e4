"""Comparison of a flexible robot with the rigid robot of the same numbers under the same forces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

import elastogen
from elastogen.generator.description.rigid_limit import rigid_robot
from elastogen.generator.robot.experiment import BangBangForces, ConstantForces, Drive
from elastogen.generator.robot.expressions import nominal
from elastogen.generator.robot.neutral import neutral
from elastogen.generator.robot.robot import Robot
from elastogen.runtime.functions.quaternions import elastic_positions
from elastogen.runtime.joints_only import for_all
from elastogen.runtime.simulation.comparison import Comparison, TipDeflection
from elastogen.runtime.simulation.inputs import PD, BangBang, CFunction, Input, InputData

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from elastogen.generator.description.load_robot import RobotSource
    from elastogen.runtime import Model, Simulation


def experiment_arguments(robot: RobotSource) -> dict[str, Any]:
    """The keyword arguments of ``Model.simulate`` for a robot's own experiment (``simulation:`` in its file).

    >>> model.simulate(**elastogen.experiment_arguments("par_table3"))
    """
    loaded = robot if isinstance(robot, Robot) else elastogen.load(robot)
    experiment = loaded.experiment
    if experiment is None:
        raise elastogen.ElastogenError(
            f"{loaded.name}: got a robot without an experiment, expected `simulation:` in its file. "
            "Fix: add it, or give q0=, t= and F= to Model.simulate."
        )
    names = loaded.velocity_names
    start = dict(zip(loaded.coordinate_names, neutral(loaded), strict=True))
    q0 = _vector({**start, **experiment.q0}, loaded.coordinate_names)
    return {
        "q0": q0,
        "qd0": _vector(experiment.qd0, names),
        "t": experiment.seconds,
        "F": None if experiment.drive is None else _input(experiment.drive, names, q0),
        "method": experiment.method,
        "step": experiment.step,
        "samples": experiment.samples,
    }


def compare_with_rigid(robot: RobotSource, *, build: Mapping[str, Any] | None = None, **arguments: Any) -> Comparison:
    """Simulate a flexible robot and the rigid robot of the same numbers (:func:`elastogen.rigid_robot`) side by side.

    ``arguments`` are those of ``Model.simulate``, for the flexible robot: ``q0``, ``t``, ``F``, ``method``, ... What is left
    out comes from the robot's own experiment, where it has one. The rigid robot gets the joints' part of states and forces.
    ``build`` are arguments of ``build_model``. Elastic coordinates of the start do not count for the rigid robot.
    """
    loaded = elastogen.load(robot)
    if build is not None and not isinstance(build, Mapping):
        raise elastogen.OutputError(
            f"build: got {build!r}, expected a mapping of arguments of build_model, {{'native': False}}."
        )
    options = dict(build or {})
    return compare(loaded, lambda one: elastogen.build_model(one, **options), arguments)


def compare(robot: Robot, build: Callable[[Robot], Model], arguments: Mapping[str, Any]) -> Comparison:
    """Build a robot and its rigid counterpart with ``build``, and simulate both; see :func:`compare_with_rigid`."""
    if not any(coordinate.elastic for coordinate in robot.coordinates):
        raise elastogen.ElastogenError(
            f"{robot.name}: got a rigid robot, expected one with flexible links or joints. Fix: use Model.simulate."
        )
    usual = {} if robot.experiment is None else experiment_arguments(robot)
    given = {**usual, **arguments}
    flexible, rigid = build(robot), build(rigid_robot(robot))
    given.setdefault("q0", flexible.neutral())
    if "t" not in given:
        raise elastogen.ElastogenError(f"{robot.name}: got no t=, expected the duration [s] or sample times. Fix: add t=.")
    placed = [flexible.coordinate_names.index(name) for name in rigid.coordinate_names]
    joints = [flexible.velocity_names.index(name) for name in rigid.velocity_names]
    label = f"{robot.name}.simulate"
    drive = flexible._reader(label).read(given.pop("F", None))
    joint_drive = _of_joints(drive, placed, joints, (flexible.nq, flexible.nv), label)
    bending = flexible.simulate(**given, F=_as_input(drive))
    elastic = flexible.metadata.elastic_coordinates
    kept = {"q0": (placed, elastic_positions(flexible.metadata)), "qd0": (joints, elastic)}
    states = {
        key: for_all(np.asarray(given.pop(key)), own)[..., places]
        for key, (places, own) in kept.items()
        if given.get(key) is not None
    }
    stiff = rigid.simulate(**{**given, **states}, F=_as_input(joint_drive))
    return Comparison(
        flexible=bending,
        rigid=stiff,
        flexible_tip=flexible.forward_kinematics(bending.q)[..., -1, :, :],
        rigid_tip=rigid.forward_kinematics(stiff.q)[..., -1, :, :],
        deflections=tip_deflections(robot, bending),
        note=robot.experiment.note if robot.experiment is not None else "",
    )


def tip_deflections(robot: Robot, simulation: Simulation) -> tuple[TipDeflection, ...]:
    """Return the deflection and rotation of the tip of every flexible link relative to the undeformed link."""
    found = []
    for link in robot.links:
        body = link.flexible
        if body is None:
            continue
        columns = [simulation.coordinate_names.index(f"{link.name}.{name}") for name in body.coordinates]
        linear = [body.monomials.index((j,)) for j in range(len(columns))]
        shapes = _numbers([body.tip_displacements[n] for n in linear], robot)
        turns = _numbers(body.tip_rotations, robot)
        x = simulation.q[..., columns]
        moving, rotating = (tuple(int(axis) for axis in np.flatnonzero(np.any(a != 0, axis=0))) for a in (shapes, turns))
        angles = x @ turns
        if body.telescope is not None and body.telescope.modes:  # their shapes stretch with what is outside
            joint = next(joint.name for joint in robot.joints if joint.child == link.name)
            outside = simulation.q[..., [simulation.coordinate_names.index(joint)]]
            angles = angles * nominal(body.telescope.length, robot.parameters) / outside
        found.append(TipDeflection(link.name, x @ shapes, angles, moving, rotating))
    return tuple(found)


def _numbers(rows: Sequence[Sequence[Any]], robot: Robot) -> NDArray[Any]:
    return np.array([[float(nominal(entry, robot.parameters)) for entry in row] for row in rows])


def _vector(values: Mapping[str, float], names: Sequence[str]) -> NDArray[Any]:
    return np.array([values.get(name, 0.0) for name in names])


def _input(drive: Drive, names: Sequence[str], q0: NDArray[Any]) -> Input:
    if isinstance(drive, ConstantForces):
        return _vector(drive.force, names)
    if isinstance(drive, BangBangForces):
        return BangBang(_vector(drive.amplitude, names), drive.duration, drive.start)
    return PD(q0, _vector(drive.kp, names), _vector(drive.kd, names))


def _as_input(data: InputData) -> Any:
    """Wrap checked data, which ``Model.simulate`` takes as they are."""
    return data


def _of_joints(data: InputData, placed: Sequence[int], joints: Sequence[int], sizes: tuple[int, int], label: str) -> InputData:
    """Restrict an input to the joints; functions are called with the state of a robot that does not deform."""
    if isinstance(data.function, CFunction):
        raise elastogen.ModelError(
            f"{label}: F= got a CFunction, expected forces that a robot with fewer coordinates can have too. "
            "Fix: simulate the two robots one by one, or give a Python function."
        )
    if data.function is not None:
        function = data.function

        def force(t: float, q: NDArray[Any], qd: NDArray[Any]) -> NDArray[Any]:
            wide = np.zeros(sizes[0]), np.zeros(sizes[1])
            wide[0][placed], wide[1][joints] = q, qd
            return np.asarray(function(t, *wide))[joints]

        return replace(data, function=force)
    arrays = ("values", "rates", "accelerations", "position_gain", "velocity_gain", "actuated")
    given = {name: getattr(data, name) for name in arrays}
    chosen: dict[str, Any] = {
        name: np.ascontiguousarray(array[..., joints]) for name, array in given.items() if array is not None
    }
    return replace(data, **chosen)
