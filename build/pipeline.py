"""From a robot to a compiled model, or to C files: the stages, one after the other."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elastogen.build.files.estimation.online import online_outputs
from elastogen.build.files.function_printer import FunctionPrinter
from elastogen.build.files.functions_manifest import functions_manifest
from elastogen.build.files.render import ModuleFiles, RenderedModel, render_model
from elastogen.build.files.write import check_directory, write_files
from elastogen.build.identity import model_sha256
from elastogen.build.known_numbers import CHECK, known_numbers
from elastogen.build.module.cache import Cache, safe_cache
from elastogen.build.module.compile import Toolchain, compile_model, find_toolchain, unit_command
from elastogen.build.module.compilers import Compilers
from elastogen.build.module.units import Units
from elastogen.build.options import BuildOptions, check_flags, checked_path
from elastogen.build.stamps import sha256, tool_sha256
from elastogen.generator.description.load_robot import RobotSource, load
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.robot.robot import Robot
from elastogen.generator.sliding.elements_inside import selectors
from elastogen.generator.stages import stage


@dataclass(frozen=True)
class GeneratedFiles:
    """What ``generate`` wrote."""

    directory: Path
    header: Path
    source: Path
    files: tuple[Path, ...]  # all of them


def build_extension(robot: Robot, options: BuildOptions) -> Path:
    """The extension module of a robot's model, from the cache where it is there."""
    toolchain = find_toolchain(options.compile)
    cache = safe_cache(options.cache_dir)
    build_key = _build_key(robot, options, toolchain)
    extension = cache.find_build(build_key)
    if extension is None:
        with _units(robot, options, toolchain, cache) as units:
            model = render(robot, options, units)
            key = module_key(model, toolchain)
            extension = compile_cached(model, key, cache, toolchain, options, units)
        cache.note_build(build_key, key)
    return extension


def known_extension(robot: Robot, options: BuildOptions) -> Path | None:
    """The extension module of a model that was built before."""
    return safe_cache(options.cache_dir).find_build(_build_key(robot, options, find_toolchain(options.compile)))


def _build_key(robot: Robot, options: BuildOptions, toolchain: Toolchain) -> str:
    return sha256("build", tool_sha256(), model_sha256(robot, options.emit), toolchain.identity, *options.compile.kinds)


@contextmanager
def _units(robot: Robot, options: BuildOptions, toolchain: Toolchain, cache: Cache) -> Iterator[Units | None]:
    """Compilers that work on functions while others are derived; None where the model is one object.

    That is without optimization, which takes no time, in lanes, and with sliding joints, whose functions call each other.
    """
    if options.compile.lanes or not options.compile.optimizes or selectors(robot):
        yield None
        return
    printer, command = FunctionPrinter(robot, options.emit), unit_command(toolchain, options.compile)
    with cache.scratch() as folder, Compilers(options.compile, robot.name) as compilers:
        yield Units(printer, folder, command, compilers)


def generate(
    robot: RobotSource,
    directory: str | os.PathLike[str],
    *,
    outputs: Sequence[str] | str | None = None,
    fused: Sequence[Sequence[str]] = (),
    precision: str = "double",
    sincos: str = "fast",
    frames: Sequence[str] | str = (),
    contacts: Sequence[str | Mapping[str, Any]] = (),
    derivation: str = "graph",
    identification: Sequence[str] | str = (),
    force: bool = False,
) -> GeneratedFiles:
    """Derive a robot's model and write its C files, an example, a CMakeLists.txt and a README into ``directory``.

    Nothing is compiled. ``frames`` are links, points or "tip" for functions of frames; ``outputs``, ``fused``, ``precision``,
    ``sincos``, ``contacts`` and ``derivation`` are as in ``build_model``; ``identification`` is what C estimates while
    the robot moves (:data:`elastogen.build.options.ONLINE`). All files appear, or none. Files that elastogen did not
    write, or that were changed since, are refused by name (``elastogen-manifest.json`` has the checksums of
    what it wrote); ``force`` replaces them. Raises RobotError, OutputError or BuildError.
    """
    check_flags(force=force)
    options = BuildOptions.checked(
        outputs=outputs,
        fused=fused,
        precision=precision,
        sincos=sincos,
        frames=frames,
        derivation=derivation,
        identification=identification,
    )
    target = checked_path("directory", directory)
    check_directory(target)
    loaded = load(robot).with_contacts(*contacts) if contacts else load(robot)
    outputs_needed = online_outputs(loaded, options.emit)
    derived = derive_model(loaded, outputs_needed, options.emit.frames, derivation=options.emit.derivation)
    with stage("rendering"):
        model = render_model(derived, options.emit, lanes=options.compile.lanes)
        manifest = functions_manifest(derived, options.emit.precision)
        files = {**model.c_files, **model.emitted_simulation, **model.bundle, CHECK: known_numbers(derived, model.about)}
        files[manifest.file] = manifest.text()
    written = write_files(target, files, by=f"generate {model.name}", force=force)
    return GeneratedFiles(target, target / f"{model.name}.h", target / f"{model.name}.c", tuple(written))


def render(robot: Robot, options: BuildOptions, units: Units | None = None) -> RenderedModel:
    """Derive a robot's model and print its files; ``units`` are compiled on the way."""
    said = () if units is None else (units.take,)
    outputs = online_outputs(robot, options.emit)
    derivation = derive_model(robot, outputs, options.emit.frames, *said, derivation=options.emit.derivation)
    with stage("rendering"):
        printed = None if units is None else units.printer
        return render_model(derivation, options.emit, lanes=options.compile.lanes, apart=printed, linked=True)


def compile_cached(
    model: ModuleFiles,
    key: str,
    cache: Cache,
    toolchain: Toolchain,
    options: BuildOptions,
    units: Units | None = None,
    given: Sequence[Path] = (),
) -> Path:
    """The extension of a rendered model: from the cache, else compiled into it; ``given`` are objects of its functions."""
    module = f"_{model.name}_{key[:12]}"

    def compiled(scratch: Path) -> Path:
        try:
            return compile_model(model, module, scratch, toolchain, options.compile, units, given)
        except BaseException:
            if units is not None:
                units.compilers.stop()  # some may still write into the folder, which is removed now
            raise

    with stage("compiling"):
        return cache.make(key, compiled)


def module_key(model: RenderedModel, toolchain: Toolchain) -> str:
    """What names a compiled module: its texts and the compiler."""
    texts = (*model.c_files.values(), *model.simulation.values(), model.cdef, model.wrapper, *model.lanes.values())
    return sha256("module", *texts, toolchain.identity)
