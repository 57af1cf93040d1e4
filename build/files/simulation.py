"""What the simulation of a model is made of: which of its functions the integrators call, constants, signatures."""

from __future__ import annotations

from elastogen.build.files.contexts import Constant, Identity, Prototype, SimulationContext
from elastogen.build.files.switching import model_call, switch_context
from elastogen.generator.functions.derivation import ModelDerivation
from elastogen.generator.functions.function import Function
from elastogen.generator.program.arguments import POSITIONS
from elastogen.generator.robot.own.terms import TIME
from elastogen.generator.robot.robot import Robot

NEEDED = "forward_dynamics"
"""Without this function there is no simulation."""
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
)
"""What the integrators call where it was emitted."""
CONSTANTS = (
    Constant("METHOD_RK4", "0", "Runge-Kutta of order 4, equal steps"),
    Constant("METHOD_TSIT5", "1", "Runge-Kutta of order 5(4), steps by error, dense output"),
    Constant("METHOD_GENERALIZED_ALPHA", "2", "implicit, order 2, equal steps, damps fast vibrations"),
    Constant("INPUT_HOLD", "0", "forces of the last row"),
    Constant("INPUT_LINEAR", "1", "forces on the line between two rows"),
    Constant("INPUT_PD", "2", "PD control with gravity compensation on a reference"),
    Constant("INPUT_COMPUTED_TORQUE", "3", "computed torque on a reference"),
    Constant("INPUT_FUNCTION", "4", "a function of the caller"),
    Constant("STATUS_OK", "0", "reached the last sample"),
    Constant("STATUS_CANCELLED", "1", "control->cancel was set"),
    Constant("STATUS_SINGULAR", "(-1)", "the mass matrix is not positive definite"),
    Constant("STATUS_NOT_FINITE", "(-2)", "NaN or infinity"),
    Constant("STATUS_STEP_TOO_SMALL", "(-3)", "no step is small enough for the tolerances"),
    Constant("STATUS_NEWTON", "(-4)", "the iteration of an implicit step does not converge"),
    Constant("STATUS_FUNCTION", "(-5)", "the function of the input returned non-zero"),
    Constant("STATUS_OUT_OF_RANGE", "(-8)", "a sliding joint left its beam"),
    Constant("STATUS_EVENT", "(-6)", "the event function returned a negative number"),
    Constant("STATUS_ARGUMENT", "(-7)", "an option or a time is out of range, or the method needs other functions"),
)


def simulation_context(derivation: ModelDerivation, identity: Identity) -> SimulationContext | None:
    """Context of the simulation's templates; None where the equations of motion were not emitted."""
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
    if "inverse_dynamics" not in functions:  # the implicit method needs both
        functions.pop("inverse_dynamics_derivatives", None)
    if derivation.robot.has_quasi_velocities:  # no controllers that follow a reference
        functions.pop("gravity_vector", None)
        if "inverse_dynamics_derivatives" not in functions:
            functions = {
                name: function for name, function in functions.items() if name not in ("inverse_dynamics", "integrate")
            }
    prefix = f"{identity.name}_sim"
    own, module = f"const {identity.name}_params_t *p", "const eg_real_t *params"
    return SimulationContext(
        identity=identity,
        prefix=prefix,
        macro=prefix.upper(),
        nq=nq,
        nv=nv,
        nv_macro=f"{prefix.upper()}_{'NQ' if nv == nq else 'NV'}",
        functions=tuple(functions),
        calls=tuple(model_call(function, identity.name, prefix, sliding) for function in functions.values()),
        constants=CONSTANTS,
        simulate=Prototype("int", f"{identity.name}_simulate", _simulate_parameters(own, prefix)),
        force=Prototype("int", f"{identity.name}_simulate_input", _force_parameters(own, prefix)),
        module_simulate=Prototype("int", "eg_simulate", _simulate_parameters(module, "eg_sim")),
        module_force=Prototype("int", "eg_simulate_input", _force_parameters(module, "eg_sim")),
        switching=switching,
        held=", w->k" if sliding else "",
        timed=TIME in derivation.robot.parameters and bool(derivation.robot.terms),
        controllers=nv == nq and any(name in functions for name in ("inverse_dynamics", "gravity_vector")),
        quaternions=derivation.robot.quaternions,
        rates=_rates(derivation.robot),
    )


def _fits(function: Function, nq: int, nv: int) -> bool:
    """Whether a function takes vectors over all coordinates or velocities, as the integrators expect."""
    return all(argument.shape == ((nq,) if argument.name in POSITIONS else (nv,)) for argument in function.inputs)


def _rates(robot: Robot) -> tuple[int, ...]:
    """For every coordinate the velocity beside it; w of a quaternion stands with z."""
    found: list[int] = []
    for place in range(len(robot.coordinates)):
        last = any(place == start + 3 for start in robot.quaternions)
        found.append(found[-1] if last else (found[-1] + 1 if found else 0))
    return tuple(found)


def _simulate_parameters(parameters: str, prefix: str) -> tuple[str, ...]:
    return (
        parameters,
        f"const {prefix}_input_t *input",
        f"const {prefix}_options_t *options",
        "const double *q0",
        "const double *qd0",
        "size_t samples",
        "const double *times",
        f"const {prefix}_record_t *record",
        f"{prefix}_workspace_t *workspace",
        f"{prefix}_control_t *control",
    )


def _force_parameters(parameters: str, prefix: str) -> tuple[str, ...]:
    return (
        parameters,
        f"const {prefix}_input_t *input",
        "double t",
        "const double *q",
        "const double *qd",
        "double *F",
        f"{prefix}_workspace_t *workspace",
    )
