"""Crocoddyl: a robot as an action model with exact derivatives, in C++ on Crocoddyl's own state manifold."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from elastogen.runtime.bridges.differentiable import target, warn_of_kinks
from elastogen.runtime.bridges.joint_kinds import parts_of
from elastogen.runtime.errors import ModelError
from elastogen.runtime.real_numbers import number

if TYPE_CHECKING:
    from elastogen.runtime.functions.kernel import Kernel
    from elastogen.runtime.model.maker import Maker
    from elastogen.runtime.model.model import Model

RUNGE_KUTTA = {"rk2": 2, "rk3": 3, "rk4": 4}  # the order of each
INTEGRATORS = ("euler", *RUNGE_KUTTA)
MODULE = "elastogen_crocoddyl"
FIRST = (3, 1)  # of the versions of Crocoddyl: before, its classes had no methods for other types of numbers

_LOADED: list[Any] = []
_LOCK = Lock()


def to_crocoddyl(
    model: Model, maker: Maker | None, *, dt: float | None, integrator: str = "euler", contacts: Sequence[str] = ()
) -> Any:
    """The action model of a step of ``dt`` seconds; None: the differential one, in continuous time.

    The state is (q, qd), with tangents (dq, dqd) of 2 nv numbers; the controls are the driven forces [N m, N]. ``integrator``
    is "euler" (Crocoddyl's, symplectic), "rk2", "rk3" or "rk4". ``contacts`` are those that hold, among the robot's. Loops
    stay closed as well as the integrator keeps them so: their accelerations fit, positions are not corrected. Live parameters
    keep the values that they have now. Costs are added to ``costs`` of the differential model
    (``action.differential.costs``), a ``CostModelSum`` without any: those that need the state and the controls alone.
    """
    crocoddyl = target("crocoddyl", "crocoddyl", FIRST)
    pinocchio = target("pinocchio", "crocoddyl")
    where = f"{model.name}.to_crocoddyl"
    if dt is not None and number(f"{where}: dt", dt, "a positive number of seconds, or None") <= 0:
        raise ModelError(f"{where}: dt={dt!r}, expected a positive number of seconds, or None.")
    if integrator not in INTEGRATORS:
        raise ModelError(f"{where}: integrator={integrator!r}, expected one of {', '.join(INTEGRATORS)}.")
    if maker is None:
        raise ModelError(f"{where}: this model was loaded, not built. Fix: elastogen.build_model(robot).")
    if model.dtype != np.float64:
        raise ModelError(f"{where}: the model is in {model.dtype}, expected float64. Fix: precision='double'.")
    if not model.driven:
        raise ModelError(f"{where}: no joint has a drive. Fix: driven: true on a joint, or base='driven'.")
    layout = _layout(model, _mask(model, where, contacts))
    state = crocoddyl.StateMultibody(_manifold(pinocchio, model))
    module = _loaded(maker, Path(crocoddyl.__file__))
    differential = module.action(state, layout)
    if dt is None:
        return differential
    if integrator == "euler":
        return crocoddyl.IntegratedActionModelEuler(differential, float(dt))
    return module.runge_kutta(differential, RUNGE_KUTTA[integrator], float(dt))


def _mask(model: Model, where: str, contacts: Sequence[str]) -> list[float]:
    """1 for the contacts that hold, 0 for the others; empty where none does."""
    known = model.metadata.contacts
    names = [contacts] if isinstance(contacts, str) else contacts
    if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names) or {*names} - {*known}:
        listed = ", ".join(known) if known else "none, since the model has none: build_model(robot, contacts=['foot'])"
        raise ModelError(f"{where}: contacts={contacts!r}, expected names among {listed}.")
    return [float(name in names) for name in known] if names else []


def _layout(model: Model, mask: list[float]) -> dict[str, Any]:
    """What the C++ needs to know: addresses of the functions, and where in their blocks of numbers everything is."""
    name, size = ("contact_dynamics" if mask else "forward_dynamics"), model.nq + 2 * model.nv
    forward, derivatives = model.kernel(name), model.kernel(f"{name}{'_sensitivity' if mask else '_derivatives'}")
    warn_of_kinks(model.kernel("forward_dynamics"))  # a mask of contacts is no kink
    driven, live = list(model.driven), len(model.parameters)
    outputs, square = live + size + len(mask), model.nv * model.nv
    steps = (0, model.nq, model.nq + model.nv) if mask else (0, square, 2 * square)  # beside each other, or one by one

    def function(kernel: Kernel) -> dict[str, Any]:
        return {"address": kernel.single_address, "block": kernel.first_block(mask)}

    return {
        "name": model.name, "nq": model.nq, "nv": model.nv, "q": live, "qdd": outputs,
        **{f"by_{word}": outputs + step for word, step in zip(("q", "qd", "F"), steps, strict=True)},
        "stride": size + len(mask) if mask else model.nv, "by_coordinates": bool(mask),
        "driven": driven, "limits": np.asarray(model.force_limits)[driven].tolist(),
        "parts": [(part.kind, part.q, part.v) for part in parts_of(model)],
        "forward": function(forward), "derivatives": function(derivatives),
    }  # fmt: skip


def _manifold(pinocchio: Any, model: Model) -> Any:
    """Pinocchio's model of the coordinates alone, without bodies: free flyers, spherical joints, numbers."""
    joints, kinds = pinocchio.Model(), {"free": "JointModelFreeFlyer", "ball": "JointModelSpherical", "number": "JointModelPX"}
    for part in parts_of(model):
        joints.addJoint(0, getattr(pinocchio, kinds[part.kind])(), pinocchio.SE3.Identity(), part.name)
    return joints


def _loaded(maker: Maker, crocoddyl: Path) -> Any:
    """The extension module, once in a process: its classes can be made known to Crocoddyl only once."""
    with _LOCK:
        if not _LOADED:
            header = Path("include", "crocoddyl", "config.hpp")
            prefix = next((folder for folder in crocoddyl.parents if (folder / header).is_file()), None)
            if prefix is None:
                raise ModelError(
                    f"Crocoddyl's C++ headers are missing (looked for {header} above {crocoddyl.parent}). "
                    "Fix: pip install 'elastogen[crocoddyl]', or install its development package."
                )
            path = maker.crocoddyl_module(prefix)
            loader = ExtensionFileLoader(MODULE, str(path))
            module = loader.create_module(ModuleSpec(MODULE, loader, origin=str(path)))
            loader.exec_module(module)
            _LOADED.append(module)
        return _LOADED[0]
