"""CasADi: functions of a model, and steps of its motion, as ``casadi.Function`` with exact derivatives to second order."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from elastogen.runtime.bridges.differentiable import Differentiable, target
from elastogen.runtime.bridges.joint_kinds import SIZES, parts_of
from elastogen.runtime.choices import flag, one_of
from elastogen.runtime.errors import ModelError
from elastogen.runtime.interface.error import shortened
from elastogen.runtime.real_numbers import number

if TYPE_CHECKING:
    from elastogen.runtime.model.maker import Maker
    from elastogen.runtime.model.model import Model

RHO_INF = 0.9  # as in simulations


def to_casadi(model: Model, maker: Maker | None, name: str, *, parameters: bool = False) -> Any:
    """The ``casadi.Function`` of ``name``, from a compiled library with Jacobian, adjoint and Hessian.

    Inputs and outputs are those of the function, as columns and matrices; with ``parameters`` the live parameters are the last
    input, without it they keep the values that they have now. Quaternions must be unit.
    """
    casadi = target("casadi", "casadi", (3, 6))
    if maker is None:
        raise ModelError(f"{model.name}.to_casadi: this model was loaded, not built. Fix: elastogen.build_model(robot).")
    if model.dtype != np.float64:
        raise ModelError(f"{model.name}.to_casadi: the model is in {model.dtype}, expected float64. Fix: precision='double'.")
    Differentiable(model, name, parameters)  # refuses what has no inputs or no live parameters
    library, function = maker.casadi(name, parameters, dict(model.parameters))
    return casadi.external(function, str(library))


def to_casadi_step(
    model: Model, maker: Maker | None, dt: float, *, method: str = "rk4", rho_inf: float = RHO_INF, parameters: bool = False
) -> Any:
    """A step of ``dt`` seconds, F held: ``casadi.Function`` (q, qd, F) to (q_next, qd_next), with exact derivatives.

    ``method`` is "rk4", of order 4, or "generalized_alpha", implicit, of order 2, with ``rho_inf`` of the highest frequencies
    left: for stiff robots. Its derivatives are those of the solution of its equations. Quaternions move along velocities.
    """
    casadi = target("casadi", "casadi", (3, 6))
    where = f"{model.name}.to_casadi_step"
    if number(f"{where}: dt", dt, "a positive number of seconds") <= 0:
        raise ModelError(f"{where}: dt={dt!r}, expected a positive number of seconds.")
    one_of(f"{where}: method", method, tuple(STEPS))
    if not 0 <= number(f"{where}: rho_inf", rho_inf, "a number from 0 to 1") <= 1:
        raise ModelError(f"{where}: rho_inf={shortened(rho_inf)}, expected a number from 0 to 1.")
    if model.metadata.loops is not None:
        raise ModelError(f"{where}: the robot has loops, which a step does not keep closed, expected a tree. Fix: to_casadi.")
    flag(f"{where}: parameters", parameters)
    live = [casadi.MX.sym("parameters", len(model.parameters))] if parameters else []
    q, qd, F = casadi.MX.sym("q", model.nq), casadi.MX.sym("qd", model.nv), casadi.MX.sym("F", model.nv)
    equations = _Equations(casadi, model, maker, live)
    moved = STEPS[method](equations, q, qd, F, float(dt), float(rho_inf))
    names = ["q", "qd", "F", *(["parameters"] if parameters else [])]
    return casadi.Function(f"{model.name}_step", [q, qd, F, *live], moved, names, ["q_next", "qd_next"])


class _Equations:
    """What steps are made of, in CasADi's symbols."""

    def __init__(self, casadi: Any, model: Model, maker: Maker | None, live: list[Any]) -> None:
        self.casadi, self.live, self.nv, self._parts = casadi, live, model.nv, parts_of(model)
        self._external: Callable[[str], Any] = lambda name: to_casadi(model, maker, name, parameters=bool(live))
        self._along: Any = None
        if model.metadata.quaternions:
            self._along = _with_jacobian(casadi, to_casadi(model, maker, "integrate"))
        self._forward = self._external("forward_dynamics")

    def along(self, q: Any, v: Any) -> Any:
        """The configuration that v leads to."""
        return q + v if self._along is None else self._along(q, v)

    def rates(self, q: Any, v: Any) -> Any:
        """dq/dt: of a quaternion half its product with the angular velocity, of a floating joint's position R v."""
        if self._along is None:
            return v
        found = []
        for part in self._parts:
            size = SIZES[part.kind][1]
            moved, at = v[part.v : part.v + size], part.q + (3 if part.kind == "free" else 0)
            if part.kind == "number":
                found.append(moved)
                continue
            vector, w, omega = q[at : at + 3], q[at + 3], moved[-3:]
            if part.kind == "free":
                across = 2 * self.casadi.cross(vector, moved[:3])
                found.append(moved[:3] + w * across + self.casadi.cross(vector, across))
            found += [(w * omega + self.casadi.cross(vector, omega)) / 2, -self.casadi.dot(vector, omega) / 2]
        return self.casadi.vertcat(*found)

    def unit(self, q: Any) -> Any:
        """The configuration with quaternions of length 1."""
        found = []
        for part in self._parts if self._along is not None else ():
            at = part.q + (3 if part.kind == "free" else 0)
            found.append(q[part.q : at])
            four = q[at : at + 4] if part.kind != "number" else q[at]
            found.append(four / self.casadi.norm_2(four) if part.kind != "number" else four)
        return self.casadi.vertcat(*found) if found else q

    def accelerations(self, q: Any, qd: Any, F: Any) -> Any:
        """qdd."""
        return self._forward(self.unit(q), qd, F, *self.live)

    def forces(self, q: Any, qd: Any, qdd: Any) -> Any:
        """F, by a function whose Jacobian has derivatives, too: those of Newton's matrix."""
        return _with_jacobian(self.casadi, self._external("inverse_dynamics"))(q, qd, qdd, *self.live)


