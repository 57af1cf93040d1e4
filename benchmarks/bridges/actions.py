"""Derivatives of a node of an optimal control problem, beside Crocoddyl's own with Pinocchio."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import elastogen
from benchmarks.bridges.textbook import states
from benchmarks.race.robots import Subject

if TYPE_CHECKING:
    from benchmarks.bridges.report import Race

CALLS, FASTER = 500, 3.0


def races(subject: Subject, model: elastogen.Model, work: Path, quick: bool) -> list[Race]:
    """``calcDiff`` of the differential models, without costs."""
    import crocoddyl
    import pinocchio

    from benchmarks.bridges.report import Race

    urdf = (work / f"{subject.name}.urdf").read_text(encoding="utf-8")
    state = crocoddyl.StateMultibody(pinocchio.buildModelFromXML(urdf))
    actuation = crocoddyl.ActuationModelFull(state)
    peer = crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, crocoddyl.CostModelSum(state, actuation.nu))
    own = model.to_crocoddyl(dt=None)
    (q,), (qd,), (u,) = states(1, model.nv)
    x = np.concatenate([q, qd])
    found, expected = own.createData(), peer.createData()
    for action, data in ((own, found), (peer, expected)):
        action.calc(data, x, u)
        action.calcDiff(data, x, u)
    error = float(np.abs(found.Fx - expected.Fx).max() / np.abs(expected.Fx).max())
    if not error < 1e-8:
        raise ArithmeticError(f"derivatives of Panda: Crocoddyl's differ by {error:.1e}")
    return [
        Race("Crocoddyl, calcDiff beside its own with Pinocchio", "a node", CALLS,
             lambda: [own.calcDiff(found, x, u) for _ in range(CALLS)],
             lambda: [peer.calcDiff(expected, x, u) for _ in range(CALLS)], FASTER),
    ]  # fmt: skip
