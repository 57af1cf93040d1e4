"""CasADi: a function of a model as an external ``casadi.Function`` with exact derivatives to second order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from elastogen.runtime.bridges.differentiable import Differentiable, target
from elastogen.runtime.errors import ModelError

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
