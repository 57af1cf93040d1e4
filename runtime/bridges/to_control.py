"""python-control: the linearization of a model as a ``StateSpace``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from elastogen.runtime.bridges.differentiable import target
from elastogen.runtime.errors import ModelError
from elastogen.runtime.real_numbers import finite

if TYPE_CHECKING:
    from elastogen.runtime.model.model import Model

CLOSED, CLOSED_SINGLE = 1e-6, 1e-3  # [m, 1] what counts as closed


def to_control(model: Model, q: ArrayLike, qd: ArrayLike | None = None, F: ArrayLike | None = None) -> Any:
    """The ``control.StateSpace`` of small motions about (q, qd, F).

    The state (dq, dqd) is also the output, the inputs are the driven forces. States and inputs have the names of the robot's
    velocities: ``d_shoulder``, ``d_shoulder_dot``, ``F_shoulder``. Of a robot with loops the states are those of the
    independent velocities.
    """
    control = target("control", "control", (0, 9))
    rest, where = np.zeros(model.nv), f"{model.name}.to_control"
    point = [finite(f"{where}: {name}", rest if x is None else x) for name, x in (("q", q), ("qd", qd), ("F", F))]
    linear = model.linearize(*point)
    if linear.A.ndim != 2:
        raise ModelError(f"{where}: got a batch {linear.A.shape[:-2]}, expected one operating point.")
    if model.metadata.loops is not None:
        gap = float(np.abs(model.evaluate("loop_residual", q=point[0])).max())
        if gap > (CLOSED if model.dtype == np.float64 else CLOSED_SINGLE):
            raise ModelError(f"{where}: the loops are open by {gap:.3g} at q. Fix: q = model.close_loops(q).")
    names = [name.replace(".", "_") for name in model.velocity_names]
    free = names if linear.coordinates is None else [names[k] for k in linear.coordinates]
    states = [*(f"d_{name}" for name in free), *(f"d_{name}_dot" for name in free)]
    inputs = [f"F_{names[k]}" for k in linear.driven]
    identity, nothing = np.eye(len(states)), np.zeros((len(states), len(inputs)))
    return control.ss(
        linear.A, linear.B, identity, nothing, states=states, inputs=inputs, outputs=[f"y_{name}" for name in states],
        name=model.name,
    )  # fmt: skip
