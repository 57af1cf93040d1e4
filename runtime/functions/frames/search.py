"""The search of inverse kinematics in C for a batch of targets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Module:
    """A compiled module that solves for certain frames."""

    lib: Any
    ffi: Any
    frames: tuple[str, ...]


@dataclass(frozen=True)
class Targets:
    """The targets of a search: dense arrays, one entry for each item of the batch."""

    parameters: NDArray[Any]  # the live ones
    position: NDArray[Any]  # (items, frames, 3)
    rotation: NDArray[Any]  # (items, frames, 3, 3)
    q0: NDArray[Any]
    posture: NDArray[Any]

    def of(self, items: NDArray[np.intp]) -> Targets:
        """Select some of the items."""
        arrays = (self.parameters, self.position, self.rotation, self.q0, self.posture)
        return Targets(*(array[items] for array in arrays))

    def started_at(self, q0: NDArray[Any]) -> Targets:
        """Return the same targets with another start."""
        return replace(self, q0=q0)


@dataclass
class Found:
    """The results of a search for each item."""

    q: NDArray[Any]
    error: NDArray[Any]  # of position and rotation
    status: NDArray[np.int32]  # 0: converged, 1: not, negative: failed
    iterations: NDArray[np.int32]

    def improve(self, items: NDArray[np.intp], other: Found) -> None:
        """Take over results of another search for items where it converged, and add its iterations."""
        self.iterations[items] += other.iterations
        on = other.status == 0
        self.q[items[on]], self.error[items[on]], self.status[items[on]] = other.q[on], other.error[on], 0


@dataclass(frozen=True)
class Search:
    """All data of a search except its targets."""

    module: Module
    frames: tuple[str, ...]  # those that are asked for
    iterations: int
    settings: NDArray[Any]  # damping, tolerances of position and rotation, gain of the posture, longest step
    weights: NDArray[Any]  # of metres and radians
    limits: tuple[NDArray[Any], NDArray[Any]] | None

    def __call__(self, targets: Targets) -> Found:
        """Search for all targets, one after the other, without the GIL."""
        count, real, ffi = len(targets.q0), targets.q0.dtype, self.module.ffi
        at = [self.module.frames.index(name) for name in self.frames]
        weights = np.zeros((len(self.module.frames), 2), real)  # frames that are not asked for have none
        weights[at] = self.weights
        position, rotation = np.zeros((count, len(weights), 3), real), np.zeros((count, len(weights), 3, 3), real)
        position[:, at], rotation[...] = targets.position, np.eye(3)
        rotation[:, at] = targets.rotation
        q, error, outcome = np.empty_like(targets.q0), np.empty((count, 2), real), np.empty((count, 2), np.int32)
        kind, whole = ffi.typeof("eg_real_t[]"), ffi.typeof("int32_t[]")
        given = (
            self.settings,
            weights,
            *(self.limits or (None, None)),
            position,
            rotation,
            targets.q0,
            targets.posture,
            q,
            error,
        )
        self.module.lib.eg_inverse_kinematics(
            ffi.from_buffer(kind, targets.parameters),
            targets.parameters.shape[1],
            count,
            self.iterations,
            *(ffi.NULL if array is None else ffi.from_buffer(kind, array) for array in given),
            ffi.from_buffer(whole, outcome),
        )
        return Found(q, error, outcome[:, 0].copy(), outcome[:, 1].copy())
