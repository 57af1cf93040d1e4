"""From a derivation to the text of every emitted file."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from elastogen.build.c import elements as c_elements
from elastogen.build.c.body import OWN_NAMES
from elastogen.build.c.dialect import Dialect
from elastogen.build.c.expression import literal
from elastogen.build.c.names import check_identifier, comment_text
from elastogen.build.files.contexts import (
    ArgumentDoc,
    BundleContext,
    ExampleArray,
    FunctionDoc,
    HeaderContext,
    Identity,
    ParameterLine,
    SourceContext,
)  # fmt: skip
from elastogen.build.files.estimation.kalman_filter import filter_context, filter_files
from elastogen.build.files.estimation.online import online_context, online_files
from elastogen.build.files.extension_module import module_context
from elastogen.build.files.function_printer import FunctionPrinter, in_prototype, prototype_of, vectors_of
from elastogen.build.files.inverse_kinematics import kinematics_context, kinematics_files
from elastogen.build.files.lanes import lane_files
from elastogen.build.files.mechanisms.closed_loops import loop_files
from elastogen.build.files.simulation import SimulationContext, simulation_context, simulation_files
from elastogen.build.files.templating import fill
from elastogen.build.options import EmitOptions
from elastogen.generator.functions.derivation import ModelDerivation
from elastogen.generator.functions.function import Function
from elastogen.generator.program.collection import paused_collection
from elastogen.generator.program.graph import Op
from elastogen.generator.program.operations import ELEMENTARY
from elastogen.generator.program.program import OperationCount
from elastogen.generator.robot.errors import BuildError
from elastogen.generator.sliding.elements_inside import indicated
from elastogen.runtime.interface.argument import Argument

DOC_WIDTH = 80  # characters of a text in a comment block, next to the name it explains
EXAMPLE = "examples/example.c"  # apart, since it has a main: a compiler may be given all C files beside the model
EXAMPLE_PREFERENCE = ("inverse_dynamics", "mass_matrix", "forward_kinematics")


@dataclass(frozen=True, kw_only=True)
class ModuleFiles:
    """Texts of the files from which an extension module is compiled."""

    name: str
    sha256: str
    header: str  # <name>.h
    source: str  # <name>.c
    cdef: str
    wrapper: str
    simulation: dict[str, str]  # file name -> text of the integrators for the module; empty without forward dynamics
    lanes: dict[str, str] = field(default_factory=dict)  # file name -> text of the module's batches in lanes
    kinematics: dict[str, str] = field(default_factory=dict)  # file name -> text of inverse kinematics, loops, estimates
    linked: bool = False  # whether the model's functions are objects of their own, apart from the module's file

    @property
    def c_files(self) -> dict[str, str]:
        """Return the model's header and source, and the files of its inverse kinematics, loops and estimators."""
        return {f"{self.name}.h": self.header, f"{self.name}.c": self.source, **self.kinematics}


@dataclass(frozen=True, kw_only=True)
class RenderedModel(ModuleFiles):
    """The text of every file of a model."""

    emitted_simulation: dict[str, str]  # the integrators for a controller: in the model's precision throughout
    bundle: dict[str, str]  # file name -> text of what goes with the model's own files
    about: BundleContext  # what these are filled with


@paused_collection()
def render_model(
    derivation: ModelDerivation,
    options: EmitOptions,
    *,
    lanes: bool = False,
    apart: FunctionPrinter | None = None,
    linked: bool = False,
) -> RenderedModel:
    """Print every file of a model; with ``lanes`` the extension module evaluates batches in them.

    ``apart`` has printed functions for units of their own: the module's own file leaves them to these. ``linked``: it leaves
    them to an object of <name>.c.
    """
    check_names(derivation)
    printer = apart or FunctionPrinter(derivation.robot, options)
    derivation = printer.chosen(derivation)
    if apart is None:
        printer.print_all(derivation)
    name, sha256, identity, dialect = derivation.robot.name, printer.sha256, printer.identity, printer.dialect
    header = header_context(derivation, identity, dialect)
    simulation = simulation_context(derivation, identity)
    kinematics = kinematics_context(derivation, identity)
    estimation = filter_context(derivation, identity)
    closing = loop_files(derivation, identity)
    estimating = online_files(derivation, identity, options.identification)
    online = online_context(identity, estimating)
    module = module_context(
        derivation, identity, simulation, kinematics, estimation, online, lanes=lanes, apart=apart is not None, linked=linked
    )
    bundle = _bundle_context(derivation, identity, header, simulation)
    bundle = replace(bundle, kinematics=kinematics is not None, closes=bool(closing), online=online.files if online else ())
    return RenderedModel(
        name=name,
        sha256=sha256,
        header=fill("model/model.h.j2", header),
        source=fill("model/model.c.j2", _source_context(derivation, printer, header)),
        cdef=fill("model/cdef.h.j2", module),
        wrapper=fill("model/wrapper.c.j2", module),
        simulation=simulation_files(simulation),
        emitted_simulation=simulation_files(simulation, single=options.precision == "float"),
        bundle={file: fill(f"bundle/{Path(file).name}.j2", bundle) for file in ("CMakeLists.txt", "README.md", EXAMPLE)},
        about=bundle,
        lanes=lane_files(derivation, identity, options.sincos, simulation) if lanes else {},
        kinematics={**kinematics_files(kinematics), **closing, **filter_files(estimation), **estimating},
        linked=linked,
    )


