"""The data that fills the templates: one documented class of plain data for each template."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from elastogen.build.files.estimation.kalman_filter import FilterContext
    from elastogen.build.files.simulation import SimulationContext


@dataclass(frozen=True)
class Identity:
    """Lines at the head of every emitted file: tool, robot and checksum."""

    name: str  # the robot's name: prefix of every symbol, and of the files
    macro: str  # the same in upper case: prefix of every macro
    real: str  # "double" or "float"
    abi: int
    tool_version: str
    sha256: str  # of the robot and the options


@dataclass(frozen=True)
class Prototype:
    """A function's declaration."""

    returns: str
    name: str
    parameters: tuple[str, ...]


@dataclass(frozen=True)
class ParameterLine:
    """A field of the struct of live parameters."""

    name: str
    value: str  # a C literal
    doc: str  # with the unit; safe in a comment


@dataclass(frozen=True)
class ArgumentDoc:
    """A line of a function's documentation."""

    direction: str  # "in" or "out"
    name: str
    text: str
    shape: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """Return how many numbers it has."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class FunctionDoc:
    """A function of the model as the header shows it."""

    prototype: Prototype
    brief: str
    arguments: tuple[ArgumentDoc, ...]
    operations: str  # "12 mul, 7 add"
    failures: tuple[str, ...]  # macros of the statuses other than 0
    for_elements: Prototype | None = None  # the same for given elements inside the sliding joints


@dataclass(frozen=True)
class HeaderContext:
    """For ``model/model.h.j2``."""

    identity: Identity
    summary: str
    coordinates: tuple[str, ...]  # "0: shoulder [rad]"
    frames: tuple[str, ...]  # "0: link_1"
    nq: int
    nv: int
    nframes: int
    parameters: tuple[ParameterLine, ...]
    functions: tuple[FunctionDoc, ...]
    quaternions: tuple[int, ...] = ()  # where in q they start
    sliding: tuple[str, ...] = ()  # one line per sliding joint: elements and range
    chosen: tuple[str, ...] = ()  # "0: tool0", the frames of functions of frames


@dataclass(frozen=True)
class PartText:
    """A static function with a part of a long body."""

    prototype: Prototype
    comment: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class FunctionText:
    """A function of the model with its body."""

    prototype: Prototype
    lines: tuple[str, ...]
    parts: tuple[PartText, ...]
    work_type: str  # "" where the body is whole
    work_fields: tuple[str, ...]
    legend: tuple[str, ...]  # what the names of the intermediates mean: lines of a comment, or none
    declared: tuple[Prototype, ...] = ()  # parts that another unit has
    lanes: tuple[int, ...] = ()  # of the vectors that its loops compute with
    has_body: bool = True  # False: another unit has it


@dataclass(frozen=True)
class SourceContext:
    """For ``model/model.c.j2``."""

    identity: Identity
    parameters: tuple[ParameterLine, ...]
    functions: tuple[FunctionText, ...]
    has_parts: bool
    vectors: tuple[tuple[int, str], ...]  # that loops compute with: lanes and name in C
    tables: tuple[str, ...]  # constants that functions share: lines
    needs_math: bool  # whether a function of libm is called
    prefix: str  # these two are the variables of sincos.c.j2
    real: str
    calls_sincos: bool
    sliding: int = 0  # number of sliding joints
    selection: tuple[str, ...] = ()  # body of the function that finds the elements inside the joints
    indicators: int = 0  # number of them, where a function needs any
    indication: tuple[str, ...] = ()  # body of the function that sets the indicators of given elements


@dataclass(frozen=True)
class ModuleFunction:
    """A function of the extension module: two exported calls around one function of the model."""

    symbol: str  # <name>_<function>
    batch: Prototype
    call: Prototype
    can_fail: bool
    batch_arguments: tuple[str, ...]  # of the call of ``symbol`` for item k of a batch
    call_arguments: tuple[str, ...]  # of the call of ``symbol`` on a workspace
    lanes: str = ""  # the loop over a batch in lanes, where there is one
    batch_names: tuple[str, ...] = ()  # of the parameters of ``batch``


@dataclass(frozen=True)
class Constant:
    """A macro in the simulation's header."""

    name: str
    value: str
    doc: str


