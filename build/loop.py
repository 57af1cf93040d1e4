"""The control loop of a robot: its C files, and an extension module with model and loop."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

import elastogen
from elastogen.build.c.dialect import Dialect
from elastogen.build.files.contexts import Identity, Prototype
from elastogen.build.files.estimation.kalman_filter import filter_context, filter_files
from elastogen.build.files.estimation.online import online_context, online_files, online_outputs
from elastogen.build.files.extension_module import module_context
from elastogen.build.files.function_printer import prototype_of
from elastogen.build.files.mechanisms.closed_loops import loop_files as closing_files
from elastogen.build.files.real_time.loop import loop_context, loop_files
from elastogen.build.files.real_time.observer import can_be_observed
from elastogen.build.files.real_time.shared_memory import shared_context, shared_files
from elastogen.build.files.render import ModuleFiles, render_model
from elastogen.build.files.switching import switch_files
from elastogen.build.files.templating import fill
from elastogen.build.files.write import check_directory, write_files
from elastogen.build.identity import model_sha256
from elastogen.build.linking import CompiledModel, compiled_before
from elastogen.build.module.cache import safe_cache
from elastogen.build.module.compile import find_toolchain
from elastogen.build.options import BuildOptions, check_flags, checked_path
from elastogen.build.pipeline import GeneratedFiles, compile_cached
from elastogen.build.stamps import sha256, tool_sha256
from elastogen.build.user_code import UserCode, called_functions
from elastogen.generator.description.load_robot import RobotSource, load
from elastogen.generator.functions.derivation import ESTIMATION, KEEPING, derive_model, output_names
from elastogen.generator.functions.function import ModelFacts
from elastogen.generator.loops.analysis import analysis_of
from elastogen.generator.robot.errors import OutputError
from elastogen.generator.robot.robot import Robot
from elastogen.generator.sliding.elements_inside import selectors
from elastogen.runtime.interface.abi import ABI_VERSION
from elastogen.runtime.loop.laws.registry import emitted

ALWAYS = ("gravity_vector", "inverse_dynamics", "forward_dynamics")
WITHOUT_DRIVES = ("elastic_inverse_dynamics",)
WITH_QUATERNIONS = ("configuration_rate", "integrate", "difference", "motion_on_path", "start_of_path")
WITH_SLIDING = ("mass_matrix",)
WITH_LOOPS = (*KEEPING, "driven_map")


def build_loop_extension(robot: Robot, options: BuildOptions, code: UserCode, model: BuildOptions) -> Path:
    """The extension module of a robot's loop, from the cache where it is there.

    It is linked with the functions of the model that was built with the options ``model``, if there is one.
    """
    called = called_functions(robot, code, bool(options.emit.frames))
    options = _with_threads(options.with_outputs(loop_outputs(robot, (*(options.emit.outputs or ()), *called))))
    toolchain = find_toolchain(options.compile)
    cache = safe_cache(options.cache_dir)
    texts = [text for pair in sorted(code.files.items()) for text in pair]
    build_key = sha256("loop", tool_sha256(), model_sha256(robot, options.emit), toolchain.identity, *texts)
    extension = cache.find_build(build_key)
    if extension is None:
        names = output_names(online_outputs(robot, options.emit), robot, options.emit.frames)
        compiled = compiled_before(robot, names, model)
        files = render_loop(robot, options, code) if compiled is None else linked_loop(compiled, options, code)
        given = () if compiled is None else compiled.objects
        extension = compile_cached(files, build_key, cache, toolchain, options, given=given)
        cache.note_build(build_key, build_key)
    return extension


def generate_loop(
    robot: RobotSource, directory: str | os.PathLike[str], *, force: bool = False, **options: Any
) -> GeneratedFiles:
    """Write the C files of a robot's model and loop into ``directory``, as ``generate`` with ``force`` and ``options`` does."""
    check_flags(force=force)
    target = checked_path("directory", directory)
    check_directory(target)
    loaded, checked = load(robot), BuildOptions.checked(**options)
    checked = checked.with_outputs(loop_outputs(loaded, checked.emit.outputs))
    model = render_loop(loaded, checked, UserCode())
    written = write_files(target, {**model.c_files, **model.simulation}, by=f"loop {model.name}", force=force)
    return GeneratedFiles(target, target / f"{model.name}.h", target / f"{model.name}.c", tuple(written))


