"""``build_model`` and ``build_loop``: a known build is loaded at once, anything else goes through the pipeline.

The generator and its libraries are imported when something has to be built.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elastogen.build.known import KnownBuild, RobotContent
from elastogen.build.options import BuildOptions
from elastogen.build.user_code import UserCode
from elastogen.generator.robot.errors import RobotWarning
from elastogen.runtime.model.loader import load_model
from elastogen.runtime.model.model import Model

if TYPE_CHECKING:
    from elastogen.build.program import EmittedProgram
    from elastogen.generator.description.load_robot import RobotSource
    from elastogen.generator.robot.robot import Robot
    from elastogen.runtime.loop.library import LoopLibrary
    from elastogen.runtime.simulation.results import Simulation


def build_model(
    robot: RobotSource,
    *,
    outputs: Sequence[str] | str | None = None,
    fused: Sequence[Sequence[str]] = (),
    precision: str = "double",
    sincos: str = "fast",
    frames: Sequence[str] | str = (),
    cache_dir: str | os.PathLike[str] | None = None,
    compiler: str | None = None,
    cflags: Sequence[str] | str | None = None,
    native: bool = True,
    fp_contract: str = "off",
    lanes: bool = False,
    timeout: float | None = None,
    verbose: bool = False,
) -> Model:
    """Derive, emit and compile a robot's model, and load it. A model that was built before comes from the cache.

    ``robot`` is a Robot, a built-in name, a path or a mapping like a robot file. ``outputs`` names the functions
    (None: a sensible set, and any other function when it is first called); each group in ``fused`` becomes one more function
    that evaluates them at one state, ``mass_matrix_and_gravity_vector``. ``precision`` is "double" or "float";
    ``sincos`` "fast" (inline and vectorized) or "libm". ``frames`` names links, points or "tip" for functions of frames, in
    C and at once in Python. ``native`` uses all instructions of this processor;
    ``fp_contract="fast"`` allows fused multiply-add; ``lanes`` lets batches evaluate and simulate several at once in the
    processor's vectors, with the same bits and twice the time to compile; ``cflags`` are added last, after those of
    $ELASTOGEN_CFLAGS. ``cache_dir`` replaces $ELASTOGEN_CACHE_DIR and the user's cache directory. An unchanged file
    whose model is in the cache is loaded without the generator and without a compiler. Raises RobotError, OutputError
    or BuildError.
    """
    options = BuildOptions.checked(
        outputs=outputs, fused=fused, precision=precision, sincos=sincos, frames=frames, cache_dir=cache_dir, compiler=compiler,
        cflags=cflags, native=native, fp_contract=fp_contract, lanes=lanes, timeout=timeout, verbose=verbose,
    )  # fmt: skip
    description = _description(robot)
    model = load_model(_extension("model", description, options, lambda loaded: _build_extension(loaded, options)))
    if outputs is None:  # the user did not choose: whatever else is called is built then
        model.complete_with(lambda name, frames: _other_functions(description, options.with_outputs((name,), frames)))
    model.show_programs_with(lambda name: _program(description, name, options.emit.frames))
    own = [function.name for function in getattr(robot, "functions", ())]
    model.make_loops_with(lambda *code: _loop_of(description, options.with_outputs(None), *code), own)
    model.animate_with(partial(_animate, description))
    return model


def build_loop(
    robot: RobotSource,
    *,
    controller: str | None = None,
    controller_source: str | os.PathLike[str] | None = None,
    plant_source: str | os.PathLike[str] | None = None,
    **options: Any,
) -> LoopLibrary:
    """Derive, emit and compile a robot's control loop, and load it. Known loops come from the cache.

    ``controller_source`` is C text, or the path of a .c file, that defines ``int user_controller(void *context, const
    <name>_loop_view_t *view, <name>_real_t *F)``; ``plant_source`` one that defines ``user_read`` and ``user_write`` as
    <name>_loop.h types them. Both may call every function of the model. ``options`` are those of ``build_model``;
    ``outputs`` are more functions for the user's own code. ``controller`` names an own function of the robot
    (``robot.with_function``) that becomes the controller "user". Raises RobotError, OutputError or BuildError.
    """
    description = _description(robot)
    return _loop_of(description, BuildOptions.checked(**options), controller_source, plant_source, controller)


def _loop_of(
    description: Any,
    options: BuildOptions,
    controller_source: str | os.PathLike[str] | None,
    plant_source: str | os.PathLike[str] | None,
    controller: str | None = None,
) -> LoopLibrary:
    """The loop with the user's C, or with an own function of the robot as its controller."""
    if controller is not None:
        from elastogen.build.files.own_controller import own_controller
        from elastogen.generator.robot.errors import OutputError

        if controller_source is not None:
            raise OutputError("build_loop: got controller= and controller_source=, expected one of them")
        controller_source = own_controller(_robot(description), controller)
        options = options.with_outputs((*(options.emit.outputs or ()), controller))
    return _loop(description, options, UserCode.read(controller_source, plant_source))


