"""CasADi: functions of a model, and steps of its motion, as ``casadi.Function`` with exact derivatives to second order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elastogen.runtime.bridges.differentiable import Differentiable, target
from elastogen.runtime.errors import ModelError
from elastogen.runtime.real_numbers import number

if TYPE_CHECKING:
    from elastogen.runtime.model.maker import Maker
    from elastogen.runtime.model.model import Model


def to_casadi(model: Model, maker: Maker | None, name: str, *, parameters: bool = False) -> Any:
    """The ``casadi.Function`` of ``name``, from a compiled library with Jacobian, adjoint and Hessian.

    Inputs and outputs are those of the function, as columns and matrices; with ``parameters`` the live parameters are the last
    input, without it they keep the values that they have now. Quaternions must be unit.
    """
    casadi = target("casadi", "casadi", (3, 6))
    if maker is None:
        raise ModelError(f"{model.name}.to_casadi: this model was loaded, not built. Fix: elastogen.build_model(robot).")
    Differentiable(model, name, parameters)  # refuses what has no inputs or no live parameters
    library, function = maker.casadi(name, parameters, dict(model.parameters))
    return casadi.external(function, str(library))


def to_casadi_step(model: Model, maker: Maker | None, dt: float, *, parameters: bool = False) -> Any:
    """A step of ``dt`` seconds by Runge-Kutta's method of order 4: ``casadi.Function`` (q, qd, F) to (q_next, qd_next).

    F is held. Its stages are calls of the external ``forward_dynamics``, so that derivatives to second order are exact.
    """
    casadi = target("casadi", "casadi", (3, 6))
    where = f"{model.name}.to_casadi_step"
    if number(f"{where}: dt", dt, "a positive number of seconds") <= 0:
        raise ModelError(f"{where}: dt={dt!r}, expected a positive number of seconds.")
    if model.metadata.quaternions or model.metadata.loops is not None:
        kind = "quaternions" if model.metadata.quaternions else "loops"
        raise ModelError(
            f"{where}: the robot has {kind}, expected coordinates that are added to. Fix: to_casadi, to_crocoddyl."
        )
    forward, h = to_casadi(model, maker, "forward_dynamics", parameters=parameters), float(dt)
    q, v1, F = (casadi.MX.sym(name, model.nv) for name in ("q", "qd", "F"))
    live = [casadi.MX.sym("parameters", len(model.parameters))] if parameters else []
    a1 = forward(q, v1, F, *live)
    v2 = v1 + h / 2 * a1
    a2 = forward(q + h / 2 * v1, v2, F, *live)
    v3 = v1 + h / 2 * a2
    a3 = forward(q + h / 2 * v2, v3, F, *live)
    v4 = v1 + h * a3
    a4 = forward(q + h * v3, v4, F, *live)
    moved = [q + h / 6 * (v1 + 2 * v2 + 2 * v3 + v4), v1 + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)]
    names = ["q", "qd", "F", *(["parameters"] if parameters else [])]
    return casadi.Function(f"{model.name}_step", [q, v1, F, *live], moved, names, ["q_next", "qd_next"])
