"""The simulation of a model: the functions that the integrators call, and the contexts of the C files."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from elastogen.build.files.contexts import Identity, SimulationCall, SwitchContext
from elastogen.build.files.model_calls import model_call
from elastogen.build.files.switching import switch_context, switch_files
from elastogen.build.files.templating import fill, origin
from elastogen.build.plain_c.emission import Emission, source
from elastogen.build.plain_c.integrators import CONSTANTS, method_files
from elastogen.generator.functions.derivation import ModelDerivation
from elastogen.generator.functions.function import Function
from elastogen.generator.program.arguments import POSITIONS
from elastogen.generator.robot.own.terms import TIME
from elastogen.generator.robot.robot import Robot
from elastogen.runtime.interface.integrators import INTEGRATORS, KEEPING, Integrator

NEEDED = "forward_dynamics"
"""Without this function there is no simulation."""
GROUND = "ground_motion"
USED = (
    NEEDED,
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "gravity_vector",
    "friction_forces",
    "load_friction_forces",
    "kinetic_energy",
    "potential_energy",
    "configuration_rate",
    "integrate",
    GROUND,
    *KEEPING,
    "forward_dynamics_derivatives",
)
"""What the integrators call where it was emitted."""
OPTIONAL = USED[1:8]
"""Those that the C files ask for by ROBOT_HAS_..."""
MODULE_WORDS = {
    f"robot_{name}": f"eg_{name}" for name in ("sim_watch", "sim_stop_force", "sim_lanes", "sim_memory", "simulate_batch")
}
"""Functions that the extension module exports under names that are the same for all robots."""
_CONSTANT = re.compile(r"^#define ROBOT_SIM_((?:METHOD|INPUT|STATUS)_\w+) +\S", re.MULTILINE)


@dataclass(frozen=True)
class MotionCalls:
    """For ``simulate/calls.h.j2``."""

    calls: tuple[SimulationCall, ...]
    quaternions: tuple[int, ...]
    converts: bool  # the model's numbers are not those of the simulation
    lanes: bool = False  # several motions at once


@dataclass(frozen=True)
class KeptLoops:
    """Closed loops for the integrators: the independent rows, the number of all rows, and weights of the velocities."""

    rows: tuple[int, ...]
    count: int
    weights: tuple[float, ...]  # per velocity, 1 for joints
    single: bool  # the model computes in float
    sizes: tuple[float, ...]  # per row that is kept: what is usually left of it beside the others

    @property
    def text(self) -> str:
        """Return tables and tolerances as C of the sample robot."""
        near, closed, start = ("1e-6", "1e-4", "1e-3") if self.single else ("1e-14", "1e-11", "1e-6")
        weights = ", ".join(f"REAL({weight!r})" for weight in self.weights)
        sizes = ", ".join(f"REAL({size!r})" for size in self.sizes)
        rigid = all(weight == 1.0 for weight in self.weights)  # rows that bend links are small, and not singular
        return (
            f"static const int robot_sim_loop_rows[{len(self.rows)}] = {{{', '.join(map(str, self.rows))}}};\n"
            f"static const robot_scalar_t robot_sim_loop_weights[{len(self.weights)}] = {{{weights}}};\n"
            f"static const robot_scalar_t robot_sim_loop_sizes[{len(self.sizes)}] = {{{sizes}}};\n\n"
            f"#define ROBOT_SIM_LOOP_NEAR   REAL({near}) /* residual that is not corrected any more [m or 1] */\n"
            f"#define ROBOT_SIM_LOOP_CLOSED REAL({closed}) /* residual that counts as closed */\n"
            f"#define ROBOT_SIM_LOOP_START  REAL({start}) /* residual of a start that is taken for closed */\n"
            f"#define ROBOT_SIM_LOOP_WEAK   REAL({'1e-4' if rigid else '0.0'}) "
            "/* share of a row's usual square: below, rank is nearly lost */\n"
        )


@dataclass(frozen=True)
class SimulationContext:
    """The context of the C files of a simulation, and of the templates of the extension module."""

    identity: Identity
    prefix: str  # of types and static functions
    macro: str  # the same in upper case
    nq: int
    nv: int  # number of velocities
    functions: tuple[str, ...]  # names of the functions that the integrators call
    calls: tuple[SimulationCall, ...]
    switching: SwitchContext | None = None  # of robots with sliding joints
    timed: bool = False  # whether the live parameter ``time`` follows the simulation: own terms depend on it
    controllers: bool = True  # whether there are some that follow a reference
    quaternions: tuple[int, ...] = ()  # where in q they start; with them, nv is less than nq
    rates: tuple[int, ...] = ()  # per coordinate the velocity beside it
    loops: KeptLoops | None = None  # of a robot with loops
    ground: int = 0  # number of points that touch a ground

    def _can(self, entry: Integrator) -> bool:
        """Whether a robot has what an integrator needs."""
        return set(entry.needs if self.loops is None else entry.needs_of_loops) <= set(self.functions)

    @property
    def constants(self) -> tuple[str, ...]:
        """Return the names of the constants of the simulation's header, without prefix."""
        return tuple(_CONSTANT.findall(method_files()[CONSTANTS] + source("simulate/robot_simulate.h")))

    def emission(self, *, real: str = "double", lanes: bool = False) -> Emission:
        """Return the emission of the simulation's C files, which may have another precision than the model."""
        features = {
            "QUATERNIONS": len(self.quaternions),
            "SLIDING": 0 if self.switching is None else self.switching.sliding,
            "REFRACTS": int(self.switching is not None and self.switching.refracts),
            "TIMED": int(self.timed),
            "SINGLE": int(real == "float"),
            "LANES": int(lanes),
            "CONTROLLERS": int(self.controllers),
            "GROUND": self.ground,
            "LOOPS": 0 if self.loops is None else len(self.loops.rows),
            "LOOP_ROWS": 0 if self.loops is None else self.loops.count,
            **{f"HAS_{name.upper()}": int(name in self.functions) for name in OPTIONAL},
            **{f"CAN_{entry.name.upper()}": int(self._can(entry)) for entry in INTEGRATORS if entry.needs},
        }
        calls = MotionCalls(self.calls, self.quaternions, self.identity.real != real, lanes)
        generated = {
            **method_files(),
            "robot_sim_calls.h": '#include "robot_sim_motion.h"\n\n' + fill("simulate/calls.h.j2", calls),
            "robot_sim_numbers.h": "",  # what its words mean is written out
            "robot_lanes_model.h": "",  # stands before what includes it
            **({"robot_lanes_simulate.h": '#include "eg_lanes_simulate.h"\n'} if lanes else {}),
            "robot_sim_loop_tables.h": "" if self.loops is None else self.loops.text,
            "robot_sim_rates.h": f"static const int robot_sim_rates[{self.nq}] = {{{', '.join(map(str, self.rates))}}};\n",
        }
        words = {} if lanes else {
            "robot_sim_motion_t": f"{self.prefix}_workspace_t",
            "robot_sim_state_t": real,
            "robot_sim_choice_t": "int",
            "robot_sim_place_t": "int",
        }  # fmt: skip
        return Emission(self.identity.name, real, features, origin(self.identity), generated, {**MODULE_WORDS, **words})

    @cached_property
    def declarations(self) -> dict[str, str]:
        """Return type declarations for cffi by subject, without #include and #if."""
        own = self.emission()
        sizes = {**own.words, "ROBOT_NQ": str(self.nq), "ROBOT_NV": str(self.nv)}
        emission = Emission("eg", "double", own.features, words=sizes)
        files = {
            "types": "robot_sim_types.h",
            "stops": "robot_sim_stops_types.h",
            "batch": "robot_sim_batch_types.h",
        }
        if self.switching is not None:
            files["switch"] = "robot_switch_types.h"
        return {subject: emission.part(file, set(files.values()) - {file}) for subject, file in files.items()}

    def module_part(self, file: str, *known: str) -> str:
        """Return a part of the extension module's own file; others are ``known`` by a header."""
        return self.emission().part(file, known)


