"""The C of a function for CasADi's importer: ``f``, ``jac_f``, ``adj1_f``, and the Jacobians of both derivatives.

Arguments stand column by column, structural zeros are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from elastogen.build.files.functions_manifest import ManifestArgument, ManifestFunction, ModelManifest
from elastogen.build.files.templating import fill
from elastogen.generator.functions.composed.sensitivities import PARAMETERS

LIVE = "parameters"
MOST_SECOND = 30_000  # second derivatives of all outputs: of functions with more there are those of weighted sums alone
KINDS = ("_sensitivity", "_adjoint", "_hessian")  # functions beside the one that is handed over


@dataclass(frozen=True)
class Port:
    """An argument of an external function: its sparsity, and the places of its nonzeros in an emitted array."""

    name: str
    rows: int
    columns: int
    sparsity: tuple[int, ...]  # as CasADi takes it: rows, columns, starts of the columns, rows of the nonzeros
    places: tuple[int, ...]  # of the nonzeros, column by column
    array: str = ""  # the array of ours; "" where nothing is read or written


@dataclass(frozen=True)
class Call:
    """A call of an emitted function: its name, arrays, and whether it returns a status."""

    symbol: str
    arrays: tuple[str, ...]
    can_fail: bool


@dataclass(frozen=True)
class External:
    """One function of the library."""

    name: str
    doc: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    arrays: tuple[tuple[str, int], ...]  # local arrays: name, size
    calls: tuple[Call, ...]
    units: int = 0  # the calls are made for so many unit weights "w", and results are parts of "H", one part for each

    def read_by(self, call: Call) -> tuple[int, ...]:
        """Return the outputs for which a call is needed; without any of them it is left out."""
        return tuple(k for k, port in enumerate(self.outputs) if port.places and port.array in call.arrays)


@dataclass(frozen=True)
class CasadiContext:
    """For ``bridges/casadi.c.j2``."""

    name: str  # of the robot
    functions: tuple[External, ...]
    values: Mapping[str, str]  # live parameters as they are when the library is made
    live: tuple[str, ...]  # those that are an input


def external_source(manifest: ModelManifest, name: str, parameters: bool, values: Mapping[str, float]) -> str:
    """Return the C of a function for CasADi, beside the model's; ``values``: those of live parameters that are not inputs."""
    more, live = PARAMETERS if parameters else "", tuple(each["name"] for each in manifest.parameters)
    value, sensitivity, adjoint, hessian = (manifest.function(each) for each in (name, *(name + kind + more for kind in KINDS)))
    context = CasadiContext(
        manifest.robot,
        _externals(value, sensitivity, adjoint, hessian, live if parameters else ()),
        {key: repr(float(values[key])) for key in live},
        live if parameters else (),
    )
    return fill("bridges/casadi.c.j2", context)


def _vector(argument: ManifestArgument, array: str = "", name: str = "") -> Port:
    """Return a dense argument column by column; one with three or more axes becomes a matrix of its last axis."""
    columns = argument.shape[-1] if len(argument.shape) > 1 else 1
    rows = argument.size // columns
    places = tuple(r * columns + c for c in range(columns) for r in range(rows))
    return Port(name or argument.name, rows, columns, (rows, columns, 1), places, array)


def _block(
    name: str,
    rows: Sequence[int],
    columns: Sequence[int],
    width: int,
    nonzero: Sequence[bool],
    array: str,
    *,
    rotated: bool = False,
) -> Port:
    """Return a part, ``width`` columns wide, of an emitted matrix; ``turned``: of its transpose."""
    starts, found, places = [0], [], []
    for c in columns:
        for k, r in enumerate(rows):
            place = (c * width + r) if rotated else (r * width + c)
            if nonzero[place]:
                found.append(k)
                places.append(place)
        starts.append(len(found))
    return Port(name, len(rows), len(columns), (len(rows), len(columns), *starts, *found), tuple(places), array)


def _nothing(name: str, rows: int, columns: int) -> Port:
    return Port(name, rows, columns, (rows, columns, *[0] * (columns + 1)), ())


def _unread(argument: ManifestArgument, name: str) -> Port:
    """Return a result that is handed back but not needed: without nonzeros, so that CasADi neither computes nor follows it."""
    whole = _vector(argument)
    return _nothing(name, whole.rows, whole.columns)


