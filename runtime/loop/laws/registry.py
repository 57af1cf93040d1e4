"""The controllers of a loop, one entry each: Python, the emitted C, the command line and the docs read them here."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elastogen.runtime.loop.controllers import Controller


@dataclass(frozen=True)
class Law:
    """A controller: its name, the class that holds its gains, its equation; its C is a file of its name.

    ``templates/loop/control/robot_loop_<name>.h`` defines ``int robot_loop_<name>(void *context, const robot_loop_view_t *view,
    robot_real_t *F)`` and may call, as ``robot_loop_call_<function>``, the functions of the model that ``needs`` names beside
    gravity_vector, inverse_dynamics and, where something has no drive, elastic_inverse_dynamics.
    """

    name: str
    kind: str  # module:class, imported when it is first asked for
    equation: str
    in_c: bool = True  # False: the user's own, not emitted
    needs: tuple[str, ...] = ()
    on_command_line: bool = True  # whether kp and kd are all that it asks for

    def load(self) -> type[Controller]:
        """The class that holds its gains."""
        module, _, name = self.kind.partition(":")
        found: type[Controller] = getattr(importlib.import_module(module), name)
        return found


_OWN = "elastogen.runtime.loop.controllers"
LAWS: tuple[Law, ...] = (
    Law(
        "pd_gravity",
        f"{_OWN}:PDGravity",
        "PD with gravity compensation, F = G(q) + kp e + kd de/dt + F_ref.",
    ),
    Law(
        "computed_torque",
        f"{_OWN}:ComputedTorqueLaw",
        "inverse dynamics of qdd_ref + kp e + kd de/dt at the measured state, + F_ref.",
    ),
    Law(
        "feedforward",
        f"{_OWN}:Feedforward",
        "inverse dynamics of the reference + kp e + kd de/dt + F_ref; elastic coordinates in the equilibrium of the reference "
        "motion and of their own inertia forces, moving with it.",
    ),
    Law(
        "state_feedback",
        f"{_OWN}:StateFeedback",
        "F = F_ref - K (q - q_ref, qd - qd_ref), with the inverse dynamics of the reference if asked.",
        on_command_line=False,
    ),
    Law(
        "scheduled_feedback",
        "elastogen.runtime.loop.laws.scheduled_feedback:ScheduledFeedback",
        "state_feedback with K(q) from a table over the workspace, context: robot_loop_schedule_t, interpolated linearly.",
        on_command_line=False,
    ),
    Law(
        "gravity_friction",
        "elastogen.runtime.loop.laws.gravity_friction:GravityFriction",
        "gravity and friction compensation, F = G(q) + friction(qd_ref) + kp e + kd de/dt + F_ref.",
        needs=("friction_forces",),
    ),
    Law("user", f"{_OWN}:UserController", "a function of the user's own.", in_c=False),
)


def emitted() -> tuple[Law, ...]:
    """Those that every loop has in C."""
    return tuple(law for law in LAWS if law.in_c)


class Kinds(Mapping[str, Any]):
    """Classes of controllers by name."""

    def __getitem__(self, name: str) -> type[Controller]:
        return next(law for law in LAWS if law.name == name).load() if name in list(self) else _missing(name)

    def __iter__(self) -> Iterator[str]:
        return (law.name for law in LAWS)

    def __len__(self) -> int:
        return len(LAWS)


def _missing(name: str) -> type[Controller]:
    raise KeyError(name)