def simulation_files(context: SimulationContext | None, *, single: bool = False) -> dict[str, str]:
    """Return the integrators in the model's own precision; ``single``: all in float, which the model must be, too."""
    if context is None:
        return {}
    emission = context.emission(real="float" if single else "double")
    name = context.identity.name
    files = {f"{name}_simulate.{kind}": emission.file(f"simulate/robot_simulate.{kind}") for kind in ("h", "c")}
    if context.switching is not None:
        files |= switch_files(context.switching, single=single)
    return files


def simulation_context(derivation: ModelDerivation, identity: Identity) -> SimulationContext | None:
    """Return the context of a simulation, or None if the equations of motion were not emitted."""
    functions = {function.name: function for function in derivation.functions if function.name in USED}
    nq, nv = len(derivation.coordinate_names), len(derivation.velocity_names)
    switching = switch_context(derivation, identity)
    sliding = len(derivation.selectors)
    if NEEDED not in functions or not all(_fits(function, nq, nv) for function in functions.values()):
        return None
    if derivation.robot.has_quasi_velocities and not {"configuration_rate", "integrate"} <= functions.keys():
        return None
    if sliding and switching is None:  # a state cannot go on beyond its element
        return None
    loops = _loops(derivation, identity)
    if loops is None:
        functions.pop("forward_dynamics_derivatives", None)
    elif not set(KEEPING) <= functions.keys():  # they could not be kept closed
        return None
    else:
        functions.pop("inverse_dynamics_derivatives", None)
        functions.pop("gravity_vector", None)
    if "inverse_dynamics" not in functions:  # the implicit method needs both
        functions.pop("inverse_dynamics_derivatives", None)
    if derivation.robot.has_quasi_velocities:  # no controllers that follow a reference
        functions.pop("gravity_vector", None)
        unused = ("inverse_dynamics", *(("integrate",) if loops is None else ()))
        if "inverse_dynamics_derivatives" not in functions:
            functions = {name: function for name, function in functions.items() if name not in unused}
    controllers = nv == nq and any(name in functions for name in ("inverse_dynamics", "gravity_vector"))
    prefix = f"{identity.name}_sim"
    return SimulationContext(
        identity=identity,
        prefix=prefix,
        macro=prefix.upper(),
        nq=nq,
        nv=nv,
        functions=tuple(functions),
        calls=tuple(model_call(function, "sim", sliding) for function in functions.values()),
        switching=switching,
        timed=TIME in derivation.robot.parameters and bool(derivation.robot.terms),
        controllers=controllers,
        quaternions=derivation.robot.quaternions,
        rates=_rates(derivation.robot),
        loops=loops,
        ground=len(derivation.robot.ground.points) if derivation.robot.ground is not None and GROUND in functions else 0,
    )


def _loops(derivation: ModelDerivation, identity: Identity) -> KeptLoops | None:
    known = derivation.loops
    if known is None:
        return None
    rows = tuple(sorted(pivot.row for pivot in known.choice.pivots))
    weights = tuple(1e-4 if elastic else 1.0 for elastic in derivation.elastic_coordinates)
    sizes = {pivot.row: pivot.size for pivot in known.choice.pivots}
    return KeptLoops(rows, len(known.rows), weights, identity.real == "float", tuple(sizes[row] for row in rows))


def _fits(function: Function, nq: int, nv: int) -> bool:
    """Whether a function takes vectors over all coordinates or velocities, as the integrators expect."""
    return all(argument.shape == ((nq,) if argument.name in POSITIONS else (nv,)) for argument in function.inputs)


def _rates(robot: Robot) -> tuple[int, ...]:
    """Return the velocity of every coordinate; w of a quaternion has that of z."""
    found: list[int] = []
    for place in range(len(robot.coordinates)):
        last = any(place == start + 3 for start in robot.quaternions)
        found.append(found[-1] if last else (found[-1] + 1 if found else 0))
    return tuple(found)