def _description(robot: RobotSource) -> Any:
    """What a model is built from, now and later: a file as it is now."""
    content = RobotContent.read(robot)
    if content is not None or not isinstance(robot, (str, os.PathLike)):
        return robot if content is None else content
    from elastogen.generator.description.load_robot import load

    return load(robot)  # its content is not all there is to it (xacro), or the loader has something to say


def _robot(description: Any) -> Robot:
    from elastogen.generator.description.load_robot import load

    return _load(description)[0] if isinstance(description, RobotContent) else load(description)


def _program(description: Any, name: str, frames: tuple[str, ...]) -> EmittedProgram:
    from elastogen.build.program import EmittedProgram
    from elastogen.generator.functions.derivation import derive_model

    robot = _robot(description)
    (function,) = derive_model(robot, (name,), frames).functions
    return EmittedProgram(robot, function)


def _animate(description: Any, simulation: Simulation, path: str | os.PathLike[str], **options: Any) -> Path:
    from elastogen.build.pages.animation import animate

    return animate(_robot(description), simulation, path, **options)


def _other_functions(robot: Any, options: BuildOptions) -> Model:
    return load_model(_extension("model", robot, options, lambda loaded: _build_extension(loaded, options)))


def _loop(robot: Any, options: BuildOptions, code: UserCode) -> LoopLibrary:
    from elastogen.runtime.loop.library import load_loop

    texts = [text for pair in sorted(code.files.items()) for text in pair]
    return load_loop(_extension("loop", robot, options, lambda loaded: _build_loop(loaded, options, code), *texts))


def _extension(kind: str, robot: Any, options: BuildOptions, build: Callable[[Robot], Path], *texts: str) -> Path:
    """The compiled module of a robot: a known one, or one that is built now."""
    if not isinstance(robot, RobotContent):
        from elastogen.generator.description.load_robot import load

        return build(load(robot))
    known = KnownBuild(kind, robot, options, *texts)
    extension = known.find()
    if extension is None:
        loaded, warned = _load(robot)
        extension = build(loaded)
        known.note(extension, warned)
    return extension


def _load(content: RobotContent) -> tuple[Robot, list[str]]:
    """The robot of a file's content, and what was warned of."""
    from elastogen.generator.description.files import Files
    from elastogen.generator.description.load_robot import load_content

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        files = Files(content.included)
        robot = load_content(content.data, content.shown, content.path, files)
    content.included.update(files.contents)
    for warning in caught:
        warnings.warn(warning.message, warning.category, stacklevel=5)
    return robot, [str(warning.message) for warning in caught if issubclass(warning.category, RobotWarning)]


def _build_extension(robot: Robot, options: BuildOptions) -> Path:
    from elastogen.build.pipeline import build_extension

    return build_extension(robot, options)


def _build_loop(robot: Robot, options: BuildOptions, code: UserCode) -> Path:
    from elastogen.build.loop import build_loop_extension

    return build_loop_extension(robot, options, code)
