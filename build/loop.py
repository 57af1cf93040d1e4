"""The control loop of a robot: its C files, and an extension module that holds model and loop in one piece."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import elastogen
from elastogen.build.c.names import string_literals
from elastogen.build.files.contexts import Constant, Identity, SwitchContext
from elastogen.build.files.extension_module import module_context
from elastogen.build.files.render import RenderedModel, render_model
from elastogen.build.files.shared_memory import CONSTANTS as SHARED_CONSTANTS
from elastogen.build.files.shared_memory import STALE, SharedContext, shared_context, shared_files
from elastogen.build.files.switching import switch_context, switch_files
from elastogen.build.files.templating import fill
from elastogen.build.files.write import write_files
from elastogen.build.identity import model_sha256
from elastogen.build.module.cache import safe_cache
from elastogen.build.module.compile import find_toolchain
from elastogen.build.options import BuildOptions, checked_path
from elastogen.build.pipeline import GeneratedFiles, compile_cached
from elastogen.build.stamps import sha256, tool_sha256
from elastogen.build.user_code import UserCode, called_functions
from elastogen.generator.description.load_robot import RobotSource, load
from elastogen.generator.functions.derivation import ModelDerivation, derive_model
from elastogen.generator.robot.errors import OutputError
from elastogen.generator.robot.joint_kind import JointCoordinate, JointKind
from elastogen.generator.robot.own.terms import TIME
from elastogen.generator.robot.robot import Robot
from elastogen.generator.sliding.elements_inside import selectors
from elastogen.runtime.interface.abi import ABI_VERSION
from elastogen.runtime.loop.laws.registry import Law, emitted

MAX_TAPS = 64  # impulses of an input shaper
OTHER_LAWS = 8  # controllers that a loop can change to while it runs
USER_VALUES = 32  # numbers that a user's own controller may tune
BUCKETS = 1056  # of a histogram: up to 2^36 ns
ALWAYS = ("gravity_vector", "inverse_dynamics", "forward_dynamics")
WITHOUT_DRIVES = ("elastic_inverse_dynamics",)
WITH_QUATERNIONS = ("configuration_rate", "integrate", "difference", "motion_on_path", "start_of_path")
WITH_SLIDING = ("mass_matrix",)

CONSTANTS = (
    Constant("HERE", "0", "reference: stay where the loop began"),
    Constant("HOLD", "1", "reference: constant values"),
    Constant("MOVE", "2", "reference: to a goal in a given time"),
    Constant("TABLE", "3", "reference: one row for each tick"),
    Constant("RK4", "0", "simulated robot: Runge-Kutta of order 4, forces held"),
    Constant("SEMI_IMPLICIT", "1", "simulated robot: Euler, velocities first"),
    Constant("KEEP_OLDEST", "0", "telemetry: a full ring loses new records"),
    Constant("KEEP_NEWEST", "1", "telemetry: a full ring loses old records"),
    Constant("STATUS_OK", "0", "no fault"),
    Constant("STATUS_READ", "1", "the state could not be read"),
    Constant("STATUS_STATE_NOT_FINITE", "2", "NaN or infinity in the state"),
    Constant("STATUS_POSITION", "3", "a position beyond its limits"),
    Constant("STATUS_VELOCITY", "4", "a velocity beyond its limit"),
    Constant("STATUS_TRACKING", "5", "a tracking error beyond its limit"),
    Constant("STATUS_CONTROLLER", "6", "the controller failed"),
    Constant("STATUS_COMMAND_NOT_FINITE", "7", "NaN or infinity in the command"),
    Constant("STATUS_FORCE", "8", "a command beyond F_trip"),
    Constant("STATUS_WRITE", "9", "the command could not be written"),
    Constant("STATUS_OVERRUN", "10", "a cycle took too long, and the policy is to stop"),
    Constant("STATUS_STALE_STATE", "11", "no new state for too long"),
    Constant("STATUS_STALE_REFERENCE", "12", "no new reference or heartbeat for too long"),
    Constant("STATUS_OUTSIDE", "13", "a sliding joint left its beam"),
    Constant("STATUS_DIVERGED", "14", "the motion of the simulated robot diverged"),
    Constant("STATUS_IMPLAUSIBLE", "15", "a position that no sensor of the robot can give"),
    Constant("STATUS_JUMP", "16", "a position that changed by more than its velocity explains"),
    Constant("STATUS_FROZEN", "17", "a position that stays the same while its reference moves"),
    Constant("STATUS_BLOCKED", "18", "too many periods in a row were over when a cycle ended"),
    Constant("STATUS_REFERENCE", "19", "a reference beyond the limits"),
    Constant("STATUS_TRIPPED", "20", "stopped by the caller, an emergency stop for example"),
    Constant("RUNNING", "0", "phase: the controller's command"),
    Constant("STOPPING", "1", "phase: from a fault, or the wish to end, to rest"),
    Constant("HOLDING", "2", "phase: at rest after a fault"),
    Constant("ENDED", "3", "phase: no forces but safe_F"),
    Constant("STOP_DAMPED", "0", "stop: forces against the velocities"),
    Constant("STOP_RAMP", "1", "stop: on a ramp of the velocities"),
    Constant("STOP_HOLD", "2", "stop: back to the place of the fault"),
    Constant("STOP_OFF", "3", "stop: no forces"),
    Constant("AFTER_HOLD", "0", "at rest after a fault: hold the robot there"),
    Constant("AFTER_END", "1", "at rest after a fault: end"),
    Constant("RESET_TOO_EARLY", "(-1)", "answer to a reset: the robot is not at rest yet"),
    Constant("DIVERGED", "4", "what a read function returns for a motion that diverged"),
    Constant("OUTSIDE", "16", "what a read function returns, plus its index, for a coordinate that left its range"),
    Constant("STALE", str(STALE), "what a read function returns for a state that is too old"),
    Constant("OTHER_LAWS", f"{OTHER_LAWS}u", "controllers that a loop can change to"),
    Constant("TAPS", str(MAX_TAPS), "largest number of impulses of a shaper"),
    Constant("ROUNDS", "2", "iterations of the elastic equilibrium in each cycle"),
)
THREAD_CONSTANTS = (
    Constant("SKIP", "0", "overrun: leave out the periods that are over"),
    Constant("CATCH_UP", "1", "overrun: run all cycles, without sleep until they are on time"),
    Constant("STOP", "2", "overrun: a fault"),
    Constant("NOTICE_FIFO", "1u", "SCHED_FIFO was refused"),
    Constant("NOTICE_CPU", "2u", "the processor was refused"),
    Constant("NOTICE_MEMORY", "4u", "memory could not be locked"),
    Constant("THREAD_STARTING", "1u", "the thread prepares itself"),
    Constant("THREAD_RUNNING", "2u", "cycles run"),
    Constant("THREAD_ENDED", "3u", "the last command was written; join it"),
)
MODULE_TYPES = (
    "reference_t", "tuning_t", "view_t", "record_t", "read_t", "write_t", "controller_t", "plant_t", "slot_t",
    "exchange_t", "elastic_t", "law_t", "discrete_t", "t", "clock_t", "options_t", "histogram_t", "statistics_t", "thread_t",
)  # fmt: skip
MODULE_FUNCTIONS = (
    "init", "step", "reset", "resume", "ask_reset", "stop", "trip", "finish",
    "set_reference", "heartbeat", "set_tuning", "take_records", "dropped", "checksum", "discretize",
    "plant_read", "plant_write",
    "thread_start", "thread_stop", "thread_join", "thread_run", "thread_state", "thread_statistics", "due",
)  # fmt: skip


@dataclass(frozen=True)
class LoopContext:
    """For the templates whose names begin with ``loop`` or ``_loop``."""

    identity: Identity
    prefix: str  # <name>_loop
    macro: str  # the same in upper case
    nq: int
    nv: int  # velocities: fewer than coordinates where there are quaternions
    ne: int  # number of elastic coordinates
    driven: tuple[int, ...]  # 1 for velocities with a drive, else 0
    driven_q: tuple[int, ...]  # the same for the coordinates beside them
    passive: bool  # whether a joint has no drives
    hybrid: bool  # whether anything has none
    elastic: tuple[int, ...]  # indices of the elastic coordinates in qd
    elastic_q: tuple[int, ...]  # ... in q
    quaternions: tuple[int, ...]  # where in q they start
    free_q: tuple[int, ...]  # indices in q of joints with a quaternion
    free_v: tuple[int, ...]  # ... in qd
    move_order: int  # of a motion to a goal: value and derivatives that go on without a jump
    move_series: tuple[int, ...]  # 1 / (1 - s)^move_order
    move_binomials: tuple[int, ...]  # (1 - s)^move_order, five terms
    can_fail: tuple[str, ...]  # those of them that return a status
    constants: tuple[Constant, ...]
    thread_constants: tuple[Constant, ...]
    controllers: tuple[Law, ...]
    max_taps: int
    user_values: int
    other_laws: int
    beside: tuple[int, ...]  # index in q beside each velocity; -1: of a joint with a quaternion
    buckets: int
    user_controller: bool
    user_plant: bool
    module_types: tuple[str, ...]
    module_functions: tuple[str, ...]
    metadata: tuple[str, ...]  # C string literals
    switching: SwitchContext | None  # of robots with sliding joints
    sliding_coordinates: tuple[int, ...]  # indices in q of the sliding joints
    timed: bool  # whether own terms or functions depend on the time
    time: str  # the live parameter that holds it


def build_loop_extension(robot: Robot, options: BuildOptions, code: UserCode | None = None) -> Path:
    """The extension module of a robot's loop, from the cache where it is there."""
    code = code or UserCode()
    called = called_functions(robot, code, bool(options.emit.frames))
    options = _with_threads(options.with_outputs(loop_outputs(robot, (*(options.emit.outputs or ()), *called))))
    toolchain = find_toolchain(options.compile)
    cache = safe_cache(options.cache_dir)
    texts = [text for pair in sorted(code.files.items()) for text in pair]
    build_key = sha256("loop", tool_sha256(), model_sha256(robot, options.emit), toolchain.identity, *texts)
    extension = cache.find_build(build_key)
    if extension is None:
        extension = compile_cached(render_loop(robot, options, code), build_key, cache, toolchain, options)
        cache.note_build(build_key, build_key)
    return extension