def check_names(derivation: ModelDerivation) -> None:
    """Refuse names that are not C identifiers."""
    robot = derivation.robot
    check_identifier(robot.name, f"robot {robot.name!r}: name")
    for parameter in robot.live_parameters:
        check_identifier(parameter.name, f"robot {robot.name}: live parameter")
    if len({function.name for function in derivation.functions}) != len(derivation.functions):
        raise BuildError(f"robot {robot.name}: two functions of the same name.")
    for function in derivation.functions:
        check_identifier(function.name, f"robot {robot.name}: function")
        arguments = [*function.inputs, *function.outputs]
        names = [check_identifier(argument.name, f"{function.name}: argument") for argument in arguments]
        if len(set(names)) != len(names) or OWN_NAMES & set(names):
            raise BuildError(f"{function.name}: argument names {names} clash with each other or with {sorted(OWN_NAMES)}.")
        if any(argument.size < 1 for argument in arguments):
            raise BuildError(f"{function.name}: an argument without elements; a robot needs a coordinate.")


# ---- header


def header_context(derivation: ModelDerivation, identity: Identity, dialect: Dialect) -> HeaderContext:
    """Return the context of a model's header."""
    robot = derivation.robot
    coordinates = zip(derivation.coordinate_names, derivation.coordinate_units, strict=True)
    count, four = len(derivation.coordinate_names), {start + k for start in robot.quaternions for k in range(4)}
    default = f"Kinematics and dynamics of {robot.name}, {count} {'coordinate' if count == 1 else 'coordinates'}."
    return HeaderContext(
        identity=identity,
        summary=_block_text(robot.description) or default,
        coordinates=tuple(
            f"{k}: {comment_text(name)} [{comment_text(unit or ('1' if k in four else 'as its mode'))}]"
            for k, (name, unit) in enumerate(coordinates)
        ),
        frames=tuple(f"{k}: {comment_text(name)}" for k, name in enumerate(derivation.frame_names)),
        nq=count,
        nv=len(derivation.velocity_names),
        nframes=len(derivation.frame_names),
        parameters=_parameter_lines(derivation, identity.real),
        functions=tuple(_function_doc(function, dialect) for function in derivation.functions),
        quaternions=robot.quaternions,
        sliding=tuple(f"k[{i}]: {c_elements.selector_doc(s)}" for i, s in enumerate(derivation.selectors)),
        chosen=tuple(f"{k}: {comment_text(name)}" for k, name in enumerate(derivation.frames)),
    )


def _parameter_lines(derivation: ModelDerivation, real: str) -> tuple[ParameterLine, ...]:
    lines = []
    for parameter in derivation.robot.live_parameters:
        doc = _block_text(f"{parameter.doc} {_bracketed(parameter.unit)}", margin="     * ") or "live parameter"
        lines.append(ParameterLine(parameter.name, literal(parameter.value, real), doc))
    if not lines:
        lines.append(ParameterLine("unused", literal(0.0, real), "a struct needs a field; this model has no live parameters"))
    return tuple(lines)


def _function_doc(function: Function, dialect: Dialect) -> FunctionDoc:
    zeros = {argument.name for argument, refs in function.program.outputs if not any(refs)}  # the constant 0 is reference 0
    documented = [("in", argument) for argument in function.inputs]
    documented += [("out", argument) for argument in function.outputs]
    return FunctionDoc(
        prototype=prototype_of(function, dialect),
        brief=_block_text(function.brief),
        arguments=tuple(ArgumentDoc(way, a.name, _argument_text(a, zero=a.name in zeros), a.shape) for way, a in documented),
        operations=_block_text(operations_text(function.count)),
        failures=(
            *((dialect.failure,) if function.program.pivots else ()),
            *((c_elements.out_of_range(dialect),) if function.selectors else ()),
        ),
        for_elements=in_prototype(function, dialect) if function.selectors else None,
    )


