"""The recursion with which benchmarks/tool/symbolics.py compares SymPy and our graph computes the forces of the robot."""

from __future__ import annotations

import numpy as np

import elastogen
from benchmarks.tool.symbolics import Ours, Sympy, newton_euler, without_live_parameters
from elastogen.generator.functions.derivation import derive_model


def test_sympy_and_graph_give_the_forces_of_the_catalogue() -> None:
    """Its carriers compute the same forces as the catalogue's program: two recursions written apart."""
    robot = without_live_parameters(elastogen.load("puma560"))
    (function,) = derive_model(robot, ["inverse_dynamics"]).functions
    rng = np.random.default_rng(5)
    motion = {name: rng.normal(size=6) for name in ("q", "qd", "qdd")}
    expected = next(iter(function.evaluate(motion).values()))
    given = {f"{name}{k}": value for name, values in motion.items() for k, value in enumerate(values)}
    on_sympy = Sympy(named=True)
    forces = newton_euler(robot, on_sympy)
    for symbol, value in on_sympy.assigned:
        given[symbol.name] = eval(str(value), {"sin": np.sin, "cos": np.cos}, given)
    np.testing.assert_allclose([eval(str(force), {}, given) for force in forces], expected, rtol=0, atol=1e-10)
    ours, named = Ours(), on_sympy.operations(forces)
    assert function.program.count.total < ours.operations(newton_euler(robot, ours)) < named