def generate_loop(
    robot: RobotSource, directory: str | os.PathLike[str], *, force: bool = False, **options: Any
) -> GeneratedFiles:
    """Write the C files of a robot's model and loop; compile nothing. ``force`` and ``options`` are those of ``generate``."""
    target = checked_path("directory", directory)
    loaded, checked = load(robot), BuildOptions.checked(**options)
    checked = checked.with_outputs(loop_outputs(loaded, checked.emit.outputs))
    model = render_loop(loaded, checked, UserCode())
    written = write_files(target, {**model.c_files, **model.simulation}, by=f"loop {model.name}", force=force)
    return GeneratedFiles(target, target / f"{model.name}.h", target / f"{model.name}.c", tuple(written))


def loop_outputs(robot: Robot, more: tuple[str, ...] | None = None) -> tuple[str, ...]:
    """Functions of the model that its loop calls."""
    if robot.loops:
        raise OutputError(
            f"{robot.name}: real-time loops do not take robots with closed loops yet, whose plants would drift open. "
            "Fix: call the functions of the emitted C from your own loop."
        )
    names = [*ALWAYS, *(name for law in emitted() for name in law.needs)]
    if not all(velocity.driven for velocity in robot.velocities):
        names += WITHOUT_DRIVES
    if robot.has_quasi_velocities:
        names += WITH_QUATERNIONS
    if selectors(robot):
        names += WITH_SLIDING
    return tuple(dict.fromkeys((*names, *(more or ()))))


