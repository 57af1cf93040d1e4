"""What simulations of robots with loops need, and whether a state is one that they can start from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elastogen.runtime.errors import ModelError
from elastogen.runtime.functions.metadata import Metadata
from elastogen.runtime.interface.integrators import KEEPING, integrator

OPEN = {"double": 1e-6, "float": 1e-3}  # residual, and rate of it over the size of velocities, above which a start is refused


def needed_functions(metadata: Metadata, method: str, of_forces: tuple[str, ...]) -> tuple[str, ...]:
    """The functions of a model that an integrator needs, and those of the forces."""
    if metadata.loops is None:
        return ("forward_dynamics", *integrator(method).needs, *of_forces)
    forces = ("inverse_dynamics" if name == "gravity_vector" else name for name in of_forces)
    return ("forward_dynamics", *KEEPING, *integrator(method).needs_of_loops, *forces)


def check_closed(
    label: str, metadata: Metadata, evaluate: Callable[[str, NDArray[Any]], Any], q: NDArray[Any], qd: NDArray[Any]
) -> None:
    """Refuse states in which loops are open, or open; ``evaluate(name, q)`` gives a function of the loops."""
    assert metadata.loops is not None
    if not (np.isfinite(q).all() and np.isfinite(qd).all()):
        return  # said elsewhere
    limit = OPEN[metadata.real]
    e = np.abs(np.asarray(evaluate("loop_residual", q), dtype=float))
    if e.max(initial=0.0) > limit:
        row = metadata.loops.rows[int(np.unravel_index(np.argmax(e), e.shape)[-1])]
        raise ModelError(
            f"{label}: the loops are open by {e.max():.3g} ({row}) at q0, expected at most {limit:g}. "
            "Fix: q0 = model.close_loops(q0)"
        )
    J = np.asarray(evaluate("loop_jacobian", q), dtype=float)
    rate = np.abs(np.einsum("...ij,...j->...i", J, qd))
    size = 1.0 + np.abs(qd).max(initial=0.0)
    if rate.max(initial=0.0) > limit * size:
        row = metadata.loops.rows[int(np.unravel_index(np.argmax(rate), rate.shape)[-1])]
        raise ModelError(
            f"{label}: the velocities qd0 open the loops, {row} by {rate.max():.3g} per second. "
            "Fix: qd0 = model.driven_map(q0) @ rates of the drives, or zero"
        )