def _externals(
    value: ManifestFunction,
    sensitivity: ManifestFunction,
    adjoint: ManifestFunction,
    hessian: ManifestFunction,
    live: Sequence[str],
) -> tuple[External, ...]:
    inputs = [*value.inputs, *([ManifestArgument(LIVE, (len(live),), "")] if live else [])]
    outputs, symbol = list(value.outputs), f"{value.symbol}_casadi"
    nx, ny = sum(a.size for a in inputs), sum(a.size for a in outputs)
    x, y = _parts(inputs), _parts(outputs)
    J_nonzero, H_nonzero = (_nonzeros(function) for function in (sensitivity, hessian))
    read = [_vector(a, f"in_{a.name}") for a in inputs]
    arrays = [(f"in_{a.name}", a.size) for a in inputs]
    given = tuple(f"in_{a.name}" for a in value.inputs)
    unread = [_unread(a, f"out_{a.name}") for a in outputs]
    seeds = tuple(Port(p.name, p.rows, p.columns, p.sparsity, tuple(y[k][i] for i in p.places), "w") for k, p in (
        (k, _vector(a, "", f"adj_{a.name}")) for k, a in enumerate(outputs)))  # fmt: skip
    moved = [tuple(part[i] for i in _vector(a).places) for a, part in zip(inputs, x, strict=True)]  # places in x by column
    shown = [tuple(part[i] for i in _vector(a).places) for a, part in zip(outputs, y, strict=True)]
    jac = External(
        f"jac_{symbol}", "Jacobians of all outputs by all inputs.", (*read, *unread),
        tuple(_block(f"jac_{o.name}_{i.name}", shown[a], moved[b], nx, J_nonzero, "J")
              for a, o in enumerate(outputs) for b, i in enumerate(inputs)),
        (*arrays, ("J", ny * nx)), (_call(sensitivity, (*given, "J")),),
    )  # fmt: skip
    gradients = tuple(
        Port(f"adj_{a.name}", p.rows, p.columns, p.sparsity, tuple(x[k][i] for i in p.places), "g")
        for k, (a, p) in enumerate((a, _vector(a)) for a in inputs)
    )
    adj = External(
        f"adj1_{symbol}", "Gradients of the weighted outputs.", (*read, *unread, *seeds), gradients,
        (*arrays, ("w", ny), ("g", nx)), (_call(adjoint, (*given, "w", "g")),),
    )  # fmt: skip
    blocks = []
    for a, i in enumerate(inputs):
        blocks += [_block(f"jac_adj_{i.name}_{j.name}", moved[a], moved[b], nx, H_nonzero, "H") for b, j in enumerate(inputs)]
        blocks += [_nothing(f"jac_adj_{i.name}_out_{o.name}", i.size, o.size) for o in outputs]
        blocks += [_block(f"jac_adj_{i.name}_adj_{o.name}", moved[a], shown[b], nx, J_nonzero, "J", rotated=True)
                   for b, o in enumerate(outputs)]  # fmt: skip
    second = External(
        f"jac_adj1_{symbol}", "Jacobians of the gradients: Hessians, and transposed Jacobians.",
        (*read, *unread, *seeds, *(_unread(a, f"out_adj_{a.name}") for a in inputs)), tuple(blocks),
        (*arrays, ("w", ny), ("H", nx * nx), ("J", ny * nx)),
        (_call(hessian, (*given, "w", "H")), _call(sensitivity, (*given, "J"))),
    )  # fmt: skip
    plain = External(
        symbol, value.brief, tuple(read), tuple(_vector(a, f"out_{a.name}") for a in outputs),
        (*arrays, *((f"out_{a.name}", a.size) for a in outputs)),
        (_call(value, (*given, *(f"out_{a.name}" for a in outputs))),),
    )  # fmt: skip
    parts = _second_blocks(jac, moved, shown, (J_nonzero, H_nonzero))
    whole = External(
        f"jac_jac_{symbol}", "Jacobians of the Jacobians: second derivatives of each number.",
        (*jac.inputs, *(_nothing(f"out_{port.name}", port.rows, port.columns) for port in jac.outputs)), parts,
        (*arrays, ("w", ny), ("H", nx * nx)), (_call(hessian, (*given, "w", "H")),), ny,
    )  # fmt: skip
    return (plain, jac, adj, second, *([whole] if sum(len(port.places) for port in parts) <= MOST_SECOND else []))


def _second_blocks(
    jac: External,
    moved: Sequence[Sequence[int]],
    shown: Sequence[Sequence[int]],
    nonzero: tuple[Sequence[bool], Sequence[bool]],
) -> tuple[Port, ...]:
    """Return the derivatives of the outputs of a Jacobian by its inputs, in one Hessian after the other.

    ``moved`` and ``shown`` are the places of inputs and outputs in all of them, ``nonzero`` those of Jacobian and Hessian.
    """
    nx, blocks = sum(map(len, moved)), []
    for number, of in enumerate(jac.outputs):
        rows = [(r, a) for a in moved[number % len(moved)] for r in shown[number // len(moved)]]
        for k, port in enumerate(jac.inputs):
            columns, starts, found, places = moved[k] if k < len(moved) else [], [0], [], []
            for b in columns:
                for row, (r, a) in enumerate(rows):
                    if nonzero[0][r * nx + a] and nonzero[0][r * nx + b] and nonzero[1][a * nx + b]:
                        found.append(row)
                        places.append((r * nx + a) * nx + b)
                starts.append(len(found))
            name, size = f"jac_{of.name}_{port.name}", port.rows * port.columns
            sparsity = (len(rows), size, *starts, *found)
            blocks.append(
                Port(name, len(rows), size, sparsity, tuple(places), "H") if columns else _nothing(name, len(rows), size)
            )
    return tuple(blocks)


def _call(function: ManifestFunction, arrays: tuple[str, ...]) -> Call:
    return Call(function.symbol, arrays, function.status)


def _parts(arguments: Sequence[ManifestArgument]) -> list[list[int]]:
    """Return the places of the arguments' numbers in one array."""
    found, start = [], 0
    for argument in arguments:
        found.append(list(range(start, start + argument.size)))
        start += argument.size
    return found


def _nonzeros(function: ManifestFunction) -> list[bool]:
    """Return which numbers of the only output are not zero for all inputs."""
    (output,) = function.outputs
    places = range(output.size) if output.nonzeros is None else {*output.nonzeros}
    return [k in places for k in range(output.size)]
