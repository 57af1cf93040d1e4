"""Aligator: its C++ library on the action models of the bridge to Crocoddyl, by its own wrapper of them.

Its Python package is not on PyPI (a project of that name there prints nested lists); what calls its library here stands for it.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import subprocess
import sys
import sysconfig
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from simulated_robots import FLOATING

import elastogen

SOURCE = Path(__file__).resolve().parents[2] / "helpers" / "devices" / "aligator" / "aligator_solver.cpp"
DEFINED = ("ENABLE_TEMPLATE_INSTANTIATION", "WITH_PINOCCHIO", "PINOCCHIO_V4", "WITH_CROCODDYL_COMPAT")


@pytest.fixture(scope="module")
def crocoddyl() -> ModuleType:
    return pytest.importorskip("crocoddyl", reason="Crocoddyl is not installed: make bridges", exc_type=ImportError)


@pytest.fixture(scope="module")
def aligator(crocoddyl: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    prefix = next(folder for folder in Path(crocoddyl.__file__).parents if (folder / "include" / "crocoddyl").is_dir())
    if not (prefix / "include" / "aligator").is_dir():
        pytest.skip("aligator's library is not installed: make bridges")
    library = tmp_path_factory.mktemp("aligator") / "aligator_solver.so"
    include = [sysconfig.get_path("include"), np.get_include(), prefix / "include", prefix / "include" / "eigen3"]
    linked = ["aligator", "aligator_croc_compat", "crocoddyl", "eigenpy", "fmt", f"boost_python3{sys.version_info.minor}"]
    command = [
        "c++", "-O0", "-std=c++17", "-fPIC", "-shared", *(f"-DALIGATOR_{each}" for each in DEFINED),
        *(f"-isystem{folder}" for folder in include), str(SOURCE), "-o", str(library), f"-L{prefix / 'lib'}",
        *(f"-l{each}" for each in linked), "-Wl,--allow-shlib-undefined", f"-Wl,-rpath,{prefix / 'lib'}",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    loader = importlib.machinery.ExtensionFileLoader("aligator_solver", str(library))
    module = importlib.util.module_from_spec(importlib.machinery.ModuleSpec("aligator_solver", loader, origin=str(library)))
    loader.exec_module(module)
    return module


def with_costs(crocoddyl: ModuleType, action, goal, weight: float) -> None:
    state, nu, costs = action.state, action.nu, action.differential.costs
    away, forces = crocoddyl.ResidualModelState(state, goal, nu), crocoddyl.ResidualModelControl(state, nu)
    costs.addCost("goal", crocoddyl.CostModelResidual(state, away), weight)
    costs.addCost("forces", crocoddyl.CostModelResidual(state, forces), 1e-3)


@pytest.mark.parametrize("robot", ["two_link", FLOATING, "four_bar"], ids=["fixed", "floating", "loops"])
def test_derivatives_are_those_of_differences(crocoddyl: ModuleType, aligator: ModuleType, robot) -> None:
    """Of the next state and of the cost, along aligator's manifold of the state; differences of eighth order."""
    model = elastogen.build_model(robot)
    action = model.to_crocoddyl(dt=0.02, integrator="rk4")
    state, rng = action.state, np.random.default_rng(1)
    with_costs(crocoddyl, action, state.zero(), 1.0)
    x, u = state.integrate(state.zero(), rng.uniform(-0.3, 0.3, state.ndx)), rng.uniform(-1, 1, action.nu)
    if model.metadata.loops is not None:
        x[: model.nq] = model.close_loops([0.6, -2.5, -3.3])
    after, by_x, by_u, cost_by_x, cost_by_u = aligator.derivatives(action, x, u)
    data = action.createData()
    action.calc(data, x, u)
    assert np.array_equal(after, data.xnext)

    def moved(x, u) -> np.ndarray:
        action.calc(data, x, u)
        return np.append(state.diff(after, data.xnext), data.cost)

    def slopes(of, count: int, h: float = 2e-3) -> np.ndarray:
        weights = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))
        return np.transpose([sum(w * (of(n * h * e) - of(-n * h * e)) for n, w in weights) / h for e in np.eye(count)])

    for found, expected in (
        (np.vstack([by_x, cost_by_x]), slopes(lambda dx: moved(state.integrate(x, dx), u), state.ndx)),
        (np.vstack([by_u.reshape(state.ndx, -1), cost_by_u]), slopes(lambda du: moved(x, u + du), action.nu)),
    ):
        assert np.abs(found - expected).max() < 1e-8 * max(1.0, np.abs(expected).max())


def test_its_solver_finds_the_motion_of_crocoddyl(crocoddyl: ModuleType, aligator: ModuleType) -> None:
    """A two-link arm is brought to rest at a goal by ProxDDP, and by Crocoddyl's FDDP."""
    model, goal, start, steps = elastogen.build_model("two_link"), np.array([0.5, -0.3, 0.0, 0.0]), np.zeros(4), 40
    running, last = (model.to_crocoddyl(dt=0.02, integrator="rk4") for _ in range(2))
    with_costs(crocoddyl, running, goal, 0.1)
    with_costs(crocoddyl, last, goal, 1e3)
    problem = crocoddyl.ShootingProblem(start, [running] * steps, last)
    done, xs, us = aligator.solve(problem, 1e-8, 100)
    assert done
    assert np.abs(xs[-1] - goal).max() < 1e-3
    solver = crocoddyl.SolverFDDP(problem)
    assert solver.solve([start] * (steps + 1), [np.zeros(2)] * steps, 100, False)
    assert np.allclose(xs, list(solver.xs), rtol=0, atol=2e-5)
    assert np.allclose(us, list(solver.us), rtol=0, atol=2e-3)