def loop_outputs(robot: Robot, more: tuple[str, ...] | None = None) -> tuple[str, ...]:
    """Return the functions of the model that its loop calls."""
    if robot.loops:
        _check_mechanism(robot)
    names = [*ALWAYS, *(name for law in emitted() for name in law.needs)]
    if not all(velocity.driven for velocity in robot.velocities):
        names += WITHOUT_DRIVES
    if robot.has_quasi_velocities:
        names += WITH_QUATERNIONS
    if selectors(robot):
        names += WITH_SLIDING
    if can_be_observed(robot):
        names += ESTIMATION
    if robot.loops:
        names += WITH_LOOPS
    return tuple(dict.fromkeys((*names, *(more or ()))))


def _check_mechanism(robot: Robot) -> None:
    """Refuse mechanisms whose drives do not determine the motion."""
    known = analysis_of(robot)
    if not known.determined or any(velocity.elastic for velocity in robot.velocities):
        raise OutputError(
            f"{robot.name}: got a mechanism with {known.freedoms} freedoms, of which drives determine "
            f"{len(set(known.choice.independent) & set(known.driven))}; real-time loops expect drives that determine the whole "
            "motion. Fix: add drives, or call the functions of the emitted C from your own loop."
        )


def render_loop(robot: Robot, options: BuildOptions, code: UserCode) -> ModuleFiles:
    """Print the files of a model with its loop."""
    derivation = derive_model(
        robot, online_outputs(robot, options.emit), options.emit.frames, derivation=options.emit.derivation
    )
    return with_loop(derivation, render_model(derivation, options.emit), options, code)


def linked_loop(compiled: CompiledModel, options: BuildOptions, code: UserCode) -> ModuleFiles:
    """Print the files of a loop for functions that are compiled already."""
    robot = compiled.facts.robot
    name, dialect = robot.name, Dialect(robot.name, options.emit.precision, options.emit.sincos)
    identity = _identity(name, options, model_sha256(robot, options.emit))
    model = ModuleFiles(
        name=name,
        sha256=identity.sha256,
        header=compiled.texts[f"{name}.h"],
        source=compiled.texts[f"{name}.c"],
        cdef="",
        wrapper="",
        simulation={},
        kinematics={
            **filter_files(filter_context(compiled.facts, identity)),
            **closing_files(compiled.facts, identity),
            **online_files(compiled.facts, identity, options.emit.identification),
        },
        linked=True,
    )
    declared = tuple(prototype_of(function, dialect) for function in compiled.undeclared)
    return with_loop(compiled.facts, model, options, code, declared)


def _identity(name: str, options: BuildOptions, sha256: str) -> Identity:
    return Identity(name, name.upper(), options.emit.precision, ABI_VERSION, elastogen.__version__, sha256)


def with_loop(
    derivation: ModelFacts, model: ModuleFiles, options: BuildOptions, code: UserCode, declared: tuple[Prototype, ...] = ()
) -> ModuleFiles:
    """Replace the files of a model's simulation by those of its loop."""
    identity = _identity(model.name, options, model.sha256)
    context = loop_context(derivation, identity, code)
    shared = shared_context(
        identity, derivation.coordinate_names, derivation.coordinate_units, derivation.velocity_names
    )  # fmt: skip
    files = {**loop_files(derivation, context), **shared_files(shared), **code.files}
    if context.switching is not None:
        files |= switch_files(context.switching, single=identity.real == "float")
    online = online_context(identity, online_files(derivation, identity, options.emit.identification))
    estimation = filter_context(derivation, identity)
    module = module_context(  # the loop integrates by itself
        derivation, identity, None, None, estimation, online, linked=model.linked, declared=declared
    )
    cdef = (("model/cdef.h.j2", module), ("loop/cdef.h.j2", context), ("loop/shared_memory/cdef.h.j2", shared))
    wrapper = (("model/wrapper.c.j2", module), ("loop/module.c.j2", context), ("loop/shared_memory/module.c.j2", shared))
    return dataclasses.replace(
        model,
        simulation=files,
        cdef="".join(fill(*pair) for pair in cdef),
        wrapper="".join(fill(*pair) for pair in wrapper),
    )


def _with_threads(options: BuildOptions) -> BuildOptions:
    flags = dataclasses.replace(options.compile, cflags=("-pthread", *options.compile.cflags))
    return dataclasses.replace(options, compile=flags)
