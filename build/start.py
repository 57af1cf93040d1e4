"""``load``, ``build_model`` and ``build_loop``: what is known is there at once, anything else goes through the pipeline.

The generator and its libraries are imported when something has to be built.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elastogen.build.known import KnownBuild, KnownLoad
from elastogen.build.module.cache import Cache
from elastogen.build.options import COMPILER_SECONDS, BuildOptions
from elastogen.build.request import BuildRequest, Description, deferred
from elastogen.build.user_code import UserCode
from elastogen.generator.description.load_options import Base, LoadOptions, Mimic
from elastogen.generator.robot.errors import OutputError
from elastogen.generator.robot.robot import Robot
from elastogen.runtime.interface.error import shortened
from elastogen.runtime.interface.provided import provided
from elastogen.runtime.model.loader import load_model
from elastogen.runtime.model.model import Model

if TYPE_CHECKING:
    from elastogen.build.program import EmittedProgram
    from elastogen.generator.description.load_robot import RobotSource
    from elastogen.runtime.loop.library import LoopLibrary
    from elastogen.runtime.simulation.results import Simulation


def load(
    source: RobotSource,
    *,
    name: str | None = None,
    live: Iterable[str] = (),
    tip: str | None = None,
    mimic: Mimic = "follow",
    friction: bool = False,
    snap: bool = True,
    base: Base | None = None,
    lock: Mapping[str, float | Sequence[float]] | None = None,
    arguments: Mapping[str, str | float | bool] | None = None,
    allow_xacro: bool = False,
    package_path: Mapping[str, str | os.PathLike[str]] | None = None,
    loops: str | os.PathLike[str] | None = None,
    model: str | None = None,
) -> Robot:
    """Return the validated robot of ``source``: a built-in name, a path, a mapping like a robot file, or a Robot.

    ``name`` replaces the robot's name (the prefix in C), ``live`` adds live parameters (see
    :mod:`elastogen.generator.robot.live`), ``tip`` names the link of the tip frame. A URDF's mimic joints follow their leaders;
    ``mimic="independent"`` gives them coordinates of their own, ``mimic="error"`` refuses them. ``lock`` fixes joints at values
    of their coordinates [rad] or [m]. ``friction`` takes a URDF's
    <dynamics damping friction> into the equations of motion; other tools ignore it, and so does this by default.
    ``snap=False`` takes the numbers of a file's placements and axes literally; else those within 1e-11 of 0, 1 and -1 become
    exact (see :mod:`elastogen.generator.robot.placement`). ``base="floating"`` sets the robot free: a floating joint called
    ``base`` carries what was the base link; ``base="driven"`` gives it six drives. ``arguments`` are those of a xacro file.
    A xacro file runs Python: it is expanded only with ``allow_xacro=True``, also where another file names it.
    ``package_path`` gives folders of packages by their names, for ``$(find name)`` of xacro and ``model://name`` of SDF.
    ``loops`` is the robot.yaml beside a URDF of Gepetto's collection: pairs of frames that are closed, and which joints have
    drives (:mod:`elastogen.generator.description.loops.gepetto`).
    ``model`` names the one that is meant of several in an SDF file.
    Raises :class:`RobotError` naming file, field, value, expectation and fix; warns with :class:`RobotWarning`.
    """
    options = LoadOptions.checked(
        name=name, live=live, tip=tip, mimic=mimic, friction=friction, snap=snap, base=base, lock=lock, arguments=arguments,
        allow_xacro=allow_xacro, package_path=package_path, loops=loops, model=model,
    )  # fmt: skip
    description = None if isinstance(source, Robot) else Description.read(source, options)
    if description is None:
        from elastogen.generator.description.files import Files
        from elastogen.generator.description.load_robot import load_with

        return load_with(source, options, Files())
    if KnownLoad(description, Cache(None)).find():
        return deferred(description)
    return description.load()[0]


def build_model(
    robot: RobotSource,
    *,
    outputs: Sequence[str] | str | None = None,
    fused: Sequence[Sequence[str]] = (),
    precision: str = "double",
    sincos: str = "fast",
    frames: Sequence[str] | str = (),
    contacts: Sequence[str | Mapping[str, Any]] = (),
    derivation: str = "graph",
    identification: Sequence[str] | str = (),
    cache_dir: str | os.PathLike[str] | None = None,
    compiler: str | None = None,
    cflags: Sequence[str] | str | None = None,
    native: bool = True,
    fp_contract: str = "off",
    lanes: bool = False,
    timeout: float | None = COMPILER_SECONDS,
    verbose: bool = False,
) -> Model:
    """Derive, emit and compile a robot's model, and load it. A model that was built before comes from the cache.

    ``robot`` is a Robot, a built-in name, a path or a mapping like a robot file. ``outputs`` names the functions
    (None: a sensible set, and any other function when it is first called); each group in ``fused`` becomes one more function
    that evaluates them at one state, ``mass_matrix_and_gravity_vector``. ``precision`` is "double" or "float";
    ``sincos`` "fast" (inline and vectorized) or "libm". ``frames`` names links, points or "tip" for functions of frames, in
    C and at once in Python. ``contacts`` are frames that touch something, by name or as mappings with ``frame``,
    ``rows`` (3 or 6) and ``normal``, for ``contact_dynamics`` and its like. ``derivation`` "graph" derives on elastogen's own
    graph, "sympy" by SymPy: the same functions, slower to derive. ``identification`` names what C
    estimates while the robot moves, for example ["external_forces"] (:data:`elastogen.build.options.ONLINE`).
    ``native`` uses all instructions of this processor;
    ``fp_contract="fast"`` allows fused multiply-add; ``lanes`` lets batches evaluate and simulate several at once in the
    processor's vectors, with the same bits and twice the time to compile; ``compiler`` is a command instead of $CC and cc;
    ``cflags`` are added last, after those of $ELASTOGEN_CFLAGS; ``timeout`` [s] ends a compiler that hangs (None: never);
    ``verbose`` prints its commands. ``cache_dir`` replaces $ELASTOGEN_CACHE_DIR and the user's cache directory. An
    unchanged file whose model is in the cache is loaded without the generator and without a compiler. Raises RobotError,
    OutputError or BuildError.
    """
    options = BuildOptions.checked(
        outputs=outputs, fused=fused, precision=precision, sincos=sincos, frames=frames, derivation=derivation,
        identification=identification, cache_dir=cache_dir, compiler=compiler, cflags=cflags, native=native,
        fp_contract=fp_contract, lanes=lanes, timeout=timeout, verbose=verbose,
    )  # fmt: skip
    request = BuildRequest.of(touching(robot, contacts), options)
    model = load_model(_model_extension(request))
    model._made_by(_Maker(request))
    return model


def touching(robot: RobotSource, contacts: Sequence[str | Mapping[str, Any]]) -> RobotSource:
    """The robot with contacts, where there are any."""
    if isinstance(contacts, (str, Mapping)) or not isinstance(contacts, Sequence):
        raise OutputError(f"contacts: got {shortened(contacts)}, expected a list. Fix: contacts=['foot']")
    return load(robot).with_contacts(*contacts) if contacts else robot


def build_loop(
    robot: RobotSource,
    *,
    controller: str | Sequence[str] | None = None,
    controller_source: str | os.PathLike[str] | None = None,
    plant_source: str | os.PathLike[str] | None = None,
    **options: Any,
) -> LoopLibrary:
    """Derive, emit and compile a robot's control loop, and load it. Known loops come from the cache.

    ``controller_source`` is C text, or the path of a .c file, that defines ``int user_controller(void *context, const
    <name>_loop_view_t *view, <name>_real_t *F)``; ``plant_source`` one that defines ``user_read`` and ``user_write`` as
    <name>_loop.h types them. Both may call every function of the model: those that their text names are emitted; ``outputs``
    are more of them. Other ``options`` are those of ``build_model``. ``controller`` names own functions of the robot
    (``robot.with_function``), one or a chain, that become the controller "user". Raises RobotError, OutputError or BuildError.
    """
    request = BuildRequest.of(robot, BuildOptions.checked(**options))
    return _loop_of(request, request.for_outputs(None), controller_source, plant_source, controller)


class _Maker:
    """What a model that was built can make later, from the request that it was built from."""

    def __init__(self, request: BuildRequest) -> None:
        self._request = request
        self.completes = request.options.emit.outputs is None  # the user did not choose: whatever else is called is built then
        self.own_functions = (
            tuple(function.name for function in request.robot.functions) if isinstance(request.robot, Robot) else ()
        )

    def functions(self, name: str, frames: tuple[str, ...]) -> Model:
        """A model with one more function."""
        return load_model(_model_extension(self._request.for_outputs((name,), frames)))

    def sensing(self, sensors: tuple[str, ...]) -> Model:
        """A model of the robot with these sensors, and what a Kalman filter needs."""
        outputs = ("measurement", "measurement_derivatives") if self._request.loaded().loops else ("estimation",)
        return load_model(_model_extension(self._equipped(sensors).for_outputs(outputs)))

    def _equipped(self, sensors: tuple[str, ...]) -> BuildRequest:
        """The same of the robot with sensors."""
        robot = self._request.loaded()
        equipped = robot if robot.sensors else robot.with_sensors(*sensors)
        if robot.sensors and sensors:
            raise OutputError(f"sensors: {robot.name} has its own, got {', '.join(map(str, sensors))}. Fix: leave sensors= out")
        return BuildRequest.of(equipped, self._request.options)

    def program(self, name: str) -> EmittedProgram:
        """The program of a function, to look at."""
        from elastogen.build.program import EmittedProgram
        from elastogen.generator.functions.derivation import derive_model

        robot, emit = self._request.loaded(), self._request.options.emit
        (function,) = derive_model(robot, (name,), emit.frames, derivation=emit.derivation).functions
        return EmittedProgram(robot, function)

    def loop(
        self,
        controller_source: Any,
        plant_source: Any,
        controller: str | Sequence[str] | None,
        outputs: Sequence[str] | None = None,
        sensors: tuple[str, ...] | None = None,
    ) -> LoopLibrary:
        """The robot's control loop, with more functions of the model for the user's own C, or sensors of an observer."""
        chosen = BuildOptions.checked(outputs=outputs).emit.outputs
        request = self._request if sensors is None else self._equipped(sensors)
        return _loop_of(request.for_outputs(chosen), request, controller_source, plant_source, controller)

    def casadi(self, name: str, parameters: bool, values: Mapping[str, float]) -> tuple[Path, str]:
        """A library with a function and its derivatives for CasADi, and the function's name in it."""
        from elastogen.build.bridges.casadi import casadi_library

        return casadi_library(self._request.loaded(), name, parameters, values, self._request.options)

    def xla_library(self, include: Path) -> Path:
        """The library through which XLA calls models."""
        from elastogen.build.bridges.xla import xla_library

        return xla_library(self._request.options, include)

    def crocoddyl_module(self, prefix: Path) -> Path:
        """The extension module through which Crocoddyl calls models."""
        from elastogen.build.bridges.crocoddyl import crocoddyl_module

        return crocoddyl_module(self._request.options, prefix)

    def animate(self, simulation: Simulation, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write a page that plays a motion."""
        written: Path = provided("animation")(self._request.loaded(), simulation, path, **options)
        return written


def _loop_of(
    request: BuildRequest,
    model: BuildRequest,
    controller_source: str | os.PathLike[str] | None,
    plant_source: str | os.PathLike[str] | None,
    controller: str | Sequence[str] | None = None,
) -> LoopLibrary:
    """The loop with the user's C, or with an own function as its controller; ``model``, if it is built, has its functions."""
    if controller is not None:
        from elastogen.build.files.real_time.own_controller import kept_numbers, own_controller, own_names

        if controller_source is not None:
            raise OutputError("build_loop: got controller= and controller_source=, expected one of them")
        robot = request.loaded()
        code = UserCode.read(own_controller(robot, controller), plant_source)
        request = request.for_outputs((*(request.options.emit.outputs or ()), *own_names(controller)))
        return replace(_loop(request, model, code), own_numbers=kept_numbers(robot, controller))
    return _loop(request, model, UserCode.read(controller_source, plant_source))


def _loop(request: BuildRequest, model: BuildRequest, code: UserCode) -> LoopLibrary:
    from elastogen.runtime.loop.library import load_loop

    def build(robot: Robot) -> Path:
        from elastogen.build.loop import build_loop_extension

        return build_loop_extension(robot, request.options, code, model.options)

    texts = [text for pair in sorted(code.files.items()) for text in pair]
    return load_loop(_extension("loop", request, build, *texts))


def _model_extension(request: BuildRequest) -> Path:
    def build(robot: Robot) -> Path:
        from elastogen.build.pipeline import build_extension

        return build_extension(robot, request.options)

    return _extension("model", request, build)


def _extension(kind: str, request: BuildRequest, build: Callable[[Robot], Path], *texts: str) -> Path:
    """The compiled module of a robot: a known one, or one that is built now."""
    if not isinstance(request.robot, Description):
        return build(request.robot)
    known = KnownBuild(kind, request.robot, request.options, *texts)
    extension = known.find()
    if extension is None:
        robot, warned = request.robot.load()
        extension = build(robot)
        known.note(extension, warned)
    return extension
