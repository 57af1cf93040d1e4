"""The C files of a real-time loop: the parts of the sample robot's loop that a robot needs, and generated parts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from elastogen.build.c.names import string_literals
from elastogen.build.files.contexts import Constant, Identity, SwitchContext
from elastogen.build.files.model_calls import calls_text, model_call
from elastogen.build.files.real_time.observer import is_observed, readings_text
from elastogen.build.files.real_time.shared_memory import CONSTANTS as SHARED_CONSTANTS
from elastogen.build.files.switching import switch_context
from elastogen.build.files.templating import origin
from elastogen.build.plain_c.emission import Emission, source
from elastogen.build.plain_c.laws import law_files
from elastogen.build.user_code import UserCode
from elastogen.generator.functions.function import ModelFacts
from elastogen.generator.robot.joint_kind import JointCoordinate, JointKind
from elastogen.generator.robot.own.terms import TIME
from elastogen.generator.robot.robot import Robot
from elastogen.runtime.loop.laws.registry import emitted


def _constants(path: str) -> tuple[Constant, ...]:
    found = re.findall(r"^#define ROBOT_LOOP_(\w+) +([^\s/]+) +/\* (.*) \*/", source(path), re.MULTILINE)
    return tuple(Constant(*each) for each in found if each[0] != "ORDER")


CONSTANTS = _constants("loop/types/robot_loop_constants.h")
THREAD_CONSTANTS = _constants("loop/thread/robot_loop_thread_constants.h")
SOURCES = ("loop/robot_loop.h", "loop/robot_loop.c", "loop/thread/robot_loop_thread.h", "loop/thread/robot_loop_thread.c")
DECLARED = (
    "robot_loop_tuning_types.h", "robot_loop_observer_types.h", "robot_loop_io_types.h",
    "robot_loop_state_types.h", "robot_loop_functions.h",
    "robot_loop_law_functions.h", "robot_loop_thread_types.h", "robot_loop_thread_functions.h",
)  # fmt: skip
"""What cffi reads, in this order."""
_OPAQUE = {
    "sizeof(eg_loop_record_t) / sizeof(uintptr_t)": "...",
    "eg_switch_work_t switching;": "...;",
    "eg_ekf_t ekf;": "...;",
    "pthread_t thread;": "...;",
}
"""What the compiler alone knows."""
_CALL = re.compile(r"\brobot_loop_call_(\w+)")


@dataclass(frozen=True)
class LoopContext:
    """The context of the emission of a loop's C files, of ``loop/cdef.h.j2`` and of ``loop/module.c.j2``."""

    identity: Identity
    prefix: str  # <name>_loop
    features: dict[str, int]
    tables: tuple[str, ...]  # lines of C: which coordinates are driven, elastic, ...
    switching: SwitchContext | None  # of robots with sliding joints
    readings: str  # C: how an observer's sensors are read; empty without one
    user_controller: bool
    user_plant: bool
    declarations: tuple[str, ...] = ()  # of types and functions, for cffi
    module_types: tuple[str, ...] = ()  # without <name>_loop_
    module_functions: tuple[str, ...] = ()
    metadata: tuple[str, ...] = field(default=())  # C string literals

    def emission(self, calls: str = "") -> Emission:
        """Return the emission of the loop's C files; ``calls`` are the functions of the model."""
        generated = {
            **law_files(),
            "robot_loop_coordinates.h": "\n".join((*self.tables, "")),
            "robot_loop_calls.h": calls,
            "robot_loop_readings.h": self.readings,
        }
        return Emission(self.identity.name, self.identity.real, self.features, origin(self.identity), generated)


def loop_files(derivation: ModelFacts, context: LoopContext) -> dict[str, str]:
    """Return the files by name: one cycle, and the thread that runs it."""
    called = set(_CALL.findall(context.emission().plain("loop/robot_loop.c")))
    closed = context.features["LOOPS"] > 0
    if closed:  # weights as the drives feel them
        called = (called - {"gravity_vector"}) | {"inverse_dynamics"}
    functions = [function for function in derivation.functions if function.name in called]
    sliding = context.features["SLIDING"]
    calls = tuple(model_call(f, "loop", sliding, finds=f.name != "forward_dynamics") for f in functions)
    more = '#include "robot_loop_mechanism.h"\n' if closed else ""
    emission = context.emission(calls_text(calls, converts=False) + more)
    renamed = {path.rpartition("/")[2].replace("robot", context.identity.name, 1): path for path in SOURCES}
    return {name: emission.file(path) for name, path in renamed.items()}


