"""The manifest of a model's functions as data beside its C: arguments, sparsity, derivatives, live parameters.

Bridges read it in place of the derivation; ``<name>_functions.json`` is the same for tools of others.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import Any

import elastogen
from elastogen.generator.functions.derivation import ModelDerivation
from elastogen.generator.functions.function import Function
from elastogen.generator.sliding.elements_inside import INDICATORS
from elastogen.runtime.interface.abi import ABI_VERSION

DERIVATIVES = ("_derivatives", "_tangent", "_sensitivity", "_adjoint", "_hessian")
BY_PARAMETERS = "_by_parameters"


@dataclass(frozen=True)
class ManifestArgument:
    """An array of a function, row by row; ``nonzeros`` are the places that are not zero in every state (outputs only)."""

    name: str
    shape: tuple[int, ...]
    unit: str
    nonzeros: tuple[int, ...] | None = None  # None: all

    @property
    def size(self) -> int:
        """Return the number of elements."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class ManifestFunction:
    """A function of the model: its arguments in the order of C, without the parameters."""

    name: str
    symbol: str  # in C
    brief: str
    inputs: tuple[ManifestArgument, ...]
    outputs: tuple[ManifestArgument, ...]
    status: bool  # whether it returns one
    depends_on: tuple[str, ...]  # inputs and live parameters that change its outputs
    derivatives: tuple[str, ...]  # functions of the model that are derivatives of this one
    kinks: bool  # whether it chooses between formulas, and has no derivative where it changes its choice


@dataclass(frozen=True)
class ModelManifest:
    """All functions of a model, and the robot that they belong to."""

    elastogen: str  # version
    abi: int
    robot: str
    precision: str
    coordinates: tuple[str, ...]
    velocities: tuple[str, ...]
    quaternions: tuple[int, ...]  # where in q they start
    driven: tuple[int, ...]  # places of the driven velocities
    elastic: tuple[int, ...]  # places of the elastic ones
    parameters: tuple[dict[str, Any], ...]  # live ones, in the order of the struct
    functions: tuple[ManifestFunction, ...]

    @property
    def file(self) -> str:
        """Return the name of the manifest's file."""
        return f"{self.robot}_functions.json"

    def function(self, name: str) -> ManifestFunction:
        """Return the function of that name."""
        return next(function for function in self.functions if function.name == name)

    def text(self) -> str:
        """Return the manifest as JSON, one line for each function."""
        data = asdict(self)
        functions = ",\n".join(f"  {json.dumps(each)}" for each in data.pop("functions"))
        head = ",\n".join(f" {json.dumps(key)}: {json.dumps(value)}" for key, value in data.items())
        return f'{{\n{head},\n "functions": [\n{functions}\n ]\n}}\n'


def functions_manifest(derivation: ModelDerivation, precision: str) -> ModelManifest:
    """Return the manifest of a derived model."""
    robot, names = derivation.robot, {function.name for function in derivation.functions}
    return ModelManifest(
        elastogen=elastogen.__version__,
        abi=ABI_VERSION,
        robot=robot.name,
        precision=precision,
        coordinates=tuple(derivation.coordinate_names),
        velocities=tuple(derivation.velocity_names),
        quaternions=tuple(robot.quaternions),
        driven=tuple(k for k, driven in enumerate(derivation.driven) if driven),
        elastic=tuple(k for k, elastic in enumerate(derivation.elastic_coordinates) if elastic),
        parameters=tuple({"name": p.name, "value": float(p.value), "unit": p.unit} for p in robot.live_parameters),
        functions=tuple(_function(robot.name, function, names) for function in derivation.functions),
    )


def _function(robot: str, function: Function, names: set[str]) -> ManifestFunction:
    used = dict.fromkeys(label.partition("[")[0] for label in function.program.used_inputs())
    if function.selectors:  # which element counts depends on the coordinates
        used = {"q": None, **used}
    known = dict.fromkeys((*(argument.name for argument in function.inputs), *used))
    endings = (kind + more for kind in DERIVATIVES for more in ("", BY_PARAMETERS))
    return ManifestFunction(
        name=function.name,
        symbol=f"{robot}_{function.name}",
        brief=function.brief,
        inputs=tuple(ManifestArgument(a.name, tuple(map(int, a.shape)), a.unit) for a in function.inputs),
        outputs=tuple(
            ManifestArgument(a.name, tuple(map(int, a.shape)), a.unit, _nonzeros(refs)) for a, refs in function.program.outputs
        ),
        status=function.can_fail,
        depends_on=tuple(name for name in known if name in used and name != INDICATORS),
        derivatives=tuple(function.name + ending for ending in endings if function.name + ending in names),
        kinks=function.has_kinks,
    )


def _nonzeros(refs: tuple[int, ...]) -> tuple[int, ...] | None:
    found = tuple(place for place, ref in enumerate(refs) if ref >> 1 != 0)  # node 0 is zero
    return None if len(found) == len(refs) else found
