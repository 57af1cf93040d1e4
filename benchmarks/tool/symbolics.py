"""What carries the recursions: one Newton-Euler recursion on SymPy and on our graph.

Run: python -m benchmarks.tool.symbolics [ROBOT]    (a chain of revolute joints; puma560 unless named)
     python -m benchmarks.tool.symbolics --default-functions [ROBOT]    (any robot: all default functions on both carriers)
     python -m benchmarks.tool.symbolics --agreement [ROBOT ...]    (all built-in robots: differences and operations of both)

The same textbook recursion (outward twists, inward wrenches) runs on SymPy scalars and on values of a graph. On SymPy it is
timed twice: every intermediate gets a name (as in SYMORO, expressions stay small), and without names, followed
by ``sympy.cse``, which is what most generators do. Times are CPU seconds, the smallest of three runs.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import sympy

import elastogen
from elastogen.generator.description.files import builtin_names
from elastogen.generator.functions.derivation import derive_model
from elastogen.generator.program.graph import Graph, Op
from elastogen.generator.robot.expressions import nominal
from elastogen.generator.robot.robot import Body, Robot

Vector = list[Any]
RUNS = 3


class Sympy:
    """SymPy scalars; with ``named``, whatever is computed becomes a symbol."""

    def __init__(self, named: bool) -> None:
        self.named = named
        self.assigned: list[tuple[Any, Any]] = []

    def input(self, name: str) -> Any:
        """A variable."""
        return sympy.Symbol(name)

    def name(self, value: Any) -> Any:
        """The value, by a name of its own where this carrier names values."""
        if not self.named or not (value.args and value.free_symbols):
            return value
        symbol = sympy.Symbol(f"t{len(self.assigned)}")
        self.assigned.append((symbol, value))
        return symbol

    def sin(self, x: Any) -> Any:
        """Sine."""
        return self.name(sympy.sin(x))

    def cos(self, x: Any) -> Any:
        """Cosine."""
        return self.name(sympy.cos(x))

    def operations(self, forces: Vector) -> int:
        """How many operations compute the forces."""
        if not self.named:
            assigned, forces = sympy.cse(forces)
            return int(sympy.count_ops([*(value for _, value in assigned), *forces]))
        return int(sympy.count_ops([*(value for _, value in self.assigned), *forces]))


class Ours:
    """Values of a hash-consed graph: equal expressions are one node, zeros and constants fold."""

    def __init__(self) -> None:
        self.graph = Graph()
        self.input, self.sin, self.cos = self.graph.input, self.graph.sin, self.graph.cos

    def name(self, value: Any) -> Any:
        """The value, by a name of its own where this carrier names values."""
        return value

    def operations(self, forces: Vector) -> int:
        """How many operations compute the forces."""
        refs = [self.graph.as_ref(force) for force in forces]
        return sum(self.graph.op[node] > Op.INPUT for node in self.graph.cone(refs))


def newton_euler(robot: Robot, on: Sympy | Ours) -> Vector:
    """F of a chain of revolute joints: velocities and accelerations outward, forces and moments inward."""
    n = len(robot.joints)
    q, qd, qdd = ([on.input(f"{name}{i}") for i in range(n)] for name in ("q", "qd", "qdd"))

    def named(vector: Vector) -> Vector:
        return [on.name(x) for x in vector]

    def cross(a: Vector, b: Vector) -> Vector:
        return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]

    def plus(*vectors: Vector) -> Vector:
        return [sum(parts[1:], parts[0]) for parts in zip(*vectors, strict=True)]

    def times(matrix: list[Vector], vector: Vector) -> Vector:
        return [row[0] * vector[0] + row[1] * vector[1] + row[2] * vector[2] for row in matrix]

    zero = [0 * q[0]] * 3
    omega, epsilon, a = zero, zero, [-g + 0 * q[0] for g in numbers(robot.gravity)]
    frames: list[tuple[list[Vector], Vector, Vector, Vector]] = []  # R and p in the parent, force and moment of the body
    for i, joint in enumerate(robot.joints):
        before, after, axis = numbers(joint.before), numbers(joint.after), numbers(joint.axis)
        R = rotated(before[:3][:, :3], axis, on.sin(q[i]), on.cos(q[i]), after[:3][:, :3])
        inward, p = [list(column) for column in zip(*R, strict=True)], [float(x) for x in before[:3, 3]]
        z = [float(x) for x in after[:3][:, :3].T @ axis]
        a = named(times(inward, plus(a, cross(epsilon, p), cross(omega, named(cross(omega, p))))))
        spin = [x * qd[i] for x in z]
        carried = named(times(inward, omega))
        epsilon = named(plus(times(inward, epsilon), [x * qdd[i] for x in z], cross(carried, spin)))
        omega = named(plus(carried, spin))
        body = robot.links[i + 1].body
        com, inertia = [float(x) for x in numbers(body.com)], numbers(body.inertia).tolist()
        acceleration = named(plus(a, cross(epsilon, com), cross(omega, named(cross(omega, com)))))
        force = named([float(body.mass) * x for x in acceleration])
        moment = named(plus(times(inertia, epsilon), cross(omega, named(times(inertia, omega))), cross(com, force)))
        frames.append((R, p, force, moment))
    forces: Vector = [None] * n
    outer_force, outer_moment = zero, zero
    for i in reversed(range(n)):
        R, p, force, moment = frames[i]
        force, moment = named(plus(force, outer_force)), named(plus(moment, outer_moment))
        axis = [float(x) for x in numbers(robot.joints[i].after)[:3][:, :3].T @ numbers(robot.joints[i].axis)]
        forces[i] = sum((x * y for x, y in zip(axis[1:], moment[1:], strict=True)), axis[0] * moment[0])
        outer_force = named(times(R, force))
        outer_moment = named(plus(times(R, moment), cross(p, outer_force)))
    return forces


def rotated(before: Any, axis: Any, sine: Any, cosine: Any, after: Any) -> list[Vector]:
    """R = before * (rotation about the axis) * after, by Rodrigues: every entry is a number + c cos q + s sin q."""
    skew = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    along = np.outer(axis, axis)
    parts = [np.round(before @ part @ after, 14) for part in (along, np.eye(3) - along, skew)]
    return [[float(parts[0][i, j]) + float(parts[1][i, j]) * cosine + float(parts[2][i, j]) * sine for j in range(3)]
            for i in range(3)]  # fmt: skip


def without_live_parameters(robot: Robot) -> Robot:
    """The robot without payload, its gravity a number."""
    gravity = tuple(nominal(value, robot.parameters) for value in robot.gravity)
    return replace(robot, gravity=gravity, payload=Body(), parameters={})


def numbers(values: Any) -> Any:
    return np.array(values, dtype=float)


def timed(run: Callable[[], int]) -> Iterator[float | int]:
    """Seconds, then what it counted."""
    results = []
    for _ in range(RUNS):
        start = time.process_time()
        operations = run()
        results.append((time.process_time() - start, operations))
    yield from min(results)


def whole_models(robot: Robot) -> None:
    """Time the derivation of all default functions by the graph and by SymPy."""
    for derivation in ("graph", "sympy"):

        def run(derivation: str = derivation) -> int:
            functions = derive_model(robot, derivation=derivation).functions
            return sum(function.program.count.total for function in functions)

        seconds, operations = timed(run)
        print(f"  {derivation:<52} {seconds:8.3f} s   {operations:6d} operations")


def agreement(names: list[str]) -> None:
    """Compare both carriers in all default functions: the largest difference, of the largest entry, and operations."""
    print("robot                functions   difference   in                      operations  worst  CPU s, graph  sympy")
    for name in names:
        robot, rng, found = elastogen.load(name), np.random.default_rng(1), []
        for derivation in ("graph", "sympy"):
            start = time.process_time()
            found.append((derive_model(robot, derivation=derivation).functions, time.process_time() - start))
        (ours, quick), (theirs, slow) = found
        parameters = {parameter.name: parameter.value for parameter in robot.live_parameters}
        differences, ratios = [], []
        for one, other in zip(ours, theirs, strict=True):
            given = {argument.name: rng.uniform(-1, 1, argument.shape) for argument in one.program.inputs}
            expected, values = (each.program.evaluate(given, parameters) for each in (one, other))
            for key, value in expected.items():
                away = np.abs(values[key] - value).max(initial=0.0) / np.abs(value).max(initial=1e-3)
                differences.append((float(away), one.name))
            ratios.append(other.program.count.total / max(one.program.count.total, 1))
        most, where = max(differences)
        totals = [sum(function.program.count.total for function in each) for each in (theirs, ours)]
        row = f"{robot.name:20s} {len(ours):9d} {most:12.1e}   {where:24s} {totals[0] / max(totals[1], 1):9.3f}"
        print(f"{row} {max(ratios):6.2f} {quick:13.2f} {slow:6.2f}", flush=True)


def main(arguments: list[str] | None = None) -> None:
    """Time the recursion on every carrier and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("robots", nargs="*", metavar="ROBOT")
    parser.add_argument("--default-functions", action="store_true")
    parser.add_argument("--agreement", action="store_true")
    warnings.simplefilter("ignore")
    chosen = parser.parse_args(arguments)
    if chosen.agreement:
        agreement(chosen.robots or builtin_names())
        return
    first = chosen.robots[0] if chosen.robots else "puma560"
    if chosen.default_functions:
        whole_models(elastogen.load(first))
        return
    robot = without_live_parameters(elastogen.load(first))
    if any(joint.type.name != "revolute" for joint in robot.joints) or robot.live_parameters:
        sys.exit(f"{robot.name}: expected a chain of revolute joints whose links have no live parameters, such as puma560")

    def on(carrier: Callable[[], Sympy | Ours]) -> Callable[[], int]:
        def run() -> int:
            here = carrier()
            return here.operations(newton_euler(robot, here))

        return run

    formulations = {
        "SymPy, every intermediate named": on(lambda: Sympy(named=True)),
        "SymPy, whole expressions, then cse": on(lambda: Sympy(named=False)),
        "our graph": on(Ours),
        "our graph: all frame assignments and formulations, factors taken out": lambda: derive_model(
            robot, ["inverse_dynamics"]
        ).functions[0].program.count.total,
    }  # fmt: skip
    print(f"inverse dynamics of {robot.name}: {len(robot.joints)} revolute joints")
    for name, run in formulations.items():
        seconds, operations = timed(run)
        print(f"  {name:<52} {seconds:8.3f} s   {operations:6d} operations")


if __name__ == "__main__":
    main()