def render_loop(robot: Robot, options: BuildOptions, code: UserCode) -> RenderedModel:
    """Print the files of a model with its loop."""
    derivation = derive_model(robot, options.emit.outputs, options.emit.frames, derivation=options.emit.derivation)
    return with_loop(derivation, render_model(derivation, options.emit), options, code)


def with_loop(derivation: ModelDerivation, model: RenderedModel, options: BuildOptions, code: UserCode) -> RenderedModel:
    """The model with the files of its loop in place of those of its simulation."""
    context = _context(derivation, options, model, code)
    prefix, shared = context.prefix, _shared(derivation, context.identity)
    files = {
        f"{prefix}.h": fill("loop/loop.h.j2", context),
        f"{prefix}.c": fill("loop/loop.c.j2", context),
        f"{prefix}_thread.h": fill("loop/thread/thread.h.j2", context),
        f"{prefix}_thread.c": fill("loop/thread/thread.c.j2", context),
        **shared_files(shared),
        **code.files,
    }
    if context.switching is not None:
        files |= switch_files(context.switching, single=context.identity.real == "float")
    module = module_context(derivation, context.identity, None)  # the loop integrates by itself
    cdef = (("model/cdef.h.j2", module), ("loop/cdef.h.j2", context), ("loop/shared_memory/cdef.h.j2", shared))
    wrapper = (("model/wrapper.c.j2", module), ("loop/module.c.j2", context), ("loop/shared_memory/module.c.j2", shared))
    return dataclasses.replace(
        model,
        simulation=files,
        cdef="".join(fill(*pair) for pair in cdef),
        wrapper="".join(fill(*pair) for pair in wrapper),
    )


