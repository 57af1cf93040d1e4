"""elastogen: fast, dependency-free C for robot dynamics, rigid and flexible, from a robot description.

    import elastogen

    robot = elastogen.load("puma560")        # built-in name, or a .yaml, .urdf, .xacro, .sdf or MJCF file
    model = elastogen.build_model(robot)     # derive, emit, compile (cached)
    model.inverse_dynamics(q, qd, qdd)       # numpy in and out

Names are imported when they are first used, so that ``import elastogen`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from elastogen.runtime.interface.provided import provide

if TYPE_CHECKING:
    from elastogen.build.export.export import export
    from elastogen.build.forms.formulations import formulations
    from elastogen.build.forms.mechanics import from_mechanics
    from elastogen.build.loop import generate_loop
    from elastogen.build.pipeline import GeneratedFiles, generate
    from elastogen.build.start import build_loop, build_model, load
    from elastogen.generator.closed_form.closed_form import ClosedForm, derive
    from elastogen.generator.derivation_errors import DerivationError
    from elastogen.generator.description.rigid_limit import rigid_robot
    from elastogen.generator.description.symbols import symbols
    from elastogen.generator.robot.errors import BuildError, OutputError, RobotError, RobotWarning
    from elastogen.generator.robot.loops.loop import ClosedLoop, LoopEnd
    from elastogen.generator.robot.robot import Gauge, Point, Robot
    from elastogen.identification.errors import IdentificationError
    from elastogen.identification.excitation.excite import Excitation, excite
    from elastogen.identification.identify import identify
    from elastogen.identification.results.result import Identification
    from elastogen.rigid_comparison import compare_with_rigid, experiment_arguments
    from elastogen.runtime import (
        PD,
        BangBang,
        Bound,
        CFunction,
        Comparison,
        ComputedTorque,
        InverseKinematics,
        Loop,
        Model,
        ModelError,
        ModelWarning,
        Parameters,
        Simulation,
        SimulationError,
        Stops,
        Table,
        Trajectory,
        Waypoints,
        load_loop,
        load_model,
    )
    from elastogen.runtime.interface.error import ElastogenError
    from elastogen.study import Recipe, run_study
    from elastogen.verification.verify import verify

__version__ = "0.2.0"

__all__ = [
    "PD",
    "BangBang",
    "Bound",
    "BuildError",
    "CFunction",
    "ClosedForm",
    "ClosedLoop",
    "Comparison",
    "ComputedTorque",
    "DerivationError",
    "ElastogenError",
    "Excitation",
    "Gauge",
    "GeneratedFiles",
    "Identification",
    "IdentificationError",
    "InverseKinematics",
    "Loop",
    "LoopEnd",
    "Model",
    "ModelError",
    "ModelWarning",
    "OutputError",
    "Parameters",
    "Point",
    "Recipe",
    "Robot",
    "RobotError",
    "RobotWarning",
    "Simulation",
    "SimulationError",
    "Stops",
    "Table",
    "Trajectory",
    "Waypoints",
    "build_loop",
    "build_model",
    "compare_with_rigid",
    "derive",
    "excite",
    "experiment_arguments",
    "export",
    "formulations",
    "from_mechanics",
    "generate",
    "generate_loop",
    "identify",
    "load",
    "load_loop",
    "load_model",
    "rigid_robot",
    "run_study",
    "symbols",
    "verify",
]

_HOME = {
    "elastogen.build.export.export": ("export",),
    "elastogen.build.forms.formulations": ("formulations",),
    "elastogen.build.forms.mechanics": ("from_mechanics",),
    "elastogen.build.loop": ("generate_loop",),
    "elastogen.build.pipeline": ("GeneratedFiles", "generate"),
    "elastogen.build.start": ("build_loop", "build_model", "load"),
    "elastogen.generator.closed_form.closed_form": ("ClosedForm", "derive"),
    "elastogen.generator.derivation_errors": ("DerivationError",),
    "elastogen.generator.robot.errors": (
        "BuildError",
        "OutputError",
        "RobotError",
        "RobotWarning",
    ),
    "elastogen.generator.description.rigid_limit": ("rigid_robot",),
    "elastogen.generator.description.symbols": ("symbols",),
    "elastogen.generator.robot.loops.loop": ("ClosedLoop", "LoopEnd"),
    "elastogen.generator.robot.robot": ("Gauge", "Point", "Robot"),
    "elastogen.identification.errors": ("IdentificationError",),
    "elastogen.identification.excitation.excite": ("Excitation", "excite"),
    "elastogen.identification.identify": ("identify",),
    "elastogen.identification.results.result": ("Identification",),
    "elastogen.rigid_comparison": ("compare_with_rigid", "experiment_arguments"),
    "elastogen.runtime": (
        "Bound",
        "Comparison",
        "InverseKinematics",
        "Model",
        "ModelError",
        "ModelWarning",
        "Parameters",
        "Simulation",
        "SimulationError",
        "Stops",
        "load_model",
    ),
    "elastogen.runtime.interface.error": ("ElastogenError",),
    "elastogen.runtime.simulation.inputs": ("PD", "BangBang", "CFunction", "ComputedTorque", "Table", "Waypoints"),
    "elastogen.runtime.motion.trajectory": ("Trajectory",),
    "elastogen.runtime.loop.library": ("load_loop",),
    "elastogen.runtime.loop.loop": ("Loop",),
    "elastogen.verification.verify": ("verify",),
    "elastogen.study": ("Recipe", "run_study"),
}
provide(  # for methods of lower rooms
    robot_picture="elastogen.build.pages.view:shown_robot",
    animation="elastogen.build.pages.animation:animate",
    catalogue_calls="elastogen.generator.functions.own.calls:Calls",
)
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'elastogen' has no attribute {name!r}")
    try:
        value = getattr(import_module(_MODULE_OF[name]), name)
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("elastogen."):
            raise
        raise ImportError(
            f"elastogen.{name} derives or builds models, and only elastogen's runtime is installed here. "
            "Fix: pip install elastogen, or load a model that is built already with elastogen.load_model."
        ) from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, imported or not."""
    return sorted({"__version__", "__doc__", *__all__})
