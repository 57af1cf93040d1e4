"""Crocoddyl: a robot as an action model with exact derivatives, on Crocoddyl's own state manifold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from elastogen.runtime.bridges.differentiable import target, warn_of_kinks
from elastogen.runtime.bridges.joint_kinds import parts_of
from elastogen.runtime.errors import ModelError
from elastogen.runtime.real_numbers import number

if TYPE_CHECKING:
    from elastogen.runtime.model.model import Model

RUNGE_KUTTA = {"rk2": "two", "rk3": "three", "rk4": "four"}  # Crocoddyl's name of each
INTEGRATORS = ("euler", *RUNGE_KUTTA)


def to_crocoddyl(model: Model, *, dt: float | None, integrator: str = "euler") -> Any:
    """The action model of a step of ``dt`` seconds; None: the differential one, in continuous time.

    The state is (q, qd), with tangents (dq, dqd) of 2 nv numbers; the controls are the driven forces [N m, N]. ``integrator``
    is "euler" (Crocoddyl's, symplectic), "rk2", "rk3" or "rk4". Live parameters keep the values that they have now. Costs are
    added to ``costs`` of the differential model (``action.differential.costs``), a ``CostModelSum`` without any: those that
    need the state and the controls alone.
    """
    crocoddyl = target("crocoddyl", "crocoddyl", (3, 0))
    pinocchio = target("pinocchio", "crocoddyl")
    where = f"{model.name}.to_crocoddyl"
    if dt is not None and number(f"{where}: dt", dt, "a positive number of seconds, or None") <= 0:
        raise ModelError(f"{where}: dt={dt!r}, expected a positive number of seconds, or None.")
    if integrator not in INTEGRATORS:
        raise ModelError(f"{where}: integrator={integrator!r}, expected one of {', '.join(INTEGRATORS)}.")
    if model.dtype != np.float64:
        raise ModelError(f"{where}: the model is in {model.dtype}, expected float64. Fix: precision='double'.")
    if model.metadata.loops is not None:
        raise ModelError(f"{where}: the robot has loops, which Crocoddyl's integrators do not keep closed, expected a tree.")
    if not model.driven:
        raise ModelError(f"{where}: no joint has a drive. Fix: driven: true on a joint, or base='driven'.")
    state = crocoddyl.StateMultibody(_manifold(pinocchio, model))
    differential = _differential(crocoddyl, model, state)
    if dt is None:
        return differential
    if integrator == "euler":
        return crocoddyl.IntegratedActionModelEuler(differential, float(dt))
    kind = getattr(crocoddyl.RKType, RUNGE_KUTTA[integrator])
    return crocoddyl.IntegratedActionModelRK(differential, kind, float(dt))


def _manifold(pinocchio: Any, model: Model) -> Any:
    """Pinocchio's model of the coordinates alone, without bodies: free flyers, spherical joints, numbers."""
    joints, kinds = pinocchio.Model(), {"free": "JointModelFreeFlyer", "ball": "JointModelSpherical", "number": "JointModelPX"}
    for part in parts_of(model):
        joints.addJoint(0, getattr(pinocchio, kinds[part.kind])(), pinocchio.SE3.Identity(), part.name)
    return joints


def _differential(crocoddyl: Any, model: Model, state: Any) -> Any:
    nq, driven = model.nq, list(model.driven)
    warn_of_kinks(model.kernel("forward_dynamics"))
    forward, derivatives = model.bind("forward_dynamics"), model.bind("forward_dynamics_derivatives")

    def evaluated(bound: Any, x: Any, u: Any) -> Any:
        """The outputs; NaN where the mass matrix is singular, at which Crocoddyl's solvers shorten their step."""
        given = bound.arguments
        given["q"][:], given["qd"][:], given["F"][driven] = x[:nq], x[nq:], u
        failed = bound()
        found = list(given.values())[3:]
        return [np.full_like(each, np.nan) for each in found] if failed else found

    class DifferentialActionModel(crocoddyl.DifferentialActionModelAbstract):  # type: ignore[misc]
        """qdd = forward_dynamics(q, qd, F), F the driven forces: see ``Model.to_crocoddyl``."""

        def __init__(self) -> None:
            super().__init__(state, len(driven))
            self.costs = crocoddyl.CostModelSum(state, len(driven))
            limits = model.force_limits[driven]
            self.u_lb, self.u_ub = -limits, limits

        def createData(self) -> Any:
            data = crocoddyl.DifferentialActionModelAbstract.createData(self)
            data.collector = crocoddyl.DataCollectorAbstract()
            data.costs = self.costs.createData(data.collector)
            data.costs.shareMemory(data)
            return data

        def calc(self, data: Any, x: Any, u: Any = None) -> None:
            if u is None:  # a last node: it has no controls
                self.costs.calc(data.costs, x)
            else:
                (data.xout,) = evaluated(forward, x, u)
                self.costs.calc(data.costs, x, u)
            data.cost = data.costs.cost

        def calcDiff(self, data: Any, x: Any, u: Any = None) -> None:
            if u is None:
                self.costs.calcDiff(data.costs, x)
                return
            by_q, by_qd, by_F = evaluated(derivatives, x, u)
            data.Fx = np.hstack([by_q, by_qd])
            data.Fu = by_F[:, driven]
            self.costs.calcDiff(data.costs, x, u)

    return DifferentialActionModel()
