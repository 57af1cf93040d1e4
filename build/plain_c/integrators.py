"""C that is made from the registry of integrators: their constants, and the choice among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from elastogen.runtime.interface.integrators import INTEGRATORS, Integrator

CONSTANTS, CHOICE = "robot_sim_method_constants.h", "robot_sim_methods.h"


def method_files(entries: Sequence[Integrator] = INTEGRATORS) -> dict[str, str]:
    """The two parts of a simulation by their names, for the sample robot."""
    return {CONSTANTS: _constants(entries), CHOICE: _choice(entries)}


def _constants(entries: Sequence[Integrator]) -> str:
    width = max(len(entry.name) for entry in entries)
    lines = [f"#define {_constant(e):<{width + 17}} {e.number} /* {e.doc} */" for e in entries]
    return _guarded(CONSTANTS, "Part of robot_simulate.h: the integrators.", lines)


def _choice(entries: Sequence[Integrator]) -> str:
    equal, adaptive = ([e for e in entries if e.adaptive == own] for own in (False, True))
    keeping = [e for e in entries if e.keeps]
    lines = ['#include "robot_sim_slope.h"']
    for entry in entries:
        lines += _where(entry, [f'#include "robot_sim_{entry.name}.h"'])
    lines += [
        "",
        *_predicate("adaptive", "Whether a method chooses the lengths of its steps.", [e for e in entries if e.adaptive]),
        *_predicate("implicit", "Whether a method solves equations in each step.", [e for e in entries if e.implicit]),
        *_predicate("tolerant", "Whether a method looks at the tolerances.", [e for e in entries if e.tolerances]),
        *_function(
            "Before a step: what the method needs to know of the present state; returns the motions in which that succeeds.",
            "unsigned robot_sim_start(robot_sim_motion_t *w)",
            "unsigned good = ROBOT_SIM_EVERY;",
            keeping,
            lambda e: f"good = robot_sim_{e.name}_begin(w);",
            "return good;",
        ),
        *_function(
            "A step of length h into w->trial, of the open motions; returns those in which it succeeds.",
            "unsigned robot_sim_take(robot_sim_motion_t *w, robot_scalar_t h, robot_scalar_t after, unsigned open)",
            "unsigned good = 0u;",
            [*equal, *adaptive],
            lambda e: f"good = robot_sim_{e.name}(w, h, after, open);",
            "return good;",
        ),
        *_function(
            "The step was taken over.", "void robot_sim_took(robot_sim_motion_t *w)", "", keeping,
            lambda e: f"robot_sim_{e.name}_took(w);", "",
        ),
        "#if ROBOT_SLIDING || ROBOT_GROUND",
        *_function(
            "The last step is taken again: back to where it started from.",
            "void robot_sim_back(robot_sim_motion_t *w)", "", keeping, lambda e: f"robot_sim_{e.name}_back(w);", "",
        )[:-1],
        "#endif",
        "",
        "#if !ROBOT_LANES",
        *_function(
            "Steps of a method that chooses their lengths, one of them accepted, up to a limit; returns a status.",
            "int robot_sim_up_to(robot_sim_motion_t *w, robot_scalar_t limit)", "int status = ROBOT_SIM_STATUS_ARGUMENT;",
            adaptive, lambda e: f"status = robot_sim_{e.name}_up_to(w, limit);", "return status;",
        ),
        *_function(
            "The state at a time within the last step, into w->trial.",
            "void robot_sim_dense(robot_sim_motion_t *w, robot_scalar_t t)", "", adaptive,
            lambda e: f"robot_sim_{e.name}_dense(w, t);", "",
        )[:-1],
        "#endif",
    ]  # fmt: skip
    return _guarded(CHOICE, "Part of robot_simulate.c: the choice among the integrators.", lines)


def _constant(entry: Integrator) -> str:
    return f"ROBOT_SIM_METHOD_{entry.name.upper()}"


def _where(entry: Integrator, lines: list[str]) -> list[str]:
    """Lines for robots that have what an integrator needs; those with steps of their own go on alone."""
    needed = [*([f"ROBOT_CAN_{entry.name.upper()}"] if entry.needs else []), *(["!ROBOT_LANES"] if entry.adaptive else [])]
    return [f"#if {' && '.join(needed)}", *lines, "#endif"] if needed else lines


def _predicate(name: str, doc: str, entries: Sequence[Integrator]) -> list[str]:
    condition = " || ".join(f"(method == {_constant(entry)})" for entry in entries) or "0"
    unused = [] if entries else ["    (void)method;"]
    return [
        "#if !ROBOT_LANES",
        f"/* {doc} */",
        f"static int robot_sim_is_{name}(int method)",
        "{",
        *unused,
        f"    return {condition};",
        "}",
        "#endif",
        "",
    ]


def _function(
    doc: str, head: str, first: str, entries: Sequence[Integrator], call: Callable[[Integrator], str], last: str
) -> list[str]:
    cases = []
    for entry in entries:
        cases += _where(entry, [f"    case {_constant(entry)}:", f"        {call(entry)}", "        break;"])
    body = ["    switch (w->options->method) {", *cases, "    default:", "        break;", "    }"]
    return [
        f"/* {doc} */",
        f"static {head}",
        "{",
        *([f"    {first}"] if first else []),
        *body,
        *([f"    {last}"] if last else []),
        "}",
        "",
    ]


def _guarded(file: str, brief: str, lines: Sequence[str]) -> str:
    guard = file.replace(".", "_").upper()
    return "\n".join([f"/* {brief} */", f"#ifndef {guard}", f"#define {guard}", "", *lines, "", f"#endif /* {guard} */", ""])
