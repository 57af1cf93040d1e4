"""Every argument wrong once, of every method of a model, of motions and of control design: an error of ours, or a result."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from elastogen import ElastogenError, Model, ModelError
from elastogen.runtime.loop import controllers
from elastogen.runtime.motion import geodesics, profiles, shaping, trajectory

NAN, INF = float("nan"), float("inf")
ODD: tuple[Any, ...] = (
    None, "abc", "", "\ud800", b"x", NAN, INF, -1, -1.5, 10**400, 1e300, 2**63, True, 1j, ..., [], [[1], [2, 3]], [[1.0, 2.0]],
    {}, {3: 4}, {1, 2}, ["a", "b"], [NAN, NAN], [INF, INF], [2**70, 1], [1e308, -1e308], np.array(1.0), np.array("x"),
    np.array([None, "a"], dtype=object), np.zeros(5), np.zeros((2, 2)), np.zeros(0), np.zeros((0, 2)), np.array([True, False]),
    np.array([1j, 0]), np.array(["2020-01-01"] * 2, dtype="M8[D]"), np.zeros(2, dtype=[("a", float)]),
    np.ma.masked_array([1.0, 2.0], [True, False]),
)  # fmt: skip
ZERO, POINTS = np.zeros(2), np.array([[0.0, 0.0], [1.0, 1.0]])
USUAL: dict[str, Any] = {
    **dict.fromkeys(("q", "qd", "qdd", "F", "b", "v", "q0", "q1"), ZERO), "weights": np.ones(2), "wrench": np.zeros(6),
    "t": 0.01, "y": np.zeros(4), "p": 1, "k": 0, "frames": "tip", "wrenches": {"tip": np.zeros(6)}, "function": "mass_matrix",
    "joint": "slide", "rng": 0, "points": POINTS, "times": [0.0, 1.0], "velocity": 1.0, "acceleration": 1.0, "jerk": 10.0,
    "frequency": 5.0, "period": 0.01, "rate": 100.0, "derivative": 1, "factor": 2.0, "amplitude": [1.0, 1.0],
    "A": np.zeros((2, 2)), "B": np.eye(2), "K": np.eye(2), "Q": 1.0, "R": 1.0, "poles": [1j - 0.1], "other": None,
}  # fmt: skip
NOT_FOR_USERS: tuple[str, ...] = ()
METHODS = [name for name in dir(Model) if not name.startswith("_") and inspect.isfunction(getattr(Model, name))]
CURVE = trajectory.cubic(POINTS, [0.0, 1.0])
FUNCTIONS: dict[str, Callable[..., object]] = {
    f.__name__: f
    for module in (trajectory, profiles, shaping, geodesics)
    for f in vars(module).values()
    if inspect.isfunction(f) and f.__module__ == module.__name__ and not f.__name__.startswith("_")
}
FUNCTIONS |= {f.__name__: f for f in (controllers.lqr, controllers.closed_loop, controllers.vibrations, shaping.Shaper)}
FUNCTIONS |= {f"curve.{name}": getattr(CURVE, name) for name in ("at", "sample", "peaks", "stretched", "then")}
FUNCTIONS |= {f"shaper.{name}": getattr(shaping.zv(5.0), name) for name in ("taps", "residual")}


def sweep(function: Callable[..., object], **special: Any) -> None:
    """Call it with each of its arguments wrong once, in all ways."""
    parameters = [p for p in inspect.signature(function).parameters.values() if p.kind is not p.VAR_KEYWORD]
    first = [p.name for p in parameters if p.kind is p.POSITIONAL_ONLY]
    parameters = [p for p in parameters if p.kind is not p.VAR_POSITIONAL]
    known = USUAL | special
    usual = {p.name: known.get(p.name) for p in parameters if p.default is p.empty or p.name in special}
    for parameter in parameters:
        for odd in ODD:
            given = usual | {parameter.name: odd}
            try:
                function(*(given.pop(name) for name in first), **given)
            except (ModelError, ElastogenError):
                pass
            except Exception as error:
                pytest.fail(f"{parameter.name}={odd!r}: {type(error).__name__}: {error}")


@pytest.mark.filterwarnings("ignore")  # of states beyond all limits
@pytest.mark.parametrize("method", [name for name in METHODS if name not in NOT_FOR_USERS])
def test_models(two_link: Model, method: str) -> None:
    special = {"position": np.zeros(3), "weights": (1.0, 1.0)} if method == "inverse_kinematics" else {}
    sweep(getattr(two_link, method), **special)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_motions_and_control(two_link: Model, function: str) -> None:
    sweep(FUNCTIONS[function], **({"model": two_link} if function == "geodesics" else {}))
