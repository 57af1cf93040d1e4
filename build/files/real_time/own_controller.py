"""User-defined functions as the controller of a loop: C that calls them with measurements and keeps their states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sympy

from elastogen.build.files.templating import fill
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.robot.errors import OutputError
from elastogen.generator.robot.own.functions import OwnFunction
from elastogen.generator.robot.own.states import NEXT, RATE
from elastogen.generator.robot.robot import Robot
from elastogen.runtime.interface.error import shortened

SEEN = ("q", "qd", "q_ref", "qd_ref", "qdd_ref", "F_ref")  # fields of a loop's view
LAST = "F_last"  # what the law gave in the last cycle, before limits


@dataclass(frozen=True)
class OwnState:
    """A state of the controller: its place in memory and its update."""

    name: str  # with the function before it
    first: int
    size: int
    initial: str  # numbers in C
    update: str  # the array that has its next value, or its rate
    integrated: bool


@dataclass(frozen=True)
class OwnCall:
    """A function of the chain."""

    function: str
    arguments: tuple[str, ...]
    outputs: tuple[tuple[str, int], ...]  # arrays and their sizes, but for F of the last function
    results: tuple[str, ...]  # all outputs in C
    can_fail: bool


@dataclass(frozen=True)
class OwnControllerContext:
    """For ``loop/own_controller.c.j2``."""

    robot: str
    calls: tuple[OwnCall, ...]
    states: tuple[OwnState, ...]
    numbers: int  # that are kept from cycle to cycle
    uses_last: bool
    nv: int


def own_names(controller: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names of a controller's functions in the order of their calls."""
    names = (controller,) if isinstance(controller, str) else tuple(controller) if isinstance(controller, Sequence) else ()
    if not all(isinstance(name, str) for name in names) or not (names or isinstance(controller, Sequence)):
        raise OutputError(f"controller: got {shortened(controller)}, expected names of the robot's own functions.")
    return names


def kept_numbers(robot: Robot, controller: str | Sequence[str]) -> int:
    """Return the number of values that the controller keeps from cycle to cycle."""
    context = own_context(robot, controller)
    return context.numbers


def own_controller(robot: Robot, controller: str | Sequence[str]) -> str:
    """Return C that defines ``user_controller``; functions that a loop cannot serve are refused."""
    return fill("loop/own_controller.c.j2", own_context(robot, controller))


def own_context(robot: Robot, controller: str | Sequence[str]) -> OwnControllerContext:
    """Return the context of the C text."""
    known = {function.name: function for function in robot.functions}
    names = own_names(controller)
    if not names:
        raise OutputError("controller: got no function, expected at least one.")
    for name in names:
        if name not in known:
            raise OutputError(
                f"controller: {robot.name} has no own function {shortened(name)}. Fix: robot.with_function(name, ...)"
            )
    if len(set(names)) < len(names):
        raise OutputError(f"controller: got {', '.join(names)}, expected each function once.")
    nq, nv = len(robot.coordinates), len(robot.velocities)
    sizes = {name: nq if name in ("q", "q_ref") else nv for name in (*SEEN, LAST)}
    given = {**{name: (f"view->{name}", sizes[name]) for name in SEEN}, LAST: ("law->last", nv)}
    states: list[OwnState] = []
    calls: list[OwnCall] = []
    place = 0
    derived = {function.name: function for function in derive_model(robot, names).functions}
    for name in names:
        function = known[name]
        own = {key: (f"law->z + {place + first}", size) for key, first, size in _places(function)}
        if "qdd" in function.state:
            raise OutputError(
                f"controller {name}: it takes qdd, which a loop does not measure. Fix: inputs of {', '.join(SEEN)}"
            )
        arguments = []
        for key in (*function.state, *function.inputs):
            size = {"q": nq, "qd": nv}.get(key) or int(sympy.prod(function.inputs[key]))
            source = own.get(key) or given.get(key)
            if source is None or source[1] != size:
                raise OutputError(_unknown(name, key, size, source, given))
            arguments.append(source[0])
        last = name == names[-1]
        outputs, results = [], []
        for key, block in function.outputs.items():
            size = len(block.elements)
            array = f"{name}_{key}"
            if last and key == "F":
                array = "F"
            else:
                outputs.append((array, size))
            results.append(array)
            given[key] = (array, size)
        if last and ("F" not in function.outputs or function.outputs["F"].shape != (nv,)):
            raise OutputError(f"controller {name}: expected an output F of {nv} numbers, one for each velocity.")
        for key, first, size in _places(function):
            integrated = f"{key}{RATE}" in function.outputs
            initial = ", ".join(f"({robot.name}_real_t){float(value)!r}" for value in function.initial[key])
            update = f"{name}_{key}{RATE if integrated else NEXT}"
            states.append(OwnState(f"{name}_{key}", place + first, size, initial, update, integrated))
        place += sum(size for _, _, size in _places(function))
        calls.append(OwnCall(name, tuple(arguments), tuple(outputs), tuple(results), derived[name].can_fail))
    uses_last = any(LAST in known[name].inputs for name in names)
    numbers = place + (nv if uses_last else 0)
    return OwnControllerContext(robot.name, tuple(calls), tuple(states), numbers, uses_last, nv)


def _places(function: OwnFunction) -> list[tuple[str, int, int]]:
    """Return the states of a function: name, first place, size."""
    found, first = [], 0
    for key, values in function.initial.items():
        found.append((key, first, len(values)))
        first += len(values)
    return found


def _unknown(name: str, key: str, size: int, source: tuple[str, int] | None, given: dict[str, tuple[str, int]]) -> str:
    if source is not None:
        return f"controller {name}: its input {key} has {size} numbers, expected {source[1]}"
    return (
        f"controller {name}: its input {key} is not of {', '.join(given)}, and no state of its own. Fix: states={{...}}, or a "
        "function before it in the chain with an output of that name"
    )