def loop_context(derivation: ModelFacts, identity: Identity, code: UserCode) -> LoopContext:
    """Return the context of a robot's loop."""
    robot = derivation.robot
    elastic = [k for k, is_elastic in enumerate(derivation.elastic_coordinates) if is_elastic]
    switching = switch_context(derivation, identity)
    passive = any(not (velocity.driven or velocity.elastic) for velocity in robot.velocities)
    free_q = _free(robot, robot.coordinate_names, lambda kind: kind.coordinates)
    free_v = _free(robot, robot.velocity_names, lambda kind: kind.velocities)
    features = {
        "QUATERNIONS": len(robot.quaternions),
        "SLIDING": 0 if switching is None else switching.sliding,
        "TIMED": int(TIME in robot.parameters and robot.parameters[TIME].live),
        "SINGLE": int(identity.real == "float"),
        "NE": len(elastic),
        "NE_PLACES": max(len(elastic), 1),
        "PASSIVE": int(passive),
        "HYBRID": int(not all(derivation.driven)),
        "FREE_Q": len(free_q),
        "FREE_V": len(free_v),
        "OBSERVED": int(is_observed(derivation)),
        "READINGS": len(robot.sensors),
        "LOOPS": 0 if derivation.loops is None else derivation.loops.rank,
    }
    tables = [
        f"#if ROBOT_ABI_VERSION != {identity.abi}",
        '#error "robot.h and robot_loop.c were generated by different versions of elastogen"',
        "#endif",
        "",
        *_table("unsigned char", "driven", "NV", derivation.driven, "1: a velocity with a drive"),
        *_table("short", "beside", "NV", _beside(robot), "coordinate beside a velocity; -1: a quaternion's"),
    ]
    if passive:
        driven = [coordinate.driven for coordinate in robot.coordinates]
        tables += _table("unsigned char", "driven_q", "NQ", driven, "1: a coordinate with a drive")
    if robot.quaternions:
        tables += [
            *_table("int", "quaternions", "QUATERNIONS", robot.quaternions, "where in q they start"),
            *_table("unsigned short", "free_q", "FREE_Q", free_q, "coordinates of joints with a quaternion"),
            *_table("unsigned short", "free_v", "FREE_V", free_v, "velocities of these joints"),
        ]
    if elastic and not passive:
        in_q = [k for k, coordinate in enumerate(robot.coordinates) if coordinate.elastic]
        tables += _table("unsigned short", "elastic", "NE", elastic, "elastic coordinates, in qd")
        tables += _table("unsigned short", "elastic_q", "NE", in_q, "the same in q")
    if switching is not None:
        sliding = [selector.coordinate for selector in derivation.selectors]
        tables += _table("int", "sliding", "SLIDING", sliding, "coordinates of the sliding joints")
    text = "\n".join(_declarations(features, len(robot.coordinates), len(robot.velocities)))
    return LoopContext(
        identity=identity,
        prefix=f"{identity.name}_loop",
        features=features,
        tables=tuple(tables),
        switching=switching,
        readings=readings_text(derivation) if features["OBSERVED"] else "",
        user_controller=code.controller is not None,
        user_plant=code.plant is not None,
        declarations=(text,),
        module_types=tuple(dict.fromkeys(re.findall(r"(?:\} |\(\*)eg_loop_(\w*t)\b(?=;|\))", text))),
        module_functions=tuple(re.findall(r"^[a-z]\w* (?:\w+ )?\*?eg_loop_(\w+)\(", text, re.MULTILINE)),
        metadata=tuple(string_literals(_metadata(code))),
    )


def _declarations(features: dict[str, int], nq: int, nv: int) -> tuple[str, ...]:
    numbers = {f"ROBOT_LOOP_{c.name}": c.value.rstrip("u") for c in (*CONSTANTS, *THREAD_CONSTANTS)}
    sizes = {"ROBOT_NQ": str(nq), "ROBOT_NV": str(nv), "ROBOT_LOOP_ORDER": "5" if features["NE"] else "3"}
    emission = Emission("eg", features=features, generated=law_files(), words={**numbers, **sizes})
    known = {*DECLARED, "robot_loop_constants.h", "robot_loop_thread_constants.h"}
    return tuple(_opaque(emission.part(file, known - {file})) for file in DECLARED)


def _opaque(text: str) -> str:
    for known, hidden in _OPAQUE.items():
        text = text.replace(known, hidden)
    return text


def _metadata(code: UserCode) -> str:
    known = {
        "constants": {c.name: int(c.value.strip("()u")) for c in (*CONSTANTS, *THREAD_CONSTANTS)},
        "shared": {c.name: int(c.value.strip("()u"), 0) for c in SHARED_CONSTANTS},
        "controllers": [law.name for law in emitted()],
        "user_controller": code.controller is not None,
        "user_plant": code.plant is not None,
    }
    return json.dumps(known, separators=(",", ":"))


def _table(kind: str, name: str, size: str, values: Sequence[int], doc: str) -> tuple[str, ...]:
    listed = ", ".join(str(int(value)) for value in values)
    return (f"static const {kind} robot_loop_{name}[ROBOT_{size}] = {{{listed}}}; /* {doc} */",)


def _free(robot: Robot, names: tuple[str, ...], of_kind: Callable[[JointKind], Sequence[JointCoordinate]]) -> tuple[int, ...]:
    """Return the indices that belong to joints with a quaternion."""
    free = [joint for joint in robot.joints if joint.type.velocities != joint.type.coordinates]
    return tuple(names.index(coordinate.name(joint.name)) for joint in free for coordinate in of_kind(joint.type))


def _beside(robot: Robot) -> tuple[int, ...]:
    """Return the index in q of each velocity; -1 for a quaternion."""
    places = {name: k for k, name in enumerate(robot.coordinate_names)}
    free = _free(robot, robot.velocity_names, lambda kind: kind.velocities)
    return tuple(-1 if k in free else places[name] for k, name in enumerate(robot.velocity_names))