def _shared(derivation: ModelDerivation, identity: Identity) -> SharedContext:
    names, units = derivation.coordinate_names, derivation.coordinate_units
    return shared_context(identity, names, units, derivation.velocity_names)


def _context(derivation: ModelDerivation, options: BuildOptions, model: RenderedModel, code: UserCode) -> LoopContext:
    name, robot = model.name, derivation.robot
    elastic = tuple(k for k, is_elastic in enumerate(derivation.elastic_coordinates) if is_elastic)
    smooth = 5 if elastic else 3  # elastic feedforward uses jerk and snap: neither may jump
    metadata = {
        "constants": {c.name: int(c.value.strip("()u")) for c in (*CONSTANTS, *THREAD_CONSTANTS)},
        "shared": {c.name: int(c.value.strip("()u"), 0) for c in SHARED_CONSTANTS},
        "controllers": [law.name for law in emitted()],
        "user_controller": code.controller is not None,
        "user_plant": code.plant is not None,
    }
    identity = Identity(name, name.upper(), options.emit.precision, ABI_VERSION, elastogen.__version__, model.sha256)
    return LoopContext(
        identity=identity,
        prefix=f"{name}_loop",
        macro=f"{name}_loop".upper(),
        nq=len(derivation.coordinate_names),
        nv=len(derivation.velocity_names),
        ne=len(elastic),
        driven=tuple(map(int, derivation.driven)),
        driven_q=tuple(int(coordinate.driven) for coordinate in robot.coordinates),
        passive=any(not (velocity.driven or velocity.elastic) for velocity in robot.velocities),
        hybrid=not all(derivation.driven),
        elastic=elastic,
        elastic_q=tuple(k for k, coordinate in enumerate(robot.coordinates) if coordinate.elastic),
        quaternions=robot.quaternions,
        free_q=_free(robot, robot.coordinate_names, lambda kind: kind.coordinates),
        free_v=_free(robot, robot.velocity_names, lambda kind: kind.velocities),
        move_order=smooth,
        move_series=tuple(math.comb(smooth - 1 + k, k) for k in range(smooth)),
        move_binomials=tuple((-1) ** k * math.comb(smooth, k) for k in range(5)),
        can_fail=tuple(function.name for function in derivation.functions if function.can_fail),
        constants=CONSTANTS,
        thread_constants=THREAD_CONSTANTS,
        controllers=emitted(),
        max_taps=MAX_TAPS,
        user_values=USER_VALUES,
        other_laws=OTHER_LAWS,
        beside=_beside(robot),
        buckets=BUCKETS,
        user_controller=code.controller is not None,
        user_plant=code.plant is not None,
        module_types=MODULE_TYPES,
        module_functions=(*MODULE_FUNCTIONS, *(law.name for law in emitted())),
        metadata=tuple(string_literals(json.dumps(metadata, separators=(",", ":")))),
        switching=switch_context(derivation, identity),
        sliding_coordinates=tuple(selector.coordinate for selector in derivation.selectors),
        timed=TIME in robot.parameters and robot.parameters[TIME].live,
        time=TIME,
    )


def _free(robot: Robot, names: tuple[str, ...], of_kind: Callable[[JointKind], Sequence[JointCoordinate]]) -> tuple[int, ...]:
    """Indices of what belongs to joints with a quaternion."""
    free = [joint for joint in robot.joints if joint.type.velocities != joint.type.coordinates]
    return tuple(names.index(coordinate.name(joint.name)) for joint in free for coordinate in of_kind(joint.type))


def _beside(robot: Robot) -> tuple[int, ...]:
    """Index in q beside each velocity, -1 where a quaternion is."""
    places = {name: k for k, name in enumerate(robot.coordinate_names)}
    free = _free(robot, robot.velocity_names, lambda kind: kind.velocities)
    return tuple(-1 if k in free else places[name] for k, name in enumerate(robot.velocity_names))


def _with_threads(options: BuildOptions) -> BuildOptions:
    flags = dataclasses.replace(options.compile, cflags=("-pthread", *options.compile.cflags))
    return dataclasses.replace(options, compile=flags)
