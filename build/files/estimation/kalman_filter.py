"""The C files of a robot's Kalman filter: its calls of the model, and the exports of the extension module."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from elastogen.build.files.contexts import Identity, Prototype
from elastogen.build.files.templating import fill, origin
from elastogen.build.plain_c.emission import Emission
from elastogen.generator.functions.derivation import ESTIMATION
from elastogen.generator.functions.function import ModelFacts, Signature

DYNAMICS = ("forward_dynamics", "forward_dynamics_derivatives")
VECTORS = {"q": "ekf->q", "qd": "ekf->qd", "F": "F"}


@dataclass(frozen=True)
class FilterCall:
    """A function of the model that the filter calls."""

    name: str
    can_fail: bool
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True)
class FilterContext:
    """For ``estimation/calls.h.j2`` and ``estimation/wrapper.c.j2``."""

    identity: Identity
    prefix: str  # of types and functions
    readings: int
    turns: tuple[tuple[int, int], ...]  # of quaternions: first velocity of the rotation, and of the slide or -1
    dynamics: tuple[FilterCall, ...]
    measurement: FilterCall
    derivatives: FilterCall
    module: tuple[Prototype, ...]  # what the extension module exports


def filter_context(derivation: ModelFacts, identity: Identity) -> FilterContext | None:
    """Return the context of a Kalman filter, or None if the functions that it needs were not emitted."""
    functions = {function.name: function for function in derivation.functions}
    needed = (*ESTIMATION, *(("integrate",) if derivation.robot.has_quasi_velocities else ()))
    if derivation.robot.loops or not functions.keys() >= {*needed}:
        return None
    return FilterContext(
        identity=identity,
        prefix=f"{identity.name}_ekf",
        readings=len(derivation.robot.sensors),
        turns=_turns(derivation),
        dynamics=tuple(_call(functions[name]) for name in DYNAMICS),
        measurement=_call(functions["measurement"]),
        derivatives=_call(functions["measurement_derivatives"]),
        module=_MODULE,
    )


def filter_files(context: FilterContext | None) -> dict[str, str]:
    """Return the text of the header and the source by file name."""
    if context is None:
        return {}
    identity = context.identity
    features = {
        "QUATERNIONS": len(context.turns),
        "SINGLE": int(identity.real == "float"),
        "READINGS": context.readings,
    }
    generated = {"robot_ekf_calls.h": fill("estimation/calls.h.j2", context)}
    emission = Emission(identity.name, identity.real, features, origin(identity), generated)
    return {f"{context.prefix}.{kind}": emission.file(f"estimation/robot_ekf.{kind}") for kind in ("h", "c")}


def _call(function: Signature) -> FilterCall:
    inputs, outputs = ([argument.name for argument in given] for given in (function.inputs, function.outputs))
    return FilterCall(function.name, function.can_fail, tuple(VECTORS[name] for name in inputs), tuple(outputs))


def _turns(derivation: ModelFacts) -> tuple[tuple[int, int], ...]:
    names: Sequence[str] = derivation.velocity_names
    found = []
    for number, start in enumerate(derivation.robot.quaternions):
        first = start - number  # every quaternion before has one number more than its velocities
        floating = f"{derivation.coordinate_names[start].rpartition('.')[0]}.vx" in names
        found.append((first, first - 3 if floating else -1))
    return tuple(found)


_MODULE = (
    Prototype("size_t", "eg_ekf_size", ("void",)),
    Prototype(
        "void",
        "eg_ekf_init",
        ("void *ekf", *(f"const eg_real_t *{name}" for name in ("q", "qd", "position_error", "velocity_error"))),
    ),
    Prototype("void", "eg_ekf_set", ("void *ekf", "const eg_real_t *force", "const eg_real_t *noise")),
    Prototype(
        "int64_t",
        "eg_ekf_run",  # the number of steps that were done
        (
            "void *ekf",
            "const eg_real_t *params",
            "size_t n",
            "int kind",  # 0: steps, 1: predictions, 2: corrections
            "eg_real_t dt",
            "const eg_real_t *F",
            "const eg_real_t *y",
            "eg_real_t *q",
            "eg_real_t *qd",
            "eg_real_t *spread",
            "eg_real_t *distance",
        ),
    ),
    Prototype(
        "int",
        "eg_ekf_read",  # number of readings that were used
        ("const void *ekf", *(f"eg_real_t *{name}" for name in ("q", "qd", "P", "innovation", "distance"))),
    ),
)
