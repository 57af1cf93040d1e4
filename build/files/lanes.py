"""The functions of a model on several states at once, with SIMD vectors in place of numbers.

The same programs are printed once more, on vectors of 2 to 16 numbers, one state in each lane. Additions, products, quotients
and roots are those of the scalar code, and so are sines and cosines: without contraction the results are equal bit for bit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TypeGuard

from elastogen.build.c.dialect import Dialect, parameter_list
from elastogen.build.c.function import print_body
from elastogen.build.files.contexts import FunctionText, Identity, PartText, Prototype, SimulationArgument
from elastogen.build.files.simulation import SimulationContext
from elastogen.build.files.templating import fill
from elastogen.build.plain_c.emission import Emission
from elastogen.generator.functions.derivation import ModelDerivation
from elastogen.generator.functions.function import Function, ModelFacts, Signature
from elastogen.generator.program.graph import Op
from elastogen.runtime.interface.argument import Argument

OPERATIONS = frozenset((Op.CONSTANT, Op.INPUT, Op.ADD, Op.MUL, Op.DIV, Op.SIN, Op.COS, Op.SQRT, Op.TANH))
HEADER, SOURCE, SIMULATION = "eg_lanes.h", "eg_lanes.c", "eg_lanes_simulate.h"


@dataclass(frozen=True)
class LaneFunction:
    """A function of the model in lanes, with a loop over a batch."""

    batch: Prototype
    body: FunctionText
    inputs: tuple[SimulationArgument, ...]
    outputs: tuple[SimulationArgument, ...]
    can_fail: bool


@dataclass(frozen=True)
class LanesContext:
    """For ``lanes/lanes.h.j2`` and ``lanes/lanes.c.j2``."""

    identity: Identity
    functions: tuple[LaneFunction, ...]
    fields: tuple[str, ...]  # of the struct of live parameters
    nparams: int
    bytes: int  # of a number
    bits: str  # unsigned integer of that size
    mask: str  # signed integer of that size: what a comparison gives
    libm: tuple[str, ...]  # functions of libm that are called
    sincos: str  # the text of eg_lanes_sincos, "" where it is not called
    memory: str  # how states come from arrays and go back
    simulation: str = ""  # the text of the integrators in lanes, "" where there are none


@dataclass(frozen=True)
class _SincosContext:
    """For ``sincos/sincos.c.j2``."""

    prefix: str
    real: str


def in_lanes(function: Signature) -> TypeGuard[Function]:
    """Whether a function can be evaluated in lanes: the same statements for all states, and only the usual operations.

    A function that calls another where its pivots fail has two courses.
    """
    if not isinstance(function, Function):
        return False
    program = function.program
    usual = all(program.graph.op[node] in OPERATIONS for node in program.order)
    return usual and bool(function.inputs) and not function.selectors and not program.otherwise


def simulated_in_lanes(derivation: ModelFacts, simulation: SimulationContext | None) -> bool:
    """Whether several motions can be simulated at once: all that integrators call runs in lanes, nothing ends their steps."""
    if simulation is None or simulation.switching is not None or simulation.loops is not None or simulation.ground:
        return False
    return all(in_lanes(function) for function in derivation.functions if function.name in simulation.functions)


def lane_files(
    derivation: ModelDerivation, identity: Identity, sincos: str, simulation: SimulationContext | None
) -> dict[str, str]:
    """Return header and source of the functions that a batch calls; functions that cannot run in lanes are left out."""
    dialect = Dialect("eg_lanes", identity.real, sincos, lanes=True)
    chosen = [function for function in derivation.functions if in_lanes(function)]
    live = [parameter.name for parameter in derivation.robot.live_parameters]
    used = {function.program.graph.op[node] for function in chosen for node in function.program.order}
    suffix = "f" if identity.real == "float" else ""
    library = {Op.SQRT: "sqrt", Op.TANH: "tanh"} | ({Op.SIN: "sin", Op.COS: "cos"} if sincos == "libm" else {})
    context = LanesContext(
        identity=identity,
        functions=tuple(_lane_function(function, dialect, live, identity.name) for function in chosen),
        fields=tuple(live) or ("unused",),
        nparams=len(live),
        bytes=4 if suffix else 8,
        bits="uint32_t" if suffix else "uint64_t",
        mask="int32_t" if suffix else "int64_t",
        libm=tuple(f"{name}{suffix}" for op, name in library.items() if op in used),
        memory=Emission(identity.name, identity.real, {"SINGLE": len(suffix)}).part("robot_lanes_memory.h"),
        sincos=_sincos(identity.real) if sincos == "fast" and used & {Op.SIN, Op.COS} else "",
    )
    files: dict[str, str] = {}
    if simulation is not None and simulated_in_lanes(derivation, simulation):
        emission = simulation.emission(lanes=True)
        files = {SIMULATION: emission.file("lanes/robot_lanes_simulate.h")}
        context = replace(context, simulation=emission.file("lanes/robot_lanes_simulate.c").rstrip())
    return {HEADER: fill("lanes/lanes.h.j2", context), SOURCE: fill("lanes/lanes.c.j2", context), **files}


def _lane_function(function: Function, dialect: Dialect, live: list[str], name: str) -> LaneFunction:
    program = function.program
    body = print_body(program, function.name, dialect, live)
    parameters = parameter_list(function.inputs, function.outputs, dialect)
    if program.pivots:
        parameters = (*parameters, "eg_lanes_mask_t *good")
    parts = (PartText(Prototype("void", part.name, part.parameters), part.comment, part.lines) for part in body.parts)
    prototype = Prototype("void", f"eg_lanes_{function.name}", parameters)
    return LaneFunction(
        batch=Prototype("int64_t", f"eg_lanes_batch_{function.name}", batch_parameters(function, f"{name}_real_t")),
        body=FunctionText(prototype, body.lines, tuple(parts), body.work_type, body.work_fields, ()),
        inputs=tuple(map(_sized, function.inputs)),
        outputs=tuple(map(_sized, function.outputs)),
        can_fail=bool(program.pivots),
    )


def _sized(argument: Argument) -> SimulationArgument:
    return SimulationArgument(argument.name, argument.size)


def batch_parameters(function: Signature, real: str) -> tuple[str, ...]:
    """Return the parameters of a loop over a batch: an input has the distance from state to state, outputs are dense."""
    read = (text for a in function.inputs for text in (f"const {real} *{a.name}", f"size_t {a.name}_stride"))
    written = (f"{real} *{argument.name}" for argument in function.outputs)
    return (f"const {real} *params", "size_t params_stride", "size_t n", *read, *written)


def _sincos(real: str) -> str:
    """Print sine and cosine of the scalar code with vectors in place of numbers.

    A vector of angles is a chain of operations that wait for each other: two chains side by side wait less.
    """
    context = _SincosContext("eg_lanes", real)
    text, far = (fill(name, context) for name in ("sincos/sincos.c.j2", "lanes/sincos_far.c.j2"))
    code, bits = text[text.index("static inline") :], "uint64_t" if real == "double" else "uint32_t"
    code = re.sub(rf"\b{bits}\b", "eg_lanes_bits_t", re.sub(rf"\b{real}\b", "eg_lanes_real_t", code)).rstrip()
    code = code.replace(
        "static inline", "static inline __attribute__((always_inline))", 1
    )  # else it depends on its callers' number
    head, loop, rest = code.partition("    for (int i = 0; i < n; ++i) {\n")
    body, _, last = rest.partition("    }\n    if ((beyond")
    lanes = "    for (int lane = 0; lane < EG_LANES; ++lane) {\n        found |= beyond[lane];\n    }\n"
    call = f"    if ((found{last[: last.index('{')]}{{\n        eg_lanes_sincos_beyond(x, s, c, n);\n    }}\n"
    two = "".join(f"        {line};\n" for line in _side_by_side(body))
    each = "    for (int i = n - (n % 2); i < n; ++i) {\n"
    every = f"{head}{loop.replace('i < n; ++i', 'i + 1 < n; i += 2')}{two}    }}\n{each}{body}    }}\n"
    return f"{far}\n{every}    {bits} found = 0u;\n{lanes}{call}}}"


def _side_by_side(body: str) -> list[str]:
    """Print the statements of a loop over i for i and for i + 1."""
    plain = " ".join(re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL).split())
    statements = [part.strip() for part in re.split(r";(?![^{]*\})", plain) if part.strip()]  # not inside the union's braces
    names = [name for part in statements for name in re.findall(r"^const \w+ (\w+) =|^union .*\} (.*)$", part)]
    local = "|".join(name for found in names for group in found for name in group.split(", ") if name)
    return [
        re.sub(r"\b([xsc])\[i\]", rf"\1[i + {k}]", re.sub(rf"(?<![.\w])({local})\b(?!\[)", rf"\1_{k}", part))
        for part in statements
        for k in (0, 1)
    ]