@dataclass(frozen=True)
class SimulationArgument:
    """An array argument of a function that the integrators call."""

    name: str
    size: int


@dataclass(frozen=True)
class SimulationCall:
    """A static function of the simulation around one function of the model."""

    prototype: Prototype
    symbol: str  # <name>_<function>
    function: str  # its name alone
    inputs: tuple[SimulationArgument, ...]
    outputs: tuple[SimulationArgument, ...]
    can_fail: bool
    takes_elements: bool = False  # whether it takes which elements are inside sliding joints
    for_elements: bool = False  # whether ``symbol`` is, too
    given: str = ""  # what ``symbol`` is called with before the arrays


@dataclass(frozen=True)
class SwitchContext:
    """For ``switch/switch.h.j2``, ``switch/switch.c.j2`` and the parts that it includes."""

    identity: Identity
    prefix: str  # of types and functions
    macro: str  # the same in upper case
    nq: int
    sliding: int  # number of sliding joints
    rules: tuple[str, ...]  # what happens at the borders of each joint
    borders: tuple[tuple[str, ...], ...]  # initializers
    joints: tuple[tuple[str, ...], ...]  # initializers
    refracts: bool  # whether the mass matrix jumps at some border
    has_energies: bool
    calls: tuple[SimulationCall, ...]
    elements: Prototype
    margin: Prototype
    hold: Prototype
    switch: Prototype
    module_switch: Prototype  # the same as the extension module exports it


@dataclass(frozen=True)
class ModuleContext:
    """For ``model/cdef.h.j2`` and ``model/wrapper.c.j2``."""

    identity: Identity
    fields: tuple[str, ...]  # of the struct of live parameters
    nparams: int
    prototypes: tuple[Prototype, ...]  # of all exported functions
    functions: tuple[ModuleFunction, ...]
    metadata: tuple[str, ...]  # C string literals
    simulation: SimulationContext | None
    lanes: bool = False  # whether batches run in lanes
    apart: bool = False  # whether the model, its simulation and its inverse kinematics are compiled apart
    linked: bool = False  # whether the model's functions are
    declared: tuple[Prototype, ...] = ()  # functions that are linked and not in the header
    simulated_in_lanes: bool = False  # whether simulations run in lanes
    kinematics: KinematicsContext | None = None
    estimation: FilterContext | None = None
    online: OnlineContext | None = None


@dataclass(frozen=True)
class OnlineContext:
    """For the part of the extension module that calls the online estimators."""

    prefix: str  # of the model
    macro: str  # the same in upper case
    files: tuple[str, ...]  # C files without their suffixes
    prototypes: tuple[Prototype, ...]


@dataclass(frozen=True)
class ExampleArray:
    """An argument of the function that the example calls."""

    name: str
    size: int
    values: str  # initializer; "" for outputs
    is_output: bool


@dataclass(frozen=True)
class BundleContext:
    """For ``bundle/CMakeLists.txt.j2``, ``bundle/README.md.j2`` and ``bundle/example.c.j2``; exports add to it."""

    identity: Identity
    summary: str
    coordinates: tuple[str, ...]
    parameters: tuple[ParameterLine, ...]
    functions: tuple[FunctionDoc, ...]
    example: Prototype  # the function that the example calls
    example_can_fail: bool
    example_arrays: tuple[ExampleArray, ...]
    simulated: bool  # whether the bundle has the integrators
    switches: bool = False  # whether it carries states over between elements
    kinematics: bool = False  # whether it has inverse kinematics
    closes: bool = False  # whether there is a file that closes loops
    online: tuple[str, ...] = ()  # C files of estimates, without their suffixes


@dataclass(frozen=True)
class KinematicsContext:
    """What ``inverse_kinematics/robot_ik.c`` is emitted with, and for the templates of that room."""

    identity: Identity
    prefix: str  # of types and functions
    macro: str  # the same in upper case
    frames: tuple[str, ...]  # "0: tool0"
    moved: tuple[str, ...]  # initializers: velocity, coordinate, limits
    quasi: bool  # whether positions move on a manifold
    can_fail: bool  # whether a sliding joint can be out of range
    solve: str  # name of the function
    module_solve: Prototype  # a batch, as the extension module exports it
