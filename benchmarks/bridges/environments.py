"""Steps of environments beside MuJoCo's: the same arm, Runge-Kutta steps of order 4 of the same length, no contacts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import elastogen
from benchmarks.race.mjx import mujoco_model
from benchmarks.race.robots import Subject

if TYPE_CHECKING:
    from benchmarks.bridges.report import Race

ENVS, DT, FASTER, STEPS = 256, 0.01, 10.0, 20
LEAST = 1e5  # steps a second


def races(subject: Subject, model: elastogen.Model, work: Path, quick: bool) -> list[Race]:
    """A vector environment, and MuJoCo's own loop over as many states: a binding of Python around it costs more."""
    import mujoco

    from benchmarks.bridges.report import Race

    peer, place = mujoco_model(subject.peer_text)
    if place != sorted(place):
        raise ValueError("MuJoCo orders these joints in its own way")
    peer.opt.integrator, peer.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, DT
    envs, data = model.to_gymnasium(dt=DT, envs=ENVS, force=5.0), mujoco.MjData(peer)
    rng = np.random.default_rng(0)
    forces = rng.uniform(-5, 5, (ENVS, model.nv))
    seen, _ = envs.reset(seed=0)
    after, *_ = envs.step(forces)
    for k in range(5):
        mujoco.mj_resetData(peer, data)
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = seen[k, : model.nq], seen[k, model.nq :], forces[k]
        mujoco.mj_step(peer, data)
        error = float(np.abs(np.concatenate([data.qpos, data.qvel]) - after[k]).max())
        if not error < 1e-9:
            raise ArithmeticError(f"a step of Panda: MuJoCo differs by {error:.1e}")
    envs.reset(seed=0)
    mujoco.mj_resetData(peer, data)
    data.qfrc_applied[:] = 0.0

    def stepped() -> None:
        for _ in range(STEPS):
            envs.step(forces)

    return [
        Race("Gymnasium, 256 environments beside MuJoCo's loop in C", "a step", ENVS * STEPS, stepped,
             lambda: mujoco.mj_step(peer, data, ENVS * STEPS), FASTER),
        Race("Gymnasium, 256 environments", "a step", ENVS * STEPS, stepped, None, 1 / LEAST),
    ]  # fmt: skip