def _with_jacobian(casadi: Any, external: Any) -> Any:
    """The external function of one output with a Jacobian whose rows are its gradients, which CasADi differentiates again."""
    inputs = [casadi.MX.sym(external.name_in(k), *external.size_in(k)) for k in range(external.n_in())]
    output, backward = casadi.MX.sym(f"out_{external.name_out(0)}", *external.size_out(0)), external.reverse(1)
    rows = [backward(*inputs, output, unit) for unit in casadi.horzsplit(casadi.MX(casadi.DM.eye(output.numel())))]
    blocks = [casadi.vertcat(*(casadi.vec(row[k]).T for row in rows)) for k in range(len(inputs))]
    names = [f"jac_{external.name_out(0)}_{name}" for name in external.name_in()]
    given = [*external.name_in(), f"out_{external.name_out(0)}"]
    jacobian = casadi.Function(f"jac_{external.name()}_rows", [*inputs, output], blocks, given, names)
    options = {"custom_jacobian": jacobian, "enable_forward": False}
    return casadi.Function(
        f"{external.name()}_rows", inputs, [external(*inputs)], external.name_in(), external.name_out(), options
    )


def _runge_kutta(of: _Equations, q: Any, v1: Any, F: Any, h: float, _: float) -> list[Any]:
    """In the numbers of q, as simulations do; quaternions are made unit at the end."""
    d1, a1 = of.rates(q, v1), of.accelerations(q, v1, F)
    v2 = v1 + h / 2 * a1
    q2 = q + h / 2 * d1
    d2, a2 = of.rates(q2, v2), of.accelerations(q2, v2, F)
    v3 = v1 + h / 2 * a2
    q3 = q + h / 2 * d2
    d3, a3 = of.rates(q3, v3), of.accelerations(q3, v3, F)
    v4 = v1 + h * a3
    q4 = q + h * d3
    d4, a4 = of.rates(q4, v4), of.accelerations(q4, v4, F)
    return [of.unit(q + h / 6 * (d1 + 2 * d2 + 2 * d3 + d4)), v1 + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)]


def _generalized_alpha(of: _Equations, q: Any, qd: Any, F: Any, h: float, rho: float) -> list[Any]:
    """In the form of Arnold and Bruls 2007, from consistent accelerations: its auxiliary one starts as qdd."""
    alpha_m, alpha_f = (2 * rho - 1) / (rho + 1), rho / (rho + 1)
    gamma = 0.5 - alpha_m + alpha_f
    beta = 0.25 * (gamma + 0.5) ** 2
    a, after = of.accelerations(q, qd, F), of.casadi.MX.sym("a", of.nv)

    def state(a: Any, after: Any, q: Any, qd: Any) -> tuple[Any, Any]:
        moved = of.along(q, h * qd + h * h * ((0.5 - beta) * a + beta * after))
        return moved, qd + h * ((1 - gamma) * a + gamma * after)

    known = [of.casadi.MX.sym(f"p{k}", *each.shape) for k, each in enumerate((a, q, qd, F))]
    q_next, qd_next = state(known[0], after, *known[1:3])
    qdd = ((1 - alpha_m) * after + (alpha_m - alpha_f) * known[0]) / (1 - alpha_f)
    left = of.forces(q_next, qd_next, qdd) - known[3]
    equation = {"x": after, "p": of.casadi.vertcat(*known, *of.live), "g": left}
    solved = of.casadi.rootfinder("end_of_step", "newton", equation, {"abstol": 1e-10, "abstolStep": 1e-12, "max_iter": 25})
    found = solved(x0=a, p=of.casadi.vertcat(a, q, qd, F, *of.live))["x"]
    return [*state(a, found, q, qd)]


STEPS: dict[str, Callable[..., list[Any]]] = {"rk4": _runge_kutta, "generalized_alpha": _generalized_alpha}
