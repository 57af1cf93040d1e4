"""First and second derivatives through each bridge against differences in 60 digits of the function itself."""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from simulated_robots import BENDING, FLOATING

import elastogen
from elastogen.build.program import EmittedProgram
from elastogen.generator.functions.derivation import derive_model

NAME, STEP, TOLERANCE = "forward_dynamics", "1e-15", 1e-11
ROBOTS = {"two_link": "two_link", "flexible": BENDING, "floating": FLOATING}


class Expected:
    """L = w^T y(x) of a robot near a state, unit quaternions made so in 60 digits; its gradient, and that along v."""

    def __init__(self, model: elastogen.Model, source, live: bool, unit: bool) -> None:
        robot, rng = elastogen.load(source), np.random.default_rng(7)
        (function,) = derive_model(robot, [NAME]).functions
        self._program, self._unit = EmittedProgram(robot, function), unit
        self._starts, self._names = model.metadata.quaternions, list(model.parameters)
        q = model.random_configuration(rng) if self._starts else rng.uniform(0.1, 0.4, model.nq)
        values = np.array([value + 0.05 for value in model.parameters.values()])
        self._values = values
        self.inputs = [q, *rng.uniform(-0.5, 0.5, (2, model.nv)), *([values] if live else [])]
        self.x = np.concatenate(self.inputs)
        self.w, self.v = rng.uniform(0.5, 1.0, model.nv), rng.uniform(-1, 1, len(self.x))
        self.splits = np.cumsum([len(each) for each in self.inputs])[:-1]
        with mpmath.workdps(60):
            self._h = mpmath.mpf(STEP)
            x = np.array([mpmath.mpf(float(each)) for each in self.x], dtype=object)
            self.gradient = self._along(self._of, x)
            self.second = self._along(
                lambda x: (self._of(x + self._h * self.v) - self._of(x - self._h * self.v)) / (2 * self._h), x
            )

    def _along(self, of: Callable[[np.ndarray], object], x: np.ndarray) -> np.ndarray:
        """D of / dx_k, for each k."""
        found = []
        for k in range(len(x)):
            ends = [x.copy(), x.copy()]
            ends[0][k] += self._h
            ends[1][k] -= self._h
            found.append(float((of(ends[0]) - of(ends[1])) / (2 * self._h)))
        return np.array(found)

    def _of(self, x: np.ndarray) -> object:
        q, qd, F, *live = np.split(x.copy(), self.splits)
        for start in self._starts if self._unit else ():
            q[start : start + 4] /= mpmath.sqrt(sum(q[start : start + 4] ** 2))
        values = dict(zip(self._names, live[0] if live else self._values, strict=True))
        return np.dot(self.w, np.ravel(self._program.evaluate(q, qd, F, parameters=values, digits=60)))


def through_torch(model: elastogen.Model, expected: Expected, live: bool) -> tuple[np.ndarray, np.ndarray]:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: make bridges", exc_type=ImportError)
    given = [torch.tensor(each, requires_grad=True) for each in expected.inputs]
    loss = torch.tensor(expected.w) @ model.to_torch(NAME, parameters=live)(*given)
    first = torch.autograd.grad(loss, given, create_graph=True)
    along = torch.cat(first) @ torch.tensor(expected.v)
    return tuple(torch.cat([*each]).detach().numpy() for each in (first, torch.autograd.grad(along, given)))


def through_jax(model: elastogen.Model, expected: Expected, live: bool) -> tuple[np.ndarray, np.ndarray]:
    jax = pytest.importorskip("jax", reason="JAX is not installed: make bridges", exc_type=ImportError)
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    try:
        function = model.to_jax(NAME, parameters=live)
        gradient = jax.grad(lambda x: expected.w @ function(*jax.numpy.split(x, expected.splits)))
        return tuple(map(np.asarray, jax.jvp(gradient, (jax.numpy.asarray(expected.x),), (jax.numpy.asarray(expected.v),))))
    finally:
        jax.config.update("jax_enable_x64", before)


def through_casadi(model: elastogen.Model, expected: Expected, live: bool) -> tuple[np.ndarray, np.ndarray]:
    ca = pytest.importorskip("casadi", reason="CasADi is not installed: make bridges")
    x = ca.MX.sym("x", len(expected.x))
    parts = ca.vertsplit(x, [0, *map(int, expected.splits), len(expected.x)])
    gradient = ca.gradient(ca.dot(ca.DM(expected.w), model.to_casadi(NAME, parameters=live)(*parts)), x)
    found = ca.Function("f", [x], [gradient, ca.jtimes(gradient, x, ca.DM(expected.v))])(expected.x)
    return tuple(np.array(each).ravel() for each in found)


BRIDGES = {
    "torch": (through_torch, True),
    "jax": (through_jax, True),
    "casadi": (through_casadi, False),
}  # whether q is made unit


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("bridge", BRIDGES)
def test_derivatives_are_those_of_many_digits(bridge: str, robot: str) -> None:
    pytest.importorskip(bridge, reason=f"{bridge} is not installed: make bridges", exc_type=ImportError)
    through, unit = BRIDGES[bridge]
    model = elastogen.build_model(ROBOTS[robot])
    live = robot == "two_link"
    expected = Expected(model, ROBOTS[robot], live, unit)
    if not live:
        model.parameters.update(dict(zip(model.parameters, expected._values, strict=True)))
    for found, exact in zip(through(model, expected, live), (expected.gradient, expected.second), strict=True):
        assert np.abs(found - exact).max() < TOLERANCE * np.abs(exact).max()
        assert np.abs(exact).max() > 1.0
