"""A user's own function as the controller of a loop: the C that calls it with what the loop sees."""

from __future__ import annotations

from dataclasses import dataclass

from elastogen.build.files.templating import fill
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.robot.errors import OutputError
from elastogen.generator.robot.robot import Robot

SEEN = ("q", "qd", "q_ref", "qd_ref", "qdd_ref", "F_ref")  # fields of a loop's view, one number per coordinate each


@dataclass(frozen=True)
class OwnControllerContext:
    """For ``loop/own_controller.c.j2``."""

    robot: str
    function: str
    arguments: tuple[str, ...]
    can_fail: bool


def own_controller(robot: Robot, name: str) -> str:
    """C text that defines ``user_controller``; refuses functions that a loop cannot serve."""
    known = {function.name: function for function in robot.functions}
    if name not in known:
        raise OutputError(f"controller: {robot.name} has no own function {name!r}. Fix: robot.with_function({name!r}, ...)")
    nq, function = len(robot.coordinates), known[name]
    for key, shape in function.inputs.items():
        if key not in SEEN or shape != (nq,):
            raise OutputError(f"controller {name}: its input {key} {shape} is not of {', '.join(SEEN)} with {nq} numbers each")
    if list(function.outputs) != ["F"] or function.outputs["F"].shape != (nq,) or "qdd" in function.state:
        raise OutputError(f"controller {name}: expected one output F of {nq} numbers, from what a loop sees: {', '.join(SEEN)}")
    (derived,) = derive_model(robot, (name,)).functions
    context = OwnControllerContext(robot.name, name, (*function.state, *function.inputs), derived.can_fail)
    return fill("loop/own_controller.c.j2", context)
