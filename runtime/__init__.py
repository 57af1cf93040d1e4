"""Load a compiled model and call it with numpy arrays. Imports nothing of the generator."""

from elastogen.runtime.errors import ModelError, ModelWarning
from elastogen.runtime.functions.bound import Bound
from elastogen.runtime.functions.metadata import ABI_VERSION
from elastogen.runtime.functions.parameters import Parameters
from elastogen.runtime.model.loader import load_model
from elastogen.runtime.model.model import Model
from elastogen.runtime.motion.trajectory import Trajectory
from elastogen.runtime.simulation.comparison import Comparison
from elastogen.runtime.simulation.inputs import PD, BangBang, CFunction, ComputedTorque, Table, Waypoints
from elastogen.runtime.simulation.results import Simulation, SimulationError
from elastogen.runtime.simulation.stops import Stops

__all__ = [
    "ABI_VERSION",
    "PD",
    "BangBang",
    "Bound",
    "CFunction",
    "Comparison",
    "ComputedTorque",
    "Model",
    "ModelError",
    "ModelWarning",
    "Parameters",
    "Simulation",
    "SimulationError",
    "Stops",
    "Table",
    "Trajectory",
    "Waypoints",
    "load_model",
]
