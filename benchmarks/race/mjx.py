"""MJX, the dynamics of MuJoCo in JAX, on the processor and in double precision.

It runs in a process of its own: JAX chooses its number of threads once per process, and its threads do not go with the
processes that the other benchmarks fork. It gets what was found fastest for it: blocks of states that stay in the cache,
each core a block at a time (all states in one call took 1.4 to 1.9 times as long), and XLA's older emitters of fused loops.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import get_context
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.race.machine import on_cores
from benchmarks.race.robots import MissingPeerError, Subject

BLOCK = 1000  # states of one call
OPTIONS = {"xla_cpu_use_fusion_emitters": False}  # with the newer ones UR5's inverse dynamics took 22 times as long, JAX 0.10.2


class Mjx:
    """One function of a robot, compiled for a batch of states; calls are timed where they run."""

    def __init__(self, subject: Subject, function: str, threads: int, states: Sequence[NDArray[Any]]) -> None:
        try:
            version("mujoco-mjx")
        except PackageNotFoundError:
            raise MissingPeerError("it is not installed (pip install '.[bench,mjx]': 19 packages, 0.7 GB)") from None
        self._process = ProcessPoolExecutor(1, get_context("spawn"))
        with on_cores(threads):  # which the process that is started here inherits
            started = self._process.submit(_start, subject.peer_text, function, threads, states)
        try:
            self.compile_seconds = started.result()
        except BaseException:
            self.close()
            raise

    def answer(self) -> NDArray[Any]:
        """The results, a row for each state, in this project's joint order."""
        return self._process.submit(_answer).result()

    def seconds(self) -> float:
        """Time of one call: CPU time of all its threads if it has one core, else wall time."""
        return self._process.submit(_seconds).result()

    def close(self) -> None:
        """End the process."""
        self._process.shutdown()


@dataclass(frozen=True)
class _Compiled:
    """What the process holds between calls."""

    run: Callable[[], list[Any]]
    place: list[int]
    clock: Callable[[], float]


_held: list[_Compiled] = []


def _start(peer_text: str, function: str, threads: int, states: Sequence[NDArray[Any]]) -> float:
    """Compile for these states; the CPU time it took."""
    os.environ["NPROC"] = str(threads)  # XLA takes the size of its pool of threads from it
    import jax

    jax.config.update("jax_enable_x64", True)
    model, place = mujoco_model(peer_text)
    ordered = [array[:, np.argsort(place)] for array in states]
    blocks = [[jax.device_put(array[k : k + BLOCK]) for array in ordered] for k in range(0, len(ordered[0]), BLOCK)]
    start = time.process_time()
    compiled = jax.jit(jax.vmap(_dynamics(model, function))).lower(*blocks[0]).compile(OPTIONS)
    seconds = time.process_time() - start
    pool = ThreadPoolExecutor(threads)

    def run() -> list[Any]:
        return list(pool.map(lambda block: compiled(*block).block_until_ready(), blocks))

    _held.append(_Compiled(run, place, time.process_time if threads == 1 else time.perf_counter))
    return seconds


def _answer() -> NDArray[Any]:
    return np.concatenate(_held[0].run())[:, _held[0].place]


def _seconds() -> float:
    start = _held[0].clock()
    _held[0].run()
    return _held[0].clock() - start


def mujoco_model(peer_text: str) -> tuple[Any, list[int]]:
    """MuJoCo's model of the text in ``pinocchio_model.hpp``'s format, and the place of each joint in it."""
    import mujoco

    first, *lines = peer_text.splitlines()
    spec = mujoco.MjSpec()
    spec.option.gravity = [float(word) for word in first.split()[1:]]
    spec.option.disableflags = int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)  # no contacts, limits and friction
    bodies = [spec.worldbody]
    kinds = {"R": mujoco.mjtJoint.mjJNT_HINGE, "P": mujoco.mjtJoint.mjJNT_SLIDE}
    for name, parent, kind, *words in map(str.split, lines):
        axis, rotation, position, mass, centre, inertia = np.split(np.array(words, float), [3, 12, 15, 16, 19])
        quaternion = np.empty(4)
        mujoco.mju_mat2Quat(quaternion, rotation)
        body = bodies[int(parent) + 1].add_body(pos=position, quat=quaternion)
        body.explicitinertial, body.mass, body.ipos = True, mass[0], centre
        body.fullinertia = inertia[[0, 3, 5, 1, 2, 4]]  # xx yy zz xy xz yz
        body.add_joint(name=name, type=kinds[kind], axis=axis)
        bodies.append(body)
    model = spec.compile()
    return model, [int(model.joint(line.split()[0]).dofadr[0]) for line in lines]


def _dynamics(model: Any, function: str) -> Callable[..., Any]:
    """A function of one state in MuJoCo's joint order."""
    from mujoco import mjx

    on_device = mjx.put_model(model)
    empty = mjx.make_data(on_device)

    def inverse(q: Any, qd: Any, qdd: Any) -> Any:
        return mjx.inverse(on_device, empty.replace(qpos=q, qvel=qd, qacc=qdd)).qfrc_inverse

    def forward(q: Any, qd: Any, force: Any) -> Any:
        return mjx.forward(on_device, empty.replace(qpos=q, qvel=qd, qfrc_applied=force)).qacc

    return {"inverse_dynamics": inverse, "forward_dynamics": forward}[function]


def forward_dynamics(peer_text: str) -> tuple[Callable[..., Any], list[int]]:
    """Forward dynamics of one state, in this process, and the place of each joint."""
    model, place = mujoco_model(peer_text)
    return _dynamics(model, "forward_dynamics"), place
