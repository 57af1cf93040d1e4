"""Load a compiled model and call it with numpy arrays. Imports nothing of the generator."""

from elastogen.runtime.bound import Bound
from elastogen.runtime.comparison import Comparison
from elastogen.runtime.errors import ModelError, ModelWarning
from elastogen.runtime.inputs import PD, BangBang, CFunction, ComputedTorque, Table, Waypoints
from elastogen.runtime.loader import load_model
from elastogen.runtime.metadata import ABI_VERSION
from elastogen.runtime.model import Model
from elastogen.runtime.parameters import Parameters
from elastogen.runtime.results import Simulation, SimulationError
from elastogen.runtime.trajectory import Trajectory

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
    "Table",
    "Trajectory",
    "Waypoints",
    "load_model",
]
