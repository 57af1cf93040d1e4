"""The integrators: one entry here and one C file, ``templates/simulate/methods/robot_sim_<name>.h``, each.

Command line, files of experiments, checks of arguments, emitted constants and the choice in C are made from the entries. How to
add one: docs/architecture.md.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Integrator:
    """The properties of an integrator that other modules need."""

    name: str  # as users write it; in C the functions robot_sim_<name>, and the constant ROBOT_SIM_METHOD_<NAME>
    number: int  # value of the constant: it stays, for it is in the headers of users
    doc: str  # a few words for comments and help
    needs: tuple[str, ...] = ()  # functions of the model, beside forward_dynamics
    needs_of_loops: tuple[str, ...] = ()  # of a robot with loops, beside what all integrators need to keep these closed
    adaptive: bool = False  # chooses the lengths of its steps by their error: robot_sim_<name>_up_to, robot_sim_<name>_dense
    implicit: bool = False  # solves equations in each step: where that fails, the step is halved
    tolerances: bool = False  # whether it looks at rtol and atol
    keeps: bool = False  # keeps values from step to step: robot_sim_<name>_begin, _took and, for sliding joints, _back

    @property
    def first_step(self) -> float:
        """Return the default step [s]; 0: the integrator chooses it."""
        return 0.0 if self.adaptive else 1e-3


INTEGRATORS: tuple[Integrator, ...] = (
    Integrator("rk4", 0, "Runge-Kutta of order 4, equal steps"),
    Integrator("tsit5", 1, "Runge-Kutta of order 5(4), steps by error, dense output", adaptive=True, tolerances=True),
    Integrator(
        "generalized_alpha",
        2,
        "implicit, order 2, equal steps, damps fast vibrations",
        needs=("inverse_dynamics", "inverse_dynamics_derivatives"),
        needs_of_loops=("forward_dynamics_derivatives",),
        implicit=True,
        tolerances=True,
        keeps=True,
    ),
)
DEFAULT = "tsit5"


KEEPING = ("loop_residual", "loop_jacobian")
"""What every integrator needs to keep loops closed."""


def integrator(name: str) -> Integrator:
    """Return the entry of a known name."""
    return next(entry for entry in INTEGRATORS if entry.name == name)


def names(*, adaptive: bool | None = None) -> tuple[str, ...]:
    """Return names of all integrators, the default first, or of those with adaptive or with equal steps."""
    chosen = [entry for entry in INTEGRATORS if adaptive is None or entry.adaptive == adaptive]
    return tuple(entry.name for entry in sorted(chosen, key=lambda entry: (entry.name != DEFAULT, entry.number)))
