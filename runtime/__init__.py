"""Load a compiled model and call it with numpy arrays. Imports nothing of the generator.

Names are imported when they are first used, so that a model that is only evaluated starts at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elastogen.runtime.errors import ModelError, ModelWarning
    from elastogen.runtime.functions.bound import Bound
    from elastogen.runtime.functions.frames.inverse_kinematics import InverseKinematics
    from elastogen.runtime.functions.parameters import Parameters
    from elastogen.runtime.interface.abi import ABI_VERSION
    from elastogen.runtime.loop.library import load_loop
    from elastogen.runtime.loop.loop import Loop
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
    "InverseKinematics",
    "Loop",
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
    "load_loop",
    "load_model",
]

_HOME = {
    "elastogen.runtime.errors": (
        "ModelError",
        "ModelWarning",
    ),
    "elastogen.runtime.functions.bound": ("Bound",),
    "elastogen.runtime.functions.frames.inverse_kinematics": ("InverseKinematics",),
    "elastogen.runtime.functions.parameters": ("Parameters",),
    "elastogen.runtime.interface.abi": ("ABI_VERSION",),
    "elastogen.runtime.loop.library": ("load_loop",),
    "elastogen.runtime.loop.loop": ("Loop",),
    "elastogen.runtime.model.loader": ("load_model",),
    "elastogen.runtime.model.model": ("Model",),
    "elastogen.runtime.motion.trajectory": ("Trajectory",),
    "elastogen.runtime.simulation.comparison": ("Comparison",),
    "elastogen.runtime.simulation.inputs": (
        "PD",
        "BangBang",
        "CFunction",
        "ComputedTorque",
        "Table",
        "Waypoints",
    ),
    "elastogen.runtime.simulation.results": (
        "Simulation",
        "SimulationError",
    ),
    "elastogen.runtime.simulation.stops": ("Stops",),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a name when it is first used."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'elastogen.runtime' has no attribute {name!r}")
    value = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value
