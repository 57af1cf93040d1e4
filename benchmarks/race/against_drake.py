"""An SDF file in this project and in Drake: mass matrix and inverse dynamics at random states.

Drake ignores the gravity of a file and takes 9.81 m/s^2; here it is given that of the file, as ours has it (SDFormat's default
is 9.8: a difference of 1e-3 that is not an error). Damping of joints is left out on both sides.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.race.comparison import Comparison, State, loaded, measure, unphysical_link
from elastogen.generator.robot.robot import Robot


def compare(path: Path, states: int = 20) -> Comparison:
    """Compare one SDF file at so many random states."""
    found = Comparison(path.stem, "as it is")
    robot = loaded(path, found)
    if robot is None:
        return found
    try:
        plant = _plant(path, robot)
        places = [plant.GetJointByName(name).velocity_start() for name in robot.velocity_names]
    except Exception as problem:  # whatever its reader raises
        found.result = f"Drake cannot read it: {str(problem).splitlines()[0].replace(str(path.parent), '')[:60]}"
        return found
    if plant.num_velocities() != found.nv:
        found.result = f"not compared: {plant.num_velocities()} velocities in Drake"
        return found
    odd = unphysical_link(robot)
    if odd:
        found.result = f"not compared: Drake takes another inertia of {odd}, as that of the file is not physical"
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

    context, rng, n = plant.CreateDefaultContext(), np.random.default_rng(1), len(places)
    joints = [plant.GetJointByName(name) for name in robot.velocity_names]
    damping = np.array([joint.default_damping() if hasattr(joint, "default_damping") else 0.0 for joint in joints])

    def expected(state: State) -> dict[str, Any]:
        theirs = {key: np.zeros(n) for key in state}
        for key, values in state.items():
            theirs[key][places] = values
        plant.SetPositions(context, theirs["q"])
        plant.SetVelocities(context, theirs["qd"])
        forces = MultibodyForces(plant)
        plant.CalcForceElementsContribution(context, forces)
        return {
            "inverse_dynamics": plant.CalcInverseDynamics(context, theirs["qdd"], forces)[places] - damping * state["qd"],
            "mass_matrix": plant.CalcMassMatrix(context)[np.ix_(places, places)],
        }

    random = (dict(zip(("q", "qd", "qdd"), rng.uniform(-1, 1, (3, n)), strict=True)) for _ in range(states))
    measure(found, robot, ("inverse_dynamics", "mass_matrix"), random, expected)
