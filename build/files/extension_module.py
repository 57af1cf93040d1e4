"""The exports of a model's extension module, and its metadata."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

from elastogen.build.c.names import string_literals
from elastogen.build.files.contexts import (
    Identity,
    KinematicsContext,
    ModuleContext,
    ModuleFunction,
    OnlineContext,
    Prototype,
)
from elastogen.build.files.estimation.kalman_filter import FilterContext
from elastogen.build.files.inverse_kinematics import drive_limits, position_limits
from elastogen.build.files.lanes import batch_parameters, in_lanes, simulated_in_lanes
from elastogen.build.files.simulation import SimulationContext
from elastogen.generator.functions.function import ModelFacts, Signature
from elastogen.generator.loops.analysis import LoopAnalysis
from elastogen.generator.robot.live import live_tensors
from elastogen.generator.robot.own.ground import Ground
from elastogen.runtime.interface.argument import Argument


def module_context(
    derivation: ModelFacts,
    identity: Identity,
    simulation: SimulationContext | None,
    kinematics: KinematicsContext | None = None,
    estimation: FilterContext | None = None,
    online: OnlineContext | None = None,
    *,
    lanes: bool = False,
    apart: bool = False,
    linked: bool = False,
    declared: tuple[Prototype, ...] = (),
) -> ModuleContext:
    """Return the context of cdef.h.j2 and wrapper.c.j2."""
    live = derivation.robot.live_parameters
    parts = (each.prefix for each in (kinematics, estimation) if each is not None)
    prefixes = (identity.name, *parts, *(() if online is None else online.files))
    files = [f"{prefix}.{kind}" for prefix in prefixes for kind in ("h", "c")]
    functions = tuple(_module_function(function, identity.name, len(live), lanes) for function in derivation.functions)
    fixed = (
        Prototype("const char *", "eg_metadata", ("void",)),
        Prototype("int", "eg_nparams", ("void",)),
        Prototype("void", "eg_params_default", ("eg_real_t *values",)),
    )
    return ModuleContext(
        identity=identity,
        fields=tuple(parameter.name for parameter in live) or ("unused",),
        nparams=len(live),
        prototypes=fixed + tuple(p for function in functions for p in (function.batch, function.call)),
        functions=functions,
        metadata=tuple(string_literals(json.dumps(metadata(derivation, identity, files), separators=(",", ":")))),
        simulation=simulation,
        lanes=lanes,
        apart=apart,
        linked=linked or apart,
        declared=declared,
        simulated_in_lanes=lanes and simulated_in_lanes(derivation, simulation),
        kinematics=kinematics,
        estimation=estimation,
        online=online,
    )


def _module_function(function: Signature, name: str, nparams: int, lanes: bool) -> ModuleFunction:
    nominal = f"&{name}_params_nominal"
    batch = [f"(const {name}_params_t *)(params + k * params_stride)" if nparams else nominal]
    call = [f"(const {name}_params_t *)w" if nparams else nominal]
    place = nparams
    for argument in function.inputs:
        batch.append(f"{argument.name} + k * {argument.name}_stride")
        call.append(f"w + {place}")
        place += argument.size
    for argument in function.outputs:
        batch.append(f"{argument.name} + k * {argument.size}")
        call.append(f"w + {place}")
        place += argument.size
    return ModuleFunction(
        symbol=f"{name}_{function.name}",
        batch=Prototype("int64_t", f"eg_batch_{function.name}", batch_parameters(function, "eg_real_t")),
        call=Prototype("int", f"eg_call_{function.name}", ("void *workspace",)),
        can_fail=function.can_fail,
        batch_arguments=tuple(batch),
        call_arguments=tuple(call),
        batch_names=tuple(text.rpartition("*")[2].rpartition(" ")[2] for text in batch_parameters(function, "eg_real_t")),
        lanes=f"eg_lanes_batch_{function.name}" if lanes and in_lanes(function) else "",
    )


def metadata(derivation: ModelFacts, identity: Identity, files: Sequence[str]) -> dict[str, Any]:
    """Return the metadata inside the extension module as JSON data."""
    states = {own.name: {key: list(values) for key, values in own.initial.items()} for own in derivation.robot.functions}
    return {
        "abi": identity.abi,
        "tool_version": identity.tool_version,
        "name": identity.name,
        "sha256": identity.sha256,
        "real": identity.real,
        "coordinate_names": list(derivation.coordinate_names),
        "coordinate_units": list(derivation.coordinate_units),
        "velocity_names": list(derivation.velocity_names),
        "velocity_units": list(derivation.velocity_units),
        "quaternions": list(derivation.robot.quaternions),
        "elastic_coordinates": list(derivation.elastic_coordinates),
        "driven": list(derivation.driven),
        "driven_coordinates": [coordinate.driven for coordinate in derivation.robot.coordinates],
        "limits": position_limits(derivation),
        "drive_limits": drive_limits(derivation),
        "critical_rates": [dataclasses.asdict(rate) for rate in derivation.critical_rates],
        "slopes": [dataclasses.asdict(slopes) for slopes in derivation.slopes],
        "frame_names": list(derivation.frame_names),
        "parameters": [
            {"name": p.name, "value": float(p.value), "unit": p.unit, "doc": p.doc} for p in derivation.robot.live_parameters
        ],
        "tensors": live_tensors(derivation.robot),
        "functions": [
            {
                "name": function.name,
                "brief": function.brief,
                "can_fail": function.can_fail,
                "slides": bool(function.selectors),
                "inputs": [_argument_data(argument) for argument in function.inputs],
                "outputs": [_argument_data(argument) for argument in function.outputs],
                "count": dataclasses.asdict(function.count),
                **({"states": states[function.name]} if states.get(function.name) else {}),
                **({"kinks": True} if function.has_kinks else {}),
            }
            for function in derivation.functions
        ],
        "point_names": list(derivation.point_names),
        "base_name": derivation.robot.links[0].name,
        "chosen_frames": list(derivation.frames),
        "sliding": [dataclasses.asdict(selector) for selector in derivation.selectors],
        "c_files": list(files),
        **(_ground(derivation.robot.ground) if derivation.robot.ground is not None else {}),
        **({"contacts": [contact.frame for contact in derivation.robot.contacts]} if derivation.robot.contacts else {}),
        **({"sensors": [[c.name, c.unit, c.sensor] for c in derivation.robot.sensors]} if derivation.robot.sensors else {}),
        **({} if derivation.loops is None else {"loops": _loops(derivation, derivation.loops)}),
    }


def _loops(derivation: ModelFacts, known: LoopAnalysis) -> dict[str, Any]:
    return {
        "names": [loop.name for loop in derivation.robot.loops],
        "rows": list(known.rows),
        "redundant": list(known.redundant),
        "independent": list(known.choice.independent),
        "unforced": list(known.unforced),
        "start": list(known.start),
    }


def _argument_data(argument: Argument) -> dict[str, Any]:
    return {"name": argument.name, "shape": list(argument.shape), "unit": argument.unit, "doc": argument.doc}


def _ground(ground: Ground) -> dict[str, Any]:
    return {"ground": [[list(point) for point in ground.points], list(ground.normal), ground.height]}
