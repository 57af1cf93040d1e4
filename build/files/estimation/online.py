"""Online estimators in C: the functions of the model that they call, their files, and their exports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from elastogen.build.c.expression import literal
from elastogen.build.files.contexts import Identity, OnlineContext, Prototype
from elastogen.build.files.model_calls import calls_text, model_call
from elastogen.build.files.templating import origin
from elastogen.build.options import EmitOptions
from elastogen.build.plain_c.emission import Emission
from elastogen.generator.functions.composed.payload_columns import carrier_names, payload_columns
from elastogen.generator.functions.function import ModelFacts, Signature
from elastogen.generator.robot.errors import OutputError
from elastogen.generator.robot.expressions import nominal
from elastogen.generator.robot.robot import Robot
from elastogen.generator.sliding.elements_inside import selectors

OBSERVED = ("mass_matrix", "coriolis_matrix", "inverse_dynamics")
LOADED = "load_friction_forces"
COLLIDING = ("forward_dynamics", "inverse_dynamics")
ELASTIC = ("inverse_dynamics", "inverse_dynamics_sensitivity_by_parameters")
ESTIMATED = {"payload", "friction"}
NUMBERS = {"robot_sim_choice_t": "int", "robot_sim_place_t": "int"}
"""What comparisons of scalars give, and rows of matrices, in shared parts."""


def online_outputs(robot: Robot, options: EmitOptions) -> tuple[str, ...] | None:
    """Return the functions to emit, with those that the estimators call."""
    if not options.identification:
        return options.outputs
    if robot.loops:
        raise OutputError(
            f"identification: {robot.name} has closed loops ({', '.join(loop.name for loop in robot.loops[:4])}), expected an "
            "open tree. Fix: leave identification out"
        )
    needed: list[str] = []
    if "external_forces" in options.identification:
        needed += [*OBSERVED, *COLLIDING, *((LOADED,) if robot.has_load_friction else ())]
    if "elastic_states" in options.identification:
        _check_elastic(robot)
        needed += ELASTIC
    if ESTIMATED & set(options.identification):
        _check_estimated(robot)
        needed += ["inverse_dynamics", *(("regressor",) if "payload" in options.identification else ())]
    return (*(options.outputs or ("default",)), *needed)


def _check_estimated(robot: Robot) -> None:
    given = "quaternions among its coordinates" if robot.has_quasi_velocities else "sliding joints" if selectors(robot) else ""
    if given:
        raise OutputError(
            f"identification: {robot.name} has {given}, expected joints with one coordinate each. Fix: lock other joints"
        )


def _check_elastic(robot: Robot) -> None:
    given = (
        "no live parameter" if not robot.live_parameters
        else "quaternions among its coordinates" if robot.has_quasi_velocities
        else "sliding joints" if selectors(robot)
        else ""
    )  # fmt: skip
    if given:
        raise OutputError(
            f"identification: elastic_states: {robot.name} has {given}, expected joints with one coordinate each "
            "and numbers to estimate. Fix: live=['...'] names numbers that stay inputs; lock other joints"
        )


def online_files(derivation: ModelFacts, identity: Identity, asked: tuple[str, ...]) -> dict[str, str]:
    """Return headers and sources of the requested estimators."""
    functions = {function.name: function for function in derivation.functions}
    features = {"SINGLE": int(identity.real == "float"), "HAS_LOAD_FRICTION_FORCES": int(LOADED in functions), "LANES": 0}
    own = ", ".join(str(int(not driven)) for driven in derivation.driven)
    generated = {"robot_sim_numbers.h": ""}
    files = []
    if "external_forces" in asked:
        files += ["momentum_observer", "collision_detector"]
        called = [functions[name] for name in (*OBSERVED, LOADED) if name in functions]
        generated["robot_observer_calls.h"] = _calls(called, "observer")
        generated["robot_collision_calls.h"] = _live(derivation.robot) + _calls(
            [functions[name] for name in COLLIDING], "collision"
        )
    if "elastic_states" in asked:
        files.append("elastic_states")
        count = len(derivation.robot.live_parameters)
        generated["robot_elastic_sizes.h"] = f"#define ROBOT_ELASTIC_PARAMETERS {count} /* number of live parameters */\n"
        table = f"static const int robot_elastic_own[{len(derivation.driven)}] = {{{own}}};\n\n"
        generated["robot_elastic_calls.h"] = table + _calls([functions[name] for name in ELASTIC], "elastic")
    if ESTIMATED & set(asked):
        files.append("online_estimator")
        features |= {f"ESTIMATES_{kind.upper()}": int(kind in asked) for kind in sorted(ESTIMATED)}
        generated |= _estimator(derivation, asked, functions, identity.real)
    own_words = {p.name: p.name for p in derivation.robot.live_parameters}  # also where they begin as the sample's do
    words = own_words | NUMBERS | {"robot_sim_state_t": identity.real}
    emission = Emission(identity.name, identity.real, features, origin(identity), generated, words)
    return {
        f"{identity.name}_{file}.{kind}": emission.file(f"observers/robot_{file}.{kind}")
        for file in files
        for kind in ("h", "c")
    }


def _estimator(derivation: ModelFacts, asked: tuple[str, ...], functions: Mapping[str, Signature], real: str) -> dict[str, str]:
    """Return sizes and tables of the estimator of payload and friction."""
    robot, payload = derivation.robot, "payload" in asked
    drives = [k for k, driven in enumerate(derivation.driven) if driven]
    before = 10 if payload else 0
    count = before + (3 * len(drives) if "friction" in asked else 0)
    sizes = {"ESTIMATED": count, "ESTIMATED_BEFORE": before}
    tables = f"static const int robot_estimator_drive[{len(derivation.driven)}] = {{" + ", ".join(
        str(drives.index(k)) if k in drives else "-1" for k in range(len(derivation.driven))
    ) + "};\n"  # fmt: skip
    if "friction" in asked:
        widths = [
            float(nominal(joint.actuation.coulomb_velocity, robot.parameters))
            for joint in robot.moving_joints if joint.has_drives for _ in joint.type.velocities
        ]  # fmt: skip
        full = [literal(widths[drives.index(k)] if k in drives else 1.0, real) for k in range(len(derivation.driven))]
        tables += f"static const robot_scalar_t robot_estimator_width[{len(full)}] = {{{', '.join(full)}}};\n"
    called = ["inverse_dynamics"]
    if payload:
        part = payload_columns(robot, carrier_names(robot))
        first = int(np.flatnonzero(np.abs(part).sum(axis=1))[0]) // 10 * 10
        sizes |= {"ESTIMATOR_COLUMNS": functions["regressor"].outputs[0].shape[1], "ESTIMATOR_CARRIER": first}
        rows = [", ".join(literal(float(x), real) for x in row) for row in part[first : first + 10]]
        tables += "static const robot_scalar_t robot_estimator_payload[100] = {\n    " + ",\n    ".join(rows) + "};\n"
        called.append("regressor")
    text = "".join(f"#define ROBOT_{name} {value}\n" for name, value in sizes.items())
    calls = _calls([functions[name] for name in called], "estimator")
    return {"robot_estimator_sizes.h": text, "robot_estimator_calls.h": f"{tables}\n{calls}"}


def _live(robot: Robot) -> str:
    """Return a function that finds a live parameter by its number."""
    fields = [parameter.name for parameter in robot.live_parameters] or ["unused"]
    places = ",\n        ".join(f"&p->{field}" for field in fields)
    return (
        f"#define ROBOT_COLLISION_LIVE {len(fields)} /* number of live parameters */\n\n"
        "static robot_scalar_t *robot_collision_live(robot_params_t *p, int k)\n{\n"
        f"    robot_scalar_t *const live[ROBOT_COLLISION_LIVE] = {{\n        {places}}};\n    return live[k];\n}}\n\n"
    )


def _calls(functions: list[Signature], user: str) -> str:
    """Return calls of the model's functions, each with a status; sliding joints choose their elements themselves."""
    calls = [
        replace(model_call(function, user, 0), symbol=f"robot_{function.name}", given="p", for_elements=False)
        for function in functions
    ]
    return calls_text(tuple(calls), converts=False)