def _argument_text(argument: Argument, *, zero: bool) -> str:
    """Describe an argument: meaning, unit, size, storage order, and whether it is always zero."""
    if len(argument.shape) > 1:
        size = f"{argument.size} values, {' x '.join(str(length) for length in argument.shape)} row-major"
    else:
        size = "1 value" if argument.size == 1 else f"{argument.size} values"
    known = "; always zero for this robot" if zero else ""
    return _block_text(" ".join(filter(None, (argument.doc, _bracketed(argument.unit)))) + f"; {size}{known}")


def _block_text(text: str, margin: str = " *     ") -> str:
    """Return text wrapped for a comment block; ``margin`` begins its second and further lines."""
    return f"\n{margin}".join(textwrap.wrap(comment_text(text), DOC_WIDTH, break_long_words=True))


def _bracketed(unit: str) -> str:
    return f"[{unit}]" if unit else ""


def operations_text(count: OperationCount) -> str:
    """Return operation counts as text, without operations that do not occur."""
    names = {
        "mul": "mul",
        "add": "add",
        "div": "div",
        "neg": "neg",
        "sincos": "sin/cos",
        "sqrt": "sqrt",
        "tanh": "tanh",
    }
    shown = [f"{getattr(count, field)} {name}" for field, name in names.items() if getattr(count, field)]
    shown += [f"{number} {name}" for name, number in count.others]
    return ", ".join(shown) or "none"


# ---- source


def _source_context(derivation: ModelDerivation, printer: FunctionPrinter, header: HeaderContext) -> SourceContext:
    identity, dialect = printer.identity, printer.dialect
    bodies = [body for function in derivation.functions for _, body in printer.bodies(function)]
    programs = [function.program for function in derivation.functions]
    library = set(ELEMENTARY) - ({Op.SIN, Op.COS} if dialect.sincos == "fast" else set())
    functions = tuple(text for function in derivation.functions for text in printer.texts(function))
    return SourceContext(
        identity=identity,
        parameters=header.parameters,
        functions=functions,
        has_parts=any(body.parts for body in bodies),
        vectors=vectors_of(functions),
        tables=printer.pool.lines(functions),
        needs_math=any(program.graph.op[node] in library for program in programs for node in program.order),
        prefix=identity.name,
        real=identity.real,
        calls_sincos=any(body.calls_sincos for body in bodies),
        sliding=len(derivation.selectors),
        selection=c_elements.selection_lines(derivation.selectors, dialect),
        indicators=len(indicated(derivation.selectors)) if _uses_indicators(derivation) else 0,
        indication=c_elements.indicator_lines(derivation.selectors, dialect),
    )


def _uses_indicators(derivation: ModelDerivation) -> bool:
    return any(function.inputs != function.program.inputs for function in derivation.functions)


# ---- bundle


def _bundle_context(
    derivation: ModelDerivation, identity: Identity, header: HeaderContext, simulation: SimulationContext | None
) -> BundleContext:
    function = _example_function(derivation.functions)
    arrays = [ExampleArray(a.name, a.size, _example_values(a.size, identity.real), False) for a in function.inputs]
    arrays += [ExampleArray(a.name, a.size, "", True) for a in function.outputs]
    return BundleContext(
        identity=identity,
        summary=header.summary,
        coordinates=header.coordinates,
        parameters=header.parameters,
        functions=header.functions,
        example=next(f.prototype for f in header.functions if f.prototype.name == f"{identity.name}_{function.name}"),
        example_can_fail=function.can_fail,
        example_arrays=tuple(arrays),
        simulated=simulation is not None,
        switches=simulation is not None and simulation.switching is not None,
    )


def _example_function(functions: Sequence[Function]) -> Function:
    if not functions:
        raise BuildError("no function to emit. Ask for at least one output.")
    by_name = {function.name: function for function in functions}
    return next((by_name[name] for name in EXAMPLE_PREFERENCE if name in by_name), functions[0])


def _example_values(size: int, real: str) -> str:
    values = [literal(round(0.1 * (1 + k % 9), 1), real) for k in range(size)]
    lines = [", ".join(values[k : k + 10]) for k in range(0, size, 10)]
    return (",\n" + 8 * " ").join(lines)
