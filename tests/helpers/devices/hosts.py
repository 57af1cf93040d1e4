"""The exported hosts of kernels in Python, and batches to call them with."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

OUTPUTS = ["inverse_dynamics", "forward_dynamics", "mass_matrix", "forward_dynamics_derivatives"]


def host_of(folder: Path, name: str) -> ModuleType:
    """The module of that name in an exported folder."""
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def as_tuple(result: Any) -> tuple[Any, ...]:
    """One result or several."""
    return tuple(result) if isinstance(result, tuple) else (result,)


def batch_of(host: ModuleType, robot: str, name: str, count: int) -> dict[str, Any]:
    """Random states of a robot, each of which it can have."""
    random = np.random.default_rng(3)
    states = {
        key: random.uniform(-0.3, 0.3, (count, *shape)).astype(host.REAL) for key, shape in host.FUNCTIONS[name][0].items()
    }
    if robot == "rpb_table3":  # its beam is in the joint
        states["q"][:, 1] = random.uniform(0.1, 0.7, count)
    if robot == "satellite":  # its quaternion
        states["q"][:, 3:7] /= np.linalg.norm(states["q"][:, 3:7], axis=1, keepdims=True)
    return states
