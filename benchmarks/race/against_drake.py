"""An SDF file in this project and in Drake: mass matrix and inverse dynamics at random states.

Drake ignores the gravity of a file and takes 9.81 m/s^2; here it is given that of the file, as ours has it (SDFormat's default
is 9.8: a difference of 1e-3 that is not an error). Damping of joints is left out on both sides.
"""

from __future__ import annotations

import logging
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import elastogen
from benchmarks.race.against_pinocchio import Comparison
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.robot.robot import Robot


def compare(path: Path, states: int = 20) -> Comparison:
    """Compare one SDF file at so many random states."""
    found = Comparison(path.stem, "as it is")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", elastogen.RobotWarning)
            robot = elastogen.load(path, name="robot", snap=False)
    except elastogen.RobotError as problem:
        found.result = f"refused: {problem.field}: got {problem.given}: {problem.expected}"[:110]
        return found
    found.nq, found.nv = len(robot.coordinates), len(robot.velocities)
    found.joints = sum(not joint.type.holds for joint in robot.joints)
    try:
        plant = _plant(path, robot)
        places = [plant.GetJointByName(name).velocity_start() for name in robot.velocity_names]
    except Exception as problem:  # whatever its reader raises
        found.result = f"Drake cannot read it: {str(problem).splitlines()[0].replace(str(path.parent), '')[:60]}"
        return found
    if plant.num_velocities() != found.nv:
        found.result = f"not compared: {plant.num_velocities()} velocities in Drake"
        return found
    _measure(robot, plant, places, found, states)
    return found


def _plant(path: Path, robot: Robot) -> Any:
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant

    logging.getLogger("drake").setLevel(logging.ERROR)
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModels(str(path))
    base = robot.links[0].name
    if base != "world":
        plant.WeldFrames(plant.world_frame(), plant.GetBodyByName(base).body_frame())
    plant.mutable_gravity_field().set_gravity_vector([float(entry) for entry in robot.gravity])
    plant.Finalize()
    return plant


def _measure(robot: Robot, plant: Any, places: list[int], found: Comparison, states: int) -> None:
    from pydrake.multibody.tree import MultibodyForces

    derived = {f.name: f.program for f in derive_model(robot, ("inverse_dynamics", "mass_matrix")).functions}
    found.operations = derived["inverse_dynamics"].count.mul + derived["inverse_dynamics"].count.add
    context, rng, n = plant.CreateDefaultContext(), np.random.default_rng(1), len(places)
    joints = [plant.GetJointByName(name) for name in robot.velocity_names]
    damping = np.array([joint.default_damping() if hasattr(joint, "default_damping") else 0.0 for joint in joints])
    for _ in range(states):
        state = dict(zip(("q", "qd", "qdd"), rng.uniform(-1, 1, (3, n)), strict=True))
        theirs = {key: np.zeros(n) for key in state}
        for key, values in state.items():
            theirs[key][places] = values
        plant.SetPositions(context, theirs["q"])
        plant.SetVelocities(context, theirs["qd"])
        forces = MultibodyForces(plant)
        plant.CalcForceElementsContribution(context, forces)
        expected = {
            "inverse_dynamics": plant.CalcInverseDynamics(context, theirs["qdd"], forces)[places] - damping * state["qd"],
            "mass_matrix": plant.CalcMassMatrix(context)[np.ix_(places, places)],
        }
        for name, program in derived.items():
            (result,) = program.evaluate({argument.name: state[argument.name] for argument in program.inputs}, {}).values()
            error = float(np.max(np.abs(np.asarray(result) - expected[name])))
            error /= max(float(np.max(np.abs(expected[name]))), 1e-9)
            found.errors[name] = max(found.errors.get(name, 0.0), error)
