"""From a robot to a compiled model, or to C files: the stages, one after the other."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from elastogen.build.files.render import RenderedModel, render_model
from elastogen.build.files.write import write_files
from elastogen.build.identity import model_sha256, sha256, tool_sha256
from elastogen.build.module.cache import Cache
from elastogen.build.module.compile import Toolchain, compile_model, find_toolchain
from elastogen.build.options import BuildOptions
from elastogen.build.program import EmittedProgram
from elastogen.generator.description.load_robot import RobotSource, load
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.functions.stages import stage
from elastogen.generator.robot.robot import Robot
from elastogen.runtime import Model, Simulation, load_model
from elastogen.runtime.loop.library import LoopLibrary


@dataclass(frozen=True)
class GeneratedFiles:
    """What ``generate`` wrote."""

    directory: Path
    header: Path
    source: Path
    files: tuple[Path, ...]  # all of them


def build_model(
    robot: RobotSource,
    *,
    outputs: Sequence[str] | str | None = None,
    precision: str = "double",
    sincos: str = "fast",
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
    (None: a sensible set, and any other function when it is first called). ``precision`` is "double" or "float";
    ``sincos`` "fast" (inline and vectorized) or "libm". ``native`` uses all instructions of this processor;
    ``fp_contract="fast"`` allows fused multiply-add; ``lanes`` lets batches evaluate several states at once in the
    processor's vectors, with the same bits and twice the time to compile; ``cflags`` are added last, after
    those of $ELASTOGEN_CFLAGS. ``cache_dir`` replaces
    $ELASTOGEN_CACHE_DIR and the user's cache directory. Raises RobotError, OutputError or BuildError.
    """
    options = BuildOptions.checked(
        outputs=outputs, precision=precision, sincos=sincos, cache_dir=cache_dir, compiler=compiler, cflags=cflags,
        native=native, fp_contract=fp_contract, lanes=lanes, timeout=timeout, verbose=verbose,
    )  # fmt: skip
    loaded = load(robot)
    model = load_model(build_extension(loaded, options))
    if outputs is None:  # the user did not choose: whatever else is called is built then
        model.complete_with(lambda name: load_model(build_extension(loaded, options.with_outputs((name,)))))
    model.show_programs_with(lambda name: _program(loaded, name))
    model.make_loops_with(lambda *code: _build_loop(loaded, options, *code), [own.name for own in loaded.functions])
    model.animate_with(partial(_animate, loaded))
    return model


def _animate(robot: Robot, simulation: Simulation, path: str | os.PathLike[str], **options: Any) -> Path:
    from elastogen.build.pages.animation import animate

    return animate(robot, simulation, path, **options)


def _program(robot: Robot, name: str) -> EmittedProgram:
    (function,) = derive_model(robot, (name,)).functions
    return EmittedProgram(robot, function)


def _build_loop(robot: Robot, options: BuildOptions, *code: Any) -> LoopLibrary:
    from elastogen.build.loop import build_loop_library

    return build_loop_library(robot, options.with_outputs(None), *code)


def build_extension(robot: Robot, options: BuildOptions) -> Path:
    """The extension module of a robot's model, from the cache where it is there."""
    toolchain = find_toolchain(options.compile)
    cache = Cache(options.cache_dir)
    build_key = sha256("build", tool_sha256(), model_sha256(robot, options.emit), toolchain.identity, *options.compile.kinds)
    extension = cache.find_build(build_key)
    if extension is None:
        model = render(robot, options)
        module_key = _module_key(model, toolchain)
        extension = compile_cached(model, module_key, cache, toolchain, options)
        cache.note_build(build_key, module_key)
    return extension


def generate(
    robot: RobotSource,
    directory: str | os.PathLike[str],
    *,
    outputs: Sequence[str] | str | None = None,
    precision: str = "double",
    sincos: str = "fast",
    force: bool = False,
) -> GeneratedFiles:
    """Derive a robot's model and write its C files, an example, a CMakeLists.txt and a README; compile nothing.

    All files appear, or none. Files that elastogen did not write, or that were changed since, are refused by name
    (``elastogen-manifest.json`` in the directory has the sums of what it wrote); ``force`` replaces them.
    Raises RobotError, OutputError or BuildError.
    """
    options = BuildOptions.checked(outputs=outputs, precision=precision, sincos=sincos)
    model = render(load(robot), options)
    target = Path(directory)
    written = write_files(target, {**model.c_files, **model.emitted_simulation, **model.bundle}, force=force)
    return GeneratedFiles(target, target / f"{model.name}.h", target / f"{model.name}.c", tuple(written))


def render(robot: Robot, options: BuildOptions) -> RenderedModel:
    """Derive a robot's model and print its files."""
    derivation = derive_model(robot, options.emit.outputs)
    with stage("rendering"):
        return render_model(derivation, options.emit, lanes=options.compile.lanes)


def compile_cached(model: RenderedModel, key: str, cache: Cache, toolchain: Toolchain, options: BuildOptions) -> Path:
    """The extension of a rendered model: from the cache, else compiled into it."""
    module = f"_{model.name}_{key[:12]}"
    with stage("compiling"):
        return cache.make(key, lambda scratch: compile_model(model, module, scratch, toolchain, options.compile))


def _module_key(model: RenderedModel, toolchain: Toolchain) -> str:
    texts = (model.header, model.source, *model.simulation.values(), model.cdef, model.wrapper, *model.lanes.values())
    return sha256("module", *texts, toolchain.identity)