def online_context(identity: Identity, files: Mapping[str, str]) -> OnlineContext | None:
    """Return the context of the requested estimators, or None if there are none."""
    if not files:
        return None
    sources = tuple(file[:-2] for file in files if file.endswith(".c"))
    prototypes = {
        "momentum_observer": _OBSERVE,
        "collision_detector": _DETECT,
        "elastic_states": _ELASTIC_STATES,
        "online_estimator": _ESTIMATE,
    }
    exported = tuple(p for name, p in prototypes.items() if f"{identity.name}_{name}" in sources)
    return OnlineContext(identity.name, identity.macro, sources, exported)


_OBSERVE = Prototype(
    "int", "eg_observe_momentum",
    (
        "const eg_real_t *params", "size_t n", "eg_real_t dt", "const eg_real_t *gain", "const eg_real_t *q",
        "const eg_real_t *qd", "const eg_real_t *F", "void *memory", "eg_real_t *force",
    ),
)  # fmt: skip
_DETECT = Prototype(
    "int", "eg_detect_collisions",
    (
        "const eg_real_t *params", "size_t n", "eg_real_t dt", "const eg_real_t *options", "const eg_real_t *q",
        "const eg_real_t *qd", "const eg_real_t *F", "void *memory", "eg_real_t *force", "eg_real_t *threshold", "int *hit",
    ),
)  # fmt: skip
_ELASTIC_STATES = Prototype(
    "int", "eg_elastic_states",
    (
        "const eg_real_t *params", "size_t n", "eg_real_t dt", "eg_real_t *q", "eg_real_t *qd", "eg_real_t *qdd",
        "eg_real_t *F", "size_t columns", "eg_real_t *dq", "eg_real_t *dqd", "eg_real_t *dqdd", "eg_real_t *dF",
    ),
)  # fmt: skip
_ESTIMATE = Prototype(
    "int", "eg_estimate_online",
    (
        "const eg_real_t *params", "size_t n", "eg_real_t dt", "const eg_real_t *options", "const eg_real_t *q",
        "const eg_real_t *qd", "const eg_real_t *F", "void *memory", "eg_real_t *theta", "eg_real_t *deviation",
    ),
)  # fmt: skip
